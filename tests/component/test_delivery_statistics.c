/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Each statistic that is shown moves when what it counts happens: none is dead.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/metric.h"
#include "src/search.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_CLUSTER "{cluster=\"search\"} "
#define SERIES_MAX 100
#define FOREVER    600000

/* All series of delivery and of questions to the engine, and the highest value of each so far. */
static struct series {
    char name[120];
    double max;
} all[SERIES_MAX];
static size_t n_all;

static struct series *series_of(const char *name, size_t len)
{
    for (size_t i = 0; i < n_all; i++)
        if (strlen(all[i].name) == len && memcmp(all[i].name, name, len) == 0)
            return &all[i];
    assert_true(n_all < SERIES_MAX && len < sizeof(all[0].name));
    memcpy(all[n_all].name, name, len);
    return &all[n_all++];
}

/* Buckets are parts of a count that is looked at as a whole. */
static void gather(const char *page)
{
    for (const char *line = page; *line != '\0';) {
        const char *end = strchr(line, '\n'), *label = strstr(line, OF_CLUSTER);

        assert_non_null(end);
        if (label != NULL && label < end && line[0] != '#') {
            struct series *s = series_of(line, (size_t)(label - line));
            const double v = strtod(label + strlen(OF_CLUSTER), NULL);

            s->max = v > s->max ? v : s->max;
        }
        line = end + 1;
    }
}

static void look(struct rig *r)
{
    struct buf samples = {0}, page = {0};

    delivery_metrics(r->delivery, &samples);
    search_metrics(r->search, &samples);
    metric_render(&page, buf_str(&samples));
    gather(page.ptr);
    buf_free(&samples);
    buf_free(&page);
}

static struct rig *start(const struct delivery_options *opt, const struct fake_rule *rule)
{
    struct rig *r = rig_new();

    if (rule != NULL)
        fake_search_add_rule(r->fake, rule);
    rig_start(r, opt);
    return r;
}

static void end(struct rig *r)
{
    look(r);
    rig_free(r);
}

static void refuse_documents(void)
{
    struct rig *r = start(NULL, &(struct fake_rule){.id = "3", .status = 400});
    struct err err;

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.id = "4", .status = 500, .type = "null_pointer_exception"});
    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    assert_true(search_detect(r->search, &err));
    end(r);
}

static void blow_a_fuse(void)
{
    struct rig *r = start(&(struct delivery_options){.failures = 2, .reset_after_ms = 50},
                          &(struct fake_rule){.act = FAKE_STATUS, .times = 3, .status = 500});

    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    rig_wait_held(r, false);
    end(r);
}

static void purge(void)
{
    struct rig *r = start(&(struct delivery_options){.workers = 1, .high_water_mark = 2},
                          &(struct fake_rule){.act = FAKE_STATUS, .status = 403});

    for (int id = 0; id < 20; id++)
        rig_set_row(r, id, "now");
    rig_index(r, 0, 10, "then");
    rig_wait_held(r, true);
    for (int id = 1; id < 20; id++)
        rig_index(r, id, 10, "then");
    rig_wait_purged(r, 10);
    look(r);
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_repair(r, 20);
    rig_wait_done(r);
    delivery_repaired(r->delivery, 10); /* as who reads the purged keys says */
    end(r);
}

static void make_callers_wait(void)
{
    struct rig *r = start(&(struct delivery_options){.workers = 1, .high_water_mark = 1},
                          &(struct fake_rule){.delay_ms = 100, .times = 1});

    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    end(r);
}

static void drain_out_of_time(void)
{
    struct rig *r = start(&(struct delivery_options){.drain_cancel_timeout_ms = 50},
                          &(struct fake_rule){.act = FAKE_SILENT});

    rig_index(r, 0, 100, "body");
    rig_wait_requests(r, 1);
    look(r);
    assert_int_equal(delivery_drain_partition(r->delivery, DRAIN_ALL, 50),
                     DRAIN_CANCEL_TIMED_OUT);
    end(r);
}

static void queue_and_hold(void)
{
    struct rig *r =
        start(&(struct delivery_options){.batch_min = 100, .flush_interval_ms = FOREVER}, NULL);

    rig_index(r, 0, 100, "body");
    rig_wait_queued(r, 1);
    end(r);
}

static void ask_in_vain(void)
{
    const char *const nobody = "http://127.0.0.1:9";
    struct search *s = search_new(
        &(struct search_options){.urls = &nobody, .n_urls = 1, .timeout_ms = 1000});
    struct buf samples = {0}, page = {0};
    struct err err;

    assert_false(search_detect(s, &err));
    search_metrics(s, &samples);
    metric_render(&page, buf_str(&samples));
    gather(page.ptr);
    buf_free(&samples);
    buf_free(&page);
    search_free(s);
}

static void no_statistic_is_dead(void **state)
{
    (void)state;
    refuse_documents();
    blow_a_fuse();
    purge();
    make_callers_wait();
    drain_out_of_time();
    queue_and_hold();
    ask_in_vain();
    assert_true(n_all > 20);
    for (size_t i = 0; i < n_all; i++)
        if (all[i].max == 0)
            fail_msg("%s has never moved", all[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_statistic_is_dead)};

    return cmocka_run_group_tests_name("delivery_statistics", tests, NULL, NULL);
}
