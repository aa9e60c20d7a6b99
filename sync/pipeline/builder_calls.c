#include "config.h"

#include "sync/pipeline/builder_calls.h"

#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/source/handoff.h"

#include <pthread.h>
#include <stdlib.h>

struct builder_calls {
    struct handoff *handoff;
    struct lock lock;
    pthread_cond_t changed;

    /* All guarded by lock, as are the flags of each call. */
    bool closed;
};

struct builder_call {
    enum magic magic;
    struct builder_calls *all;
    void (*answer)(void *ctx, struct source_start *start);
    void *ctx;
    struct source_start start;
    bool answered, abandoned;
};

struct builder_calls *builder_calls_new(struct handoff *handoff)
{
    struct builder_calls *qs = mem_alloc(1, sizeof(*qs));

    qs->handoff = handoff;
    lock_init(&qs->lock, LOCK_private);
    lock_init_cond(&qs->changed);
    return qs;
}

void builder_calls_free(struct builder_calls *qs)
{
    if (qs == NULL)
        return;
    pthread_cond_destroy(&qs->changed);
    lock_fini(&qs->lock);
    free(qs);
}

static void free_call(struct builder_call *q)
{
    free(q->start.gtids);
    MAGIC_END(builder_call, q);
    free(q);
}

/* Command, on the builder thread. */
static void answer(void *ctx)
{
    struct builder_call *q = MAGIC_CAST(builder_call, ctx);
    struct builder_calls *qs = q->all;

    q->answer(q->ctx, &q->start);
    lock_acquire(&qs->lock);
    q->answered = true;

    const bool abandoned = q->abandoned;

    pthread_cond_broadcast(&qs->changed);
    lock_release(&qs->lock);
    if (abandoned)
        free_call(q);
}

bool builder_calls_ask(struct builder_calls *qs,
                       void (*fn)(void *ctx, struct source_start *start), void *ctx,
                       struct source_start *start)
{
    struct builder_call *q = mem_alloc(1, sizeof(*q));

    *q = (struct builder_call){
        .magic = MAGIC_builder_call, .all = qs, .answer = fn, .ctx = ctx, .start = *start};
    q->start.gtids = mem_copy_any(start->gtids);
    if (!handoff_put_command(qs->handoff, answer, q)) {
        free_call(q);
        return false;
    }
    lock_acquire(&qs->lock);
    while (!q->answered && !qs->closed)
        lock_wait(&qs->lock, &qs->changed);

    const bool ok = q->answered;

    q->abandoned = !ok;
    lock_release(&qs->lock);
    if (ok) {
        free(start->gtids);
        *start = q->start;
        MAGIC_END(builder_call, q);
        free(q);
    }
    return ok;
}

void builder_calls_close(struct builder_calls *qs)
{
    lock_acquire(&qs->lock);
    qs->closed = true;
    pthread_cond_broadcast(&qs->changed);
    lock_release(&qs->lock);
}
