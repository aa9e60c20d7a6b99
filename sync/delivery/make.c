#include "config.h"

#include "sync/delivery/parts.h"

#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/http_client.h"
#include "src/search/search.h"
#include "sync/delivery/conflict.h"
#include "sync/delivery/index/worker_backlog.h"
#include "sync/delivery/read_batcher.h"
#include "sync/delivery/request.h"
#include "sync/delivery/sender.h"

#include <assert.h>
#include <stdlib.h>

#define FAILING_MS  30000
#define DOUBTFUL_MS 30000

/*
 * Results of reads and the bodies of requests need room beside what was submitted, else nothing
 * could be sent.
 */
size_t delivery_submit_max(size_t bytes_max)
{
    return bytes_max - bytes_max / 4;
}

size_t delivery_waits_above(const struct delivery_settings *s)
{
    return s->batch_min == 1 && s->batch_max == 1 ? 0 : s->high_water_mark;
}

struct delivery *delivery_new(struct search *search, const struct delivery_options *opt)
{
    const struct delivery_settings *s = &opt->settings;
    struct delivery_options o = *opt;
    struct delivery *d = mem_alloc(1, sizeof(*d));

    d->magic = MAGIC_delivery;
    assert(s->batch_max == 0 || s->batch_min <= s->batch_max);
    o.failing_ms = o.failing_ms == 0 ? FAILING_MS : o.failing_ms;
    o.doubtful_ms = o.doubtful_ms == 0 ? DOUBTFUL_MS : o.doubtful_ms;
    d->budget = budget_new(delivery_submit_max(s->bytes_max));
    d->http = search_new_client(search);
    d->metric = delivery_metric_new(search);
    d->backlog = worker_backlog_new(s->workers, delivery_waits_above(s));
    d->sender = sender_new(&o, d->http, d->budget, d->backlog, d->metric);
    lock_init(&d->lock, LOCK_private);
    lock_init_cond(&d->turned);
    d->last = &d->first;
    d->settings = *s;
    return d;
}

void delivery_start(struct delivery *d)
{
    assert(!d->is_running);
    d->is_running = true;
    d->thread = thread_start("delivery", delivery_run, d);
}

void delivery_stop(struct delivery *d)
{
    budget_close(d->budget);
    worker_backlog_close(d->backlog);
    lock_acquire(&d->lock);
    d->stopping = true;
    pthread_cond_broadcast(&d->turned);
    lock_release(&d->lock);
    http_client_wakeup(d->http);
    if (d->is_running)
        pthread_join(d->thread, NULL);
    d->is_running = false;
}

/* A message that came after the thread had ended. */
static void drop(struct message *m, struct write_ends *ends)
{
    if (m->kind == MESSAGE_LOADED)
        read_batcher_drop(m->batch);
    free(m->question); /* whoever asked has left when delivery stopped */
    while (m->writes != NULL) {
        struct write *w = m->writes;

        m->writes = w->next;
        write_abandon(w, ends);
    }
    free(m);
}

void delivery_free(struct delivery *d)
{
    struct message *next;

    if (d == NULL)
        return;
    if (!d->stopping)
        delivery_stop(d);
    for (struct message *m = d->first; m != NULL; m = next) {
        next = m->next;
        drop(m, &d->sender->ends);
    }
    draining_give_up(&d->draining, d->sender);
    request_give_up_all(d->sender);
    conflict_give_up_all(d->sender);
    sender_free(d->sender);
    budget_free(d->budget);
    worker_backlog_free(d->backlog);
    delivery_metric_free(d->metric);
    pthread_cond_destroy(&d->turned);
    lock_fini(&d->lock);
    MAGIC_END(delivery, d);
    free(d);
}
