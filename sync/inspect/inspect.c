#include "config.h"

#include "sync/inspect/inspect.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/decode/row.h"
#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"
#include "sync/source/transport/transport.h"
#include "sync/value/temporal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Statement bytes to print. */
#define SQL_MAX 200

struct table_figures {
    uint64_t changes[ROW_DELETE + 1];
    uint64_t events;
    uint64_t bytes;
    bool full_metadata; /* the latest table map had it */
    struct err fault;   /* the first reason why its rows could not be counted */
};

/* A transaction; zero outside of one. */
struct transaction_figures {
    bool open;
    struct gtid gtid;
    uint64_t pos, end_pos;
    uint64_t rows;
    uint32_t time;
};

/* One file. */
struct figures {
    bool any;
    struct buf name;
    struct event_format format;
    uint64_t start, end;
    uint32_t first_time, last_time;
    uint64_t types[256], type_bytes[256];
    uint64_t events;
    uint64_t transactions, rolled_back, prepared;
    uint64_t n_statements, n_changes_as_statements;
    struct buf statements; /* elements of the "statements" list */
    struct buf gtids_before;
    struct gtid first_gtid, last_gtid;
    struct transaction_figures running, largest;
    struct buf next_file;
    bool stopped; /* the server was shut down */
    bool in_use;  /* ... or still has the file open */
    struct map *tables;
};

struct inspecting {
    const struct log_excerpt *excerpt;
    struct json_writer *w;
    struct log_reader *reader;
    struct row_reader *rows;
    struct figures file;
    struct err fault; /* the first fault of a table */
    bool done;
};

/* ---- gathering ---- */

static void count_event(struct figures *f, const struct event *e)
{
    const bool in_file = e->end > e->start && !e->in_payload;

    if (!in_file && !e->in_payload)
        return; /* artificial */
    f->types[e->type]++;
    f->type_bytes[e->type] +=
        in_file ? e->end - e->start : EVENT_HEADER_LEN + (uint64_t)e->body.len;
    f->events++;
    if (f->start == 0)
        f->start = e->start;
    f->end = e->end;
    if (e->time == 0)
        return;
    if (f->first_time == 0 || e->time < f->first_time)
        f->first_time = e->time;
    if (e->time > f->last_time)
        f->last_time = e->time;
}

static void begin_transaction(struct figures *f, const struct step *step)
{
    const struct event *e = &step->event;

    if (!step->begins)
        return;
    f->running = (struct transaction_figures){
        .open = true, .gtid = step->gtid, .pos = e->start, .time = e->time};
    if (step->gtid.family == GTID_NONE)
        return;
    if (f->first_gtid.family == GTID_NONE)
        f->first_gtid = step->gtid;
    f->last_gtid = step->gtid;
}

static void break_transaction(struct figures *f, const struct step *step)
{
    if (!step->breaks || !f->running.open)
        return;
    f->rolled_back++;
    f->running = (struct transaction_figures){0};
}

static void end_transaction(struct figures *f, const struct step *step)
{
    const bool undone = step->kind == STEP_ROLLBACK || step->kind == STEP_XA_ROLLBACK;
    struct transaction_figures *t = &f->running, *l = &f->largest;

    if (!step->ends)
        return;
    f->transactions += !undone;
    f->rolled_back += undone;
    f->prepared += step->kind == STEP_XA_PREPARE;
    t->end_pos = step->event.end;
    if (t->open && (l->end_pos == 0 || t->end_pos - t->pos > l->end_pos - l->pos))
        *l = *t;
    *t = (struct transaction_figures){0};
}

static void put_time(struct json_writer *w, struct str key, uint32_t time)
{
    char text[TEMPORAL_MAX + 1];
    size_t n = temporal_epoch(text, time);

    if (time == 0)
        return;
    text[n++] = 'Z';
    json_put_string(w, key, (struct str){text, n});
}

static void put_gtid(struct json_writer *w, struct str key, const struct gtid *g)
{
    struct buf text = {0};

    if (g->family == GTID_NONE)
        return;
    gtid_format(&text, g);
    json_put_string(w, key, buf_str(&text));
    buf_free(&text);
}

static bool is_told(enum ddl_kind kind)
{
    return (kind >= DDL_CREATE_TABLE && kind <= DDL_DROP_DATABASE) || kind == DDL_UNKNOWN;
}

static void count_statement(struct figures *f, const struct step *step)
{
    struct json_writer w = {.out = &f->statements, .comma = f->n_statements > 0};
    const struct str sql = step->query.sql;

    f->n_changes_as_statements += step->ddl.kind == DDL_DML;
    if (!is_told(step->ddl.kind))
        return;
    if (f->n_statements++ >= INSPECT_STATEMENTS_MAX)
        return;
    json_open_object(&w);
    json_put_u64(&w, STR("pos"), step->event.start);
    put_time(&w, STR("time"), step->event.time);
    put_gtid(&w, STR("gtid"), &step->gtid);
    json_put_cstr(&w, STR("kind"), ddl_kind_name(step->ddl.kind));
    json_put_string(&w, STR("database"), step->query.database);
    json_put_string(&w, STR("sql"),
                    (struct str){sql.ptr, sql.len < SQL_MAX ? sql.len : SQL_MAX});
    json_close_object(&w);
}

static void remember_gtids(struct figures *f, const struct event *e)
{
    struct gtid_set *set;
    struct err ignored;

    if (f->gtids_before.len > 0 || !event_gtid_set_parse(e, &set, &ignored))
        return;
    gtid_set_format(&f->gtids_before, set);
    gtid_set_free(set);
}

static struct table_figures *table_of(struct figures *f, const struct table_map *m)
{
    struct buf key = {0};

    buf_append(&key, m->database);
    buf_append_char(&key, '\0');
    buf_append(&key, m->table);

    struct table_figures *t = map_find(f->tables, buf_str(&key));

    if (t == NULL) {
        t = mem_alloc(1, sizeof(*t));
        map_put(f->tables, buf_str(&key), t);
    }
    buf_free(&key);
    return t;
}

/* Rows that cannot be decoded are a fault of their table only: go on with the rest. */
static void count_rows(struct inspecting *in, const struct step *step)
{
    struct table_figures *t = table_of(&in->file, step->map);
    struct row_change change;
    struct err err = {0};
    int got = row_reader_open(in->rows, &step->rows, step->map, &err) ? 1 : -1;

    t->events++;
    t->bytes += EVENT_HEADER_LEN + step->event.body.len;
    t->full_metadata = step->map->full_metadata;
    while (got == 1 && (got = row_reader_next(in->rows, NULL, &change, &err)) == 1) {
        t->changes[change.op]++;
        in->file.running.rows++;
    }
    if (got >= 0 || t->fault.kind != ERR_NONE)
        return;
    err_wrap(&err, "%" STR_FMT ":%" PRIu64, STR_ARG(step->event.file), step->event.start);
    t->fault = err;
    if (in->fault.kind == ERR_NONE)
        in->fault = err;
}

static void on_rotate(struct figures *f, const struct event *e)
{
    struct event_rotate rotate;
    struct err ignored;

    if (e->end == e->start || !event_rotate_parse(e->body, &rotate, &ignored))
        return;
    buf_clear(&f->next_file);
    buf_append(&f->next_file, rotate.file);
}

static void gather(struct inspecting *in, const struct step *step)
{
    struct figures *f = &in->file;
    const struct event *e = &step->event;

    count_event(f, e);
    begin_transaction(f, step);
    if (step->kind == STEP_ROWS)
        count_rows(in, step);
    else if (step->kind == STEP_GTIDS)
        remember_gtids(f, e);
    else if (e->type == EVENT_QUERY || e->type == EVENT_QUERY_COMPRESSED)
        count_statement(f, step);
    else if (e->type == EVENT_ROTATE)
        on_rotate(f, e);
    else if (e->type == EVENT_STOP)
        f->stopped = true;
    end_transaction(f, step);
}

/* ---- telling ---- */

static void put_types(struct json_writer *w, const struct figures *f)
{
    json_write_key(w, STR("types"));
    json_open_array(w);
    for (unsigned i = 0; i < ARRAY_LEN(f->types); i++) {
        if (f->types[i] == 0)
            continue;
        json_open_object(w);
        json_put_cstr(w, STR("event"), event_name((uint8_t)i));
        json_put_u64(w, STR("type"), i);
        json_put_u64(w, STR("count"), f->types[i]);
        json_put_u64(w, STR("bytes"), f->type_bytes[i]);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_table(struct json_writer *w, struct str key, const struct table_figures *t)
{
    const char *zero = memchr(key.ptr, '\0', key.len);
    const size_t n = (size_t)(zero - key.ptr);

    json_open_object(w);
    json_put_string(w, STR("database"), (struct str){key.ptr, n});
    json_put_string(w, STR("table"), (struct str){zero + 1, key.len - n - 1});
    json_put_u64(w, STR("inserts"), t->changes[ROW_INSERT]);
    json_put_u64(w, STR("updates"), t->changes[ROW_UPDATE]);
    json_put_u64(w, STR("deletes"), t->changes[ROW_DELETE]);
    json_put_u64(w, STR("events"), t->events);
    json_put_u64(w, STR("bytes"), t->bytes);
    json_put_cstr(w, STR("metadata"), t->full_metadata ? "full" : "minimal");
    if (t->fault.kind != ERR_NONE)
        json_put_cstr(w, STR("fault"), t->fault.msg);
    json_close_object(w);
}

static void put_tables(struct json_writer *w, const struct figures *f)
{
    struct str key;
    void *value;

    json_write_key(w, STR("tables"));
    json_open_array(w);
    for (size_t i = 0; map_next(f->tables, &i, &key, &value);)
        put_table(w, key, value);
    json_close_array(w);
}

static void put_statements(struct json_writer *w, const struct figures *f)
{
    json_put_u64(w, STR("changes_as_statements"), f->n_changes_as_statements);
    json_put_u64(w, STR("statement_count"), f->n_statements);
    json_write_key(w, STR("statements"));
    json_open_array(w);
    if (f->n_statements > 0)
        json_write_raw(w, buf_str(&f->statements));
    json_close_array(w);
}

static void put_gtids(struct json_writer *w, struct inspecting *in)
{
    const struct figures *f = &in->file;
    const struct gtid_set *executed = log_reader_executed(in->reader);
    struct buf after = {0};

    if (f->gtids_before.len == 0 && f->first_gtid.family == GTID_NONE)
        return;
    gtid_set_format(&after, executed);
    json_write_key(w, STR("gtids"));
    json_open_object(w);
    json_put_string(w, STR("before"), buf_str(&f->gtids_before));
    put_gtid(w, STR("first"), &f->first_gtid);
    put_gtid(w, STR("last"), &f->last_gtid);
    json_put_string(w, STR("after"), buf_str(&after));
    json_close_object(w);
    buf_free(&after);
}

static void put_transaction(struct json_writer *w, struct str key,
                            const struct transaction_figures *t)
{
    json_write_key(w, key);
    json_open_object(w);
    json_put_u64(w, STR("pos"), t->pos);
    if (t->end_pos > 0) {
        json_put_u64(w, STR("end_pos"), t->end_pos);
        json_put_u64(w, STR("bytes"), t->end_pos - t->pos);
    }
    json_put_u64(w, STR("rows"), t->rows);
    put_gtid(w, STR("gtid"), &t->gtid);
    put_time(w, STR("time"), t->time);
    json_close_object(w);
}

static const char *closed_by(const struct figures *f)
{
    if (f->next_file.len > 0)
        return "rotate";
    if (f->stopped)
        return "stop";
    return f->in_use ? "in use" : "not closed";
}

/* The format in which changes are logged. */
static const char *change_format(const struct figures *f)
{
    const bool rows = map_count(f->tables) > 0;

    if (f->n_changes_as_statements > 0)
        return rows ? "mixed" : "statement";
    return rows ? "row" : "none";
}

static void put_head(struct json_writer *w, const struct figures *f)
{
    json_put_string(w, STR("file"), buf_str(&f->name));
    json_put_cstr(w, STR("server"), f->format.server);
    json_put_u64(w, STR("version"), f->format.version);
    json_put_cstr(w, STR("checksum"), f->format.checksums ? "crc32" : "none");
    json_put_cstr(w, STR("format"), change_format(f));
    put_time(w, STR("created"), f->format.created);
    put_time(w, STR("first_time"), f->first_time);
    put_time(w, STR("last_time"), f->last_time);
    json_put_u64(w, STR("pos"), f->start);
    json_put_u64(w, STR("end_pos"), f->end);
    json_put_u64(w, STR("bytes"), f->end - f->start);
    json_put_u64(w, STR("events"), f->events);
    json_put_cstr(w, STR("closed"), closed_by(f));
    if (f->next_file.len > 0)
        json_put_string(w, STR("next_file"), buf_str(&f->next_file));
    json_put_u64(w, STR("transactions"), f->transactions);
    json_put_u64(w, STR("rolled_back"), f->rolled_back);
    json_put_u64(w, STR("xa_prepared"), f->prepared);
}

static void put_damage(struct json_writer *w, uint64_t pos, const struct err *damage)
{
    json_write_key(w, STR("damage"));
    json_open_object(w);
    json_put_u64(w, STR("pos"), pos);
    json_put_cstr(w, STR("reason"), damage->msg);
    json_close_object(w);
}

/* Finish a file; damage is NULL if it is intact. */
static void end_file(struct inspecting *in, uint64_t pos, const struct err *damage)
{
    struct figures *f = &in->file;
    struct json_writer *w = in->w;

    json_open_object(w);
    put_head(w, f);
    put_gtids(w, in);
    if (f->largest.end_pos > 0)
        put_transaction(w, STR("largest_transaction"), &f->largest);
    if (f->running.open)
        put_transaction(w, STR("unfinished_transaction"), &f->running);
    put_types(w, f);
    put_tables(w, f);
    put_statements(w, f);
    if (damage != NULL)
        put_damage(w, pos, damage);
    json_close_object(w);
}

/* ---- files ---- */

static void drop_file(struct figures *f)
{
    buf_free(&f->name);
    buf_free(&f->statements);
    buf_free(&f->gtids_before);
    buf_free(&f->next_file);
    map_free(f->tables, free);
    *f = (struct figures){0};
}

static void start_file(struct inspecting *in, struct str name)
{
    drop_file(&in->file);
    in->file.any = true;
    in->file.tables = map_new();
    buf_append(&in->file.name, name);
}

static void look_at(struct inspecting *in, const struct step *step)
{
    struct figures *f = &in->file;

    if (!f->any || !str_equal(buf_str(&f->name), step->event.file)) {
        if (f->any)
            end_file(in, 0, NULL);
        start_file(in, step->event.file);
    }
    if (step->kind == STEP_FORMAT) {
        f->format = *log_reader_format(in->reader);
        f->in_use = (step->event.flags & EVENT_FLAG_IN_USE) != 0;
    }
    break_transaction(f, step);
    if (log_filter_wants(&in->excerpt->filter, step, &in->done))
        gather(in, step);
}

static bool inspect_all(struct inspecting *in, struct transport *t, uint64_t *pos,
                        struct err *err)
{
    struct step step;
    struct str raw;
    int got;

    while (!in->done) {
        *pos = log_reader_position(in->reader).offset;
        got = transport_next(t, &raw, err);
        if (got != 1)
            return got == 0;
        if (!log_reader_feed(in->reader, raw, err))
            return false;
        while (!in->done && (got = log_reader_next(in->reader, &step, err)) == 1)
            look_at(in, &step);
        if (got < 0)
            return false;
    }
    return true;
}

bool inspect_run(struct transport *t, const struct log_excerpt *excerpt, struct json_writer *w,
                 struct err *err)
{
    struct inspecting in = {.excerpt = excerpt, .w = w};
    uint64_t pos = 0;

    in.reader = log_excerpt_reader(excerpt);
    in.rows = row_reader_new();

    const bool ok = inspect_all(&in, t, &pos, err);

    if (!in.file.any && excerpt->file.len > 0)
        start_file(&in, excerpt->file);
    if (in.file.any)
        end_file(&in, pos, ok ? NULL : err);
    drop_file(&in.file);
    row_reader_free(in.rows);
    log_reader_free(in.reader);
    if (ok && in.fault.kind != ERR_NONE)
        *err = in.fault;
    return ok && in.fault.kind == ERR_NONE;
}
