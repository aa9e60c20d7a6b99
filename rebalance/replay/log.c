#include "config.h"

#include "rebalance/replay/parts.h"
#include "rebalance/replay/rows.h"
#include "rebalance/replay/span.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/random.h"
#include "sync/decode/transaction.h"
#include "sync/position/position.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"
#include "sync/source/transport/transport.h"

#include <inttypes.h>
#include <stdio.h>

#define SAVE_MS      1000
#define HEARTBEAT_MS 1000 /* the thread sees so soon that it must stop */
#define EVENT_MAX    ((size_t)1 << 30)
#define OFFSET_MAX   UINT32_MAX /* the protocol has 32 bits */

/* The second reader of a topic's log, beside the stream's. */
struct rereading {
    struct replay *replay;
    struct replay_span span;
    struct arena *arena; /* owns the span's texts */
    struct replay_rows *rows;
    struct routing *routing; /* a reference; NULL: its pipeline runs elsewhere */
    struct transport *transport;
    struct log_reader *reader;
    int64_t time_s; /* the latest of the running transaction's events */
    int64_t saved_ms;
    bool is_over;
};

/* ---- how far it is ---- */

static bool load_place(struct rereading *l, struct err *err)
{
    struct buf file = {0};
    int64_t offset = 0;
    const bool ok = replay_keys_get(l->replay->keys, "file", &file, err) &&
                    replay_keys_get_number(l->replay->keys, "offset", &offset, err);

    if (ok && file.len > 0)
        l->span.from =
            (struct position){arena_copy(l->arena, buf_str(&file)), (uint64_t)offset};
    buf_free(&file);
    return ok;
}

static bool save_place(struct rereading *l, struct err *err)
{
    const struct position at = log_reader_position(l->reader);
    struct replay_keys *keys = l->replay->keys;

    l->saved_ms = clock_mono_ms();
    return replay_keys_put(keys, "file", at.file, err) &&
           replay_keys_put_number(keys, "offset", (int64_t)at.offset, err) &&
           replay_save(l->replay, err) &&
           replay_keys_count(keys, INT64_MAX, &l->replay->documents, err) &&
           replay_may_go_on(l->replay, err) && replay_show(l->replay, NULL, false, err);
}

/* ---- events ---- */

/* The file may have ended before. */
static bool begins_behind(const struct rereading *l, const struct step *step)
{
    return step->begins && l->span.to.file.len > 0 &&
           position_compare((struct position){step->event.file, step->event.start},
                            l->span.to) >= 0;
}

static bool is_at_end(const struct rereading *l)
{
    return l->span.to.file.len > 0
               ? position_compare(log_reader_position(l->reader), l->span.to) >= 0
               : l->time_s >= l->span.ends_s;
}

static bool end_transaction(struct rereading *l, struct err *err)
{
    l->is_over = is_at_end(l);
    l->time_s = 0;
    return (!l->is_over && clock_mono_ms() - l->saved_ms < SAVE_MS) || save_place(l, err);
}

static bool take_step(struct rereading *l, const struct step *step, struct err *err)
{
    uint64_t version = 0;

    l->is_over = begins_behind(l, step);
    if (l->is_over)
        return true;
    if (step->begins)
        l->time_s = 0;
    if (step->event.end != 0 && (int64_t)step->event.time > l->time_s)
        l->time_s = step->event.time;
    if (step->kind == STEP_ROWS) {
        if (!position_version((struct position){step->event.file, step->event.end},
                              l->span.epoch, &version, err) ||
            !replay_rows_take(l->rows, step, version, err))
            return false;
    } else if (step->kind == STEP_STATEMENT) {
        replay_rows_statement(l->rows, step);
    }
    return !step->ends || step->event.end == 0 || end_transaction(l, err);
}

static bool take_event(struct rereading *l, struct str raw, struct err *err)
{
    struct step step;
    int got = 0;

    if (!log_reader_feed(l->reader, raw, err))
        return false;
    while (!l->is_over && (got = log_reader_next(l->reader, &step, err)) == 1)
        if (!take_step(l, &step, err))
            return false;
    return got >= 0;
}

static bool read_events(struct rereading *l, struct err *err)
{
    struct str raw;
    int got = 0;

    l->saved_ms = clock_mono_ms();
    while (!l->is_over && (got = transport_next(l->transport, &raw, err)) == 1) {
        if (!take_event(l, raw, err))
            return false;
        FAILPOINT(replay_read);
        if (stop_is_set(&l->replay->co->stop))
            return err_set(err, ERR_STOP, "stopping");
    }
    return got >= 0 && save_place(l, err);
}

/* ---- the connection ---- */

static bool open_dump(struct rereading *l, struct err *err)
{
    struct coordinator *co = l->replay->co;
    struct definitions *d = coordinator_definitions(co);
    const struct topic_definition *t = definitions_topic(d, l->span.topic);
    char uuid[37];
    struct transport_options dump = {.uuid = uuid,
                                     .file = l->span.from.file,
                                     .offset = l->span.from.offset,
                                     .heartbeat_ms = HEARTBEAT_MS,
                                     .event_max = EVENT_MAX,
                                     .non_block = true};
    struct server_access *server = NULL;
    struct random rnd;

    random_init_system(&rnd);
    dump.server_id = (uint32_t)(UINT32_C(0xf0000000) + random_below(&rnd, 0x0fffffff));
    snprintf(uuid, sizeof(uuid), "%.28s%08" PRIx32, co->identity.uuid, dump.server_id);

    const bool ok = (t != NULL || err_set(err, ERR_REJECT, "topic %" STR_FMT " is gone",
                                          STR_ARG(l->span.topic))) &&
                    server_access_new(&server, t, NULL, co->opt.data_dir, err) &&
                    transport_open_server(&l->transport, &server->options, &dump, err);

    server_access_unref(server);
    definitions_unref(d);
    return ok;
}

/* Returns a reference; NULL: it runs on another node, or not now. */
static struct pipeline *find_pipeline(struct coordinator *co, struct str topic)
{
    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, topic);
    struct pipeline *p = t == NULL || t->pipeline == NULL ? NULL : pipeline_ref(t->pipeline);

    lock_release(&co->topics->lock);
    return p;
}

static struct routing *find_routing(struct coordinator *co, struct str topic)
{
    struct pipeline *p = find_pipeline(co, topic);
    struct routing *found = p == NULL ? NULL : pipeline_routing(p);

    pipeline_unref(p);
    return found;
}

/* Whoever was away meets its midnights when it catches up; then they must be in the store. */
static bool wait_for_midnights(struct replay *r, struct str topic, struct err *err)
{
    struct pipeline *p = find_pipeline(r->co, topic);
    const bool ok =
        p == NULL ||
        (pipeline_has_caught_up(p)
             ? pipeline_save(p, err)
             : err_set(err, ERR_RETRY,
                       "topic %" STR_FMT " has not read yet what its server had at the start",
                       STR_ARG(topic)));

    pipeline_unref(p);
    return ok;
}

static bool read_span(struct rereading *l, struct err *err)
{
    if (l->span.from.offset > OFFSET_MAX) /* keys that come again are there once */
        l->span.from.offset = 4;
    l->routing = find_routing(l->replay->co, l->span.topic);
    l->rows = replay_rows_new(l->replay, l->span.topic, l->routing);
    l->reader = log_reader_new(&(struct log_reader_options){.want = replay_rows_want,
                                                            .want_ctx = l->rows,
                                                            .lenient = true,
                                                            .event_max = EVENT_MAX,
                                                            .start = l->span.from});

    const bool ok = open_dump(l, err) && read_events(l, err);

    transport_close(l->transport);
    log_reader_free(l->reader);
    replay_rows_free(l->rows);
    routing_unref(l->routing);
    return ok;
}

/* ---- the phase ---- */

static bool is_root(const struct replay *r, struct str topic)
{
    return str_equal(topic, r->run.topic);
}

/* What the log cannot tell any more. */
static bool do_without(struct replay *r, struct str topic, const char *why, struct err *err)
{
    if (is_root(r, topic))
        return replay_keys_put(r->keys, "gone", str_from(why), err);
    replay_note(r,
                "changes on the server of topic %" STR_FMT " were left out, as %s; fix: "
                "millrace verify %" STR_FMT " --repair",
                STR_ARG(topic), why, STR_ARG(r->job.table));
    return true;
}

static bool read_topic(struct replay *r, struct str topic, struct err *err)
{
    struct rereading l = {.replay = r, .arena = arena_new()};
    bool ok =
        wait_for_midnights(r, topic, err) && replay_find_span(r, topic, l.arena, &l.span, err);

    if (ok && l.span.gone != NULL) {
        ok = do_without(r, topic, l.span.gone, err);
    } else if (ok) {
        ok = load_place(&l, err);
        if (ok && (l.span.to.file.len == 0 || position_compare(l.span.from, l.span.to) < 0))
            ok = read_span(&l, err);
        if (!ok && transport_is_gap(transport_reason_of(err))) {
            *err = (struct err){0};
            replay_keys_undo(r->keys);
            ok = do_without(r, topic, "the server has purged that part of its log", err);
        }
    }
    if (!ok)
        replay_keys_undo(r->keys);
    arena_free(l.arena);
    return ok;
}

/* The topics of all plans, each once, in their order. */
static size_t list_topics(const struct replay *r, struct str *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < r->run.n_targets; i++)
        for (size_t k = 0; k < plan_n_topics(replay_plan(r->run.targets[i])); k++) {
            const struct str topic = plan_topic(replay_plan(r->run.targets[i]), k);
            bool is_there = n == max;

            for (size_t j = 0; j < n; j++)
                is_there = is_there || str_equal(out[j], topic);
            if (!is_there)
                out[n++] = topic;
        }
    return n;
}

bool replay_read_logs(struct replay *r, struct err *err)
{
    struct str topics[64];
    const size_t n = list_topics(r, topics, ARRAY_LEN(topics));
    int64_t done = 0;

    if (!replay_keys_get_number(r->keys, "topic", &done, err))
        return false;
    for (; done < (int64_t)n; done++)
        if (!read_topic(r, topics[done], err) ||
            !replay_keys_put_number(r->keys, "topic", done + 1, err) ||
            !replay_keys_put(r->keys, "file", STR(""), err) || !replay_save(r, err))
            return false;
    return true;
}
