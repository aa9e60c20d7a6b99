#include "config.h"

#include "rebalance/tell/tell.h"

#include "rebalance/admin/status.h"
#include "rebalance/delayed/runs.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/owned.h"
#include "rebalance/version/builds.h"
#include "rebalance/view/known.h"
#include "rebalance/view/view.h"
#include "rebalance/watch/engine_watch.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/store/told.h"

#include <stdlib.h>
#include <string.h>

#define PAUSE_MS 1000 /* between two rounds */
#define SETTLE_MS \
    5000 /* after the last change: then its position is stored, and its lag known */

/* What was told of a topic. */
struct tale {
    char *topic;
    uint64_t term, mark;
    int64_t at_ms;   /* monotonic; 0: never */
    bool is_settled; /* nothing had changed when it was told last */
    struct tale *next;
};

struct telling {
    struct tale *tales;
    /* As of the last round; the references keep their addresses from being used again. */
    struct catalogue *catalogue;
    struct definitions *definitions;
    size_t n_holds;
    bool engine_is_away;
    int64_t node_ms; /* monotonic: when the node told of itself */
    pthread_t thread;
};

struct telling *telling_new(void)
{
    return mem_alloc(1, sizeof(struct telling));
}

void telling_free(struct telling *t)
{
    if (t == NULL)
        return;
    while (t->tales != NULL) {
        struct tale *tale = t->tales;

        t->tales = tale->next;
        free(tale->topic);
        free(tale);
    }
    catalogue_unref(t->catalogue);
    definitions_unref(t->definitions);
    free(t);
}

/* ---- what is due ---- */

static struct tale *find_tale(struct telling *t, struct str topic)
{
    struct tale *tale;

    for (tale = t->tales; tale != NULL; tale = tale->next)
        if (str_equal(str_from(tale->topic), topic))
            return tale;
    tale = mem_alloc(1, sizeof(*tale));
    tale->topic = strndup(topic.ptr, topic.len);
    tale->next = t->tales;
    return t->tales = tale;
}

/* Has anything changed that concerns all topics? */
static bool see_all(struct coordinator *co)
{
    struct telling *t = co->telling;
    struct catalogue *c = coordinator_catalogue(co);
    struct definitions *d = coordinator_definitions(co);
    const size_t n_holds = holds_n(co->holds);
    const bool engine_is_away = engine_watch_heard(co->engine_watch).is_unreachable;
    const bool changed = c != t->catalogue || d != t->definitions || n_holds != t->n_holds ||
                         engine_is_away != t->engine_is_away;

    if (engine_is_away) /* so that its return is seen soon */
        engine_watch_want(co->engine_watch);
    catalogue_unref(t->catalogue);
    definitions_unref(t->definitions);
    t->catalogue = c;
    t->definitions = d;
    t->n_holds = n_holds;
    t->engine_is_away = engine_is_away;
    return changed;
}

/* Mix in how far the topic's builds are. */
static uint64_t mark_builds(struct coordinator *co, struct str topic, uint64_t mark)
{
    const struct catalogue *c = co->telling->catalogue;

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct index_build_status s = {0};

        if (!str_equal(v->topic, topic) || !catalogue_is_coming(v) ||
            !builds_status(co->builds, v->index, v->number, &s))
            continue;
        /* Phases and steps are literals. */
        mark = mark * 31 + s.rows_done + (uintptr_t)s.phase + (uintptr_t)s.step;
    }
    return mark;
}

/* For what a delayed run waits. */
static uint64_t mark_delayed(struct coordinator *co, struct str topic, uint64_t mark)
{
    struct buf why = {0};

    delayed_runs_append_why(co->delayed, topic, &why);
    for (size_t i = 0; i < why.len; i++)
        mark = mark * 31 + (unsigned char)why.ptr[i];
    buf_free(&why);
    return mark;
}

static uint64_t mark_of(struct coordinator *co, struct str name)
{
    uint64_t mark = 0;

    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, name);

    if (t != NULL && t->pipeline != NULL)
        mark = pipeline_mark(t->pipeline);
    else if (t != NULL)
        mark = (uint64_t)t->why.kind;
    lock_release(&co->topics->lock);
    return mark_delayed(co, name, mark_builds(co, name, mark));
}

/* Sets what the tale is about to be told as. */
static bool is_due(struct coordinator *co, struct tale *tale, uint64_t term, bool changed)
{
    const uint64_t mark = mark_of(co, str_from(tale->topic));
    const int64_t age_ms = clock_mono_ms() - tale->at_ms;
    const bool moved = changed || tale->at_ms == 0 || tale->term != term || tale->mark != mark;

    if (!moved && age_ms < (tale->is_settled ? TOLD_EVERY_MS : SETTLE_MS))
        return false;
    tale->term = term;
    tale->mark = mark;
    tale->is_settled = !moved;
    return true;
}

/* ---- telling ---- */

static void put_brief(struct json_writer *w, const struct table_view *t)
{
    json_open_object(w);
    json_put_string(w, STR("table"), table_name(t->d));
    json_put_string(w, STR("index"), table_index(t->d));
    json_put_string(w, STR("topic"), t->topic);
    json_put_cstr(w, STR("state"), t->is.state);
    json_put_string(w, STR("reason"), t->is.reason);
    json_put_string(w, STR("fix"), t->is.fix);
    json_close_object(w);
}

static void compose(struct buf *body, struct coordinator *co, const struct coordinator_view *v,
                    const struct topic_view *t, bool brief)
{
    struct buf why = {0};
    struct json_writer w = {.out = body};
    struct doctor_list l;

    doctor_init(&l, v->arena);
    coordinator_check_topic(v, t, &l);
    json_open_object(&w);
    json_put_i64(&w, STR("started_ms"), co->started_ms);
    delayed_runs_append_why(co->delayed, t->d->name, &why);
    json_put_string(&w, STR(DELAYED_TOLD), buf_str(&why));
    buf_free(&why);
    json_write_key(&w, STR("topic"));
    coordinator_put_topic(&w, v, t);
    json_write_key(&w, STR("tables"));
    json_open_array(&w);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        if (!str_equal(v->tables[i].topic, t->d->name))
            continue;
        else if (brief)
            put_brief(&w, &v->tables[i]);
        else
            coordinator_put_table(&w, v, &v->tables[i]);
    json_close_array(&w);
    json_write_key(&w, STR("checks"));
    doctor_write(&l, &w);
    json_close_object(&w);
}

static bool put(struct coordinator *co, const struct coordinator_view *v,
                const struct topic_view *t, const struct tale *tale, bool brief,
                struct err *err)
{
    struct buf body = {0};

    compose(&body, co, v, t, brief);

    const struct stored_told told = {.topic = t->d->name,
                                     .node = str_from(co->identity.uuid),
                                     .node_name = str_from(co->identity.name),
                                     .term = tale->term,
                                     .at_ms = clock_wall_ms(),
                                     .body = buf_str(&body)};
    const bool ok = store_put_told(co->opt.store, &told, err);

    buf_free(&body);
    return ok;
}

/*
 * Of very many tables only the states fit into the store.  If the store fails, the topic stays
 * due.
 */
static bool tell_topic(struct coordinator *co, const struct coordinator_view *v,
                       const struct topic_view *t, struct tale *tale)
{
    struct err err = {0};
    bool ok = put(co, v, t, tale, false, &err);

    if (!ok && err.kind == ERR_REJECT) {
        err = (struct err){0};
        ok = put(co, v, t, tale, true, &err);
    }
    if (!ok && err.kind == ERR_REJECT)
        log_failure(LOG_WARN, &err, "other nodes cannot show the topic",
                    KV("topic", t->d->name));
    tale->at_ms = ok || err.kind == ERR_REJECT ? clock_mono_ms() : 0;
    return ok;
}

static size_t tell_topics(struct coordinator *co, const struct str *topics, size_t n)
{
    struct coordinator_view *v = coordinator_view_of(co, topics, n);
    size_t told = 0;

    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (!v->topics[i].told.is_others)
            told +=
                tell_topic(co, v, &v->topics[i], find_tale(co->telling, v->topics[i].d->name));
    coordinator_view_free(v);
    return told;
}

static bool tell_node(struct coordinator *co, bool is_last)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};
    struct err err = {0};

    json_open_object(&w);
    coordinator_put_time(&w, STR("started"), co->started_ms);
    json_put_cstr(&w, STR("address"), co->opt.address);
    if (is_last)
        coordinator_put_time(&w, STR("stopped"), clock_wall_ms());
    json_close_object(&w);

    const struct stored_told_node told = {.node = str_from(co->identity.uuid),
                                          .node_name = str_from(co->identity.name),
                                          .program = STR(PACKAGE_VERSION),
                                          .at_ms = clock_wall_ms(),
                                          .body = buf_str(&body)};
    const bool ok = store_put_told_node(co->opt.store, &told, &err);

    buf_free(&body);
    return ok;
}

/* Any node may: whoever owns such a topic again tells of it within a minute. */
static void forget_deleted(struct coordinator *co)
{
    struct store_copy *c = store_watch_copy(co->store_watch);
    struct err err = {0};

    for (size_t i = 0; c != NULL && i < c->n_told; i++)
        if (definitions_topic(co->telling->definitions, c->told[i].topic) == NULL &&
            !store_delete_told(co->opt.store, c->told[i].topic, &err))
            log_debug("could not forget what was told of a deleted topic",
                      KV("why", (const char *)err.msg));
    store_copy_unref(c);
}

size_t coordinator_tell(struct coordinator *co)
{
    struct telling *t = co->telling;
    const bool changed = see_all(co);
    const struct definitions *d = t->definitions;
    struct str *due = mem_alloc(d->n_topics + 1, sizeof(*due));
    size_t n = 0;

    for (size_t i = 0; i < d->n_topics; i++) {
        const struct str name = d->topics[i].name;
        uint64_t term;

        if (coordinator_owns(co, name) && coordinator_find_term(co, name, &term) &&
            is_due(co, find_tale(t, name), term, changed))
            due[n++] = name;
    }
    n = n == 0 ? 0 : tell_topics(co, due, n);
    free(due);
    if (t->node_ms == 0 || clock_mono_ms() - t->node_ms >= TOLD_EVERY_MS) {
        t->node_ms = tell_node(co, false) ? clock_mono_ms() : 0;
        forget_deleted(co);
    }
    return n;
}

static void *telling_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    int64_t due_ms = clock_mono_ms();
    uint64_t seen = 0;

    for (;;) {
        const int64_t left_ms = due_ms - clock_mono_ms();

        if (stop_rest(&co->stop, left_ms > 0 ? left_ms : 0, &seen))
            break;
        if (clock_mono_ms() < due_ms)
            continue; /* somebody was nudged */
        coordinator_tell(co);
        due_ms = clock_mono_ms() + PAUSE_MS;
    }
    if (!tell_node(co, true))
        log_debug("could not tell other nodes of the stop");
    return NULL;
}

void coordinator_start_telling(struct coordinator *co)
{
    if (coordinator_is_shared(co))
        co->telling->thread = thread_start("telling", telling_main, co);
}

void coordinator_join_telling(struct coordinator *co)
{
    if (coordinator_is_shared(co))
        pthread_join(co->telling->thread, NULL);
}
