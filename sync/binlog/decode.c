#include "config.h"

#include "sync/binlog/decode.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/json.h"
#include "sync/binlog/cell.h"
#include "sync/binlog/decode_event.h"
#include "sync/binlog/row.h"
#include "sync/binlog/temporal.h"
#include "sync/binlog/transaction.h"
#include "sync/binlog/transport.h"
#include "sync/binlog/value_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Output is handed over when there is that much. */
#define FLUSH_AT ((size_t)64 * 1024)

/* Table maps whose names are kept as JSON. */
enum { N_TABLES = 64 };

/* A table map's column names as JSON keys: "id": */
struct named_table {
    struct table_map *map; /* a reference */
    struct str *keys;
    struct buf text;
};

struct decoding {
    const struct decode_options *opt;
    struct decode_counts *counts;
    struct log_reader *reader;
    struct row_reader *rows;
    struct named_table tables[N_TABLES];
    struct buf out;
    struct buf head; /* what all lines of a rows event begin with */
    bool done;       /* beyond the last position asked for */
};

static bool flush(struct decoding *d, size_t at_least, struct err *err)
{
    if (d->out.len < at_least || d->out.len == 0)
        return true;

    const bool ok = d->opt->no_output || d->opt->write(d->opt->ctx, buf_str(&d->out), err);

    buf_clear(&d->out);
    return ok;
}

static void drop_table(struct named_table *t)
{
    table_map_unref(t->map);
    free(t->keys);
    buf_free(&t->text);
    *t = (struct named_table){0};
}

/* The column names of a table map. */
static const struct named_table *name_table(struct decoding *d, struct table_map *map)
{
    struct named_table *t = &d->tables[((uintptr_t)map >> 6) % N_TABLES];

    if (t->map == map)
        return t;
    drop_table(t);
    t->map = table_map_ref(map);
    t->keys = mem_alloc(map->n_columns, sizeof(*t->keys));
    for (size_t i = 0; i < map->n_columns; i++) {
        const size_t start = t->text.len;

        buf_append_json(&t->text, map->schema->columns[i].name);
        buf_append_char(&t->text, ':');
        t->keys[i].len = t->text.len - start;
    }
    for (size_t i = 0, at = 0; i < map->n_columns; at += t->keys[i++].len)
        t->keys[i].ptr = t->text.ptr + at;
    return t;
}

static void append_image(struct decoding *d, const struct named_table *t,
                         const struct value *values)
{
    struct buf *b = &d->out;
    bool comma = false;

    buf_append_char(b, '{');
    for (size_t i = 0; i < t->map->n_columns; i++) {
        if (values[i].kind == VALUE_ABSENT)
            continue;
        d->counts->cells++;
        d->counts->nulls += values[i].kind == VALUE_NULL;
        if (comma)
            buf_append_char(b, ',');
        comma = true;
        buf_append(b, t->keys[i]);
        value_append_json(b, &values[i]);
    }
    buf_append_char(b, '}');
    if (values[0].kind == VALUE_INT || values[0].kind == VALUE_UINT)
        d->counts->idsum += values[0].u;
}

static void append_change(struct decoding *d, const struct named_table *t,
                          const struct row_change *change)
{
    static const struct str ops[] = {
        [ROW_INSERT] = STR("insert\""),
        [ROW_UPDATE] = STR("update\""),
        [ROW_DELETE] = STR("delete\""),
    };
    uint64_t *const counts[] = {
        [ROW_INSERT] = &d->counts->inserts,
        [ROW_UPDATE] = &d->counts->updates,
        [ROW_DELETE] = &d->counts->deletes,
    };

    ++*counts[change->op];
    buf_append(&d->out, buf_str(&d->head));
    buf_append(&d->out, ops[change->op]);
    if (change->before != NULL) {
        buf_append(&d->out, STR(",\"before\":"));
        append_image(d, t, change->before);
    }
    if (change->after != NULL) {
        buf_append(&d->out, STR(",\"after\":"));
        append_image(d, t, change->after);
    }
    buf_append(&d->out, STR("}\n"));
}

/* {"file":…,"pos":…,"end_pos":…,"gtid":…,"time":…,"server_id":… */
static void append_head(struct buf *b, const struct step *step)
{
    const struct event *e = &step->event;
    char time[TEMPORAL_MAX];

    buf_append(b, STR("{\"file\":"));
    buf_append_json(b, e->file);
    buf_append(b, STR(",\"pos\":"));
    buf_append_u64(b, e->start);
    buf_append(b, STR(",\"end_pos\":"));
    buf_append_u64(b, e->end);
    if (step->gtid.family != GTID_NONE) {
        buf_append(b, STR(",\"gtid\":\""));
        gtid_format(b, &step->gtid);
        buf_append_char(b, '"');
    }
    buf_append(b, STR(",\"time\":\""));
    buf_append(b, (struct str){time, temporal_epoch(time, e->time)});
    buf_append(b, STR("Z\",\"server_id\":"));
    buf_append_u64(b, e->server_id);
}

static bool decode_rows(struct decoding *d, const struct step *step, struct err *err)
{
    struct row_change change;
    const struct named_table *t;
    int got;

    if (!row_reader_open(d->rows, &step->rows, step->map, err))
        return false;
    t = name_table(d, step->map);
    buf_clear(&d->head);
    append_head(&d->head, step);
    buf_append(&d->head, STR(",\"database\":"));
    buf_append_json(&d->head, step->map->database);
    buf_append(&d->head, STR(",\"table\":"));
    buf_append_json(&d->head, step->map->table);
    buf_append(&d->head, STR(",\"op\":\""));
    while ((got = row_reader_next(d->rows, NULL, &change, err)) == 1) {
        append_change(d, t, &change);
        if (!flush(d, FLUSH_AT, err))
            return false;
    }
    return got == 0;
}

static bool decode_step(struct decoding *d, const struct step *step, struct err *err)
{
    d->counts->events++;
    if (!log_filter_wants(&d->opt->excerpt.filter, step, &d->done))
        return true;
    if (d->opt->events) {
        append_head(&d->out, step);
        decode_event_append(&d->out, log_reader_format(d->reader), step);
        buf_append(&d->out, STR("}\n"));
    }
    if (step->kind == STEP_ROWS && !decode_rows(d, step, err))
        return err_wrap(err, "%" STR_FMT ":%" PRIu64, STR_ARG(step->event.file),
                        step->event.start);
    return flush(d, FLUSH_AT, err);
}

static bool decode_raw(struct decoding *d, struct str raw, struct err *err)
{
    struct step step;
    int got = 0;

    d->counts->bytes += raw.len;
    if (!log_reader_feed(d->reader, raw, err))
        return false;
    while (!d->done && (got = log_reader_next(d->reader, &step, err)) == 1)
        if (!decode_step(d, &step, err))
            return false;
    return got >= 0;
}

static bool decode_all(struct decoding *d, struct transport *t, struct err *err)
{
    struct str raw;
    int got;

    while ((got = transport_next(t, &raw, err)) == 1) {
        if (!decode_raw(d, raw, err))
            return false;
        if (d->done)
            return true;
    }
    return got == 0;
}

bool decode_run(struct transport *t, const struct decode_options *opt,
                struct decode_counts *counts, struct err *err)
{
    struct decoding d = {.opt = opt, .counts = counts};
    struct err late = {0};

    *counts = (struct decode_counts){0};
    d.reader = log_excerpt_reader(&opt->excerpt);
    d.rows = row_reader_new();

    const bool ok = decode_all(&d, t, err);
    const bool written = flush(&d, 0, ok ? err : &late);

    for (size_t i = 0; i < N_TABLES; i++)
        drop_table(&d.tables[i]);
    row_reader_free(d.rows);
    log_reader_free(d.reader);
    buf_free(&d.out);
    buf_free(&d.head);
    return ok && written;
}

void decode_counts_format(const struct decode_counts *c, char out[160])
{
    snprintf(out, 160,
             "ins=%" PRIu64 " upd=%" PRIu64 " del=%" PRIu64 " cells=%" PRIu64 " nulls=%" PRIu64
             " idsum=%" PRId64 "\n",
             c->inserts, c->updates, c->deletes, c->cells, c->nulls, (int64_t)c->idsum);
}
