#include "config.h"

#include "rebalance/admin/status.h"

#include "rebalance/admin/delivery_set.h"
#include "rebalance/admin/search.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/waiting.h"

#include "rebalance/admin/questions.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/view/away.h"
#include "rebalance/view/cluster.h"
#include "rebalance/view/known.h"
#include "rebalance/view/runs.h"
#include "rebalance/view/view.h"
#include "src/store/told.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void append_warnings(struct json_writer *w, const struct topic_view *t)
{
    json_write_key(w, STR("warnings"));
    json_open_array(w);
    for (size_t i = 0; i < t->n_warnings; i++)
        json_write_string(w, t->warnings[i].text);
    json_close_array(w);
}

static void append_running(struct json_writer *w, const struct topic_view *t)
{
    const struct pipeline_status *s = &t->status;
    char server[256] = "";

    if (s->source.server_known)
        snprintf(server, sizeof(server), "%s %s at %" STR_FMT,
                 s->source.server.mariadb ? "MariaDB" : "MySQL", s->source.server.version_text,
                 STR_ARG(t->d->server.address));
    json_put_cstr(w, STR("server"), server);
    json_put_cstr(w, STR("file"), s->file);
    json_put_u64(w, STR("position"), s->offset);
    json_put_cstr(w, STR("gtid"), s->gtids);
    json_put_u64(w, STR("epoch"), s->epoch);
    if (s->bytes_known)
        json_put_u64(w, STR("lag_bytes"), s->lag_bytes);
    else
        json_put_null(w, STR("lag_bytes"));
    json_put_double(w, STR("rate"), (double)(int64_t)(s->rate * 10) / 10);
    json_put_u64(w, STR("retention_seconds"), s->source.server.retention_s);
    json_put_u64(w, STR("reconnects"), s->source.reconnects);
}

static void append_stored(struct json_writer *w, const struct stored_checkpoint *cp)
{
    json_put_string(w, STR("file"), cp->file);
    json_put_u64(w, STR("position"), cp->offset);
    json_put_string(w, STR("gtid"), cp->gtid);
    json_put_u64(w, STR("epoch"), cp->epoch);
}

static void append_condition(struct json_writer *w, const struct condition *is)
{
    json_put_cstr(w, STR("state"), is->state);
    json_put_string(w, STR("reason"), is->reason);
    json_put_string(w, STR("fix"), is->fix);
    if (is->since.len > 0)
        json_put_string(w, STR("since"), is->since);
    else
        json_put_null(w, STR("since"));
}

static void append_topic_members(struct json_writer *w, const struct coordinator_view *v,
                                 const struct topic_view *t)
{
    json_put_string(w, STR("name"), t->d->name);
    append_condition(w, &t->is);
    coordinator_put_lag(w, t->lag, v->now_ms);
    json_put_string(w, STR("lag_of"), t->lag_of);
    if (t->runs)
        append_running(w, t);
    else if (t->stored != NULL)
        append_stored(w, t->stored);
    append_warnings(w, t);
}

void coordinator_put_topic(struct json_writer *w, const struct coordinator_view *v,
                           const struct topic_view *t)
{
    json_open_object(w);
    append_topic_members(w, v, t);
    json_close_object(w);
}

/* ---- tables ---- */

static void append_build(struct json_writer *w, const struct build_view *b)
{
    json_write_key(w, STR("build"));
    if (!b->is_there) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_u64(w, STR("version"), b->s.number);
    json_put_cstr(w, STR("phase"), b->s.phase);
    json_put_cstr(w, STR("waits_for"), b->s.why.msg);
    if (b->runs) {
        json_put_u64(w, STR("job"), b->s.job_id);
        json_put_u64(w, STR("rows_done"), b->s.rows_done);
        json_put_u64(w, STR("rows_total"), b->s.rows_total);
        json_put_double(w, STR("rate"), (double)(int64_t)b->s.rate);
        json_put_u64(w, STR("rate_limit"), b->s.rate_limit);
        json_put_u64(w, STR("growth"), b->s.growth);
        json_put_bool(w, STR("slow"), b->s.slow);
    }
    if (b->s.remaining_s >= 0)
        json_put_i64(w, STR("remaining_seconds"), b->s.remaining_s);
    else
        json_put_null(w, STR("remaining_seconds"));
    json_close_object(w);
}

/*
 * If the engine is away, these are its last counts.  If it refuses to count, they are unknown.
 */
static void append_documents(struct json_writer *w, const struct document_count *c)
{
    if (c->at_ms != 0 && c->why.kind == ERR_NONE)
        json_put_u64(w, STR("documents"), c->n);
    else
        json_put_null(w, STR("documents"));
    coordinator_put_time(w, STR("documents_as_of"), c->at_ms);
    json_put_cstr(w, STR("documents_reason"), c->why.msg);
}

static void put_reason(struct json_writer *w, struct str name, const struct err *why)
{
    if (why->kind != ERR_NONE)
        json_put_cstr(w, name, why->msg);
    else
        json_put_null(w, name);
}

static void append_trees(struct json_writer *w, const struct table_trees *trees)
{
    const struct trees_view *t = &trees->now;
    const struct exchanges *e = &trees->exchanges;
    if (!trees->are_wanted) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_cstr(w, STR("state"), trees_state_word(t->state));
    json_put_u64(w, STR("documents"), t->entries);
    json_put_u64(w, STR("bytes"), t->bytes);
    coordinator_put_time(w, STR("built"), t->built_ms);
    coordinator_put_time(w, STR("exchanged"), t->exchanged_ms);
    json_put_u64(w, STR("unnamed"), t->n_unnamed);
    json_put_u64(w, STR("exchanges"), exchanges_n_ended(e));
    json_put_u64(w, STR("differing"), e->differing);
    json_put_u64(w, STR("put_off"), e->n[EXCHANGE_PUT_OFF]);
    put_reason(w, STR("put_off_reason"), &e->why);
    put_reason(w, STR("missing_reason"), &e->missing);
    json_close_object(w);
}

static void append_table_members(struct json_writer *w, const struct coordinator_view *v,
                                 const struct table_view *t)
{
    json_put_string(w, STR("table"), table_name(t->d));
    json_put_string(w, STR("index"), table_index(t->d));
    json_put_string(w, STR("topic"), t->topic);
    append_condition(w, &t->is);
    if (t->available != NULL)
        json_put_u64(w, STR("version"), t->available->number);
    else
        json_put_null(w, STR("version"));
    coordinator_put_lag(w, t->lag, v->now_ms);
    append_documents(w, &t->documents);
    json_put_double(w, STR("rate"), (double)(t->counts.lately * 100 / 60) / 100);
    json_put_u64(w, STR("dropped"), t->counts.dropped);
    json_put_bool(w, STR("pending"), t->is_pending);
    if (v->stored != NULL)
        json_put_u64(w, STR("dead_letters"), t->dead);
    else
        json_put_null(w, STR("dead_letters"));
    json_put_string(w, STR("verify"), t->verify);
    json_write_key(w, STR("compared"));
    compared_put(t->is_compared ? &t->compared : NULL, w);
    coordinator_put_time(w, STR("verify_due"), t->verify_due_ms);
    json_write_key(w, STR("trees"));
    append_trees(w, &t->trees);
    json_write_key(w, STR("repairs"));
    repair_counts_put(&t->repairs, w);
    coordinator_put_runs(w, v, t);
    coordinator_put_time(w, STR("delivered"), t->delivered_ms);
    append_build(w, &t->build);
    coordinator_put_wait(w, t->wait, table_name(definition_lead(v->definitions, t->d)));
    json_write_raw(w, t->work);
}

void coordinator_put_table(struct json_writer *w, const struct coordinator_view *v,
                           const struct table_view *t)
{
    json_open_object(w);
    append_table_members(w, v, t);
    json_close_object(w);
}

/* ---- several nodes ---- */

static bool is_among(struct str key, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_string_equal(key, str_from(list[i])))
            return true;
    return false;
}

/* What its owner told, but for the state, which is the view's. What changes all the time is not
 * known of old news. */
static void append_told(struct json_writer *w, struct str json, bool is_old)
{
    static const char *const own[] = {"state", "reason", "fix", "since"};
    static const char *const passing[] = {"lag_seconds", "lag_bytes", "oldest", "rate"};
    struct json_reader r;
    struct str key, value;

    json_reader_init(&r, json);
    if (!json_enter_object(&r))
        return;
    while (json_next_member(&r, &key)) {
        const bool is_passed = is_old && is_among(key, passing, ARRAY_LEN(passing));

        if (!is_among(key, own, ARRAY_LEN(own)) && json_read_raw(&r, &value))
            json_put_raw(w, key, is_passed ? STR("null") : value);
    }
}

static void append_owner(struct coordinator *co, struct json_writer *w,
                         const struct told_topic *told, int64_t now_ms)
{
    if (!told->is_others && !coordinator_is_shared(co))
        return;
    json_put_string(w, STR("owner"),
                    told->is_others ? told->owner : str_from(co->identity.name));
    if (told->is_others && told->at_ms == 0)
        json_put_null(w, STR("told_ms"));
    else
        json_put_i64(w, STR("told_ms"), told->is_others ? told_age_ms(told, now_ms) : 0);
}

static void append_topic(struct coordinator *co, struct json_writer *w,
                         const struct coordinator_view *v, const struct topic_view *t)
{
    struct str json = STR("");

    json_open_object(w);
    if (!t->told.is_others || !json_find(t->told.body, "/topic", &json)) {
        append_topic_members(w, v, t);
    } else {
        append_condition(w, &t->is);
        append_told(w, json, t->told.is_old);
    }
    append_owner(co, w, &t->told, v->now_ms);
    json_close_object(w);
}

static void append_table(struct json_writer *w, const struct coordinator_view *v,
                         const struct table_view *t)
{
    json_open_object(w);
    if (t->told.json.len == 0) {
        append_table_members(w, v, t);
    } else {
        append_condition(w, &t->is);
        append_told(w, t->told.json, t->told.is_old);
    }
    json_close_object(w);
}

/* The nodes that ever told of themselves; only if several share the store. */
static void append_nodes(struct coordinator *co, struct json_writer *w,
                         const struct coordinator_view *v)
{
    if (!coordinator_is_shared(co))
        return;
    json_write_key(w, STR("nodes"));
    json_open_array(w);
    for (size_t i = 0; v->stored != NULL && i < v->stored->n_nodes; i++) {
        const struct stored_told_node *n = &v->stored->nodes[i];

        json_open_object(w);
        json_put_string(w, STR("node"), n->node);
        json_put_string(w, STR("name"), n->node_name);
        json_put_cstr(w, STR("state"),
                      v->cluster == NULL ? "unknown" : away_word(v->cluster, n));
        json_put_string(w, STR("version"), n->program);
        json_put_i64(w, STR("told_ms"), v->now_ms > n->at_ms ? v->now_ms - n->at_ms : 0);
        append_told(w, n->body, false);
        json_close_object(w);
    }
    json_close_array(w);
}

/* ---- the judgement ---- */

/* "ok" is null as long as nobody can say. */
static void append_judgement(const struct coordinator *co, const struct coordinator_view *v,
                             struct json_writer *w)
{
    struct doctor_list l;

    doctor_init(&l, v->arena);

    const bool is_known = coordinator_judge(co, v, &l);
    const bool failed = doctor_worst(&l) == DOCTOR_FAIL;

    if (failed || is_known)
        json_put_bool(w, STR("ok"), !failed);
    else
        json_put_null(w, STR("ok"));
    json_write_key(w, STR("checks"));
    doctor_write(&l, w);
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
    coordinator_append_purged(co, w);
    json_write_key(w, STR("settings"));
    coordinator_put_delivery_settings(co, w);
    json_write_key(w, STR("statistics"));
    json_open_object(w);
    if (co->delivery != NULL)
        delivery_put_statistics(co->delivery, w);
    search_put_statistics(co->opt.search, w);
    json_close_object(w);
    json_close_object(w);
}

static void append_changes(struct json_writer *w, const struct coordinator_view *v)
{
    struct pipeline_status all = {0};

    for (size_t i = 0; i < v->definitions->n_topics; i++) {
        const struct pipeline_status *s = &v->topics[i].status;

        all.changes_read += s->changes_read;
        for (size_t k = 0; k < N_OUTCOMES; k++)
            all.changes_done[k] += s->changes_done[k];
    }
    json_write_key(w, STR("changes"));
    json_open_object(w);
    json_put_u64(w, STR("read"), all.changes_read);
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        json_put_u64(w, str_from(outcomes[i].name), all.changes_done[outcomes[i].outcome]);
    json_put_u64(w, STR("in_flight"), all.changes_read - sum_done(&all));
    json_close_object(w);
}

static void append_objects(struct coordinator *co, struct json_writer *w,
                           const struct coordinator_view *v)
{
    json_write_key(w, STR("topics"));
    json_open_array(w);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        append_topic(co, w, v, &v->topics[i]);
    json_close_array(w);
    json_write_key(w, STR("tables"));
    json_open_array(w);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        append_table(w, v, &v->tables[i]);
    json_close_array(w);
    append_changes(w, v);
}

static void append_store(struct coordinator *co, struct json_writer *w,
                         const struct heard *heard)
{
    json_write_key(w, STR("store"));
    json_open_object(w);
    json_put_cstr(w, STR("kind"), store_kind(co->opt.store));
    coordinator_put_time(w, STR("as_of"), heard->at_ms);
    json_put_cstr(w, STR("reason"), heard->why.msg);
    json_close_object(w);
}

void coordinator_want(struct coordinator *co)
{
    engine_watch_want(co->engine_watch);
    store_watch_want(co->store_watch);
}

bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err)
{
    struct coordinator_view *v = coordinator_view_new(co);
    struct json_writer w = {.out = json};

    (void)err;
    coordinator_want(co);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/status/1");
    json_put_cstr(&w, STR("version"), PACKAGE_VERSION);
    json_put_cstr(&w, STR("node"), co->identity.uuid);
    json_put_bool(&w, STR("running"), co->delivery != NULL);
    coordinator_put_time(&w, STR("started"), co->started_ms);
    append_judgement(co, v, &w);
    append_nodes(co, &w, v);
    coordinator_append_search(co, &v->engine, &w);
    append_store(co, &w, &v->store);
    coordinator_put_cluster(&w, v->cluster);
    append_delivery(co, &w);
    append_objects(co, &w, v);
    json_close_object(&w);
    coordinator_view_free(v);
    return true;
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
    append_check(&w, "definitions", true);
    append_check(&w, "started", ready);
    json_close_array(&w);
    json_close_object(&w);
    return ready;
}
