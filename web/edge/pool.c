#include "config.h"

#include "web/edge/pool.h"

#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/queue.h"
#include "src/base/thread.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define THREADS_MAX 16
#define PUSHERS_MAX \
    2 /* each may exceed the limit by one item, because all check before they push */

struct pool {
    enum magic magic;
    struct pool_options opt;
    struct queue *items;
    pthread_t threads[THREADS_MAX];
};

static void *work(void *arg)
{
    struct pool *p = MAGIC_CAST(pool, arg);
    void *item;

    while ((item = queue_pop(p->items)) != NULL)
        p->opt.run(item);
    return NULL;
}

struct pool *pool_start(const struct pool_options *opt)
{
    struct pool *p = mem_alloc(1, sizeof(*p));

    p->magic = MAGIC_pool;
    assert(opt->n_threads <= THREADS_MAX);
    p->opt = *opt;
    p->items = queue_new(opt->waiting_max + PUSHERS_MAX, SIZE_MAX);
    for (unsigned i = 0; i < opt->n_threads; i++)
        p->threads[i] = thread_start(opt->name, work, p);
    return p;
}

bool pool_push(struct pool *p, void *item)
{
    return queue_level(p->items).items < p->opt.waiting_max && queue_push(p->items, item, 0);
}

void pool_stop(struct pool *p)
{
    queue_close(p->items);
    for (unsigned i = 0; i < p->opt.n_threads; i++)
        pthread_join(p->threads[i], NULL);
}

void pool_free(struct pool *p)
{
    queue_free(p->items, NULL);
    MAGIC_END(pool, p);
    free(p);
}
