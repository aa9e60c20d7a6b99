#include "config.h"

#include "src/base/thread.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_NAME_MAX 15

void stop_init(struct stop *s)
{
    *s = (struct stop){0};
    lock_init(&s->lock, LOCK_private);
    lock_init_cond(&s->set_cond);
}

void stop_fini(struct stop *s)
{
    pthread_cond_destroy(&s->set_cond);
    lock_fini(&s->lock);
}

void stop_set(struct stop *s)
{
    lock_acquire(&s->lock);
    __atomic_store_n(&s->set, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&s->set_cond);
    lock_release(&s->lock);
}

bool stop_is_set(const struct stop *s)
{
    return __atomic_load_n(&s->set, __ATOMIC_ACQUIRE);
}

/* seen NULL: until the token is set. */
static bool wait_for(struct stop *s, int64_t ms, uint64_t *seen)
{
    const int64_t until_ms = clock_mono_ms() + (ms > 0 ? ms : 0);
    bool in_time = true;

    lock_acquire(&s->lock);
    s->n_resting += seen != NULL;
    while (!s->set && in_time && (seen == NULL || *seen == s->nudges))
        in_time = lock_wait_until(&s->lock, &s->set_cond, until_ms);
    s->n_resting -= seen != NULL;
    if (seen != NULL)
        *seen = s->nudges;

    bool set = s->set;

    lock_release(&s->lock);
    return set;
}

bool stop_wait(struct stop *s, int64_t ms)
{
    return wait_for(s, ms, NULL);
}

bool stop_rest(struct stop *s, int64_t ms, uint64_t *seen)
{
    return wait_for(s, ms, seen);
}

void stop_nudge(struct stop *s)
{
    lock_acquire(&s->lock);
    s->nudges++;
    if (s->n_resting > 0)
        pthread_cond_broadcast(&s->set_cond);
    lock_release(&s->lock);
}

struct start {
    char name[THREAD_NAME_MAX + 1];
    void *(*fn)(void *);
    void *arg;
};

static void *run(void *p)
{
    struct start start = *(struct start *)p;

    free(p);
    pthread_setname_np(pthread_self(), start.name);
    return start.fn(start.arg);
}

static NORETURN void fail_to_start(const char *name, int rc)
{
    const size_t mib = mem_limit_mib();

    fprintf(stderr,
            "cannot start the thread %s: %s; fix: allow more threads (ulimit -u, TasksMax of "
            "the unit, pids.max of the cgroup)",
            name, strerror(rc));
    if (mib > 0)
        fprintf(stderr, ", and more address space than %zu MiB (ulimit -v, LimitAS)", mib);
    fputc('\n', stderr);
    abort();
}

/* The main thread handles signals: a new thread starts with all of them blocked. */
pthread_t thread_start(const char *name, void *(*fn)(void *), void *arg)
{
    struct start *start = mem_alloc(1, sizeof(*start));
    pthread_t thread;
    sigset_t all, before;

    snprintf(start->name, sizeof(start->name), "%s", name);
    start->fn = fn;
    start->arg = arg;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);

    int rc = pthread_create(&thread, NULL, run, start);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        fail_to_start(name, rc);
    }
    return thread;
}
