#include "config.h"

#include "sync/delivery/parts.h"

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

static struct delivery_options with_defaults(const struct delivery_options *opt)
{
    struct delivery_options o = *opt;

#define DEFAULT(field, value) o.field = o.field == 0 ? (value) : o.field
    DEFAULT(workers, 10);
    DEFAULT(helpers, 10);
    DEFAULT(batch_min, 1);
    DEFAULT(batch_bytes, (size_t)8 << 20);
    DEFAULT(flush_interval_ms, 1000);
    DEFAULT(request_timeout_ms, 60000);
    DEFAULT(bytes_max, (size_t)64 << 20);
    DEFAULT(load_batch_max, 500);
    DEFAULT(loads_max, 2);
    DEFAULT(fan_out_share, 20);
    DEFAULT(failing_ms, 30000);
    DEFAULT(doubtful_ms, 30000);
    DEFAULT(high_water_mark, 10000);
    DEFAULT(failures, 3);
    DEFAULT(failure_window_ms, 5000);
    DEFAULT(reset_after_ms, 30000);
    DEFAULT(drain_timeout_ms, 60000);
    DEFAULT(drain_cancel_timeout_ms, 5000);
    DEFAULT(connections, 100);
#undef DEFAULT
    assert(o.batch_max == 0 || o.batch_min <= o.batch_max);
    return o;
}

/*
 * Results of reads and the bodies of requests need room beside what was submitted, else nothing
 * could be sent.
 */
size_t delivery_submit_max(size_t bytes_max)
{
    return bytes_max - bytes_max / 4;
}

/* If a batch is one document, every write waits for the index. */
size_t delivery_waits_above(const struct delivery_options *opt)
{
    if (opt->high_water_mark == DELIVERY_MARK_ZERO)
        return 0;
    return opt->batch_min == 1 && opt->batch_max == 1 ? 0 : opt->high_water_mark;
}

struct delivery *delivery_new(struct search *search, const struct delivery_options *opt)
{
    const struct delivery_options o = with_defaults(opt);
    struct delivery *d = mem_alloc(1, sizeof(*d));

    d->budget = budget_new(delivery_submit_max(o.bytes_max));
    d->http = search_new_client(search);
    d->metric = delivery_metric_new(search);
    d->backlog = worker_backlog_new(o.workers, delivery_waits_above(&o));
    d->sender = sender_new(&o, d->http, d->budget, d->backlog, d->metric);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->turned, NULL);
    d->last = &d->first;
    d->settings = delivery_settings_of(&o);
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
    pthread_mutex_lock(&d->lock);
    d->stopping = true;
    pthread_cond_broadcast(&d->turned);
    pthread_mutex_unlock(&d->lock);
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
    pthread_mutex_destroy(&d->lock);
    free(d);
}
