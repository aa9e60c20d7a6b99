#include "config.h"

#include "rebalance/delayed/builds.h"

#include "rebalance/state/turns.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/store/build_log.h"
#include "src/store/later/whole_table.h"

#include <inttypes.h>

#define ASK_AGAIN_MS 60000 /* while another run is in a build's way */

/* An index that shows whole tables as they were. */
struct wanted_build {
    struct str table, index;
    const struct whole_lead *leads; /* one or more, of this index */
    size_t n;
};
struct wanted_list {
    struct wanted_build *list;
    size_t n;
};

/* ---- which ---- */

/* The leads are in order of their index.  One whose definition is gone goes with its versions.
 */
static bool load_wanted(const struct delayed_run *r, struct wanted_list *out, struct err *err)
{
    struct whole_lead *leads;
    struct definitions *d;
    size_t n;

    if (!store_load_whole_leads(r->co->opt.store, r->arena, &r->at, &leads, &n, err))
        return false;
    d = coordinator_definitions(r->co);
    *out = (struct wanted_list){.list = arena_alloc(r->arena, n + 1, sizeof(*out->list))};
    for (size_t i = 0, end; i < n; i = end) {
        const struct table_definition *lead = definition_lead_of(d, leads[i].version.index);

        for (end = i + 1; end < n; end++)
            if (!str_equal(leads[end].version.index, leads[i].version.index))
                break;
        if (lead != NULL)
            out->list[out->n++] =
                (struct wanted_build){.table = arena_copy(r->arena, table_name(lead)),
                                      .index = leads[i].version.index,
                                      .leads = &leads[i],
                                      .n = end - i};
    }
    definitions_unref(d);
    return true;
}

/* Its reason tells a wish of this run from others. */
static struct stored_rebuild wish_of(const struct delayed_run *r, const struct wanted_build *w,
                                     int64_t at_ms)
{
    struct buf reason = {0};

    buf_printf(&reason,
               "delayed run %" PRIu64 " has it built, as statements changed rows of delayed "
               "tables that it shows",
               r->at.id);

    const struct str kept = arena_copy(r->arena, buf_str(&reason));

    buf_free(&reason);
    return (struct stored_rebuild){w->table, kept, at_ms};
}

/* Other nodes learn of it from the store. */
static bool ask(struct delayed_run *r, const struct wanted_list *wanted, struct err *err)
{
    struct stored_rebuild *wishes = arena_alloc(r->arena, wanted->n + 1, sizeof(*wishes));
    const int64_t now_ms = clock_wall_ms();

    for (size_t i = 0; i < wanted->n; i++)
        wishes[i] = wish_of(r, &wanted->list[i], now_ms);
    if (!store_ask_builds(r->co->opt.store, &r->owner, &r->at, wishes, wanted->n, err))
        return false;
    FAILPOINT(delayed_asked);
    if (wanted->n > 0)
        stop_nudge(&r->co->stop);
    return coordinator_refresh(r->co, err);
}

/* ---- how they are ---- */

enum build_way {
    BUILD_WAITS = 0, /* for its beginning, or for its end */
    BUILD_BLOCKED,   /* by a delayed run of another topic */
    BUILD_FAILS,
};
struct build_state {
    enum build_way way;
    struct str why;
};

static struct str say(const struct delayed_run *r, const struct wanted_build *w,
                      const char *what)
{
    struct buf text = {0};

    buf_printf(&text, "the build of index %" STR_FMT "%s", STR_ARG(w->index), what);

    const struct str kept = arena_copy(r->arena, buf_str(&text));

    buf_free(&text);
    return kept;
}

/* The newest build since the run asked; NULL: none. */
static bool find_build(const struct delayed_run *r, const struct wanted_build *w,
                       const struct stored_build **out, struct err *err)
{
    struct stored_build *list;
    size_t n;

    *out = NULL;
    if (!store_load_builds(r->co->opt.store, r->arena, w->table, 1, &list, &n, err))
        return false;
    if (n > 0 && list[0].id > r->at.builds_after)
        *out = &list[0];
    return true;
}

/* A version that is built.  One that is complete may wait for a person: that may take days. */
static bool is_coming(const struct delayed_run *r, const struct wanted_build *w,
                      struct build_state *out)
{
    struct catalogue *c = coordinator_catalogue(r->co);
    const struct stored_version *v = catalogue_coming(c, w->index);

    if (v != NULL && catalogue_wait(c, v) != NULL)
        *out = (struct build_state){
            BUILD_FAILS, STR("its new version waits; millrace status says for what")};
    else if (v != NULL)
        *out = (struct build_state){BUILD_WAITS,
                                    say(r, w, "; millrace job list shows how far it is")};
    catalogue_unref(c);
    return v != NULL;
}

/* By its end in the log.  One that has succeeded leaves nothing to wait for at the next look.
 */
static bool has_failed(const struct stored_build *b, struct build_state *out)
{
    if (b == NULL || b->outcome.len == 0 || str_equal(b->outcome, STR(BUILD_INTERRUPTED)) ||
        str_equal(b->outcome, STR(BUILD_SUCCEEDED)))
        return false;
    *out = (struct build_state){BUILD_FAILS, b->error.len > 0 ? b->error : b->outcome};
    return true;
}

/* A build that a dead node had not begun is begun again by another one. */
static bool is_given_up(const struct delayed_run *r, const struct stored_build *b)
{
    const bool is_away = b == NULL || str_equal(b->outcome, STR(BUILD_INTERRUPTED));
    const int64_t since_ms =
        b != NULL && b->ended_ms > r->at.updated_ms ? b->ended_ms : r->at.updated_ms;

    return is_away && clock_wall_ms() - since_ms > BUILD_BEGIN_MS;
}

static bool is_blocked(const struct delayed_run *r, const struct wanted_build *w,
                       struct build_state *out)
{
    struct definitions *d = coordinator_definitions(r->co);
    struct catalogue *c = coordinator_catalogue(r->co);
    struct err err = {0};
    const bool is =
        !coordinator_may_build(r->co, c, d, w->index, &err) && err.code == TURN_TAKEN;

    if (is)
        *out = (struct build_state){BUILD_BLOCKED, arena_copy(r->arena, str_from(err.msg))};
    catalogue_unref(c);
    definitions_unref(d);
    return is;
}

static bool look(const struct delayed_run *r, const struct wanted_build *w,
                 struct build_state *out, struct err *err)
{
    const struct stored_build *b;

    if (!find_build(r, w, &b, err))
        return false;
    *out = (struct build_state){
        BUILD_WAITS, say(r, w, " to begin; millrace status says what is in its way")};
    if (!is_coming(r, w, out) && !has_failed(b, out) && !is_blocked(r, w, out) &&
        is_given_up(r, b))
        *out = (struct build_state){
            BUILD_FAILS, STR("none has begun within six minutes; millrace status says why")};
    return true;
}

/* ---- those that failed ---- */

struct failed_list {
    struct whole_lead *list;
    size_t n, cap;
};

/* What the snapshot keeps: its statement, and why it waits again. */
static struct str with_why(const struct delayed_run *r, const struct whole_lead *lead,
                           struct str why)
{
    struct buf json = {0}, text = {0};
    struct json_writer w = {.out = &json};
    struct str statement;

    json_open_object(&w);
    if (json_find(lead->row_json, "/statement", &statement))
        json_put_raw(&w, STR("statement"), statement);
    buf_printf(&text, "index %" STR_FMT " was not built: %" STR_FMT,
               STR_ARG(lead->version.index), STR_ARG(why));
    json_put_string(&w, STR("waits_again"), buf_str(&text));
    json_close_object(&w);

    const struct str kept = arena_copy(r->arena, buf_str(&json));

    buf_free(&json);
    buf_free(&text);
    return kept;
}

static void add_failed(const struct delayed_run *r, struct failed_list *l,
                       const struct wanted_build *w, struct str why)
{
    for (size_t i = 0; i < w->n; i++) {
        l->list[l->n] = w->leads[i];
        l->list[l->n++].row_json = with_why(r, &w->leads[i], why);
    }
}

/* Under the lock under which builds begin: from now on the run is in the way of others. */
static bool go_on(struct delayed_run *r, const struct builds_end *end, struct err *err)
{
    if (!coordinator_begin(r->co, err))
        return false;

    const bool ok = coordinator_refresh(r->co, err) &&
                    coordinator_may_go_on_delayed(r->co, &r->at, err) &&
                    store_end_builds(r->co->opt.store, &r->owner, &r->at, end, err) &&
                    coordinator_refresh(r->co, err);

    lock_release(&r->co->admin_lock);
    return ok;
}

static void tell_failed(const struct wanted_list *wanted, const struct build_state *states)
{
    for (size_t i = 0; i < wanted->n; i++)
        log_warn("a delayed run goes on without a build: the next run has the index built",
                 KV("index", wanted->list[i].index),
                 KV("table", wanted->list[i].leads[0].table), KV("reason", states[i].why));
}

static bool end(struct delayed_run *r, const struct wanted_list *wanted,
                const struct build_state *states, struct err *err)
{
    struct stored_rebuild *withdrawn = arena_alloc(r->arena, wanted->n + 1, sizeof(*withdrawn));
    struct failed_list failed = {0};
    struct err busy = {0};

    for (size_t i = 0; i < wanted->n; i++)
        failed.cap += wanted->list[i].n;
    failed.list = arena_alloc(r->arena, failed.cap + 1, sizeof(*failed.list));
    for (size_t i = 0; i < wanted->n; i++) {
        withdrawn[i] = wish_of(r, &wanted->list[i], r->at.updated_ms);
        add_failed(r, &failed, &wanted->list[i], states[i].why);
    }
    if (go_on(
            r,
            &(struct builds_end){withdrawn, wanted->n, failed.list, failed.n, clock_wall_ms()},
            &busy)) {
        tell_failed(wanted, states);
        return true;
    }
    if (busy.code != TURN_TAKEN) {
        *err = busy;
        return false;
    }
    r->waits_for = arena_copy(r->arena, str_from(busy.msg)).ptr;
    return true;
}

/* ---- a step ---- */

bool delayed_builds_step(struct delayed_run *r, struct err *err)
{
    struct wanted_list wanted;
    struct build_state *states;
    bool is_held_up = false;

    r->waits_for = NULL;
    if (r->at.builds == RUN_BUILDS_ENDED)
        return true;
    if (!load_wanted(r, &wanted, err) ||
        (r->at.builds == RUN_BUILDS_NOT_ASKED && !ask(r, &wanted, err)))
        return false;
    if (r->at.builds == RUN_BUILDS_ENDED)
        return true;
    states = arena_alloc(r->arena, wanted.n + 1, sizeof(*states));
    for (size_t i = 0; i < wanted.n; i++) {
        if (!look(r, &wanted.list[i], &states[i], err))
            return false;
        if (states[i].way != BUILD_FAILS)
            r->waits_for = states[i].why.ptr;
        is_held_up = is_held_up || states[i].way == BUILD_BLOCKED;
    }
    if (is_held_up && clock_wall_ms() - r->at.updated_ms > ASK_AGAIN_MS)
        return ask(r, &wanted, err); /* its time begins anew */
    return r->waits_for != NULL || end(r, &wanted, states, err);
}

bool delayed_builds_count(struct delayed_run *r, struct err *err)
{
    struct wanted_list wanted;

    if (!load_wanted(r, &wanted, err))
        return false;
    r->n_unbuilt = wanted.n;
    return true;
}
