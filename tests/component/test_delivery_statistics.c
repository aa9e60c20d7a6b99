/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Each statistic that is shown moves when what it counts happens: none is dead.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/format/json.h"
#include "src/metric/metric.h"
#include "src/search/search.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 250
#define ADDRESS_UP "millrace_search_address_up{cluster=\"search\""
#define FOREVER    600000

/* All that is shown of delivery and of questions to the engine, in /metrics by its name and
 * labels, in JSON by its path; and the lowest and highest value of each so far. */
static struct series {
    char name[160];
    double min, max;
} all[SERIES_MAX];
static size_t n_all;

static struct series *series_of(const char *name, size_t len)
{
    for (size_t i = 0; i < n_all; i++)
        if (strlen(all[i].name) == len && memcmp(all[i].name, name, len) == 0)
            return &all[i];
    assert_true(n_all < SERIES_MAX && len < sizeof(all[0].name));
    memcpy(all[n_all].name, name, len);
    all[n_all].min = HUGE_VAL;
    return &all[n_all++];
}

static void note(const char *name, size_t len, double v)
{
    struct series *s = series_of(name, len);

    s->min = v < s->min ? v : s->min;
    s->max = v > s->max ? v : s->max;
}

/* Buckets are parts of a count that is looked at as a whole; an address is another each
 * time. */
static void gather_line(const char *line, size_t len)
{
    const char *value = memrchr(line, ' ', len), *labels = memchr(line, '{', len);
    const char *address = memmem(line, len, ",address=", 9);

    assert_non_null(value);
    if (labels != NULL && memcmp(labels - 7, "_bucket", 7) == 0)
        return;
    note(line, (size_t)((address != NULL ? address : value) - line), strtod(value, NULL));
}

static void gather(struct buf *samples)
{
    struct buf page = {0};

    metric_render(&page, buf_str(samples));
    for (const char *line = page.ptr; *line != '\0';) {
        const char *end = strchr(line, '\n');

        assert_non_null(end);
        if (line[0] != '#')
            gather_line(line, (size_t)(end - line));
        line = end + 1;
    }
    buf_free(&page);
    buf_free(samples);
}

/* {"melts":{"total":3,"last_minute":3},...} */
static void gather_json(struct str text)
{
    struct json_reader r;
    struct str name, part, value;
    struct err err;

    json_reader_init(&r, text);
    assert_true(json_enter_object(&r));
    while (json_next_member(&r, &name)) {
        assert_true(json_enter_object(&r));
        while (json_next_member(&r, &part)) {
            struct buf path = {0};

            assert_true(json_read_raw(&r, &value));
            buf_printf(&path, "%.*s.%.*s", STR_ARG(name), STR_ARG(part));
            note(path.ptr, path.len, strtod(value.ptr, NULL));
            buf_free(&path);
        }
    }
    assert_true(json_reader_finish(&r, &err));
}

/* d may be NULL. */
static void look_at(struct delivery *d, struct search *s)
{
    struct buf samples = {0}, text = {0};
    struct json_writer w = {.out = &text};

    json_open_object(&w);
    if (d != NULL) {
        delivery_metrics(d, &samples);
        delivery_put_statistics(d, &w);
    }
    search_metrics(s, &samples);
    search_put_statistics(s, &w);
    json_close_object(&w);
    gather(&samples);
    gather_json(buf_str(&text));
    buf_free(&text);
}

static void look(struct rig *r)
{
    look_at(r->delivery, r->search);
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

static void refuse_once(struct rig *r, const char *id, int status)
{
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = id, .times = 1, .status = status});
}

/* Written, older than what is there, sent again, refused, dropped; all of them end. */
static void write_with_each_result(void)
{
    struct rig *r = start(NULL, NULL);

    rig_index(r, 1, 100, "ok");
    rig_wait_done(r);
    refuse_once(r, "2", 503);
    refuse_once(r, "3", 400);
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = "5", .status = 200, .drops = true});
    rig_index(r, 5, 100, "dropped");
    rig_index(r, 1, 50, "stale");
    rig_index(r, 2, 100, "retried");
    rig_index(r, 3, 100, "dead");
    rig_wait_done(r);
    refuse_once(r, "2", 503);
    refuse_once(r, "4", 400);
    rig_delete(r, 1, 50);
    rig_delete(r, 2, 200);
    rig_delete(r, 4, 100);
    rig_wait_done(r);
    end(r);
}

static void update_with_each_result(void)
{
    struct rig *r = rig_new();

    rig_use_area(r);
    rig_start(r, NULL);
    rig_set_row(r, 1, "text");
    rig_set_part(r, 1, "part");
    rig_refresh(r, 1, 100);
    rig_wait_done(r);
    refuse_once(r, "1", 503);
    rig_refresh_area(r, 1, 200);
    rig_wait_done(r);
    refuse_once(r, "1", 409);
    rig_refresh_area(r, 1, 300);
    rig_wait_done(r);
    end(r);
}

static void refuse_requests(void)
{
    static const int statuses[] = {429, 503};
    struct rig *r = start(NULL, NULL);

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        fake_search_add_rule(
            r->fake,
            &(struct fake_rule){.act = FAKE_STATUS, .times = 1, .status = statuses[i]});
        rig_index(r, 1, 100 + i, "body");
        rig_wait_done(r);
    }
    end(r);
}

static void blow_a_fuse(void)
{
    struct rig *r =
        start(&(struct delivery_options){.settings = {.failures = 2, .reset_after_ms = 50}},
              &(struct fake_rule){.act = FAKE_STATUS, .times = 3, .status = 500});

    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    rig_wait_held(r, false);
    end(r);
}

static void purge(void)
{
    struct rig *r =
        start(&(struct delivery_options){.settings = {.workers = 1, .high_water_mark = 2}},
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
    /* As who reads the purged keys says, where it has counted them:
     * tests/integration/test_purge.py. */
    delivery_repaired(r->delivery, 10);
    end(r);
}

static void make_callers_wait(void)
{
    struct rig *r =
        start(&(struct delivery_options){.settings = {.workers = 1, .high_water_mark = 1}},
              &(struct fake_rule){.delay_ms = 100, .times = 1});

    rig_index_many(r, 0, 5, 100, "body");
    rig_wait_done(r);
    end(r);
}

static void drain_out_of_time(void)
{
    struct rig *r =
        start(&(struct delivery_options){.settings = {.drain_cancel_timeout_ms = 50}},
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
    struct rig *r = start(
        &(struct delivery_options){.settings = {.batch_min = 100, .flush_ms = FOREVER}}, NULL);

    rig_index(r, 0, 100, "body");
    rig_wait_queued(r, 1);
    end(r);
}

static void ask_in_vain(void)
{
    const char *const nobody = "http://127.0.0.1:9";
    struct search *s =
        search_new(&(struct search_options){.urls = &nobody, .n_urls = 1, .timeout_ms = 1000});
    struct err err;

    assert_false(search_detect(s, &err));
    look_at(NULL, s);
    search_free(s);
}

static bool is_shown(const char *name)
{
    for (size_t i = 0; i < n_all; i++)
        if (strcmp(all[i].name, name) == 0)
            return true;
    return false;
}

static void no_statistic_is_dead(void **state)
{
    /* Of each kind one, so that none is left out by how it is gathered. */
    static const char *const wanted[] = {
        "millrace_bulk_requests_failed_total{cluster=\"search\"}",
        "millrace_documents_total{topic=\"shop\",index=\"orders_v2\",op=\"update\","
        "result=\"whole\"}",
        "millrace_bulk_rejections_total{cluster=\"search\",status=\"429\"}",
        "millrace_end_to_end_latency_seconds_sum{topic=\"shop\"}",
        "melts.last_minute",
        "query_seconds.p999",
        ADDRESS_UP,
    };
    size_t n_dead = 0;

    (void)state;
    refuse_documents();
    write_with_each_result();
    update_with_each_result();
    refuse_requests();
    blow_a_fuse();
    purge();
    make_callers_wait();
    drain_out_of_time();
    queue_and_hold();
    ask_in_vain();
    for (size_t i = 0; i < n_all; i++)
        if (all[i].max == 0) {
            print_message("%s has never moved\n", all[i].name);
            n_dead++;
        }
    assert_int_equal(n_dead, 0);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_true(is_shown(wanted[i]));
    assert_true(series_of(ADDRESS_UP, strlen(ADDRESS_UP))->min == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_statistic_is_dead)};

    return cmocka_run_group_tests_name("delivery_statistics", tests, NULL, NULL);
}
