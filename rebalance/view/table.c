#include "config.h"

#include "rebalance/view/look.h"

#include "rebalance/dead_letter/purged.h"
#include "rebalance/poll/sync.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/cross_topic.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/view/fan_out.h"
#include "rebalance/view/older.h"
#include "rebalance/watch/findings.h"
#include "src/base/clock.h"
#include "sync/definition/doubt.h"

#include <string.h>

/* Facts about a table's index. */
struct index_facts {
    const struct stored_stop *stop;
    const struct stored_rebuild *rebuild;
    const struct pause *pause;
    bool is_held;
    struct hold held;
    bool held_is_built;           /* held is the version being built, not the one searched */
    const struct finding *astray; /* NULL: searches read what we write */
    struct buf index;             /* the one that searches use; empty: none */
};

/* Only one version of an index can be built at a time. */
static void append_hold_fix(const struct table_view *t, const struct index_facts *f,
                            struct str lead, struct buf *b)
{
    struct buf rebuild = {0};

    if (f->held_is_built) {
        coordinator_append_reset(&rebuild, lead);
    } else if (t->changing != NULL) {
        buf_append(&rebuild, STR("the version being built replaces it"));
    } else {
        buf_append(&rebuild, STR("millrace index create "));
        buf_append_word(&rebuild, lead);
    }
    hold_append_fix(b, f->held.is.cure, rebuild.ptr);
    buf_free(&rebuild);
}

static bool find_hold(const struct coordinator *co, const struct stored_version *v,
                      struct hold *out)
{
    struct buf name = {0};

    if (v == NULL)
        return false;
    coordinator_index_name(&name, v->index, v->number);

    const bool held = holds_find(co->holds, buf_str(&name), out);

    buf_free(&name);
    return held;
}

/* ---- its condition ---- */

static const char *state_of(const struct table_view *t, const struct index_facts *f)
{
    if (t->changing != NULL)
        return "changing";
    if (f->stop != NULL)
        return "stopped";
    if (f->is_held || f->pause != NULL)
        return "held";
    if (f->astray != NULL && t->available != NULL)
        return "astray";
    if (t->wait != NULL)
        return "waiting";
    return t->available != NULL ? "available" : "unavailable";
}

static struct str reason_of(const struct table_view *t, const struct index_facts *f)
{
    if (f->stop != NULL)
        return f->stop->reason;
    if (f->astray != NULL)
        return f->astray->reason;
    if (f->is_held)
        return str_from(f->held.is.why.msg);
    if (t->wait != NULL)
        return t->wait->detail;
    return f->rebuild != NULL ? f->rebuild->reason : STR("");
}

/* Add what `apply` would refuse today in its definition.  The table runs on regardless. */
static void append_doubt(const struct coordinator_view *v, struct table_view *t,
                         struct buf *reason, struct buf *fix)
{
    struct problems *problems = problems_new();

    definition_check_doubt(v->definitions, t->d, problems);
    t->is_doubted = problems_n(problems) > 0;
    if (t->is_doubted) {
        const struct problem *first = problems_get(problems, 0);

        buf_append(reason, first->message);
        buf_printf(fix, "%" STR_FMT "; until then `apply` refuses this table",
                   STR_ARG(first->fix));
    }
    problems_free(problems);
}

/* Since when it is stopped or held; 0: it is not. */
static int64_t bad_since_ms(const struct coordinator_view *v, const struct index_facts *f)
{
    if (f->stop != NULL)
        return f->stop->at_ms;
    return f->is_held ? v->now_ms - (clock_mono_ms() - f->held.is.since_ms) : 0;
}

/* What the doctor calls that reason.  The order is that of the reasons. */
static const char *code_of(const struct table_view *t, const struct index_facts *f)
{
    if (f->stop != NULL)
        return "table.runs.stopped";
    if (f->pause != NULL)
        return "table.runs.paused";
    if (f->astray != NULL)
        return "table.runs.astray";
    if (f->is_held)
        return hold_code(f->held.is.cure);
    if (t->wait != NULL)
        return "table.current.waits";
    return f->rebuild != NULL ? "table.current.rebuild" : "table.current.late";
}

/* Set the condition: its reason, and the fix or what happens automatically. */
static void look_at_condition(struct coordinator *co, struct coordinator_view *v,
                              struct table_view *t, const struct index_facts *f)
{
    struct str reason = reason_of(t, f);
    struct buf fix = {0}, away = {0}, doubt = {0}, late = {0}, paused = {0};

    if (f->pause != NULL && f->stop == NULL) {
        pause_append(&paused, f->pause);
        reason = buf_str(&paused);
    }
    if (reason.len == 0 && t->available != NULL) {
        coordinator_append_sync_reason(co, buf_str(&f->index), &late);
        reason = buf_str(&late);
    }
    if (reason.len == 0 && t->available != NULL) {
        coordinator_append_unread(co, v->definitions, t->d, buf_str(&f->index), &away);
        reason = buf_str(&away);
    }
    if (paused.len > 0) {
        buf_append(&fix, STR("millrace index resume "));
        buf_append_word(&fix, table_name(t->d));
    } else if (f->rebuild != NULL && (f->stop != NULL || f->astray == NULL))
        coordinator_append_rebuild_fix(co, v->definitions, v->catalogue, t->d, &fix);
    else if (f->stop != NULL)
        buf_append(&fix, f->stop->way_out);
    else if (f->astray != NULL)
        buf_append(&fix, f->astray->fix);
    else if (f->is_held)
        append_hold_fix(t, f, table_name(definition_lead(v->definitions, t->d)), &fix);
    else if (t->wait != NULL)
        coordinator_append_wait_fix(&fix, t->wait,
                                    table_name(definition_lead(v->definitions, t->d)));
    else if (away.len > 0)
        buf_append(&fix, STR("they continue by themselves once that is over"));
    else if (reason.len > 0)
        buf_append(&fix, STR("Millrace retries the sync by itself"));
    else
        append_doubt(v, t, &doubt, &fix);
    if (t->is_doubted)
        reason = buf_str(&doubt);
    t->held_ms = f->stop == NULL && f->is_held ? bad_since_ms(v, f) : 0;
    t->is = (struct condition){.state = state_of(t, f),
                               .code = away.len > 0 ? "table.current.unread" : code_of(t, f),
                               .is_bad = f->stop != NULL || f->is_held || f->pause != NULL ||
                                         (f->astray != NULL && f->astray->mend == MEND_NONE),
                               .reason = arena_copy(v->arena, reason),
                               .fix = arena_copy(v->arena, buf_str(&fix)),
                               .since = coordinator_time(v->arena, bad_since_ms(v, f))};
    buf_free(&fix);
    buf_free(&away);
    buf_free(&doubt);
    buf_free(&late);
    buf_free(&paused);
}

/* ---- its lag beyond the log ---- */

static struct lag since(int64_t at_ms)
{
    return (struct lag){.since_ms = at_ms};
}

/*
 * The log's lag includes the changes that wait for a held index.  Here we know since when the
 * index accepts nothing.
 */
static struct lag lag_of_held(const struct hold *h, int64_t now_ms)
{
    return (struct lag){.since_ms = now_ms - (clock_mono_ms() - h->is.since_ms),
                        .at_most = true};
}

static void look_at_lag(struct coordinator *co, struct coordinator_view *v,
                        struct table_view *t, const struct index_facts *f)
{
    const struct topic *topic = topics_find(co->topics, t->topic);

    t->own = t->lag = since(LAG_NONE);
    if (f->stop != NULL)
        t->own = lag_worse(t->own, since(f->stop->at_ms));
    if (f->rebuild != NULL)
        t->own = lag_worse(t->own, since(f->rebuild->at_ms));
    if (f->index.len > 0)
        t->own = lag_worse(t->own, since(coordinator_purged_since(co, buf_str(&f->index))));
    if (f->index.len > 0 && topic != NULL && topic->pipeline != NULL) {
        const int64_t oldest_ms =
            pipeline_fan_out_oldest_ms(topic->pipeline, buf_str(&f->index));
        const int64_t gone_ms = pipeline_gone_oldest_ms(topic->pipeline, table_index(t->d));

        t->own = lag_worse(t->own, since(oldest_ms == 0 ? LAG_NONE : oldest_ms));
        t->own = lag_worse(t->own, since(gone_ms == 0 ? LAG_NONE : gone_ms));
    }
    if (f->is_held)
        t->lag = lag_worse(t->lag, lag_of_held(&f->held, v->now_ms));
    t->lag = lag_worse(t->lag, coordinator_sync_lag(co, buf_str(&f->index)));
}

/* ---- the whole table ---- */

static void look_at_work(struct coordinator *co, struct coordinator_view *v,
                         struct table_view *t, struct str index) NEEDS(co->topics->lock)
{
    struct buf json = {0};
    struct json_writer w = {.out = &json};

    if (t->changing != NULL)
        coordinator_look_at_build(co, v->definitions, v->catalogue, t->changing, &t->build);
    coordinator_append_fan_out(co, &w, t->available);
    coordinator_append_cascades(co, &w, t->available, index);
    coordinator_append_sync(co, &w, t->d, index);
    coordinator_append_kept(co, &w, v->catalogue, table_index(t->d));
    t->work = arena_copy(v->arena, buf_str(&json));
    buf_free(&json);
}

static const struct finding *find_finding(const struct coordinator_view *v, struct str alias)
{
    for (size_t i = 0; i < v->n_findings; i++)
        if (str_equal(v->findings[i].alias, alias))
            return &v->findings[i];
    return NULL;
}

void coordinator_look_at_table(struct coordinator *co, struct coordinator_view *v,
                               struct table_view *t)
{
    const struct str alias = table_index(t->d);
    const struct str lead = table_name(definition_lead(v->definitions, t->d));
    const struct topic_definition *topic = definition_topic(v->definitions, t->d);
    struct index_facts f = {.stop = catalogue_stop(v->catalogue, lead),
                            .rebuild = catalogue_rebuild(v->catalogue, lead),
                            .pause = catalogue_pause(v->catalogue, PAUSE_INDEX, alias),
                            .astray = find_finding(v, alias)};

    t->topic = topic != NULL ? topic->name : STR("");
    t->available = catalogue_version(v->catalogue, alias, STR("available"));
    t->changing = catalogue_version(v->catalogue, alias, STR("changing"));
    if (catalogue_coming(v->catalogue, alias) != NULL)
        t->wait = catalogue_wait(v->catalogue, catalogue_coming(v->catalogue, alias));
    if (t->available != NULL)
        coordinator_index_name(&f.index, alias, t->available->number);
    f.is_held = find_hold(co, t->available, &f.held);
    if (!f.is_held)
        f.is_held = f.held_is_built = find_hold(co, t->changing, &f.held);
    look_at_condition(co, v, t, &f);
    look_at_lag(co, v, t, &f);
    look_at_work(co, v, t, buf_str(&f.index));
    buf_free(&f.index);
}
