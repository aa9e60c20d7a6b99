#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/queue.h"
#include "src/base/thread.h"
#include "src/config/configuration.h"
#include "src/search/search.h"

#include <stdio.h>
#include <stdlib.h>

struct rig *rig_new(void)
{
    struct rig *r = mem_alloc(1, sizeof(*r));

    pthread_mutex_init(&r->lock, NULL);
    r->fake = fake_search_start(0);
    fake_search_create(r->fake, "orders_v2", "orders_v2_write");
    r->target =
        target_new(STR("orders_v2"), STR("orders_v2_write"), STR("shop.orders"), STR("shop"));
    r->table.rows = map_new();
    r->table.parts = map_new();
    r->table.places = map_new();
    r->reads.queue = queue_new(1000, 1000);
    return r;
}

/* A field of 0 gets the setting's default, or what suits most tests. */
static void complete(struct delivery_settings *s)
{
    struct configuration *defaults = configuration_new();
    const struct delivery_settings d = configuration_settings(defaults)->delivery;

#define DEFAULT(field, value) s->field = s->field == 0 ? (value) : s->field
    DEFAULT(failures, DELIVERY_FAILURES_MAX);
    DEFAULT(reset_after_ms, 100);
    DEFAULT(workers, d.workers);
    DEFAULT(helpers, d.helpers);
    DEFAULT(batch_min, d.batch_min);
    DEFAULT(batch_bytes, d.batch_bytes);
    DEFAULT(flush_ms, d.flush_ms);
    DEFAULT(request_timeout_ms, d.request_timeout_ms);
    DEFAULT(bytes_max, d.bytes_max);
    DEFAULT(load_batch_max, d.load_batch_max);
    DEFAULT(loads_max, d.loads_max);
    DEFAULT(fan_out_share, d.fan_out_share);
    DEFAULT(high_water_mark, d.high_water_mark);
    DEFAULT(failure_window_ms, d.failure_window_ms);
    DEFAULT(drain_timeout_ms, d.drain_timeout_ms);
    DEFAULT(drain_cancel_timeout_ms, d.drain_cancel_timeout_ms);
    DEFAULT(connections, d.connections);
#undef DEFAULT
    if (s->high_water_mark == RIG_MARK_ZERO)
        s->high_water_mark = 0;
    configuration_free(defaults);
}

static void start(struct rig *r, const struct delivery_options *opt,
                  const struct search_options *access, const char *const *urls, size_t n_urls)
{
    struct search_options search = *access;
    struct delivery_options o = {0};

    if (opt != NULL)
        o = *opt;
    rig_hand_calls(r, &o);
    complete(&o.settings);
    o.doubtful_ms = o.doubtful_ms == 0 ? 200 : o.doubtful_ms;
    search.urls = urls;
    search.n_urls = n_urls;
    r->search = search_new(&search);
    r->delivery = delivery_new(r->search, &o);
    r->reads.thread = thread_start("loader", rig_load, r);
    delivery_start(r->delivery);
}

void rig_start(struct rig *r, const struct delivery_options *opt)
{
    rig_start_as(r, opt, &(struct search_options){0});
}

void rig_start_as(struct rig *r, const struct delivery_options *opt,
                  const struct search_options *access)
{
    const char *url = fake_search_url(r->fake);

    start(r, opt, access, &url, 1);
}

void rig_start_behind(struct rig *r, const struct delivery_options *opt, const char *url)
{
    const char *urls[2] = {url, fake_search_url(r->fake)};

    start(r, opt, &(struct search_options){0}, urls, 2);
}

void rig_start_with_dead_address(struct rig *r, const struct delivery_options *opt)
{
    struct fake_search *dead = fake_search_start(0);
    char dead_url[64];

    snprintf(dead_url, sizeof(dead_url), "%s", fake_search_url(dead));
    fake_search_stop(dead);
    rig_start_behind(r, opt, dead_url);
}

static void end_delivery(struct rig *r)
{
    if (r->delivery != NULL)
        delivery_stop(r->delivery);
    queue_close(r->reads.queue);
    if (r->search != NULL)
        pthread_join(r->reads.thread, NULL);
    delivery_free(r->delivery);
    search_free(r->search);
    queue_free(r->reads.queue, NULL);
}

void rig_kill(struct rig *r)
{
    end_delivery(r);
    r->reads.queue = queue_new(1000, 1000);
}

void rig_free(struct rig *r)
{
    end_delivery(r);
    map_free(r->table.rows, free);
    map_free(r->table.parts, free);
    map_free(r->table.places, free);
    target_unref(r->target);
    fake_search_stop(r->fake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

int rig_set_up(void **state)
{
    *state = rig_new();
    return 0;
}

int rig_tear_down(void **state)
{
    rig_free(*state);
    return 0;
}
