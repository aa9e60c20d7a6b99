#include "config.h"

#include "sync/change/xa/deferred_rows.h"

#include "src/base/buf.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/change/xa/transaction_buffer.h"
#include "sync/checkpoint/progress.h"
#include "sync/decode/row.h"
#include "sync/read/commit_wait.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

#define RECENT_MAX   (1 << 20)           /* bytes kept of the current transaction */
#define PREPARED_MAX (8 << 20)           /* bytes in memory for prepared ones */
#define SPILL_MAX    ((uint64_t)4 << 30) /* and on disk */

struct deferred_rows {
    enum magic magic;
    struct deferred_rows_options opt;
    struct prepared *prepared;
    struct transaction_buffer recent; /* the current transaction, unless XA */
    bool undone;                      /* rolled back, at least in part */
    uint64_t began;                   /* the version of its first event */
    uint64_t doubted; /* `began` of the transaction to be read a second time; 0 if none */
    struct str raw;
    const struct event_format *format;
    bool raw_kept;
    struct rows_when when; /* of the current replay */
    bool in_place;         /* its rows count where they stand, in the file from base on */
    uint64_t base;
    bool any_rows; /* the current replay had some */
    struct row_reader *rows;
    struct buf wait_sql;
};

struct deferred_rows *deferred_rows_new(const struct deferred_rows_options *opt)
{
    struct deferred_rows *l = mem_alloc(1, sizeof(*l));

    l->magic = MAGIC_deferred_rows;
    l->opt = *opt;
    l->prepared = prepared_new(&(struct prepared_options){
        .folder = opt->folder, .memory_max = PREPARED_MAX, .disk_max = SPILL_MAX});
    l->rows = row_reader_new();
    return l;
}

void deferred_rows_free(struct deferred_rows *l)
{
    if (l == NULL)
        return;
    prepared_free(l->prepared);
    transaction_buffer_fini(&l->recent);
    row_reader_free(l->rows);
    buf_free(&l->wait_sql);
    MAGIC_END(deferred_rows, l);
    free(l);
}

static void forget_running(struct deferred_rows *l)
{
    prepared_drop(l->prepared);
    transaction_buffer_begin(&l->recent, NULL);
    l->undone = false;
}

void deferred_rows_begin(struct deferred_rows *l)
{
    forget_running(l);
    l->began = 0;
}

void deferred_rows_feed(struct deferred_rows *l, struct str raw,
                        const struct event_format *format)
{
    l->raw = raw;
    l->format = format;
    l->raw_kept = false;
}

static bool keep_raw(struct deferred_rows *l, const struct step *step, struct err *err)
{
    if (l->raw_kept)
        return true;
    l->raw_kept = true;
    return step->prepares ? prepared_keep(l->prepared, l->format, &step->event, l->raw, err)
                          : transaction_buffer_keep(&l->recent, l->format, &step->event, l->raw,
                                                    RECENT_MAX, err);
}

static bool is_for_rows(const struct step *step)
{
    return step->kind == STEP_ROWS ||
           (step->event.type == EVENT_TABLE_MAP && step->map->wanted);
}

bool deferred_rows_keep(struct deferred_rows *l, const struct step *step, uint64_t version,
                        struct err *err)
{
    const bool rows = step->kind == STEP_ROWS || step->kind == STEP_ROWS_UNWANTED;

    if (step->begins) {
        forget_running(l);
        l->began = version;
    }
    if (step->prepares && rows)
        prepared_touch(l->prepared, step->map->database, step->map->table);
    return !(step->prepares || is_for_rows(step)) || keep_raw(l, step, err);
}

bool deferred_rows_doubts(const struct deferred_rows *l)
{
    return l->doubted != 0 && l->doubted == l->began;
}

bool deferred_rows_wants_again(const struct deferred_rows *l)
{
    return l->doubted != 0;
}

/* ---- reading again ---- */

static bool give_rows(void *ctx, const struct step *step, struct err *err)
{
    struct deferred_rows *l = MAGIC_CAST(deferred_rows, ctx);
    struct rows_when when = l->when;

    (void)err;
    if (l->in_place)
        when.version = l->base + step->event.end;
    l->opt.on_rows(l->opt.ctx, step, &when);
    return true;
}

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    struct deferred_rows *l = MAGIC_CAST(deferred_rows, ctx);

    return l->opt.want(l->opt.ctx, database, table, schema);
}

static bool replay(struct deferred_rows *l, const struct transaction_buffer *h,
                   bool (*on_rows)(void *ctx, const struct step *step, struct err *err),
                   struct err *err)
{
    return replay_rows(
        h,
        &(struct replay_options){
            .want = want, .event_max = l->opt.event_max, .ctx = l, .on_rows = on_rows},
        err);
}

/* Pass on all rows as counting at version, to be re-read by key. */
static bool give_late(struct deferred_rows *l, const struct transaction_buffer *h,
                      const struct step *step, uint64_t version, struct err *err)
{
    l->when = (struct rows_when){
        .version = version, .commit_ms = (int64_t)step->event.time * 1000, .doubtful = true};
    l->in_place = false;
    return replay(l, h, give_rows, err);
}

/* ---- XA ---- */

/* A partial new image may lack the key; the old one has it. */
static const struct value *row_with_key(const struct row_change *c)
{
    return c->after == NULL || (c->partial && c->before != NULL) ? c->before : c->after;
}

/* Stop with ERR_STOP at the first row that a locking read can name. */
static bool find_commit_wait(void *ctx, const struct step *step, struct err *err)
{
    struct deferred_rows *l = MAGIC_CAST(deferred_rows, ctx);
    const struct watched *w = l->opt.find(l->opt.ctx, step->map->database, step->map->table);
    struct row_change change;
    struct err ignored = {0};

    if (w == NULL || step->map->broken.kind != ERR_NONE ||
        !row_reader_open(l->rows, &step->rows, step->map, &ignored) ||
        row_reader_next(l->rows, NULL, &change, &ignored) != 1)
        return true;
    l->any_rows = true;
    commit_wait_format(&l->wait_sql, w->schema, step->map, row_with_key(&change));
    return l->wait_sql.len == 0 || err_set(err, ERR_STOP, "found");
}

/*
 * The log may show an XA COMMIT before the tables do: servers log it first, and do not order it
 * like other commits.
 */
static bool wait_committed(struct deferred_rows *l, const struct transaction_buffer *h,
                           uint64_t version, struct err *err)
{
    l->any_rows = false;
    buf_clear(&l->wait_sql);
    if (!replay(l, h, find_commit_wait, err) && err->kind != ERR_STOP)
        return false;
    *err = (struct err){0};

    const struct str wait_sql = buf_str(&l->wait_sql);

    return !l->any_rows || l->opt.ready(l->opt.ctx, &wait_sql, version, err);
}

static void lose_tables(struct deferred_rows *l, const struct prepared_xa *xa, struct str xid)
{
    struct str database, table;

    for (size_t at = 0; prepared_next_table(xa, &at, &database, &table);) {
        const struct watched *w = l->opt.find(l->opt.ctx, database, table);

        if (w != NULL)
            l->opt.lost(l->opt.ctx, w, xid);
    }
}

static void end_prepared(struct deferred_rows *l, struct str xid)
{
    const struct prepared_xa *xa = prepared_find(l->prepared, xid);

    if (xa == NULL)
        return;
    progress_release(l->opt.progress, xa->hold);
    prepared_remove(l->prepared, xid);
}

static bool commit_prepared(struct deferred_rows *l, const struct step *step, uint64_t version,
                            struct err *err)
{
    const struct prepared_xa *xa = prepared_find(l->prepared, step->xid);

    if (xa == NULL) {
        l->opt.lost(l->opt.ctx, NULL, step->xid);
        return true;
    }
    if (xa->events.cut)
        lose_tables(l, xa, step->xid);
    else if (!wait_committed(l, &xa->events, version, err) ||
             !give_late(l, &xa->events, step, version, err))
        return false;
    end_prepared(l, step->xid);
    return true;
}

/*
 * One phase: treat it as if it were no XA transaction, except that its rows had to wait for
 * this.
 */
static bool commit_now(struct deferred_rows *l, const struct step *step, uint64_t version,
                       struct err *err)
{
    const struct prepared_xa *xa = prepared_current(l->prepared);

    if (xa->events.cut)
        lose_tables(l, xa, step->xid);
    if (xa->events.cut || !xa->events.any)
        return true;
    if (l->undone)
        return l->opt.ready(l->opt.ctx, NULL, version, err) &&
               give_late(l, &xa->events, step, version, err);
    l->when = (struct rows_when){.commit_ms = (int64_t)step->event.time * 1000};
    l->in_place = true;
    l->base = version - step->event.end;
    return replay(l, &xa->events, give_rows, err);
}

static void prepare(struct deferred_rows *l, const struct step *step)
{
    const uint64_t hold = progress_hold(l->opt.progress);
    const uint64_t old =
        prepared_add(l->prepared, step->xid, hold, (int64_t)step->event.time * 1000);

    if (old != 0)
        progress_release(l->opt.progress, old);
}

/* ---- rolled back ---- */

static bool take_back(struct deferred_rows *l, const struct step *step, uint64_t version,
                      struct err *err)
{
    if (deferred_rows_doubts(l) || !l->recent.any)
        return true;
    if (!l->opt.ready(l->opt.ctx, NULL, version, err))
        return false;
    if (!l->recent.cut)
        return give_late(l, &l->recent, step, version, err);
    l->doubted = l->began;
    return err_set(err, ERR_RETRY,
                   "a long transaction was rolled back after its rows were logged: reading it "
                   "once more");
}

/* ---- ends ---- */

static bool settle(struct deferred_rows *l, const struct step *step, uint64_t version,
                   struct err *err)
{
    if (step->prepares && (step->kind == STEP_COMMIT || step->kind == STEP_XA_COMMIT))
        return commit_now(l, step, version, err);
    if (step->kind == STEP_XA_PREPARE)
        prepare(l, step);
    else if (step->kind == STEP_XA_ROLLBACK)
        end_prepared(l, step->xid);
    else if (step->kind == STEP_XA_COMMIT)
        return commit_prepared(l, step, version, err);
    else if (step->ends && l->undone)
        return take_back(l, step, version, err);
    return true;
}

static void end_running(struct deferred_rows *l)
{
    if (deferred_rows_doubts(l))
        l->doubted = 0;
    forget_running(l);
    l->began = 0;
}

bool deferred_rows_break(struct deferred_rows *l, const struct step *step, uint64_t version,
                         bool known, struct err *err)
{
    if (!known && !take_back(l, step, version, err))
        return false;
    end_running(l);
    return true;
}

bool deferred_rows_settle(struct deferred_rows *l, const struct step *step, uint64_t version,
                          bool known, struct err *err)
{
    if (step->kind == STEP_ROLLBACK || step->kind == STEP_ROLLBACK_TO)
        l->undone = true;
    if (!known && !settle(l, step, version, err))
        return false;
    if (step->ends)
        end_running(l);
    return true;
}

struct prepared_status deferred_rows_status(struct deferred_rows *l)
{
    return prepared_status(l->prepared);
}
