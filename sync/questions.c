#include "config.h"

#include "sync/questions.h"

#include "src/base/mem.h"
#include "sync/handoff.h"

#include <pthread.h>
#include <stdlib.h>

struct questions {
    struct handoff *handoff;
    pthread_mutex_t lock;
    pthread_cond_t changed;

    /* All guarded by lock, and those of each question. */
    bool closed;
};

struct question {
    struct questions *all;
    void (*answer)(void *ctx, struct source_start *start);
    void *ctx;
    struct source_start start;
    bool answered, abandoned;
};

struct questions *questions_new(struct handoff *handoff)
{
    struct questions *qs = mem_alloc(1, sizeof(*qs));

    qs->handoff = handoff;
    pthread_mutex_init(&qs->lock, NULL);
    pthread_cond_init(&qs->changed, NULL);
    return qs;
}

void questions_free(struct questions *qs)
{
    if (qs == NULL)
        return;
    pthread_cond_destroy(&qs->changed);
    pthread_mutex_destroy(&qs->lock);
    free(qs);
}

static void free_question(struct question *q)
{
    free(q->start.gtids);
    free(q);
}

/* Command, on the builder thread. */
static void answer(void *ctx)
{
    struct question *q = ctx;
    struct questions *qs = q->all;

    q->answer(q->ctx, &q->start);
    pthread_mutex_lock(&qs->lock);
    q->answered = true;

    const bool abandoned = q->abandoned;

    pthread_cond_broadcast(&qs->changed);
    pthread_mutex_unlock(&qs->lock);
    if (abandoned)
        free_question(q);
}

bool questions_ask(struct questions *qs, void (*fn)(void *ctx, struct source_start *start),
                   void *ctx, struct source_start *start)
{
    struct question *q = mem_alloc(1, sizeof(*q));

    *q = (struct question){.all = qs, .answer = fn, .ctx = ctx, .start = *start};
    q->start.gtids = mem_copy_any(start->gtids);
    if (!handoff_put_command(qs->handoff, answer, q)) {
        free_question(q);
        return false;
    }
    pthread_mutex_lock(&qs->lock);
    while (!q->answered && !qs->closed)
        pthread_cond_wait(&qs->changed, &qs->lock);

    const bool ok = q->answered;

    q->abandoned = !ok;
    pthread_mutex_unlock(&qs->lock);
    if (ok) {
        free(start->gtids);
        *start = q->start;
        free(q);
    }
    return ok;
}

void questions_close(struct questions *qs)
{
    pthread_mutex_lock(&qs->lock);
    qs->closed = true;
    pthread_cond_broadcast(&qs->changed);
    pthread_mutex_unlock(&qs->lock);
}
