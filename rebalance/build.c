#include "config.h"

#include "rebalance/build.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/search.h"
#include "src/store_purged.h"
#include "sync/document/loader.h"
#include "sync/pipeline.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/routing.h"

#include <inttypes.h>
#include <stdlib.h>

#define SAVE_MS  500
#define RETRY_MS 1000
/* Counting a very large table gives no row for long: that is no server that hangs. */
#define COUNT_TIMEOUT_S 7200

struct index_build *index_build_new(const struct index_build_options *opt,
                                    const struct stored_job *job)
{
    struct index_build *b = mem_alloc(1, sizeof(*b));

    b->opt = *opt;
    b->alias = mem_copy(opt->alias);
    b->index = mem_copy(opt->index);
    b->final_settings = mem_copy(opt->final_settings);
    if (b->opt.chunk == 0 || b->opt.chunk > BUILD_CHUNK_MAX)
        b->opt.chunk = BUILD_CHUNK_MAX;
    b->open_last = &b->open_first;
    stop_init(&b->stop);
    pthread_mutex_init(&b->lock, NULL);
    b->links = pipeline_links(opt->pipeline, &b->stop, BUILD_VIEW_MS);
    b->arena = arena_new();
    b->job = *job;
    b->job.kind = arena_copy(b->arena, job->kind);
    b->job.index = arena_copy(b->arena, job->index);
    b->job.table = arena_copy(b->arena, job->table);
    b->job.parameters = arena_copy(b->arena, job->parameters);
    b->job.error = STR("");
    buf_append(&b->cursor, job->cursor);
    b->phase = "waiting";
    return b;
}

void index_build_free(struct index_build *b)
{
    if (b == NULL)
        return;
    build_forget_chunks(b);
    for (size_t i = 0; i < b->n_tables; i++)
        free(b->tables[i]);
    free(b->tables);
    mysql_conn_close(b->conn);
    read_links_fini(&b->links);
    arena_free(b->arena);
    buf_free(&b->after);
    buf_free(&b->cursor);
    pthread_mutex_destroy(&b->lock);
    stop_fini(&b->stop);
    free(b->alias);
    free(b->index);
    free(b->final_settings);
    free(b);
}

void build_set_phase(struct index_build *b, const char *phase, const struct err *why)
{
    pthread_mutex_lock(&b->lock);
    b->phase = phase;
    b->why = why != NULL ? *why : (struct err){0};
    pthread_mutex_unlock(&b->lock);
}

bool build_save(struct index_build *b, bool always, struct err *err)
{
    const int64_t now = clock_mono_ms();

    if (!always && now - b->saved_ms < SAVE_MS)
        return true;
    b->saved_ms = now;
    pthread_mutex_lock(&b->lock);

    struct stored_job job = b->job;
    struct buf cursor = {0};

    buf_append(&cursor, buf_str(&b->cursor));
    pthread_mutex_unlock(&b->lock);
    job.cursor = buf_str(&cursor);
    job.state = STR("running");
    job.updated_ms = clock_wall_ms();

    const bool ok = store_save_job(b->opt.store, b->opt.term, &job, err);

    FAILPOINT(chunk_saved);
    buf_free(&cursor);
    return ok;
}

/* Whoever stops the build finds it there, as it may wait long for an answer. */
static void set_connection(struct index_build *b, struct mysql_conn *conn)
{
    pthread_mutex_lock(&b->lock);
    b->conn = conn;
    if (conn != NULL && stop_is_set(&b->stop))
        mysql_conn_interrupt(conn);
    pthread_mutex_unlock(&b->lock);
}

static bool connect(struct index_build *b, struct err *err)
{
    struct mysql_conn *conn;

    if (!pipeline_connect(b->opt.pipeline, COUNT_TIMEOUT_S, &conn, err))
        return false;
    set_connection(b, conn);
    return true;
}

static void disconnect(struct index_build *b)
{
    struct mysql_conn *conn = b->conn;

    set_connection(b, NULL);
    mysql_conn_close(conn);
}

bool build_open_read(struct index_build *b, uint64_t at_least, struct err *err)
{
    const struct read_view_options view = {
        .reader = pipeline_read_position(b->opt.pipeline),
        .gtid = pipeline_has_gtid(b->opt.pipeline),
        .at_least = at_least,
        .timeout_ms = BUILD_VIEW_MS,
        .stop = &b->stop,
    };

    uint64_t stamp;

    if (b->conn == NULL && !connect(b, err))
        return false;
    return read_view_open(b->conn, &view, &stamp, err);
}

/* Until the builder has taken the version, after a start or while the server is away, it waits.
 */
struct target *build_target(struct index_build *b, struct str table, struct err *err)
{
    const bool settled = pipeline_is_settled(b->opt.pipeline);
    struct target *t = pipeline_target(b->opt.pipeline, str_from(b->index), table);

    if (t == NULL && !settled) {
        err_set(err, ERR_RETRY, "its topic is not followed yet");
        return NULL;
    }
    if (t == NULL || __atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        target_unref(t);
        err_set(err, ERR_REJECT, "the table was stopped while its index was built");
        return NULL;
    }
    return t;
}

void build_targets_free(struct target **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        target_unref(list[i]);
    free(list);
}

struct target **build_targets(struct index_build *b, size_t *n, struct err *err)
{
    struct target *any = build_target(b, STR(""), err);
    struct target **list = pipeline_targets(b->opt.pipeline, str_from(b->index), n);

    if (any == NULL) {
        build_targets_free(list, *n);
        list = mem_alloc(1, sizeof(struct target *));
        *n = 0;
    } else if (*n == 0) {
        err_set(err, ERR_RETRY, "its topic has just looked at its tables again");
    }
    target_unref(any);
    return list;
}

bool build_count_tables(struct index_build *b, uint64_t *rows, struct err *err)
{
    size_t n;
    struct target **list = build_targets(b, &n, err);
    bool ok = n > 0;

    *rows = 0;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t of_table = 0;

        ok = loader_count(b->conn, ((struct reading *)list[i]->plan)->plan, &of_table, err);
        *rows += of_table;
    }
    build_targets_free(list, n);
    return ok;
}

bool build_is_stopping(struct index_build *b, struct err *err)
{
    return stop_is_set(&b->stop) && !err_set(err, ERR_STOP, "stopping");
}

/* Trouble that passes is waited for, the rest ends the build. */
bool build_survive(struct index_build *b, struct err *err)
{
    disconnect(b);
    read_links_close(&b->links);
    if (err->kind != ERR_RETRY)
        return false;
    build_set_phase(b, "waiting", err);
    log_failure(LOG_WARN, err, "the index build waits", KV("index", (const char *)b->index));
    stop_wait(&b->stop, RETRY_MS);
    return !build_is_stopping(b, err);
}

/* Whatever was read of the log up to now must be in the new version before searches see it. */
bool build_catch_up(struct index_build *b, uint64_t to, struct err *err)
{
    while (!pipeline_done_up_to(b->opt.pipeline, to)) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }
    return true;
}

/* What changed up to now and leads to very many documents (sync/fan_out.h) is in them. */
static bool wait_for_fan_outs(struct index_build *b, struct err *err)
{
    const int64_t now_ms = clock_wall_ms();

    while (pipeline_fan_out_oldest_ms(b->opt.pipeline, str_from(b->index)) <= now_ms) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }
    return true;
}

static bool has_purged(struct index_build *b, bool *has, struct err *err)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    size_t n = 0;
    const bool ok = store_count_purged(b->opt.store, a, &counts, &n, err);

    *has = false;
    for (size_t i = 0; ok && i < n; i++)
        *has = *has || str_equal(counts[i].index, str_from(b->index));
    arena_free(a);
    return ok;
}

/* So is what of it was put aside, as the version took nothing for a while. */
static bool wait_for_purged(struct index_build *b, struct err *err)
{
    bool has = true;

    while (has) {
        if (!has_purged(b, &has, err)) {
            if (!build_survive(b, err))
                return false;
        } else if (has) {
            stop_wait(&b->stop, BUILD_POLL_MS);
            if (build_is_stopping(b, err))
                return false;
        }
    }
    return true;
}

static bool publish(struct index_build *b, struct err *err)
{
    if (!search_put_settings(b->opt.search, str_from(b->index), str_from(b->final_settings),
                             err) ||
        !search_refresh(b->opt.search, str_from(b->index), err) ||
        !search_move_alias(b->opt.search, str_from(b->alias), str_from(b->index), err))
        return false;
    FAILPOINT(alias_moved);

    const bool ok = store_promote_version(b->opt.store, str_from(b->alias), b->opt.number,
                                          clock_wall_ms(), err);

    FAILPOINT(version_promoted);
    return ok;
}

static bool finish(struct index_build *b, struct err *err)
{
    build_set_phase(b, "finishing", NULL);
    FAILPOINT(build_filled);
    if (!build_catch_up(b, read_position_version(pipeline_read_position(b->opt.pipeline)),
                        err) ||
        !wait_for_fan_outs(b, err) || !wait_for_purged(b, err))
        return false;
    /* Also refreshed while the stream does not wait for it. */
    while (!build_repeat_deletes(b, err) ||
           !search_refresh(b->opt.search, str_from(b->index), err))
        if (!build_survive(b, err))
            return false;
    if (!b->opt.synced && !build_count_rows(b, err))
        return false;
    FAILPOINT(build_counted);
    while (!publish(b, err))
        if (!build_survive(b, err))
            return false;
    return true;
}

static void *build_main(void *arg)
{
    struct index_build *b = arg;
    struct err err = {0}, saved = {0};

    log_info("index build runs", KV("index", (const char *)b->index),
             KV("start", b->opt.start));

    const bool ok = build_fill(b, &err) && finish(b, &err);

    if (!ok && err.kind == ERR_STOP && stop_is_set(&b->stop)) {
        if (!build_save(b, true, &saved))
            log_failure(LOG_INFO, &saved, "the cursor of the index build was not stored",
                        KV("index", (const char *)b->index));
        return NULL;
    }
    b->opt.done(b->opt.ctx, b, ok ? NULL : &err);
    return NULL;
}

void index_build_start(struct index_build *b)
{
    b->started = true;
    b->thread = thread_start("build", build_main, b);
}

void index_build_ask_to_stop(struct index_build *b)
{
    pthread_mutex_lock(&b->lock);
    stop_set(&b->stop);
    if (b->conn != NULL)
        mysql_conn_interrupt(b->conn);
    pthread_mutex_unlock(&b->lock);
}

void index_build_stop(struct index_build *b)
{
    index_build_ask_to_stop(b);
    if (b->started)
        pthread_join(b->thread, NULL);
    b->started = false;
}

struct pipeline *index_build_pipeline(const struct index_build *b)
{
    return b->opt.pipeline;
}

/* Kept with the job, so that it counts after a restart as well. */
void index_build_set_rate(struct index_build *b, uint64_t rows_per_second)
{
    struct buf parameters = {0};

    buf_printf(&parameters, "{\"rate\":%" PRIu64 ",\"chunk\":%zu}", rows_per_second,
               b->opt.chunk);
    pthread_mutex_lock(&b->lock);
    b->job.parameters = arena_copy(b->arena, buf_str(&parameters));
    pthread_mutex_unlock(&b->lock);
    buf_free(&parameters);
    __atomic_store_n(&b->rate_limit, rows_per_second, __ATOMIC_RELAXED);
}

const char *index_build_alias(const struct index_build *b)
{
    return b->alias;
}

uint64_t index_build_number(const struct index_build *b)
{
    return b->opt.number;
}

struct index_build_status index_build_status(struct index_build *b)
{
    pthread_mutex_lock(&b->lock);

    const struct index_build_status s = {
        .job_id = b->job.id,
        .number = b->opt.number,
        .rows_done = job_shown_done(b->job.rows_done, b->job.rows_total),
        .rows_total = b->job.rows_total,
        .dead = b->dead,
        .rate = b->pace.rate,
        .remaining_s = job_remaining_s(&b->pace, b->job.rows_done, b->job.rows_total),
        .rate_limit = __atomic_load_n(&b->rate_limit, __ATOMIC_RELAXED),
        .phase = b->phase,
        .why = b->why,
    };

    pthread_mutex_unlock(&b->lock);
    return s;
}
