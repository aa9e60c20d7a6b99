#include "config.h"

#include "rebalance/trace/parts.h"

#include "rebalance/verify/result.h"
#include "src/base/clock.h"
#include "sync/decode/checksum.h"

#include <inttypes.h>

static void put_version(struct json_writer *w, uint64_t version)
{
    const struct position_fields at = position_fields(version);

    json_put_u64_text(w, STR("version"), version);
    json_put_u64(w, STR("epoch"), at.epoch);
    json_put_u64(w, STR("file"), at.file);
    json_put_u64(w, STR("position"), at.offset);
}

static void open_list(struct json_writer *w, struct str key)
{
    json_write_key(w, key);
    json_open_array(w);
}

static void open_member(struct json_writer *w, struct str key)
{
    json_write_key(w, key);
    json_open_object(w);
}

/* ---- why ---- */

static void put_text(struct json_writer *w, struct str key, enum trace_code code,
                     const struct trace_names *n,
                     void (*append)(struct buf *b, enum trace_code code,
                                    const struct trace_names *n))
{
    struct buf text = {0};

    append(&text, code, n);
    json_put_string(w, key, buf_str(&text));
    buf_free(&text);
}

static void put_why(const struct trace *t, struct json_writer *w)
{
    const enum trace_code code = trace_choose(t->facts);
    const struct trace_names n = {t->asked->table, t->id, t->index, t->why[code], t->fix[code]};

    json_put_cstr(w, STR("code"), trace_word(code));
    json_put_cstr(w, STR("verdict"), trace_verdict(code));
    put_text(w, STR("sentence"), code, &n, trace_append_sentence);
    put_text(w, STR("next"), code, &n, trace_append_next);
    open_member(w, STR("values"));
    json_put_string(w, STR("table"), n.table);
    json_put_string(w, STR("id"), n.id);
    json_put_string(w, STR("index"), n.index);
    json_put_string(w, STR("why"), n.why);
    json_put_string(w, STR("fix"), n.fix);
    json_close_object(w);
    open_list(w, STR("facts"));
    for (int i = 0; i < N_TRACE_CODES; i++)
        if ((t->facts & TRACE_FACT(i)) != 0)
            json_write_string(w, str_from(trace_word((enum trace_code)i)));
    json_close_array(w);
}

/* ---- the row and its document ---- */

static void put_definition(const struct trace *t, struct json_writer *w)
{
    struct buf sum = {0};

    open_member(w, STR("definition"));
    if (t->is_begun) {
        buf_printf(
            &sum, "%08" PRIx32,
            checksum_crc32(0, (const uint8_t *)t->run.definition.ptr, t->run.definition.len));
        json_put_string(w, STR("definition"), buf_str(&sum));
        json_put_u64(w, STR("version"), t->run.number);
    }
    json_put_bool(w, STR("pending"), t->is_pending);
    open_list(w, STR("changes"));
    for (size_t i = 0; i < t->n_pending; i++)
        json_write_string(w, t->pending[i]);
    json_close_array(w);
    json_close_object(w);
    buf_free(&sum);
}

static void put_row(const struct trace *t, struct json_writer *w)
{
    const struct verify_look *look = t->is_judged ? &t->run.keys->look : NULL;

    open_member(w, STR("row"));
    json_put_cstr(w, STR("state"), t->row == NULL ? "unknown" : t->row);
    json_put_string(w, STR("reason"), t->row_reason);
    if (look != NULL && look->is_wanted) {
        json_put_string(w, STR("routing"), look->routing);
        json_put_raw(w, STR("document"), look->body);
    } else {
        json_put_null(w, STR("document"));
    }
    json_close_object(w);
}

static void put_differences(const struct trace *t, struct json_writer *w)
{
    struct verify_result r = {0};

    if (t->is_judged && t->run.keys->state == VERIFY_DIFFERS)
        verify_result_add(&r, t->run.keys, true);
    open_list(w, STR("differences"));
    if (r.differences.len > 0)
        json_write_raw(w, buf_str(&r.differences));
    json_close_array(w);
    verify_result_free(&r);
}

/* ---- the versions ---- */

static const char *lineage_of(const struct trace_version *v, const struct verify_copy *c)
{
    if (v->version_max == 0)
        return NULL;
    return c->version < v->version_min || c->version > v->version_max ? "other" : "ours";
}

static const char *owner_of(const struct trace *t, const struct trace_version *v)
{
    if (v->mark.owner.len == 0)
        return NULL;
    return str_equal(v->mark.owner, str_from(t->co->identity.owner)) ? "ours" : "other";
}

static void put_copies(const struct trace_version *v, struct json_writer *w)
{
    open_list(w, STR("copies"));
    for (size_t i = 0; i < v->n_copies; i++) {
        json_open_object(w);
        json_put_string(w, STR("routing"), v->copies[i].routing);
        put_version(w, v->copies[i].version);
        json_put_cstr(w, STR("lineage"), lineage_of(v, &v->copies[i]));
        json_close_object(w);
    }
    json_close_array(w);
    open_list(w, STR("tombstones"));
    for (size_t i = 0; i < v->n_tombstones; i++) {
        json_open_object(w);
        json_put_string(w, STR("routing"), v->tombstones[i].routing);
        put_version(w, v->tombstones[i].version);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_versions(const struct trace *t, struct json_writer *w)
{
    open_list(w, STR("versions"));
    for (size_t i = 0; i < t->n_versions; i++) {
        const struct trace_version *v = &t->versions[i];

        json_open_object(w);
        json_put_string(w, STR("index"), v->name);
        json_put_u64(w, STR("version"), v->v->number);
        json_put_string(w, STR("state"), v->v->state);
        json_put_cstr(w, STR("found"), v->is == TRACE_EQUAL ? "open" : trace_word(v->is));
        json_put_string(w, STR("why"), v->why);
        json_put_cstr(w, STR("owner"), owner_of(t, v));
        json_put_string(w, STR("log"), v->mark.log);
        json_put_u64(w, STR("log_epoch"), v->mark.epoch);
        put_copies(v, w);
        json_close_object(w);
    }
    json_close_array(w);
}

/* ---- what lies between ---- */

static void put_delivery(const struct trace *t, struct json_writer *w)
{
    static const char *const stages[N_DELIVERY_STAGES] = {
        [STAGE_NONE] = "none",       [STAGE_APART] = "apart",       [STAGE_QUEUED] = "queued",
        [STAGE_READING] = "reading", [STAGE_UNSTORED] = "unstored", [STAGE_SENT] = "in_flight",
    };
    const struct delivery_place *p = &t->place;

    open_member(w, STR("delivery"));
    json_put_cstr(w, STR("stage"), stages[p->stage]);
    if (p->stage > STAGE_APART) {
        put_version(w, p->version);
        json_put_u64(w, STR("attempts"), p->attempts);
        json_put_bool(w, STR("followed"), p->is_followed);
        coordinator_put_time(w, STR("changed"), p->commit_ms);
    }
    if (p->stage == STAGE_SENT)
        json_put_double(w, STR("in_flight_seconds"), (double)p->sent_ms / 1000);
    json_close_object(w);
}

static void put_stored(const struct trace *t, struct json_writer *w)
{
    open_list(w, STR("dead_letters"));
    for (size_t i = 0; i < t->n_letters; i++) {
        json_open_object(w);
        json_put_u64(w, STR("id"), t->letters[i].id);
        json_put_string(w, STR("routing"), t->letters[i].routing);
        json_put_string(w, STR("reason"), t->letters[i].reason);
        put_version(w, t->letters[i].version);
        coordinator_put_time(w, STR("first"), t->letters[i].first_ms);
        json_close_object(w);
    }
    json_close_array(w);
    open_list(w, STR("purged"));
    for (size_t i = 0; i < t->n_purged; i++) {
        json_open_object(w);
        json_put_string(w, STR("routing"), t->purged[i].routing);
        json_put_u64(w, STR("times"), t->purged[i].times);
        put_version(w, t->purged[i].version);
        json_close_object(w);
    }
    json_close_array(w);
    json_put_u64(w, STR("fan_out_jobs"), t->n_fan_outs);
}

static void put_shown(const struct trace *t, struct json_writer *w)
{
    open_list(w, STR("shown_in"));
    for (size_t i = 0; i < t->n_shown; i++) {
        json_open_object(w);
        json_put_string(w, STR("table"), t->shown[i].table);
        json_put_string(w, STR("index"), t->shown[i].index);
        json_put_string(w, STR("id"), t->shown[i].id);
        json_put_cstr(w, STR("verdict"),
                      t->shown[i].is_judged ? trace_verdict(t->shown[i].is) : NULL);
        json_close_object(w);
    }
    json_close_array(w);
    json_put_bool(w, STR("more"), t->has_more_shown);
}

/* ---- the log ---- */

static void put_change(const struct trace_change *c, struct json_writer *w)
{
    json_open_object(w);
    json_put_string(w, STR("position"), c->position);
    json_put_string(w, STR("begin"), c->begin);
    json_put_string(w, STR("time"), c->time);
    json_put_cstr(w, STR("op"), c->op);
    open_list(w, STR("columns"));
    for (size_t i = 0; i < c->n_columns; i++)
        json_write_string(w, c->columns[i]);
    json_close_array(w);
    json_close_object(w);
}

static void put_log(const struct trace *t, struct json_writer *w)
{
    const struct trace_log *log = &t->log;

    if (log->end == NULL) {
        json_put_null(w, STR("log"));
        return;
    }
    open_member(w, STR("log"));
    json_put_string(w, STR("from"), log->from);
    json_put_string(w, STR("to"), log->to);
    json_put_cstr(w, STR("end"), log->end);
    json_put_string(w, STR("why"), log->why);
    json_put_u64(w, STR("unread"), log->n_unread);
    open_list(w, STR("changes"));
    for (size_t i = 0; i < log->n_changes; i++)
        put_change(&log->changes[i], w);
    json_close_array(w);
    json_close_object(w);
}

void trace_append_answer(const struct trace *t, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/trace/1");
    json_put_string(&w, STR("table"), t->asked->table);
    json_put_string(&w, STR("index"), t->index);
    json_put_string(&w, STR("id"), t->id);
    put_why(t, &w);
    put_definition(t, &w);
    put_row(t, &w);
    put_differences(t, &w);
    put_versions(t, &w);
    put_delivery(t, &w);
    put_stored(t, &w);
    put_shown(t, &w);
    put_log(t, &w);
    json_close_object(&w);
}
