#include "config.h"

#include "sync/change/builder.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/change/log_place.h"
#include "sync/change/table_stops.h"
#include "sync/change/writer.h"
#include "sync/change/xa/deferred_rows.h"
#include "sync/checkpoint/midnights.h"
#include "sync/checkpoint/progress.h"
#include "sync/checkpoint/read_position.h"
#include "sync/decode/transaction.h"
#include "sync/position/position.h"
#include "sync/read/commit_wait.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/routing/routing.h"
#include "sync/source/handoff.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TAKE_MS    600000 /* the hand-off wakes the builder */
#define GRAVES_MAX 100000 /* tombstones waiting for the store */

struct builder {
    enum magic magic;
    struct builder_options opt;
    pthread_t thread;
    struct log_reader *reader;
    struct routing *routing;
    struct change_writer *writer;
    struct log_place place;
    uint64_t skip_to;
    uint64_t at;      /* the current step */
    uint64_t handled; /* the last event processed completely */
    int64_t time_s;   /* the latest of the running transaction's events */
    bool busy;        /* atomic: processing an event, or waiting for room for its writes */
    bool faulty;      /* read nothing until the next dump */
    struct stop discarding;
    struct deferred_rows *deferred;
    struct table_away away;
    bool wants_waits;
    bool has_wait;                /* the running transaction has one */
    struct buf wait_sql;          /* scratch */
    struct str raw;               /* the current event */
    struct builder_status status; /* atomics */
};

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    struct builder *b = MAGIC_CAST(builder, ctx);
    const struct watched *w =
        b->routing == NULL ? NULL : routing_find(b->routing, database, table);

    if (w == NULL)
        return false;
    *schema = w->schema == NULL ? NULL : schema_ref(w->schema);
    return true;
}

void builder_free(struct builder *b)
{
    if (b == NULL)
        return;
    deferred_rows_free(b->deferred);
    change_writer_free(b->writer);
    log_reader_free(b->reader);
    routing_unref(b->routing);
    buf_free(&b->wait_sql);
    stop_fini(&b->discarding);
    MAGIC_END(builder, b);
    free(b);
}

void builder_begin(struct builder *b, const struct position *start,
                   const struct gtid_set *executed)
{
    const struct log_reader_options opt = {
        .want = want,
        .want_ctx = b,
        .event_max = b->opt.event_max,
        .start = *start,
        .executed = executed,
    };
    struct log_reader *fresh = log_reader_new(&opt);

    log_reader_free(b->reader);
    b->reader = fresh;
    b->faulty = false;
    b->has_wait = false;
    b->time_s = 0;
    log_place_begin(&b->place, start->file.len == 0);
    deferred_rows_begin(b->deferred);
    progress_abandon(b->opt.progress);
    change_writer_forget(b->writer);
}

void builder_want_commit_waits(struct builder *b, bool wanted)
{
    b->wants_waits = wanted;
    read_position_set_commit_wait(b->opt.reader, STR(""));
}

void builder_skip_to(struct builder *b, uint64_t version)
{
    b->skip_to = version;
}

void builder_expect(struct builder *b, const struct commit_position *known)
{
    log_place_expect(&b->place, known);
}

void builder_set_routing(struct builder *b, struct routing *routing)
{
    change_writer_forget(b->writer);
    /* Nobody has looked at earlier changes of a newly watched table. */
    read_position_set_commit_wait(b->opt.reader, STR(""));
    cascades_set_routing(b->opt.cascades, routing);
    fan_out_set_routing(b->opt.fan_out, routing);
    routing_ref(routing);
    routing_unref(b->routing);
    b->routing = routing;
    if (b->reader != NULL)
        log_reader_forget_tables(b->reader);
}

/* A transaction that needs a commit wait, or read once more, is read from its start. */
uint64_t builder_handled(const struct builder *b)
{
    return b->wants_waits || deferred_rows_wants_again(b->deferred) ? 0 : b->handled;
}

bool builder_waits(struct builder *b)
{
    return handoff_level(b->opt.handoff) == 0 && !__atomic_load_n(&b->busy, __ATOMIC_RELAXED);
}

const struct commit_position *builder_position(const struct builder *b)
{
    return &b->place.position;
}

const char *builder_position_file(const struct builder *b)
{
    return b->place.position_file;
}

const struct gtid_set *builder_executed(const struct builder *b)
{
    return b->reader == NULL ? NULL : log_reader_executed(b->reader);
}

static void count(uint64_t *counter)
{
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

void builder_pause(struct builder *b, const struct err *why)
{
    if (b->faulty)
        return;
    b->faulty = true;
    b->opt.fault(b->opt.ctx, why);
}

void builder_discard(struct builder *b)
{
    stop_set(&b->discarding);
}

static void wait_for_graves(struct builder *b)
{
    while (progress_tombstones(b->opt.progress) > GRAVES_MAX && !stop_is_set(&b->discarding)) {
        const struct timespec pause = {.tv_nsec = 5000000};

        nanosleep(&pause, NULL);
    }
}

/* Its columns may have other names than we think (struct shape). */
static bool in_doubt(const struct watched *w, const struct table_map *map, uint64_t version)
{
    if (map->full_metadata || w->shape == NULL || version > w->shape->doubt_to)
        return false;
    w->shape->used = true;
    return true;
}

/* Otherwise a rebuilt index would stop at the same row. */
static void refute_shape(const struct watched *w, const struct table_map *map)
{
    if (map->broken.kind != ERR_NONE && w->shape != NULL)
        w->shape->refuted = true;
}

static const struct watched *find(void *ctx, struct str database, struct str table)
{
    struct builder *b = MAGIC_CAST(builder, ctx);

    return b->routing == NULL || table.ptr == NULL ? NULL
                                                   : routing_find(b->routing, database, table);
}

/*
 * What an event's rows cause to be re-read must not wait for its last row, which may itself
 * wait for room among the re-reads.
 */
struct beginning {
    struct builder *b;
    const struct rows_at *at;
};

static void begin_rows(void *ctx)
{
    const struct beginning *begun = ctx;
    struct builder *b = begun->b;

    if (begun->at->wait_sql != NULL) {
        read_position_set_commit_wait(b->opt.reader, buf_str(&b->wait_sql));
        b->has_wait = true;
    }
    read_position_set(b->opt.reader, begun->at->version - 1, 0);
}

static void on_rows(void *ctx, const struct step *step, const struct rows_when *when)
{
    struct builder *b = MAGIC_CAST(builder, ctx);
    const struct watched *w = find(b, step->map->database, step->map->table);

    if (w == NULL)
        return;

    struct beginning begun = {.b = b};
    const struct rows_at at = {.routing = b->routing,
                               .watched = w,
                               .rows = &step->rows,
                               .map = step->map,
                               .version = when->version,
                               .commit_ms = when->commit_ms,
                               .doubtful = in_doubt(w, step->map, when->version) ||
                                           when->doubtful || step->map->keeps_history,
                               .packed = step->packed,
                               .wait_sql = b->wants_waits && !b->has_wait ? &b->wait_sql : NULL,
                               .begin = begin_rows,
                               .ctx = &begun};

    begun.at = &at;
    refute_shape(w, step->map);
    buf_clear(&b->wait_sql);

    const struct rows_counted n = change_writer_rows(b->writer, &at);

    __atomic_add_fetch(&b->status.inserts, n.inserts, __ATOMIC_RELAXED);
    __atomic_add_fetch(&b->status.updates, n.updates, __ATOMIC_RELAXED);
    __atomic_add_fetch(&b->status.deletes, n.deletes, __ATOMIC_RELAXED);
    wait_for_graves(b); /* a changed key deletes as well */
}

static struct table_stops stops_at(struct builder *b, uint64_t version)
{
    return (struct table_stops){.routing = b->routing,
                                .writer = b->writer,
                                .file = b->place.file,
                                .version = version,
                                .away = &b->away,
                                .put_off = b->opt.put_off_table,
                                .ctx = b->opt.ctx};
}

/* A read of a table after DDL must see the DDL's result. */
static void wait_for_ddl(struct builder *b, const struct ddl *ddl)
{
    const struct watched *w = NULL;

    for (size_t i = 0; i < ddl->n_tables && w == NULL; i++) {
        const struct ddl_table *t = &ddl->tables[i];

        w = find(b, t->new_database, t->new_table);
        if (w == NULL)
            w = find(b, t->database, t->table);
    }
    if (!b->wants_waits || (w == NULL && ddl->n_tables > 0))
        return;
    buf_clear(&b->wait_sql);
    if (w != NULL)
        commit_wait_format_table(&b->wait_sql, w->database, w->table);
    read_position_set_commit_wait(b->opt.reader, buf_str(&b->wait_sql));
}

static bool on_statement(struct builder *b, const struct step *step, uint64_t version,
                         struct err *err)
{
    const struct ddl *ddl = &step->ddl;
    const struct table_stops stops = stops_at(b, version);

    count(&b->status.statements);
    if (ddl->temporary || ddl->kind == DDL_NONE || version <= b->skip_to)
        return true;
    table_stops_by_ddl(&stops, ddl);
    if (ddl->kind == DDL_DML)
        return true;
    change_writer_flush(b->writer);
    progress_concern(b->opt.progress);
    wait_for_ddl(b, ddl);
    read_position_set(b->opt.reader, version, 0);
    FAILPOINT(ddl_met);
    return b->opt.on_ddl(b->opt.ctx, ddl, err);
}

/* Rows that were prepared before take effect at or after it. */
static void pass_midnight(struct builder *b, const struct step *step)
{
    struct commit_position from = {.file_number = b->place.file_number, .offset = step->begin};

    (void)!progress_held(b->opt.progress, &from);
    midnights_pass(b->opt.midnights, &(struct midnight_passing){.time = b->time_s,
                                                                .now = clock_wall_ms() / 1000,
                                                                .file_number = from.file_number,
                                                                .offset = from.offset});
}

static void end_transaction(struct builder *b, const struct step *step)
{
    if (b->opt.midnights != NULL && step->ends && step->begin != 0 && b->time_s != 0)
        pass_midnight(b, step);
    b->time_s = 0;
    log_place_end(&b->place, step);
    b->has_wait = false;
    count(&b->status.transactions);
    FAILPOINT(transaction_built);
    progress_commit(b->opt.progress, &b->place.position);
}

/* The log has rows that count here, from before. */
static bool on_ready(void *ctx, const struct str *wait_sql, uint64_t version, struct err *err)
{
    struct builder *b = MAGIC_CAST(builder, ctx);

    if (wait_sql != NULL) {
        if (!b->opt.wait_committed(b->opt.ctx, *wait_sql, err))
            return false;
        read_position_note_late(b->opt.reader);
    }
    /* Just before, so that re-reads need not wait for the last row. */
    read_position_set(b->opt.reader, version - 1, 0);
    return true;
}

/* w: NULL for all. */
static void on_lost(void *ctx, const struct watched *w, struct str xid)
{
    struct builder *b = MAGIC_CAST(builder, ctx);
    const struct table_stops stops = stops_at(b, b->at);
    char reason[640];

    snprintf(reason, sizeof(reason),
             "the XA transaction %" STR_FMT " was committed at %s, and %s", STR_ARG(xid),
             b->place.file,
             w == NULL ? "its rows were logged before reading began: what it changed is unknown"
                       : "it has more rows than Millrace keeps for prepared transactions");
    if (w == NULL)
        table_stops_all(&stops, reason);
    else
        table_stops_one(&stops, w, reason);
}

/* What they wait for must not wait here. */
static void wait_for_cascades(struct builder *b)
{
    if (!cascades_is_full(b->opt.cascades))
        return;
    change_writer_flush(b->writer);
    cascades_wait(b->opt.cascades);
}

static bool on_content(struct builder *b, const struct step *step, uint64_t version,
                       struct err *err)
{
    if (!deferred_rows_keep(b->deferred, step, version, err))
        return false;
    if (step->kind == STEP_ROWS && !step->prepares && version > b->skip_to)
        on_rows(b, step,
                &(struct rows_when){.version = version,
                                    .commit_ms = (int64_t)step->event.time * 1000,
                                    .doubtful = deferred_rows_doubts(b->deferred)});
    if (step->kind == STEP_STATEMENT && !on_statement(b, step, version, err))
        return false;
    return deferred_rows_settle(b->deferred, step, version, version <= b->skip_to, err);
}

/*
 * Call before the event that reveals it: the server will never show that GTID, or shows it for
 * another transaction.
 */
static bool on_break(struct builder *b, const struct step *step, uint64_t version,
                     struct err *err)
{
    log_warn("a transaction in the log has no end, as after a crash: treating it as rolled "
             "back",
             KV("topic", b->opt.topic), KV("file", (const char *)b->place.file),
             KV("offset", step->event.start));
    log_place_break(&b->place);
    b->has_wait = false;
    b->time_s = 0;
    read_position_set_gtids(b->opt.reader, log_reader_executed(b->reader));
    return deferred_rows_break(b->deferred, step, version, version <= b->skip_to, err);
}

static bool on_step(struct builder *b, const struct step *step, struct err *err)
{
    uint64_t version = 0;

    if (!log_place_enter(&b->place, &step->event, b->opt.epoch, &version, err))
        return false;
    b->at = version;
    if (step->breaks && !on_break(b, step, version, err))
        return false;
    if (!log_place_check(&b->place, step, b->raw, err))
        return false;
    if (step->begins) {
        read_position_add_gtid(b->opt.reader, &step->gtid, version);
        b->time_s = 0; /* of a file's format, for example */
    }
    if (step->event.end != 0 && (int64_t)step->event.time > b->time_s)
        b->time_s = step->event.time;
    if (!on_content(b, step, version, err))
        return false;
    if ((step->ends && step->event.end != 0) || log_place_opens_file(&b->place, step))
        end_transaction(b, step);
    /* The commit wait of a transaction that prepares comes at its end: until then it is no
     * stamp. */
    if (step->event.end != 0 && !(b->wants_waits && step->prepares && !step->ends))
        read_position_set(b->opt.reader, version, (int64_t)step->event.time * 1000);
    wait_for_cascades(b);
    return true;
}

static bool feed(struct builder *b, struct err *err)
{
    struct step step;
    int got;

    if (!log_reader_feed(b->reader, b->raw, err))
        return false;
    deferred_rows_feed(b->deferred, b->raw, log_reader_format(b->reader));
    while ((got = log_reader_next(b->reader, &step, err)) == 1)
        if (!on_step(b, &step, err))
            return false;
    if (got == 0 && b->at > b->handled)
        b->handled = b->at;
    return got == 0;
}

static void work_off(struct builder *b, struct chunk *c)
{
    for (struct handoff_item *item = c->first; item != NULL; item = item->next) {
        struct err err = {0};

        if (item->event.ptr == NULL) {
            change_writer_flush(b->writer);
            item->run(item->ctx);
            continue;
        }
        count(&b->status.events);
        b->raw = item->event;
        if (!b->faulty && !stop_is_set(&b->discarding) && !feed(b, &err)) {
            log_place_explain(&b->place, &err);
            err_wrap(&err, "%s", b->place.file);
            builder_pause(b, &err);
        }
        handoff_let_go(b->opt.handoff, item);
    }
    change_writer_flush(b->writer);
}

static void *builder_main(void *arg)
{
    struct builder *b = MAGIC_CAST(builder, arg);
    bool closed = false;

    for (;;) {
        struct chunk *c = handoff_take(b->opt.handoff, TAKE_MS, &closed);
        const uint64_t handled = b->handled;

        __atomic_store_n(&b->busy, c != NULL, __ATOMIC_RELAXED);
        if (c != NULL)
            work_off(b, c);
        else if (closed)
            break;
        chunk_free(c);
        __atomic_store_n(&b->busy, false, __ATOMIC_RELAXED);
        if (b->handled != handled)
            b->opt.on_moved(b->opt.ctx);
    }
    b->opt.on_done(b->opt.ctx);
    return NULL;
}

struct builder *builder_new(const struct builder_options *opt)
{
    struct builder *b = mem_alloc(1, sizeof(*b));

    b->magic = MAGIC_builder;
    b->opt = *opt;
    b->faulty = true;
    stop_init(&b->discarding);
    b->writer = change_writer_new(&(struct change_writer_options){.delivery = opt->delivery,
                                                                  .progress = opt->progress,
                                                                  .reread = opt->reread,
                                                                  .cascades = opt->cascades,
                                                                  .given_up = &b->discarding,
                                                                  .ctx = opt->ctx,
                                                                  .stop_table = opt->stop_table,
                                                                  .dead = opt->dead});
    b->deferred = deferred_rows_new(&(struct deferred_rows_options){.folder = opt->spill_folder,
                                                                    .event_max = opt->event_max,
                                                                    .progress = opt->progress,
                                                                    .want = want,
                                                                    .ctx = b,
                                                                    .find = find,
                                                                    .on_rows = on_rows,
                                                                    .ready = on_ready,
                                                                    .lost = on_lost});
    return b;
}

void builder_start(struct builder *b)
{
    b->thread = thread_start("builder", builder_main, b);
}

void builder_join(struct builder *b)
{
    pthread_join(b->thread, NULL);
}

struct prepared_status builder_prepared(struct builder *b)
{
    return deferred_rows_status(b->deferred);
}

struct builder_status builder_status(struct builder *b)
{
    return (struct builder_status){
        .inserts = __atomic_load_n(&b->status.inserts, __ATOMIC_RELAXED),
        .updates = __atomic_load_n(&b->status.updates, __ATOMIC_RELAXED),
        .deletes = __atomic_load_n(&b->status.deletes, __ATOMIC_RELAXED),
        .statements = __atomic_load_n(&b->status.statements, __ATOMIC_RELAXED),
        .events = __atomic_load_n(&b->status.events, __ATOMIC_RELAXED),
        .transactions = __atomic_load_n(&b->status.transactions, __ATOMIC_RELAXED),
    };
}
