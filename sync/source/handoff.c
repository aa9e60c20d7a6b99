#include "config.h"

#include "sync/source/handoff.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct handoff {
    pthread_mutex_t lock;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    size_t bytes_max;

    /* All guarded by lock. */
    struct chunk *open;
    size_t blocks; /* not yet released */
    bool closed;
};

static struct chunk *chunk_new(void)
{
    struct chunk *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    c->last = &c->first;
    return c;
}

void chunk_free(struct chunk *c)
{
    if (c == NULL)
        return;
    for (struct handoff_item *item = c->first; item != NULL; item = item->next)
        free(item->block);
    arena_free(c->arena);
    free(c);
}

struct handoff *handoff_new(size_t bytes_max)
{
    struct handoff *h = mem_alloc(1, sizeof(*h));
    pthread_condattr_t attr;

    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->not_full, &attr);
    pthread_cond_init(&h->not_empty, &attr);
    pthread_condattr_destroy(&attr);
    h->bytes_max = bytes_max;
    h->open = chunk_new();
    return h;
}

void handoff_free(struct handoff *h)
{
    if (h == NULL)
        return;
    chunk_free(h->open);
    pthread_cond_destroy(&h->not_full);
    pthread_cond_destroy(&h->not_empty);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static struct handoff_item *append(struct handoff *h)
{
    struct handoff_item *item = arena_alloc(h->open->arena, 1, sizeof(*item));

    if (h->open->first == NULL)
        pthread_cond_signal(&h->not_empty);
    *h->open->last = item;
    h->open->last = &item->next;
    return item;
}

/* Called with lock held. */
static void wait_for_room(struct handoff *h, size_t len)
{
    while (!h->closed && h->open->bytes > 0 && h->open->bytes + len > h->bytes_max)
        pthread_cond_wait(&h->not_full, &h->lock);
}

bool handoff_put_block(struct handoff *h, struct str event, char *block)
{
    pthread_mutex_lock(&h->lock);
    wait_for_room(h, event.len);

    const bool ok = !h->closed;

    if (ok) {
        struct handoff_item *item = append(h);

        item->event = event;
        item->block = block;
        h->open->bytes += event.len;
        h->blocks++;
    }
    while (!h->closed && h->blocks > 0)
        pthread_cond_wait(&h->not_full, &h->lock);
    pthread_mutex_unlock(&h->lock);
    if (!ok)
        free(block);
    return ok;
}

void handoff_let_go(struct handoff *h, struct handoff_item *item)
{
    if (item->block == NULL)
        return;
    free(item->block);
    item->block = NULL;
    pthread_mutex_lock(&h->lock);
    h->blocks--;
    pthread_cond_signal(&h->not_full);
    pthread_mutex_unlock(&h->lock);
}

bool handoff_put_event(struct handoff *h, struct str event)
{
    pthread_mutex_lock(&h->lock);
    wait_for_room(h, event.len);

    const bool ok = !h->closed;

    if (ok) {
        append(h)->event = arena_copy(h->open->arena, event);
        h->open->bytes += event.len;
    }
    pthread_mutex_unlock(&h->lock);
    return ok;
}

bool handoff_put_command(struct handoff *h, void (*run)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&h->lock);

    const bool ok = !h->closed;

    if (ok) {
        struct handoff_item *item = append(h);

        item->run = run;
        item->ctx = ctx;
    }
    pthread_mutex_unlock(&h->lock);
    return ok;
}

static struct timespec deadline_after(int64_t ms)
{
    int64_t ns = clock_mono_ns() + ms * 1000000;

    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

struct chunk *handoff_take(struct handoff *h, int64_t ms, bool *closed)
{
    const struct timespec until = deadline_after(ms);
    struct chunk *taken = NULL;

    pthread_mutex_lock(&h->lock);
    while (h->open->first == NULL && !h->closed)
        if (pthread_cond_timedwait(&h->not_empty, &h->lock, &until) == ETIMEDOUT)
            break;
    *closed = h->closed;
    if (h->open->first != NULL) {
        taken = h->open;
        h->open = chunk_new();
        pthread_cond_signal(&h->not_full);
    }
    pthread_mutex_unlock(&h->lock);
    return taken;
}

void handoff_close(struct handoff *h)
{
    pthread_mutex_lock(&h->lock);
    h->closed = true;
    pthread_cond_broadcast(&h->not_full);
    pthread_cond_broadcast(&h->not_empty);
    pthread_mutex_unlock(&h->lock);
}

size_t handoff_level(struct handoff *h)
{
    pthread_mutex_lock(&h->lock);

    size_t bytes = h->open->bytes;

    pthread_mutex_unlock(&h->lock);
    return bytes;
}
