#include "config.h"

#include "rebalance/verify/jobs.h"

#include "rebalance/verify/job.h"

#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/read/stall_watchdog.h"

#include <inttypes.h>
#include <stdlib.h>

#define AGAIN_MS 3600000
#define WAY_MS   20000 /* for the step that a comparison is in */
#define LOOK_MS  20

/* What is remembered of an index. */
struct memory {
    int64_t next_ms; /* no comparison that nobody asked for before that, in steady time */
    struct exchanges exchanges;
    struct repair_counts repairs;
};

struct verify_jobs {
    struct lock lock; /* LOCK_verifies_lock */
    struct verify_job *first;
    struct map *memories; /* orders_v2 -> struct memory; guarded by lock */
    unsigned n_orders;    /* atomic: of people, on their way */
    bool has_ended;       /* one, since verify_jobs_take_ended(); guarded by lock */
};

void verify_progress_put(struct json_writer *w, const struct verify_progress *p)
{
    json_put_cstr(w, STR("phase"), verify_pass_word(p->pass));
    json_put_u64(w, STR("rows_done"), p->done);
    json_put_u64(w, STR("rows_total"), p->total);
    json_put_double(w, STR("rate"), (double)(int64_t)p->rate);
    if (p->remaining_s >= 0)
        json_put_i64(w, STR("remaining_seconds"), p->remaining_s);
    else
        json_put_null(w, STR("remaining_seconds"));
    json_put_cstr(w, STR("waits_for"), p->why.msg);
    json_put_cstr(w, STR("fix"), "");
}

struct verify_jobs *verify_jobs_new(void)
{
    struct verify_jobs *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_verifies_lock);
    all->memories = map_new();
    return all;
}

void verify_jobs_free(struct verify_jobs *all)
{
    if (all == NULL)
        return;
    map_free(all->memories, free);
    lock_fini(&all->lock);
    free(all);
}

/* Takes out those that are over, or all. */
static struct verify_job *take_out(struct verify_jobs *all, bool only_over)
{
    struct verify_job *out = NULL;

    lock_acquire(&all->lock);
    for (struct verify_job **at = &all->first; *at != NULL;) {
        struct verify_job *j = *at;

        if (only_over && !j->over) {
            at = &j->next;
            continue;
        }
        *at = j->next;
        j->next = out;
        out = j;
    }
    lock_release(&all->lock);
    return out;
}

static void join(struct verify_job *list)
{
    for (struct verify_job *j = list, *next; j != NULL; j = next) {
        next = j->next;
        stall_watchdog_stop(j->watchdog);
        pthread_join(j->thread, NULL);
        verify_job_free(j);
    }
}

static bool add(struct verify_jobs *all, struct verify_job *j, void *(*run)(void *job))
{
    size_t n = 0;
    bool is_there = false;

    lock_acquire(&all->lock);
    for (const struct verify_job *k = all->first; k != NULL; k = k->next) {
        n += !k->by_itself;
        is_there = is_there || k->job.id == j->job.id;
    }

    const bool fits = !is_there && (j->by_itself || n < VERIFY_JOBS_MAX);

    if (fits) {
        j->next = all->first;
        all->first = j;
        j->watchdog = stall_watchdog_new(&(struct stall_watchdog_options){0});
        stall_watchdog_start(j->watchdog);
        j->thread = thread_start("verify", run, j);
    }
    lock_release(&all->lock);
    return fits;
}

bool verify_jobs_start(struct verify_jobs *all, struct verify_job *j, void *(*run)(void *job))
{
    join(take_out(all, true));
    return add(all, j, run);
}

bool verify_jobs_any(struct verify_jobs *all)
{
    bool any = false;

    lock_acquire(&all->lock);
    for (const struct verify_job *j = all->first; j != NULL; j = j->next)
        any = any || !j->over;
    lock_release(&all->lock);
    return any;
}

void verify_jobs_interrupt(struct verify_jobs *all)
{
    lock_acquire(&all->lock);
    for (struct verify_job *j = all->first; j != NULL; j = j->next)
        stall_watchdog_interrupt(j->watchdog);
    lock_release(&all->lock);
}

void verify_jobs_join(struct verify_jobs *all)
{
    join(take_out(all, false));
}

bool verify_jobs_find(struct verify_jobs *all, uint64_t id, struct verify_progress *out)
{
    bool found = false;

    lock_acquire(&all->lock);
    for (const struct verify_job *j = all->first; j != NULL && !found; j = j->next)
        if (j->job.id == id && !j->over) {
            *out = j->seen;
            found = true;
        }
    lock_release(&all->lock);
    return found;
}

/* Makes it if it is missing. */
static struct memory *memory_of(struct verify_jobs *all, struct str index) NEEDS(all->lock)
{
    struct memory *m = map_find(all->memories, index);

    if (m == NULL) {
        m = mem_alloc(1, sizeof(*m));
        free(map_put(all->memories, index, m));
    }
    return m;
}

int64_t verify_jobs_again_ms(int64_t every_ms)
{
    return every_ms > 0 && every_ms < AGAIN_MS ? every_ms : AGAIN_MS;
}

void verify_jobs_put_off(struct verify_jobs *all, struct str index, int64_t ms)
{
    lock_acquire(&all->lock);
    memory_of(all, index)->next_ms = clock_steady_ms() + ms;
    lock_release(&all->lock);
}

bool verify_jobs_are_put_off(struct verify_jobs *all, struct str index)
{
    lock_acquire(&all->lock);

    const struct memory *m = map_find(all->memories, index);
    const bool are = m != NULL && clock_steady_ms() < m->next_ms;

    lock_release(&all->lock);
    return are;
}

void verify_jobs_note_whole(struct verify_jobs *all, struct str index, const struct err *why)
{
    lock_acquire(&all->lock);

    struct memory *m = memory_of(all, index);

    if (why == NULL)
        m->next_ms = 0;
    m->exchanges.missing = why != NULL ? *why : (struct err){0};
    m->exchanges.ended = (struct err){0};
    lock_release(&all->lock);
}

void verify_jobs_note_ended(struct verify_jobs *all, struct str index, const struct err *why)
{
    lock_acquire(&all->lock);
    memory_of(all, index)->exchanges.ended = *why;
    lock_release(&all->lock);
}

void verify_jobs_note_exchange(struct verify_jobs *all, struct str index,
                               const struct verify_result *found, uint64_t lost,
                               const struct err *why)
{
    lock_acquire(&all->lock);
    exchanges_note(&memory_of(all, index)->exchanges, found, lost, why, clock_wall_ms());
    lock_release(&all->lock);
}

void verify_jobs_exchanges(struct verify_jobs *all, struct str index, struct exchanges *out)
{
    lock_acquire(&all->lock);

    const struct memory *m = map_find(all->memories, index);

    *out = m != NULL ? m->exchanges : (struct exchanges){0};
    lock_release(&all->lock);
}

void verify_jobs_note_repairs(struct verify_jobs *all, struct str index, enum repairer by,
                              const struct verify_result *found)
{
    lock_acquire(&all->lock);

    struct memory *m = memory_of(all, index);

    for (size_t i = 0; i < N_VERIFY_KINDS; i++)
        m->repairs.n[by][i] += found->repaired_counts[i];
    lock_release(&all->lock);
}

struct repair_counts verify_jobs_repairs(struct verify_jobs *all, struct str index)
{
    lock_acquire(&all->lock);

    const struct memory *m = map_find(all->memories, index);
    const struct repair_counts r = m != NULL ? m->repairs : (struct repair_counts){0};

    lock_release(&all->lock);
    return r;
}

static bool is_of(const struct verify_job *j, struct str index)
{
    struct buf name = {0};

    coordinator_index_name(&name, j->job.index, j->job.version);

    const bool is = !j->over && str_equal(buf_str(&name), index);

    buf_free(&name);
    return is;
}

bool verify_jobs_may_start(struct verify_jobs *all, struct str index, struct err *err)
{
    uint64_t id = 0;
    size_t n = 0;

    lock_acquire(&all->lock);
    for (const struct verify_job *j = all->first; j != NULL; j = j->next)
        if (!j->by_itself && !j->over) {
            n++;
            id = is_of(j, index) ? j->job.id : id;
        }
    lock_release(&all->lock);
    if (id != 0)
        return err_set(err, ERR_RETRY,
                       "job %" PRIu64
                       " verifies or refreshes this index already; fix: wait for "
                       "it, millrace report get %" PRIu64 " says how far it is, or end it with "
                       "--cancel",
                       id, id);
    return n < VERIFY_JOBS_MAX ||
           err_set(err, ERR_RETRY,
                   "%d verifications run already; fix: wait until one of them has ended",
                   VERIFY_JOBS_MAX);
}

void verify_jobs_order(struct verify_jobs *all)
{
    __atomic_add_fetch(&all->n_orders, 1, __ATOMIC_RELAXED);
}

/* Returns true while one runs that the caller does not want beside its own. */
static bool ask_for_way(struct verify_jobs *all, struct str index)
{
    bool runs = false;

    lock_acquire(&all->lock);
    for (struct verify_job *j = all->first; j != NULL; j = j->next)
        if (j->by_itself && is_of(j, index)) {
            __atomic_store_n(&j->makes_way, true, __ATOMIC_RELAXED);
            stall_watchdog_interrupt(j->watchdog);
            runs = true;
        }
    lock_release(&all->lock);
    return runs;
}

bool verify_jobs_make_way(struct verify_jobs *all, struct str index, struct stop *stop)
{
    const int64_t until_ms = clock_mono_ms() + WAY_MS;

    while (ask_for_way(all, index))
        if (clock_mono_ms() >= until_ms || stop_wait(stop, LOOK_MS))
            return false;
    return true;
}

/* Returns how many still run. */
static size_t cancel(struct verify_jobs *all, struct str index, bool only_count)
{
    size_t n = 0;

    lock_acquire(&all->lock);
    for (struct verify_job *j = all->first; j != NULL; j = j->next)
        if (j->rewrites && is_of(j, index)) {
            n++;
            if (only_count)
                continue;
            __atomic_store_n(&j->is_cancelled, true, __ATOMIC_RELAXED);
            stall_watchdog_interrupt(j->watchdog);
        }
    lock_release(&all->lock);
    return n;
}

size_t verify_jobs_count_refreshes(struct verify_jobs *all, struct str index)
{
    return cancel(all, index, true);
}

size_t verify_jobs_cancel(struct verify_jobs *all, struct str index, struct stop *stop,
                          size_t *left)
{
    const int64_t until_ms = clock_mono_ms() + WAY_MS;
    const size_t n = cancel(all, index, false);

    *left = n;
    while (*left > 0 && clock_mono_ms() < until_ms && !stop_wait(stop, LOOK_MS))
        *left = cancel(all, index, false);
    return n;
}

void verify_jobs_ordered(struct verify_jobs *all)
{
    __atomic_sub_fetch(&all->n_orders, 1, __ATOMIC_RELAXED);
}

bool verify_jobs_are_ordered(struct verify_jobs *all)
{
    return __atomic_load_n(&all->n_orders, __ATOMIC_RELAXED) > 0;
}

bool verify_jobs_run(struct verify_jobs *all, const char *kind)
{
    bool run = false;

    lock_acquire(&all->lock);
    for (const struct verify_job *j = all->first; j != NULL && !run; j = j->next)
        run = !j->over && str_equal(j->job.kind, str_from(kind));
    lock_release(&all->lock);
    return run;
}

bool verify_jobs_run_for(struct verify_jobs *all, struct str index)
{
    bool run = false;

    lock_acquire(&all->lock);
    for (const struct verify_job *j = all->first; j != NULL && !run; j = j->next)
        run = is_of(j, index);
    lock_release(&all->lock);
    return run;
}

bool verify_jobs_have_kind(struct str kind)
{
    return str_equal(kind, STR(JOB_VERIFY)) || str_equal(kind, STR(JOB_COMPARE)) ||
           str_equal(kind, STR(JOB_EXCHANGE)) || str_equal(kind, STR(JOB_REFRESH));
}

void verify_jobs_show(struct verify_jobs *all, struct verify_job *j,
                      const struct verify_progress *seen)
{
    lock_acquire(&all->lock);
    j->seen = *seen;
    lock_release(&all->lock);
}

void verify_jobs_end(struct verify_jobs *all, struct verify_job *j)
{
    lock_acquire(&all->lock);
    j->over = true;
    all->has_ended = true;
    lock_release(&all->lock);
}

bool verify_jobs_take_ended(struct verify_jobs *all)
{
    lock_acquire(&all->lock);

    const bool has_ended = all->has_ended;

    all->has_ended = false;
    lock_release(&all->lock);
    return has_ended;
}
