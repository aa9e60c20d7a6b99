#include "config.h"

#include "sync/inspect/decode.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "sync/decode/row.h"
#include "sync/decode/row_json.h"
#include "sync/decode/transaction.h"
#include "sync/inspect/decode_event.h"
#include "sync/source/transport/transport.h"
#include "sync/value/temporal.h"

#include <inttypes.h>
#include <stdio.h>

/* Flush output of this size. */
#define FLUSH_AT ((size_t)64 * 1024)

struct decoding {
    const struct decode_options *opt;
    struct decode_counts *counts;
    struct log_reader *reader;
    struct row_json *rows;
    struct row_reader *values; /* for --format none */
    struct buf out;
    struct buf head; /* the common start of all lines of a rows event */
    bool done;       /* past the last requested position */
};

static bool flush(struct decoding *d, size_t at_least, struct err *err)
{
    if (d->out.len < at_least || d->out.len == 0)
        return true;

    const bool ok = d->opt->write(d->opt->ctx, buf_str(&d->out), err);

    buf_clear(&d->out);
    return ok;
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

/* Make the common start of all lines of a rows event. */
static void make_head(struct decoding *d, const struct step *step)
{
    static const struct str ops[] = {
        [ROW_INSERT] = STR(",\"op\":\"insert\""),
        [ROW_UPDATE] = STR(",\"op\":\"update\""),
        [ROW_DELETE] = STR(",\"op\":\"delete\""),
    };

    buf_clear(&d->head);
    append_head(&d->head, step);
    buf_append(&d->head, STR(",\"database\":"));
    buf_append_json(&d->head, step->map->database);
    buf_append(&d->head, STR(",\"table\":"));
    buf_append_json(&d->head, step->map->table);
    buf_append(&d->head, ops[step->rows.op]);
}

/* Add the place in the log to errors of the log, not to errors of the output. */
static bool wrap_place(const struct step *step, struct err *err)
{
    return err_wrap(err, "%" STR_FMT ":%" PRIu64, STR_ARG(step->event.file), step->event.start);
}

static uint64_t *count_of(struct decoding *d, enum row_op op)
{
    uint64_t *const counts[] = {
        [ROW_INSERT] = &d->counts->inserts,
        [ROW_UPDATE] = &d->counts->updates,
        [ROW_DELETE] = &d->counts->deletes,
    };

    return counts[op];
}

static bool print_rows(struct decoding *d, const struct step *step, struct err *err)
{
    size_t len = d->out.len;
    int got;

    if (!row_json_open(d->rows, &step->rows, step->map, err))
        return wrap_place(step, err);
    make_head(d, step);
    buf_append(&d->out, buf_str(&d->head));
    while ((got = row_json_next(d->rows, &d->out, &d->counts->rows, err)) == 1) {
        ++*count_of(d, step->rows.op);
        buf_append(&d->out, STR("}\n"));
        if (!flush(d, FLUSH_AT, err))
            return false;
        len = d->out.len;
        buf_append(&d->out, buf_str(&d->head));
    }
    d->out.len = len; /* no row used the last head */
    return got == 0 || wrap_place(step, err);
}

static uint64_t id_of(const struct value *values)
{
    if (values == NULL || (values->kind != VALUE_INT && values->kind != VALUE_UINT))
        return 0;
    return values->u;
}

/* Decode every cell into a value and drop it. */
static bool read_rows(struct decoding *d, const struct step *step, struct err *err)
{
    struct row_json_counts *const c = &d->counts->rows;
    uint64_t *const count = count_of(d, step->rows.op);
    struct row_change change;
    int got;

    if (!row_reader_open(d->values, &step->rows, step->map, err))
        return wrap_place(step, err);
    while ((got = row_reader_next(d->values, NULL, &change, err)) == 1) {
        ++*count;
        c->cells += change.n_cells;
        c->nulls += change.n_nulls;
        c->idsum += id_of(change.before) + id_of(change.after);
    }
    return got == 0 || wrap_place(step, err);
}

static void warn_of_break(const struct decoding *d, const struct step *step)
{
    struct err what = {0};

    err_set(&what, ERR_REJECT,
            "the previous transaction has no end in the log, as after a crash: its rows are "
            "printed, but a replica rolls them back");
    wrap_place(step, &what);
    d->opt->warn(d->opt->ctx, what.msg);
}

static bool decode_step(struct decoding *d, const struct step *step, struct err *err)
{
    d->counts->events++;
    if (step->breaks && d->opt->warn != NULL)
        warn_of_break(d, step);
    if (!log_filter_wants(&d->opt->excerpt.filter, step, &d->done))
        return true;
    if (d->opt->events && !d->opt->no_output) {
        append_head(&d->out, step);
        decode_event_append(&d->out, log_reader_format(d->reader), step);
        buf_append(&d->out, STR("}\n"));
    }
    if (step->kind == STEP_ROWS &&
        !(d->opt->no_output ? read_rows(d, step, err) : print_rows(d, step, err)))
        return false;
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
    d.rows = row_json_new();
    d.values = row_reader_new();

    const bool ok = decode_all(&d, t, err);
    const bool written = flush(&d, 0, ok ? err : &late);

    row_json_free(d.rows);
    row_reader_free(d.values);
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
             c->inserts, c->updates, c->deletes, c->rows.cells, c->rows.nulls,
             (int64_t)c->rows.idsum);
}
