#include "config.h"

#include "sync/delivery/budget.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS 50 /* a stop token wakes nobody here */

struct budget {
    pthread_mutex_t lock;
    pthread_cond_t has_room;

    /* All guarded by lock. */
    size_t max;
    size_t held;
    size_t n_waiting;
    bool closed;
};

struct budget *budget_new(size_t max)
{
    struct budget *b = mem_alloc(1, sizeof(*b));
    pthread_condattr_t attr;

    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&b->has_room, &attr);
    pthread_condattr_destroy(&attr);
    b->max = max;
    return b;
}

void budget_free(struct budget *b)
{
    if (b == NULL)
        return;
    assert(b->n_waiting == 0);
    pthread_cond_destroy(&b->has_room);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static void wait_for_room(struct budget *b, const struct stop *stop)
{
    if (stop == NULL) {
        pthread_cond_wait(&b->has_room, &b->lock);
        return;
    }

    const int64_t ns = clock_mono_ns() + (int64_t)LOOK_MS * 1000000;
    const struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                                   .tv_nsec = (long)(ns % 1000000000)};

    pthread_cond_timedwait(&b->has_room, &b->lock, &until);
}

/* Under lock. */
static bool take_if_room(struct budget *b, size_t n)
{
    const bool may = !b->closed && b->held <= b->max;

    if (may)
        b->held += n;
    return may;
}

bool budget_try(struct budget *b, size_t n)
{
    pthread_mutex_lock(&b->lock);

    const bool taken = take_if_room(b, n);

    pthread_mutex_unlock(&b->lock);
    return taken;
}

bool budget_take(struct budget *b, size_t n, const struct stop *stop)
{
    bool stopped = false;

    pthread_mutex_lock(&b->lock);
    b->n_waiting++;
    while (!b->closed && b->held > b->max && !stopped) {
        wait_for_room(b, stop);
        stopped = stop != NULL && stop_is_set(stop);
    }
    b->n_waiting--;

    const bool taken = take_if_room(b, n);

    pthread_mutex_unlock(&b->lock);
    return taken;
}

void budget_force(struct budget *b, size_t n)
{
    pthread_mutex_lock(&b->lock);
    b->held += n;
    pthread_mutex_unlock(&b->lock);
}

void budget_give_back(struct budget *b, size_t n)
{
    pthread_mutex_lock(&b->lock);
    assert(b->held >= n);
    b->held -= n;
    if (b->n_waiting > 0 && b->held <= b->max)
        pthread_cond_broadcast(&b->has_room);
    pthread_mutex_unlock(&b->lock);
}

void budget_set_max(struct budget *b, size_t max)
{
    pthread_mutex_lock(&b->lock);
    b->max = max;
    pthread_cond_broadcast(&b->has_room);
    pthread_mutex_unlock(&b->lock);
}

size_t budget_held(struct budget *b)
{
    pthread_mutex_lock(&b->lock);

    size_t held = b->held;

    pthread_mutex_unlock(&b->lock);
    return held;
}

size_t budget_max(struct budget *b)
{
    pthread_mutex_lock(&b->lock);

    size_t max = b->max;

    pthread_mutex_unlock(&b->lock);
    return max;
}

size_t budget_waiting(struct budget *b)
{
    pthread_mutex_lock(&b->lock);

    size_t n = b->n_waiting;

    pthread_mutex_unlock(&b->lock);
    return n;
}

void budget_close(struct budget *b)
{
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    pthread_cond_broadcast(&b->has_room);
    pthread_mutex_unlock(&b->lock);
}
