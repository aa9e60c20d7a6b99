#include "config.h"

#include "rebalance/build/build.h"
#include "rebalance/build/cost.h"

#include "rebalance/build/reads.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/job.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/fill/source.h"
#include "rebalance/fill/targets.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/document/target.h"
#include "sync/document/bucket/borders.h"
#include "sync/document/key.h"
#include "sync/pipeline/pipeline.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"

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

/* rows: guessed; 0: unknown. */
static struct stored_job new_bucket(const struct index_build *b, uint32_t bucket, uint32_t n,
                                    uint64_t rows, struct str parameters)
{
    return (struct stored_job){.kind = STR(JOB_BUCKET),
                               .index = b->job.index,
                               .table = b->job.table,
                               .version = b->opt.number,
                               .bucket = bucket,
                               .buckets = n,
                               .state = STR(BUCKET_INIT),
                               .cursor = STR(""),
                               .rows_total = rows,
                               .parameters = parameters,
                               .error = STR(""),
                               .created_ms = clock_wall_ms(),
                               .updated_ms = clock_wall_ms()};
}

/* Places between rows, in the order in which they are read: cursors (fill/bucket.h). */
struct cuts {
    struct arena *arena;
    struct str *places;
    uint64_t *rows; /* before each place, from the one before, and after the last: guessed */
    size_t n;
    struct str index; /* that has the order of the bucket column; empty: the server chooses */
};

static void cut(struct cuts *c, const char *table, struct str key)
{
    struct buf cursor = {0};

    if (c->n == BUCKETS_MAX)
        return;
    key_append_part(&cursor, str_from(table));
    buf_append(&cursor, key);
    c->places[c->n++] = arena_copy(c->arena, buf_str(&cursor));
    buf_free(&cursor);
}

static bool find_borders(struct index_build *b, const struct target *t, size_t n, struct str by,
                         struct arena *a, struct borders *out, struct err *err)
{
    const struct borders_wish wish = {
        .by = by, .n = n, .rows_min = b->opt.asked_buckets ? 1 : BUCKET_ROWS_MIN};

    return borders_find(b->conn, ((const struct reading *)t->plan)->plan, &wish, a, out, err);
}

/* How many of n buckets a table gets; at least one, which it may share with others. */
static size_t part_of(size_t n, uint64_t rows, uint64_t total)
{
    const double part = total == 0 ? 0 : (double)n * (double)rows / (double)total;

    return part < 1 ? 1 : (size_t)(part + 0.5);
}

/*
 * Small tables share a bucket with what is before them, until it has its share of the rows.
 */
static bool cut_tables(struct index_build *b, struct target *const *list, size_t n_tables,
                       struct cuts *c, struct err *err)
{
    const size_t n = b->opt.buckets;
    uint64_t *rows = arena_alloc(c->arena, n_tables, sizeof(*rows)), total = 0, so_far = 0;
    struct borders borders;

    for (size_t i = 0; n_tables > 1 && i < n_tables; i++) {
        if (!find_borders(b, list[i], 1, STR(""), c->arena, &borders, err))
            return false;
        rows[i] = borders.rows;
        total += rows[i];
    }
    for (size_t i = 0; i < n_tables; i++) {
        const size_t parts = n_tables == 1 ? n : part_of(n, rows[i], total);
        const struct str by = n_tables == 1 ? str_from(b->opt.bucket_column) : STR("");

        if (i > 0 && so_far > 0 && so_far + rows[i] > total / n) {
            cut(c, list[i]->table, STR(""));
            so_far = 0;
        }
        so_far += rows[i] / parts;
        if (parts == 1) {
            c->rows[c->n] += rows[i];
            continue;
        }
        if (!find_borders(b, list[i], parts, by, c->arena, &borders, err))
            return false;
        for (size_t k = 0; k < borders.n; k++) {
            c->rows[c->n] += borders.sizes[k];
            cut(c, list[i]->table, borders.places[k]);
        }
        c->rows[c->n] += borders.sizes != NULL ? borders.sizes[borders.n] : borders.rows;
        c->index = borders.index;
        if (borders.why_not != NULL && b->opt.asked_buckets)
            log_info("an index build has fewer buckets than wished",
                     KV("index", (const char *)b->index), KV("table", list[i]->table),
                     KV("buckets", (uint64_t)borders.n + 1), KV("why", borders.why_not));
    }
    return true;
}

/* Buckets from one place to the next; the first one goes on from where an earlier release came
 * to. */
static bool store_cuts(struct index_build *b, const struct cuts *c, bool by_column,
                       struct err *err)
{
    const uint32_t n = (uint32_t)c->n + 1;
    struct stored_job build = b->job, *buckets = arena_alloc(c->arena, n, sizeof(*buckets));

    for (uint32_t i = 0; i < n; i++) {
        struct fill_bucket bucket = {0};
        struct buf parameters = {0};

        if (i < c->n)
            buf_append(&bucket.until, c->places[i]);
        if (by_column) {
            buf_append(&bucket.by, str_from(b->opt.bucket_column));
            buf_append(&bucket.index, c->index);
        }
        bucket_append(&parameters, &bucket);
        buckets[i] =
            new_bucket(b, i, n, c->rows[i], arena_copy(c->arena, buf_str(&parameters)));
        if (i > 0)
            buckets[i].cursor = c->places[i - 1];
        bucket_fini(&bucket);
        buf_free(&parameters);
    }
    if (b->job.cursor.len > 0) {
        buckets[0].cursor = b->job.cursor;
        buckets[0].rows_done = b->job.rows_done;
    }
    build.buckets = n;
    return store_new_buckets(b->opt.store, b->opt.term, &build, buckets, n, err);
}

/* All buckets read all tables, each the rows that leave its remainder. */
static bool store_mods(struct index_build *b, struct arena *a, struct err *err)
{
    const uint32_t n = (uint32_t)b->opt.buckets;
    struct stored_job build = b->job, *buckets = arena_alloc(a, n, sizeof(*buckets));

    for (uint32_t i = 0; i < n; i++) {
        struct fill_bucket bucket = {.mod = n, .rest = i};
        struct buf parameters = {0};

        buf_append(&bucket.by, str_from(b->opt.bucket_column));
        bucket_append(&parameters, &bucket);
        buckets[i] = new_bucket(b, i, n, 0, arena_copy(a, buf_str(&parameters)));
        bucket_fini(&bucket);
        buf_free(&parameters);
    }
    build.buckets = n;
    return store_new_buckets(b->opt.store, b->opt.term, &build, buckets, n, err);
}

static bool divide_rows(struct index_build *b, struct arena *a, struct err *err)
{
    if (b->opt.by_mod)
        return store_mods(b, a, err);

    struct cuts c = {.arena = a,
                     .places = arena_alloc(a, BUCKETS_MAX, sizeof(*c.places)),
                     .rows = arena_alloc(a, BUCKETS_MAX + 1, sizeof(*c.rows))};
    size_t n;
    struct target **list = version_targets(b->opt.pipeline, b->index, &n, err);
    const bool divides = b->opt.buckets > 1 && b->job.cursor.len == 0;
    const bool by_column = divides && n == 1 && b->opt.bucket_column[0] != '\0';
    const bool ok = n > 0 &&
                    (!divides || ((b->conn != NULL || build_connect(b, err)) &&
                                  cut_tables(b, list, n, &c, err))) &&
                    store_cuts(b, &c, by_column, err);

    version_targets_free(list, n);
    return ok;
}

/* Other nodes may begin as soon as they see buckets, and this. */
static bool tell_others(struct index_build *b, struct err *err)
{
    struct buf name = {0}, text = {0};
    struct fill_note note = {0};
    bool ok = fill_note_take(b->opt.pipeline, b->index, b->opt.start, b->opt.node, &note, err);

    if (!note.anywhere && !b->opt.asked_buckets)
        b->opt.buckets = 1;

    buf_printf(&name, STORE_FILL "%s", b->index);
    fill_note_append(&text, &note);
    ok = ok && store_put_value(b->opt.store, buf_str(&name), buf_str(&text), err);
    FAILPOINT(fill_noted);
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
    bool ok = tell_others(b, err) && load_buckets(b, a, &buckets, &n, err);

    for (size_t i = 0; i < n; i++)
        b->resumed = b->resumed || buckets[i].cursor.len > 0;
    if (ok && n == 0) {
        ok = divide_rows(b, a, err);
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
    b->counted = ok;
    b->growth = (struct job_growth){.come = 0};
    lock_release(&b->lock);
    return ok;
}

/* What the stream has counted of its tables so far. */
static void watch_growth(struct index_build *b)
{
    size_t n;
    struct target **list = pipeline_targets(b->opt.pipeline, str_from(b->index), &n);
    uint64_t come = 0, gone = 0;

    for (size_t i = 0; i < n; i++) {
        come += __atomic_load_n(&list[i]->count.rows_come, __ATOMIC_RELAXED);
        gone += __atomic_load_n(&list[i]->count.rows_gone, __ATOMIC_RELAXED);
    }
    version_targets_free(list, n);
    lock_acquire(&b->lock);
    job_growth_update(&b->growth, come, gone, clock_mono_ms());
    if (b->counted)
        b->job.rows_total = job_growth_total(&b->growth, b->rows);
    b->slow = job_growth_is_slow(&b->growth, b->pace.rate, clock_mono_ms());
    lock_release(&b->lock);
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
    job_pace_update(&b->pace, sum->rows_done, clock_mono_ms());
    lock_release(&b->lock);
}

/* Another node works on it, or has. */
static bool is_elsewhere(const struct index_build *b, const struct stored_job *job)
{
    struct fill_bucket bucket;
    const bool known = bucket_read(job->parameters, &bucket);
    const bool is = known && bucket.node.len > 0 &&
                    !str_equal(buf_str(&bucket.node), str_from(b->opt.node));

    bucket_fini(&bucket);
    return is;
}

static bool look(struct index_build *b, bool *filled, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_job *buckets = NULL;
    struct bucket_sum sum = {0};
    size_t n = 0;
    bool ok = load_buckets(b, a, &buckets, &n, err);

    for (size_t i = 0; i < n; i++) {
        bucket_sum_add(&sum, &buckets[i]);
        b->shared = b->shared || is_elsewhere(b, &buckets[i]);
    }
    if (ok && n == 0)
        ok = err_set(err, ERR_STOP, "the version's jobs were deleted");
    b->lost_ms = (int64_t)sum.lost_ms;
    if (ok) {
        show(b, &sum);
        watch_growth(b);
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
    while (b->shared && !b->opt.filled_elsewhere(b->opt.ctx, b->alias, err))
        if (!build_survive(b, err))
            return false;
    lock_acquire(&b->lock);
    b->job.rows_total = b->job.rows_done; /* rows may have gone since they were counted */
    b->slow = false;
    lock_release(&b->lock);
    return true;
}
