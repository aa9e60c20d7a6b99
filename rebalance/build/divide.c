#include "config.h"

#include "rebalance/build/build.h"

#include "rebalance/build/reads.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/source.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "sync/read/view.h"

#include <stdlib.h>

#define LOOK_MS 500 /* between looks at the buckets, which other nodes may fill */

/* ---- buckets ---- */

/* The version's buckets as the store has them. */
static bool load_buckets(struct index_build *b, struct arena *a, struct stored_job **out,
                         size_t *n, struct err *err)
{
    struct stored_job *jobs;
    size_t n_jobs = 0;

    *n = 0;
    if (!store_load_jobs(b->opt.store, a, &jobs, &n_jobs, err))
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        if (str_equal(jobs[i].kind, STR(JOB_BUCKET)) && jobs[i].version == b->opt.number &&
            str_equal(jobs[i].index, str_from(b->alias)))
            jobs[(*n)++] = jobs[i];
    *out = jobs;
    return true;
}

static struct stored_job new_bucket(const struct index_build *b, uint32_t bucket, uint32_t n,
                                    struct str parameters)
{
    return (struct stored_job){.kind = STR(JOB_BUCKET),
                               .index = b->job.index,
                               .table = b->job.table,
                               .version = b->opt.number,
                               .bucket = bucket,
                               .buckets = n,
                               .state = STR(BUCKET_INIT),
                               .cursor = STR(""),
                               .parameters = parameters,
                               .error = STR(""),
                               .created_ms = clock_wall_ms(),
                               .updated_ms = clock_wall_ms()};
}

/* One bucket has all rows: it goes on from where an earlier release came to. */
static bool store_one(struct index_build *b, struct err *err)
{
    const struct fill_bucket all = {0};
    struct buf parameters = {0};

    bucket_append(&parameters, &all);

    struct stored_job bucket = new_bucket(b, 0, 1, buf_str(&parameters));

    bucket.cursor = b->job.cursor;
    bucket.rows_done = b->job.rows_done;

    const bool ok = store_new_buckets(b->opt.store, b->opt.term, &b->job, &bucket, 1, err);

    buf_free(&parameters);
    return ok;
}

/* Other nodes may begin as soon as they see buckets. */
static bool tell_others(struct index_build *b, struct err *err)
{
    struct buf name = {0}, text = {0};
    struct fill_note note = {0};
    bool ok = fill_note_take(b->opt.pipeline, b->index, &note, err);

    buf_printf(&name, STORE_FILL "%s", b->index);
    fill_note_append(&text, &note);
    ok = ok && store_put_value(b->opt.store, buf_str(&name), buf_str(&text), err);
    fill_note_fini(&note);
    buf_free(&name);
    buf_free(&text);
    return ok;
}

/* Store buckets unless there are some. */
static bool divide(struct index_build *b, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *buckets = NULL;
    size_t n = 0;
    bool ok = load_buckets(b, a, &buckets, &n, err);

    for (size_t i = 0; i < n; i++)
        b->resumed = b->resumed || buckets[i].cursor.len > 0;
    if (ok && n == 0) {
        ok = tell_others(b, err) && store_one(b, err);
        FAILPOINT(build_divided);
    }
    arena_free(a);
    return ok;
}

/* ---- until they are filled ---- */

static bool count_total(struct index_build *b, struct err *err)
{
    uint64_t total = 0;
    const bool ok = build_open_read(b, b->opt.start, err) &&
                    build_count_tables(b, &total, err) && read_view_close(b->conn, err);

    lock_acquire(&b->lock);
    if (ok)
        b->job.rows_total = b->rows = total;
    lock_release(&b->lock);
    return ok;
}

static void show(struct index_build *b, const struct bucket_sum *sum)
{
    struct err why = {.kind = sum->waits.len > 0 ? ERR_RETRY : ERR_NONE};

    if (sum->waits.len > 0)
        err_set(&why, ERR_RETRY, "%" STR_FMT, STR_ARG(sum->waits));
    build_set_phase(b, sum->waits.len > 0 ? "waiting" : "filling", &why);
    lock_acquire(&b->lock);
    b->job.rows_done = sum->rows_done;
    b->dead = sum->dead;
    b->n_filling = sum->n_running;
    job_pace_update(&b->pace, sum->rows_done, clock_mono_ms());
    lock_release(&b->lock);
}

static bool look(struct index_build *b, bool *filled, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *buckets = NULL;
    struct bucket_sum sum = {0};
    size_t n = 0;
    bool ok = load_buckets(b, a, &buckets, &n, err);

    for (size_t i = 0; i < n; i++)
        bucket_sum_add(&sum, buckets[i].state, buckets[i].error, buckets[i].rows_done,
                       buckets[i].parameters);
    if (ok && n == 0)
        ok = err_set(err, ERR_STOP, "the version's jobs were deleted");
    if (ok) {
        show(b, &sum);
        ok = build_save(b, err) &&
             (!sum.failed || err_set(err, ERR_REJECT, "%" STR_FMT, STR_ARG(sum.error)));
    }
    *filled = ok && sum.n_done == sum.n;
    arena_free(a);
    return ok;
}

/* Wait a while, or until a bucket has ended here. */
static bool rest(struct index_build *b, struct err *err)
{
    const int64_t until = clock_mono_ms() + LOOK_MS;
    uint64_t before = b->seen;

    while (before == b->seen && clock_mono_ms() < until) {
        stop_rest(&b->stop, BUILD_POLL_MS, &b->seen);
        if (!build_may_go_on(b, err))
            return false;
    }
    return true;
}

static bool wait_for_buckets(struct index_build *b, struct err *err)
{
    bool filled = false;

    for (;;) {
        if (look(b, &filled, err) ? filled : !build_survive(b, err))
            return filled;
        if (!rest(b, err))
            return false;
    }
}

bool build_fill(struct index_build *b, struct err *err)
{
    while (!divide(b, err))
        if (!build_survive(b, err))
            return false;
    b->opt.divided(b->opt.ctx);
    while (!count_total(b, err))
        if (!build_survive(b, err))
            return false;
    if (!wait_for_buckets(b, err))
        return false;
    lock_acquire(&b->lock);
    b->job.rows_total = b->job.rows_done; /* rows may have gone since they were counted */
    lock_release(&b->lock);
    return true;
}
