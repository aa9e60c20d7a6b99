#include "config.h"

#include "sync/source/handoff.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct handoff {
    struct lock lock;
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
    lock_init(&h->lock, LOCK_private);
    lock_init_cond(&h->not_full);
    lock_init_cond(&h->not_empty);
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
    lock_fini(&h->lock);
    free(h);
}

static struct handoff_item *append(struct handoff *h) NEEDS(h->lock)
{
    struct handoff_item *item = arena_alloc(h->open->arena, 1, sizeof(*item));

    if (h->open->first == NULL)
        pthread_cond_signal(&h->not_empty);
    *h->open->last = item;
    h->open->last = &item->next;
    return item;
}

static void wait_for_room(struct handoff *h, size_t len) NEEDS(h->lock)
{
    while (!h->closed && h->open->bytes > 0 && h->open->bytes + len > h->bytes_max)
        lock_wait(&h->lock, &h->not_full);
}

bool handoff_put_block(struct handoff *h, struct str event, char *block)
{
    lock_acquire(&h->lock);
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
        lock_wait(&h->lock, &h->not_full);
    lock_release(&h->lock);
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
    lock_acquire(&h->lock);
    h->blocks--;
    pthread_cond_signal(&h->not_full);
    lock_release(&h->lock);
}

bool handoff_put_event(struct handoff *h, struct str event)
{
    lock_acquire(&h->lock);
    wait_for_room(h, event.len);

    const bool ok = !h->closed;

    if (ok) {
        append(h)->event = arena_copy(h->open->arena, event);
        h->open->bytes += event.len;
    }
    lock_release(&h->lock);
    return ok;
}

bool handoff_put_command(struct handoff *h, void (*run)(void *ctx), void *ctx)
{
    lock_acquire(&h->lock);

    const bool ok = !h->closed;

    if (ok) {
        struct handoff_item *item = append(h);

        item->run = run;
        item->ctx = ctx;
    }
    lock_release(&h->lock);
    return ok;
}

struct chunk *handoff_take(struct handoff *h, int64_t ms, bool *closed)
{
    const int64_t until_ms = clock_mono_ms() + ms;
    struct chunk *taken = NULL;
    bool in_time = true;

    lock_acquire(&h->lock);
    while (h->open->first == NULL && !h->closed && in_time)
        in_time = lock_wait_until(&h->lock, &h->not_empty, until_ms);
    *closed = h->closed;
    if (h->open->first != NULL) {
        taken = h->open;
        h->open = chunk_new();
        pthread_cond_signal(&h->not_full);
    }
    lock_release(&h->lock);
    return taken;
}

void handoff_close(struct handoff *h)
{
    lock_acquire(&h->lock);
    h->closed = true;
    pthread_cond_broadcast(&h->not_full);
    pthread_cond_broadcast(&h->not_empty);
    lock_release(&h->lock);
}

size_t handoff_level(struct handoff *h)
{
    lock_acquire(&h->lock);

    size_t bytes = h->open->bytes;

    lock_release(&h->lock);
    return bytes;
}
