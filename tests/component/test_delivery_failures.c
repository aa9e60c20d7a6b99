/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * T10: whatever else happens, a fuse counts each error that was injected, and nothing else;
 * and all is delivered but what the engine refuses.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/base/random.h"
#include "src/metric/metric.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEXES  3
#define IDS      50
#define REQUESTS 80 /* of each index: more than the rules let pass */
#define POISON   13 /* of each index */
#define MELTING(...)            \
    {                           \
        .times = 1, __VA_ARGS__ \
    }

/* Each is one failed request. */
static const struct fake_rule melting[] = {
    MELTING(.act = FAKE_STATUS, .status = 500),
    MELTING(.act = FAKE_STATUS, .status = 502),
    MELTING(.act = FAKE_STATUS, .status = 503),
    MELTING(.act = FAKE_STATUS, .status = 504),
    MELTING(.act = FAKE_CUT),
    MELTING(.act = FAKE_CUT, .applied = true),
    MELTING(.act = FAKE_TRUNCATED),
    MELTING(.act = FAKE_TRUNCATED, .applied = true),
    MELTING(.act = FAKE_ITEM_LESS),
    MELTING(.act = FAKE_ITEM_MORE, .applied = true),
    MELTING(.act = FAKE_RESET),
    MELTING(.act = FAKE_RESET, .applied = true),
    MELTING(.act = FAKE_SILENT),
};

/* The engine is there, and answers: it is busy, or does not like what it got. */
static const struct fake_rule harmless[] = {
    {.times = 3, .act = FAKE_STATUS, .status = 429},
    {.times = 2, .status = 429, .type = "es_rejected_execution_exception", .id = "7"},
    {.times = 1,
     .act = FAKE_STATUS,
     .status = 400,
     .type = "illegal_argument_exception",
     .id = "9"},
    {.times = 1, .delay_ms = 50},
};

struct target_names {
    const char *index, *alias;
};

static const struct target_names names[INDEXES] = {
    {"orders_v2", "orders_v2_write"},
    {"b\xc3\xbc"
     "cher_v1",
     "b\xc3\xbc"
     "cher_v1_write"},
    {"a-b.c_v1", "a-b.c_v1_write"},
};

static double melts(struct rig *r)
{
    static const char name[] = "millrace_fuse_melts_total{cluster=\"search\"} ";
    struct buf samples = {0}, page = {0};
    const char *line;
    double n;

    delivery_metrics(r->delivery, &samples);
    metric_render(&page, buf_str(&samples));
    line = strstr(page.ptr, name);
    assert_non_null(line);
    n = strtod(line + strlen(name), NULL);
    buf_free(&samples);
    buf_free(&page);
    return n;
}

/* Each rule once for each index, with good requests between most of them: an index that fails
 * many times in a row is tried seldom. */
static void inject(struct rig *r, struct random *random, const struct fake_rule *rules,
                   size_t n)
{
    for (size_t i = 0; i < INDEXES; i++)
        for (size_t k = 0; k < n; k++) {
            struct fake_rule rule = rules[k];

            rule.index = names[i].index;
            rule.skip = 3 * (unsigned)k + (unsigned)random_below(random, 6);
            fake_search_add_rule(r->fake, &rule);
        }
}

static void write_some(struct rig *r, struct target *const *targets, struct random *random,
                       uint64_t version)
{
    for (size_t i = 0; i < INDEXES; i++)
        rig_index_to(r, targets[i], (int)random_below(random, IDS), version, "body");
    rig_wait_done(r);
}

static void write_all(struct rig *r, struct target *const *targets, uint64_t version)
{
    for (size_t i = 0; i < INDEXES; i++)
        for (int id = 0; id < IDS; id++)
            rig_index_to(r, targets[i], id, version, "last");
    rig_wait_done(r);
}

static void t10_melts_are_the_errors_that_were_injected_and_all_else_is_delivered(void **state)
{
    const char *seed_text = getenv("MILLRACE_SEED");
    const uint64_t seed = seed_text == NULL ? 4711 : strtoull(seed_text, NULL, 10);
    const double injected = INDEXES * (double)ARRAY_LEN(melting);
    struct target *targets[INDEXES];
    struct rig *r = *state;
    struct random random;
    uint64_t version = 1000;
    char poison[8];

    fprintf(stderr, "# MILLRACE_SEED=%llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    snprintf(poison, sizeof(poison), "%d", POISON);
    for (size_t i = 0; i < INDEXES; i++) {
        targets[i] = target_new(str_from(names[i].index), str_from(names[i].alias),
                                STR("shop.orders"), STR("shop"));
        fake_search_create(r->fake, names[i].index, names[i].alias);
    }
    fake_search_add_rule(r->fake, &(struct fake_rule){.id = poison, .status = 400});
    inject(r, &random, melting, ARRAY_LEN(melting));
    inject(r, &random, harmless, ARRAY_LEN(harmless));
    rig_start(
        r, &(struct delivery_options){
               .settings = {.failures = 1, .reset_after_ms = 20, .request_timeout_ms = 2000}});
    for (int i = 0; i < REQUESTS; i++)
        write_some(r, targets, &random, version++);
    write_all(r, targets, version);
    assert_true(melts(r) == injected);
    for (size_t i = 0; i < INDEXES; i++) {
        assert_int_equal(fake_search_count(r->fake, names[i].index), IDS - 1);
        assert_false(fake_search_get(r->fake, names[i].index, poison).found);
    }
    assert_true(r->reports.n_events[DELIVERY_BLOWN] <= (size_t)injected);
    assert_int_equal(r->reports.n_events[DELIVERY_BLOWN], r->reports.n_events[DELIVERY_HEALED]);
    for (size_t i = 0; i < INDEXES; i++)
        target_unref(targets[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(t10_melts_are_the_errors_that_were_injected_and_all_else_is_delivered),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_failures", tests, NULL, NULL);
}
