#include "config.h"

#include "rebalance/fill/fill.h"

#include "rebalance/fill/part_load.h"
#include "rebalance/fill/source.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/definition/delayed.h"
#include "sync/delivery/document/target.h"
#include "sync/document/bucket/mod.h"
#include "sync/document/loader.h"
#include "sync/read/stall_watchdog.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

#define CHUNK_MAX       5000 /* rows per statement */
#define CHUNK_FIRST     500
#define CHUNK_BYTES     (4 << 20)
#define CHUNKS_OPEN_MAX 64
#define VIEW_MS         10000
#define POLL_MS         20
#define RETRY_MS        1000
#define GIVE_UP_MS      10000 /* where others may be able to go on */

struct index_fill *index_fill_new(const struct index_fill_options *opt,
                                  const struct stored_job *job)
{
    struct index_fill *f = mem_alloc(1, sizeof(*f));

    f->magic = MAGIC_index_fill;
    f->opt = *opt;
    fill_source_ref(opt->source);
    f->alias = mem_copy(opt->alias);
    f->index = mem_copy(opt->index);
    if (f->opt.chunk == 0 || f->opt.chunk > CHUNK_MAX)
        f->opt.chunk = CHUNK_MAX;
    f->rate = opt->rate;
    f->sharers = opt->sharers;
    f->chunk = CHUNK_FIRST;
    f->open_last = &f->open_first;
    stop_init(&f->stop);
    f->watchdog = stall_watchdog_new(&(struct stall_watchdog_options){0});
    f->links = fill_source_links(opt->source, &f->stop, VIEW_MS);
    f->links.own.opt.watchdog = f->watchdog;
    f->arena = arena_new();
    f->opt.node = arena_copy(f->arena, opt->node);
    f->opt.shapes = arena_copy(f->arena, opt->shapes);
    f->job = *job;
    f->job.kind = arena_copy(f->arena, job->kind);
    f->job.index = arena_copy(f->arena, job->index);
    f->job.table = arena_copy(f->arena, job->table);
    f->job.parameters = arena_copy(f->arena, job->parameters);
    f->job.state = f->job.cursor = f->job.error = STR("");
    buf_append(&f->cursor, job->cursor);
    return f;
}

void index_fill_free(struct index_fill *f)
{
    if (f == NULL)
        return;
    fill_forget_chunks(f);
    for (size_t i = 0; i < f->n_tables; i++)
        free(f->tables[i]);
    free(f->tables);
    read_links_fini(&f->links);
    stall_watchdog_free(f->watchdog);
    fill_source_unref(f->opt.source);
    arena_free(f->arena);
    bucket_fini(&f->bucket);
    part_fini(&f->part);
    level_keys_fini(&f->known);
    buf_free(&f->cursor);
    buf_free(&f->after);
    stop_fini(&f->stop);
    free(f->alias);
    free(f->index);
    MAGIC_END(index_fill, f);
    free(f);
}

/* ---- its job ---- */

static bool store(struct index_fill *f, const char *state, struct str error, struct err *err)
{
    struct buf parameters = {0};
    struct stored_job job = f->job;
    const int64_t began_ms = clock_mono_ms();

    job_pace_update(&f->pace, f->job.rows_done, clock_mono_ms());
    f->bucket.rate = (uint64_t)(f->pace.rate + 0.5);
    bucket_append(&parameters, &f->bucket);
    job.cursor = buf_str(&f->cursor);
    job.parameters = buf_str(&parameters);
    job.state = str_from(state);
    job.error = error;
    job.updated_ms = clock_wall_ms();

    const bool ok = store_save_job(f->opt.store, f->opt.term, &job, err);
    const int64_t now_ms = clock_mono_ms();

    f->save_ms = now_ms + job_save_pause(now_ms - began_ms);

    FAILPOINT(chunk_saved);
    buf_free(&parameters);
    return ok;
}

/* Returns false if the job has another owner now, or was deleted. */
static bool save_some(struct index_fill *f, struct err *err)
{
    return clock_mono_ms() < f->save_ms || store(f, BUCKET_RUNNING, STR(""), err) ||
           err->kind != ERR_STOP;
}

static bool is_stopping(struct index_fill *f, struct err *err)
{
    return stop_is_set(&f->stop) && !err_set(err, ERR_STOP, "stopping");
}

/* Nobody needs a version that was stopped. */
static bool is_given_up(struct index_fill *f, struct err *err)
{
    struct err why = {0};
    struct target *t = fill_source_target(f->opt.source, STR(""), &why);
    const bool given_up = t == NULL && why.kind == ERR_REJECT;

    target_unref(t);
    if (given_up)
        *err = why;
    return given_up;
}

/* Waits for RETRY_MS, or until a topic that was not followed yet is followed. */
static void wait_to_retry(struct index_fill *f)
{
    const int64_t until = clock_mono_ms() + RETRY_MS;
    const bool settled = fill_source_is_settled(f->opt.source);

    while (!stop_is_set(&f->stop) && clock_mono_ms() < until &&
           (settled || !fill_source_is_settled(f->opt.source)))
        stop_wait(&f->stop, POLL_MS);
}

/*
 * Another node's stream may have met a change of the tables that our plan does not know: its
 * owner says so soon. Where we cannot go on for long, others may. A delayed run waits for its
 * parts, whatever is wrong with them.
 */
static bool is_to_give_up(struct index_fill *f, struct err *err)
{
    const int64_t now = clock_mono_ms();
    const bool is_away = fill_source_pipeline(f->opt.source) == NULL;

    if ((is_away || f->is_part) && err->kind == ERR_REJECT)
        err->kind = ERR_RETRY;
    if (!is_away)
        return false;
    if (f->failing_ms == 0)
        f->failing_ms = now;
    f->gave_up = err->kind == ERR_RETRY && now - f->failing_ms >= GIVE_UP_MS;
    return f->gave_up;
}

/*
 * Drops the connections, and waits out temporary trouble, which its job says meanwhile. Returns
 * false if anything else ends the fill.
 */
static bool survive(struct index_fill *f, struct err *err)
{
    struct err ignored = {0};

    read_links_close(&f->links);
    if (is_to_give_up(f, err)) {
        log_failure(LOG_WARN, err, "a bucket is given back, as this node cannot go on",
                    KV("index", (const char *)f->index),
                    KV("bucket", (uint64_t)f->job.bucket + 1));
        err->kind = ERR_STOP;
    }
    if (err->kind != ERR_RETRY)
        return false;
    if (f->is_part)
        log_failure(LOG_WARN, err, "a delayed run waits for a part",
                    KV("index", (const char *)f->index), KV("part", (uint64_t)f->job.bucket));
    else
        log_failure(LOG_WARN, err, "the index build waits", KV("index", (const char *)f->index),
                    KV("bucket", (uint64_t)f->job.bucket + 1));
    if (!store(f, BUCKET_RUNNING, str_from(err->msg), &ignored) && ignored.kind == ERR_STOP) {
        *err = ignored;
        return false;
    }
    f->save_ms = clock_mono_ms() + RETRY_MS; /* people can read it so long */
    wait_to_retry(f);
    return !is_stopping(f, err);
}

/* ---- its rows ---- */

/* A page that was cut holds as many rows as fit. */
static void adapt_chunk(struct index_fill *f, const struct loader_page *page, size_t bytes)
{
    const bool is_cut = !page->is_end && !f->is_part && page->n < f->asked;
    const size_t most = is_cut ? page->n : f->chunk * 2;
    size_t fit = CHUNK_BYTES / (bytes / page->n + 1);

    if (fit > most)
        fit = most;
    if (fit > f->opt.chunk)
        fit = f->opt.chunk;
    f->chunk = fit < 1 ? 1 : fit;
}

/* The read must include the turnstile's floor and the start. */
static uint64_t read_from(const struct index_fill *f, const struct pass *pass)
{
    const uint64_t floor = grace_period_floor(pass->grace_period);

    return floor > f->opt.start ? floor : f->opt.start;
}

static bool load_part(struct index_fill *f, const struct target *t, struct loader_page *page,
                      struct arena *a, struct err *err)
{
    struct top_relation top;
    const struct part_reading from = {
        .part = &f->part, .top = &top, .target = t, .known = &f->known};

    return (!f->part.by_level || f->opt.top(f->opt.ctx, &f->part, a, &top, err)) &&
           part_load(f->links.conns, &from, page, a, err);
}

static bool read_chunk(struct index_fill *f, const struct target *t, const struct pass *pass,
                       struct loader_page *page, struct arena *a, struct err *err)
{
    struct reading *from = t->plan;
    uint64_t stamp;

    stall_watchdog_begin(f->watchdog);

    const bool ok =
        read_links_open(&f->links, from, read_from(f, pass), &stamp, err) &&
        (f->is_part ? load_part(f, t, page, a, err)
                    : loader_load_range(f->links.conns, from->plan, page, a, err)) &&
        read_links_end(&f->links, err);

    if (stall_watchdog_end(f->watchdog)) {
        read_links_close(&f->links);
        return ok || err_set(err, ERR_RETRY, "a server that rows are read from hangs");
    }
    return ok;
}

/* Retry a refused read with half the rows: they may fit into memory. */
static bool asks_for_fewer(struct index_fill *f, struct err *err)
{
    if (err->kind != ERR_REJECT || f->asked <= 1)
        return false;
    f->chunk = f->asked / 2;
    read_links_close(&f->links);
    *err = (struct err){0};
    return true;
}

/* What the next page of the bucket is. `where` keeps its condition. */
static bool next_page(struct index_fill *f, const struct target *t, struct buf *where,
                      struct loader_page *page, struct err *err)
{
    const struct fill_bucket *b = &f->bucket;
    const bool is_last = f->at_table + 1 == f->n_tables;

    *page = (struct loader_page){
        .after = buf_str(&f->after), .rows_max = f->asked, .bytes_max = CHUNK_BYTES};
    if (f->is_part)
        return true;
    if (b->mod == 0) {
        page->bucket = (struct loader_bucket){.by = buf_str(&b->by),
                                              .index = buf_str(&b->index),
                                              .until = is_last ? f->until : STR("")};
        return true;
    }
    if (!mod_append(where, ((const struct reading *)t->plan)->plan, buf_str(&b->by), b->mod,
                    b->rest, err))
        return false;
    page->where = buf_str(where);
    return true;
}

static bool fill_chunk(struct index_fill *f, struct err *err)
{
    struct target *t = fill_source_target(f->opt.source, str_from(f->tables[f->at_table]), err);
    struct pass pass = {fill_source_gate(f->opt.source), 0};
    struct loader_page page = {.n = 0};
    struct arena *a = arena_new();
    struct buf where = {0};

    pass.side = grace_period_enter(pass.grace_period);

    bool ok = t != NULL && next_page(f, t, &where, &page, err) &&
              read_chunk(f, t, &pass, &page, a, err);

    if (ok) {
        f->end = page.is_end;
        f->failing_ms = 0;
    } else if (page.n > 0)
        f->asked = page.n;
    if (ok && page.n > 0) {
        adapt_chunk(f, &page, arena_size(a));
        ok = fill_submit(f, t, &page, &pass, err);
        FAILPOINT(chunk_submitted);
    } else {
        grace_period_leave(pass.grace_period, pass.side);
        if (ok && !page.is_end) { /* other parts have its documents */
            buf_clear(&f->after);
            buf_append(&f->after, page.next);
        }
    }
    buf_free(&where);
    arena_free(a);
    target_unref(t);
    return ok;
}

/* Set the size of the next chunk and wait until the rate limit allows it. */
static bool hold_rate(struct index_fill *f, struct err *err)
{
    const uint64_t rate = job_limit_share(__atomic_load_n(&f->rate, __ATOMIC_RELAXED),
                                          __atomic_load_n(&f->sharers, __ATOMIC_RELAXED));

    f->asked = job_limit_rows(rate, f->chunk);

    const int64_t ms = job_limit_take(&f->limit, rate, f->asked, clock_mono_ms());

    if (ms > 0)
        stop_wait(&f->stop, ms);
    fill_collect(f);
    return save_some(f, err) && !is_stopping(f, err);
}

static bool wait_chunks(struct index_fill *f, size_t at_most, struct err *err)
{
    for (;;) {
        fill_collect(f);
        if (!save_some(f, err))
            return false;
        if (f->n_open <= at_most)
            return true;
        stop_wait(&f->stop, POLL_MS);
        if (is_stopping(f, err) || is_given_up(f, err))
            return false;
    }
}

static bool fill_table(struct index_fill *f, struct err *err)
{
    f->end = false;
    while (!f->end) {
        if (is_stopping(f, err) || !wait_chunks(f, CHUNKS_OPEN_MAX, err) || !hold_rate(f, err))
            return false;
        if (!fill_chunk(f, err) && !asks_for_fewer(f, err) && !survive(f, err))
            return false;
    }
    return true;
}

static bool read_bucket(struct index_fill *f, struct err *err)
{
    if (!bucket_read(f->job.parameters, &f->bucket))
        return err_set(err, ERR_REJECT,
                       "bucket %u of the build of %s has no end that can be read; fix: "
                       "millrace index reset, then millrace index create",
                       (unsigned)f->job.bucket + 1, f->index);
    f->is_part = f->bucket.part.len > 0;
    return !f->is_part || part_read(buf_str(&f->bucket.part), &f->part) ||
           err_set(err, ERR_REJECT,
                   "part %u of a delayed run into %s cannot be read; fix: millrace index "
                   "create %s, which makes it needless",
                   (unsigned)f->job.bucket, f->index, f->alias);
}

static bool load_keys(struct index_fill *f, struct err *err)
{
    buf_clear(&f->part.keys);
    return !f->is_part || store_load_part_keys(f->opt.store, f->job.id, &f->part.keys, err);
}

static bool fill(struct index_fill *f, struct err *err)
{
    if (!read_bucket(f, err))
        return false;
    buf_clear(&f->bucket.node);
    buf_append(&f->bucket.node, f->opt.node);
    while (!load_keys(f, err) || !fill_find_tables(f, err))
        if (!survive(f, err))
            return false;
    for (; f->at_table < f->n_tables; f->at_table++) {
        if (!fill_table(f, err))
            return false;
        buf_clear(&f->after);
    }
    return wait_chunks(f, 0, err);
}

/* ---- its life ---- */

/* Block until the job says how the fill ended (why: NULL if well), or others have the job. */
static void end(struct index_fill *f, const struct err *why)
{
    const char *state = why == NULL ? BUCKET_DONE : BUCKET_ERROR;
    const struct str text = why == NULL ? STR("") : str_from(why->msg);
    struct err err = {0};

    while (!store(f, state, text, &err) && err.kind != ERR_STOP) {
        log_failure(LOG_WARN, &err, "could not store the end of a bucket, trying again",
                    KV("index", (const char *)f->index));
        if (stop_wait(&f->stop, RETRY_MS))
            return;
    }
    FAILPOINT(bucket_ended);
}

static void *fill_main(void *arg)
{
    struct index_fill *f = MAGIC_CAST(index_fill, arg);
    struct err err = {0}, saved = {0};

    const bool ok = fill(f, &err);

    if (!ok && f->is_part && err.kind != ERR_STOP) /* its run waits for it */
        f->gave_up = true;
    if (ok || (err.kind != ERR_STOP && !f->is_part))
        end(f, ok ? NULL : &err);
    else if (!store(f, BUCKET_INIT, f->gave_up ? str_from(err.msg) : STR(""), &saved))
        log_failure(LOG_INFO, &saved, "could not store the cursor of the index build",
                    KV("index", (const char *)f->index));
    else
        FAILPOINT(bucket_returned);
    if (!stop_is_set(&f->stop))
        f->opt.done(f->opt.ctx, f);
    return NULL;
}

void index_fill_start(struct index_fill *f)
{
    f->started = true;
    stall_watchdog_start(f->watchdog);
    f->thread = thread_start("fill", fill_main, f);
}

void index_fill_set_rate(struct index_fill *f, uint64_t rows_per_second)
{
    __atomic_store_n(&f->rate, rows_per_second, __ATOMIC_RELAXED);
}

void index_fill_set_share(struct index_fill *f, size_t sharers, size_t nodes)
{
    __atomic_store_n(&f->sharers, sharers, __ATOMIC_RELAXED);
    f->nodes = nodes;
}

size_t index_fill_nodes(const struct index_fill *f)
{
    return f->nodes;
}

void index_fill_ask_to_stop(struct index_fill *f)
{
    stop_set(&f->stop);
}

void index_fill_stop(struct index_fill *f)
{
    index_fill_ask_to_stop(f);
    stall_watchdog_stop(f->watchdog); /* a read may take hours */
    if (f->started)
        pthread_join(f->thread, NULL);
    f->started = false;
}

uint64_t index_fill_job(const struct index_fill *f)
{
    return f->job.id;
}

const char *index_fill_alias(const struct index_fill *f)
{
    return f->alias;
}

uint64_t index_fill_number(const struct index_fill *f)
{
    return f->job.version;
}

const struct pipeline *index_fill_pipeline(const struct index_fill *f)
{
    return fill_source_pipeline(f->opt.source);
}

bool index_fill_has_shapes(const struct index_fill *f, struct str shapes)
{
    return str_equal(f->opt.shapes, shapes);
}

uint64_t index_fill_progress(const struct index_fill *f)
{
    return __atomic_load_n(&f->progress, __ATOMIC_RELAXED);
}

bool index_fill_gave_up(const struct index_fill *f)
{
    return f->gave_up;
}
