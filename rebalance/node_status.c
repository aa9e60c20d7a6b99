#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "sync/routing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREPARED_LONG_MS 60000

/* ---- small parts ---- */

static const struct version_count {
    const char *name;
    size_t outcome;
} outcomes[] = {{"delivered", OUTCOME_DELIVERED}, {"superseded", OUTCOME_SUPERSEDED},
                {"filtered", OUTCOME_FILTERED},   {"deferred", OUTCOME_DEFERRED},
                {"purged", OUTCOME_PURGED},       {"dead", OUTCOME_DEAD}};

static uint64_t sum_done(const struct pipeline_status *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < N_OUTCOMES; i++)
        sum += s->changes_done[i];
    return sum;
}

/* A lag that eats up half of what the server keeps of its log can end in a purged log. */
bool node_lag_threatens(const struct pipeline_status *s)
{
    return s->source.server_known && s->source.server.retention_s > 0 &&
           s->lag_s > (double)s->source.server.retention_s / 2;
}

bool node_prepared_long(const struct pipeline_status *s, char *text, size_t cap)
{
    const int64_t age_ms = clock_wall_ms() - s->prepared.oldest_ms;

    if (s->prepared.n == 0 || age_ms < PREPARED_LONG_MS)
        return false;
    snprintf(text, cap,
             "the XA transaction %s is prepared for %" PRId64 " s (%zu are), and the position "
             "%s:%" PRIu64 " stays before it, so that the server must keep its log from there; "
             "fix: XA COMMIT or XA ROLLBACK it; if XA RECOVER does not list it, the server has "
             "lost it: millrace topic reset, then millrace index create",
             s->prepared.oldest, age_ms / 1000, s->prepared.n, s->file, s->offset);
    return true;
}

static void append_warnings(struct json_writer *w, const struct pipeline_status *s)
{
    char prepared[1024];

    json_write_key(w, STR("warnings"));
    json_open_array(w);
    if (node_lag_threatens(s)) {
        char text[256];

        snprintf(text, sizeof(text),
                 "the lag of %.0f s is more than half of the %" PRIu64
                 " s that the server keeps its binlog; fix: raise binlog_expire_logs_seconds, "
                 "or find what is slow",
                 s->lag_s, s->source.server.retention_s);
        json_write_string(w, str_from(text));
    }
    if (node_prepared_long(s, prepared, sizeof(prepared)))
        json_write_string(w, str_from(prepared));
    if (s->save_error.kind != ERR_NONE)
        json_write_string(w, str_from(s->save_error.msg));
    if (s->source.server_known && !s->source.server.gtid)
        json_write_string(w, STR("the server has no GTIDs: re-reads wait for locks of changed "
                                 "rows, or a settle delay, instead of an exact position; "
                                 "fix: gtid_mode=ON"));
    json_close_array(w);
}

static void append_running(struct json_writer *w, const struct topic *t,
                           const struct topic_definition *d)
{
    const bool moves = t->move_why.kind != ERR_NONE;
    struct pipeline_status s;
    char server[256] = "";

    pipeline_status(t->pipeline, &s);
    if (s.source.server_known)
        snprintf(server, sizeof(server), "%s %s at %" STR_FMT,
                 s.source.server.mariadb ? "MariaDB" : "MySQL", s.source.server.version_text,
                 STR_ARG(d->server.address));
    json_put_cstr(w, STR("state"), source_state_name(s.source.state));
    json_put_cstr(w, STR("server"), server);
    json_put_cstr(w, STR("file"), s.file);
    json_put_u64(w, STR("position"), s.offset);
    json_put_cstr(w, STR("gtid"), s.gtids);
    json_put_u64(w, STR("epoch"), s.epoch);
    if (s.lag_known) {
        json_put_double(w, STR("lag_seconds"), (double)(int64_t)(s.lag_s * 1000) / 1000);
        json_put_u64(w, STR("lag_bytes"), s.lag_bytes);
    } else {
        json_put_null(w, STR("lag_seconds"));
        json_put_null(w, STR("lag_bytes"));
    }
    json_put_double(w, STR("rate"), (double)(int64_t)(s.rate * 10) / 10);
    json_put_u64(w, STR("retention_seconds"), s.source.server.retention_s);
    json_put_u64(w, STR("reconnects"), s.source.reconnects);
    json_put_cstr(w, STR("reason"), moves ? t->move_why.msg : s.source.why.msg);
    json_put_cstr(w, STR("fix"), moves ? "it is tried again by itself" : s.source.fix);
    append_warnings(w, &s);
    free(s.gtids);
}

static void append_topic(struct coordinator *co, struct json_writer *w,
                         const struct topic_definition *d)
{
    const struct topic *t = node_topic(co, d->name);

    json_open_object(w);
    json_put_string(w, STR("name"), d->name);
    if (t != NULL && t->pipeline != NULL) {
        append_running(w, t, d);
    } else {
        json_put_cstr(w, STR("state"),
                      t != NULL && t->why.kind != ERR_NONE ? "fail" : "created");
        json_put_cstr(w, STR("reason"), t != NULL ? t->why.msg : "");
        json_put_cstr(w, STR("fix"), "");
        json_write_key(w, STR("warnings"));
        json_open_array(w);
        json_close_array(w);
    }
    json_close_object(w);
}

/* ---- tables ---- */

/* What was counted before the locks were taken. */
struct counted_table {
    uint64_t documents; /* UINT64_MAX: not known */
    uint64_t dead;
    bool pending;
    struct str verify; /* why it is to be verified; empty: it is not */
};

/* The reason says what the engine said; what to do about it is the same for all of it. */
static const char held_fix[] =
    "let the engine take writes again (free disk, a right, a write block): it is tried again by "
    "itself; or millrace index create";

struct table_view {
    const struct stored_version *available, *changing;
    const struct stored_stop *stop;
    const struct stored_rebuild *rebuild;
    const struct held_index *held;
    struct buf index;
};

const struct held_index *node_find_held(const struct coordinator *co, struct str index)
{
    for (const struct held_index *h = co->held; h != NULL; h = h->next)
        if (str_equal(str_from(h->index), index))
            return h;
    return NULL;
}

static void look_at_table(const struct coordinator *co, const struct catalogue *c,
                          const struct definitions *d, const struct table_definition *t,
                          struct table_view *v)
{
    const struct str alias = table_index(t), lead = table_name(definition_lead(d, t));

    v->available = catalogue_version(c, alias, STR("available"));
    v->changing = catalogue_version(c, alias, STR("changing"));
    v->stop = catalogue_stop(c, lead);
    v->rebuild = catalogue_rebuild(c, lead);
    if (v->available != NULL) {
        node_index_name(&v->index, alias, v->available->number);
        v->held = node_find_held(co, buf_str(&v->index));
    }
    if (v->held == NULL && v->changing != NULL) {
        struct buf name = {0};

        node_index_name(&name, alias, v->changing->number);
        v->held = node_find_held(co, buf_str(&name));
        buf_free(&name);
    }
}

static const char *table_state(const struct table_view *v)
{
    if (v->changing != NULL)
        return "changing";
    if (v->stop != NULL)
        return "stopped";
    if (v->held != NULL)
        return "held";
    return v->available != NULL ? "available" : "unavailable";
}

static void append_build(const struct coordinator *co, struct json_writer *w,
                         const struct table_view *v)
{
    json_write_key(w, STR("build"));
    for (size_t i = 0; v->changing != NULL && i < co->n_builds; i++) {
        struct index_build *b = co->builds[i];

        if (!str_equal(str_from(index_build_alias(b)), v->changing->index))
            continue;

        const struct index_build_status s = index_build_status(b);

        json_open_object(w);
        json_put_u64(w, STR("version"), s.number);
        json_put_u64(w, STR("job"), s.job_id);
        json_put_cstr(w, STR("phase"), s.phase);
        json_put_u64(w, STR("rows_done"), s.rows_done);
        json_put_u64(w, STR("rows_total"), s.rows_total);
        json_put_double(w, STR("rate"), (double)(int64_t)s.rate);
        if (s.remaining_s >= 0)
            json_put_i64(w, STR("remaining_seconds"), s.remaining_s);
        else
            json_put_null(w, STR("remaining_seconds"));
        json_put_u64(w, STR("rate_limit"), s.rate_limit);
        json_put_cstr(w, STR("waits_for"), s.why.msg);
        json_close_object(w);
        return;
    }
    json_write_null(w);
}

/* Why it is not as it should be, and what happens or is to be done. */
static void append_reason(const struct coordinator *co, struct json_writer *w,
                          const struct table_definition *t, const struct catalogue *c,
                          const struct table_view *v)
{
    struct str reason = STR("");
    struct buf fix = {0}, away = {0};

    if (v->stop != NULL)
        reason = v->stop->reason;
    else if (v->held != NULL)
        reason = str_from(v->held->why.msg);
    else if (v->rebuild != NULL)
        reason = v->rebuild->reason;
    else if (v->available != NULL)
        reason = node_sync_reason(co, buf_str(&v->index));
    if (reason.len == 0 && v->available != NULL) {
        node_append_unread(co, co->definitions, t, buf_str(&v->index), &away);
        reason = buf_str(&away);
    }
    if (v->rebuild != NULL)
        node_append_rebuild_fix(co, c, t, &fix);
    else if (v->stop != NULL)
        buf_append(&fix, v->stop->way_out);
    else if (v->held != NULL)
        buf_append(&fix, str_from(held_fix));
    else if (away.len > 0)
        buf_append(&fix, STR("they go on by themselves when that is over"));
    else if (reason.len > 0)
        buf_append(&fix, STR("the sync by time is tried again by itself"));
    json_put_string(w, STR("reason"), reason);
    json_put_string(w, STR("fix"), buf_str(&fix));
    buf_free(&fix);
    buf_free(&away);
}

static void append_table(struct coordinator *co, struct json_writer *w,
                         const struct table_definition *t, const struct definitions *d,
                         const struct catalogue *c, const struct counted_table *counted)
{
    struct table_view v = {0};
    const struct topic_definition *topic = definition_topic(d, t);

    look_at_table(co, c, d, t, &v);
    json_open_object(w);
    json_put_string(w, STR("table"), table_name(t));
    json_put_string(w, STR("index"), table_index(t));
    json_put_string(w, STR("topic"), topic != NULL ? topic->name : STR(""));
    json_put_cstr(w, STR("state"), table_state(&v));
    if (v.available != NULL)
        json_put_u64(w, STR("version"), v.available->number);
    else
        json_put_null(w, STR("version"));
    if (counted->documents != UINT64_MAX)
        json_put_u64(w, STR("documents"), counted->documents);
    else
        json_put_null(w, STR("documents"));
    json_put_bool(w, STR("pending"), counted->pending);
    json_put_u64(w, STR("dead_letters"), counted->dead);
    json_put_string(w, STR("verify"), counted->verify);
    append_reason(co, w, t, c, &v);
    append_build(co, w, &v);
    node_append_fan_out(co, w, v.available);
    node_append_sync(co, w, t, buf_str(&v.index));
    json_close_object(w);
    buf_free(&v.index);
}

/* ---- status ---- */

static void append_delivery(struct coordinator *co, struct json_writer *w)
{
    const struct delivery_status s =
        co->delivery != NULL ? delivery_status(co->delivery) : (struct delivery_status){0};

    json_write_key(w, STR("delivery"));
    json_open_object(w);
    json_put_u64(w, STR("queued"), s.queued);
    json_put_u64(w, STR("loading"), s.loading);
    json_put_u64(w, STR("in_flight"), s.in_flight);
    json_put_u64(w, STR("bytes_held"), s.bytes_held);
    json_put_u64(w, STR("requests"), s.requests);
    json_put_u64(w, STR("requests_failed"), s.requests_failed);
    json_put_u64(w, STR("retries"), s.retries);
    json_put_u64(w, STR("blocked"), s.blocked);
    node_append_purged(co, w);
    json_write_key(w, STR("settings"));
    node_put_delivery_settings(co, w);
    json_write_key(w, STR("statistics"));
    json_open_object(w);
    if (co->delivery != NULL)
        delivery_put_statistics(co->delivery, w);
    search_put_statistics(co->opt.search, w);
    json_close_object(w);
    json_close_object(w);
}

static void append_changes(struct coordinator *co, struct json_writer *w)
{
    struct pipeline_status all = {0};

    for (struct topic *t = co->topics; t != NULL; t = t->next) {
        struct pipeline_status s;

        if (t->pipeline == NULL)
            continue;
        pipeline_status(t->pipeline, &s);
        free(s.gtids);
        all.changes_read += s.changes_read;
        for (size_t i = 0; i < N_OUTCOMES; i++)
            all.changes_done[i] += s.changes_done[i];
    }
    json_write_key(w, STR("changes"));
    json_open_object(w);
    json_put_u64(w, STR("read"), all.changes_read);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        json_put_u64(w, str_from(outcomes[i].name), all.changes_done[outcomes[i].outcome]);
    json_put_u64(w, STR("in_flight"), all.changes_read - sum_done(&all));
    json_close_object(w);
}

static uint64_t count_of(const struct dead_letter_count *counts, size_t n,
                         const struct table_definition *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += definition_names(t, counts[i].table) ? counts[i].count : 0;
    return sum;
}

/* Documents that searches find; nested ones do not count.  UINT64_MAX: not known. */
static uint64_t count_documents(struct coordinator *co, const struct catalogue *c,
                                const struct table_definition *t)
{
    const struct stored_version *v = catalogue_version(c, table_index(t), STR("available"));
    struct buf name = {0};
    struct err ignored = {0};
    uint64_t n;

    if (v == NULL)
        return UINT64_MAX;
    node_index_name(&name, v->index, v->number);
    if (!search_count(co->opt.search, buf_str(&name), &n, &ignored))
        n = UINT64_MAX;
    buf_free(&name);
    return n;
}

/* Whether its definition takes effect with the next build. */
static bool is_pending(struct coordinator *co, const struct catalogue *c,
                       const struct table_definition *t)
{
    const struct stored_version *v = catalogue_version(c, table_index(t), STR("available"));
    struct err ignored = {0};
    uint64_t built;

    return v != NULL && node_pending_since(co, table_name(t), &built, &ignored) &&
           v->number <= built;
}

static struct str mark_of(struct coordinator *co, struct arena *a, const struct catalogue *c,
                          const struct table_definition *t)
{
    struct buf reason = {0};

    node_mark_of(co, c, table_index(t), &reason);

    const struct str copy = arena_copy(a, buf_str(&reason));

    buf_free(&reason);
    return copy;
}

/* Asked for before any lock is taken: the engine may be slow. */
static bool count_all(struct coordinator *co, struct arena *a, const struct definitions *d,
                      const struct catalogue *c, struct counted_table **out, struct err *err)
{
    struct dead_letter_count *dead;
    size_t n_dead;

    if (!store_count_dead_letters(co->opt.store, a, &dead, &n_dead, err))
        return false;
    *out = arena_alloc(a, d->n_tables + 1, sizeof(**out));
    for (size_t i = 0; i < d->n_tables; i++)
        (*out)[i] = (struct counted_table){
            .documents = count_documents(co, c, &d->tables[i]),
            .dead = count_of(dead, n_dead, &d->tables[i]),
            .pending = is_pending(co, c, &d->tables[i]),
            .verify = mark_of(co, a, c, &d->tables[i]),
        };
    return true;
}

static void append_objects(struct coordinator *co, struct json_writer *w,
                           const struct definitions *d, const struct catalogue *c,
                           const struct counted_table *counted)
{
    json_write_key(w, STR("topics"));
    json_open_array(w);
    for (size_t i = 0; i < d->n_topics; i++)
        append_topic(co, w, &d->topics[i]);
    json_close_array(w);
    json_write_key(w, STR("tables"));
    json_open_array(w);
    for (size_t i = 0; i < d->n_tables; i++)
        append_table(co, w, &d->tables[i], d, c, &counted[i]);
    json_close_array(w);
    append_changes(co, w);
}

bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err)
{
    struct arena *a = arena_new();
    struct catalogue *c = node_catalogue(co);
    struct definitions *d = node_definitions(co);
    struct counted_table *counted;
    struct json_writer w = {.out = json};
    const bool ok = count_all(co, a, d, c, &counted, err);

    if (ok) {
        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/status/1");
        json_put_cstr(&w, STR("version"), PACKAGE_VERSION);
        json_put_cstr(&w, STR("node"), co->uuid);
        json_put_bool(&w, STR("running"), co->delivery != NULL);
        node_put_time(&w, STR("started"), co->started_ms);
        node_append_search(co, &w);
        append_delivery(co, &w);
        pthread_mutex_lock(&co->lock);
        append_objects(co, &w, d, c, counted);
        pthread_mutex_unlock(&co->lock);
        json_close_object(&w);
    }
    definitions_unref(d);
    node_catalogue_free(c);
    arena_free(a);
    return ok;
}

/* ---- ready ---- */

static void append_check(struct json_writer *w, const char *name, bool ok)
{
    json_open_object(w);
    json_put_cstr(w, STR("name"), name);
    json_put_bool(w, STR("ok"), ok);
    json_close_object(w);
}

bool coordinator_ready(struct coordinator *co, struct buf *json)
{
    struct json_writer w = {.out = json};
    const bool ready = __atomic_load_n(&co->started, __ATOMIC_ACQUIRE);

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/ready/1");
    json_put_bool(&w, STR("ready"), ready);
    json_write_key(&w, STR("checks"));
    json_open_array(&w);
    append_check(&w, "store", true);
    append_check(&w, "definitions", co->definitions != NULL);
    append_check(&w, "started", ready);
    json_close_array(&w);
    json_close_object(&w);
    return ready;
}
