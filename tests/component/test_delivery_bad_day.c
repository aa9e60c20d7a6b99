/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * A random bad day of the search engine.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/base/random.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_THREADS   3
#define DAY_DOCUMENTS 200 /* of each thread */
#define DAY_CHANGES   6000

struct day {
    struct rig *rig;
    pthread_t thread;
    struct random random;
    int first_id;
    uint64_t last[DAY_DOCUMENTS]; /* version of the last change */
    bool is_delete[DAY_DOCUMENTS];
};

static void *live_through(void *arg)
{
    struct day *d = arg;

    for (uint64_t i = 1; i <= DAY_CHANGES; i++) {
        const size_t k = random_below(&d->random, DAY_DOCUMENTS);
        const int id = d->first_id + (int)k;
        char text[32];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
        d->last[k] = 1000 * i;
        d->is_delete[k] = random_below(&d->random, 4) == 0;
        rig_set_row(d->rig, id, d->is_delete[k] ? NULL : text);
        if (random_below(&d->random, 2) == 0)
            rig_refresh(d->rig, id, 1000 * i);
        else if (d->is_delete[k])
            rig_delete(d->rig, id, 1000 * i);
        else
            rig_index(d->rig, id, 1000 * i, text);
        if (random_below(&d->random, 20) == 0)
            rig_sleep((int64_t)random_below(&d->random, 4));
    }
    return NULL;
}

static void spoil(struct rig *r, struct random *random)
{
    static const struct fake_rule rules[] = {
        {.act = FAKE_STATUS, .status = 503},
        {.act = FAKE_STATUS, .status = 429},
        {.act = FAKE_STATUS, .status = 502},
        {.act = FAKE_RESET},
        {.act = FAKE_RESET, .applied = true},
        {.act = FAKE_CUT, .applied = true},
        {.act = FAKE_SILENT},
        {.act = FAKE_SILENT, .applied = true},
        {.act = FAKE_TRUNCATED, .applied = true},
        {.act = FAKE_ITEM_LESS},
        {.act = FAKE_ITEM_MORE, .applied = true},
        {.act = FAKE_ZOMBIE, .late_ms = 150},
        {.act = FAKE_ZOMBIE, .late_ms = 400},
        {.status = 429, .type = "rejected_execution_exception"},
        {.status = 503, .type = "unavailable_shards_exception"},
        {.delay_ms = 20},
    };
    struct fake_rule rule = rules[random_below(random, ARRAY_LEN(rules))];

    if (random_below(random, 2) == 0)
        fake_search_clear_rules(r->fake);
    rule.times = 1 + (unsigned)random_below(random, 2);
    rule.skip = (unsigned)random_below(random, 4);
    fake_search_add_rule(r->fake, &rule);
}

static void check_day(struct rig *r, const struct day *d)
{
    for (size_t k = 0; k < DAY_DOCUMENTS; k++) {
        char text[32];

        snprintf(text, sizeof(text), "%llu", (unsigned long long)d->last[k] / 1000);
        if (d->last[k] == 0 || d->is_delete[k])
            rig_check_gone(r, d->first_id + (int)k);
        else
            rig_check(r, d->first_id + (int)k, 0, text);
    }
}

static void a_random_bad_day_loses_nothing_and_brings_nothing_back(void **state)
{
    const char *seed_text = getenv("MILLRACE_SEED");
    const uint64_t seed = seed_text == NULL ? 4711 : strtoull(seed_text, NULL, 10);
    struct day days[DAY_THREADS] = {{0}};
    struct random random;
    struct rig *r = *state;

    fprintf(stderr, "# MILLRACE_SEED=%llu\n", (unsigned long long)seed);
    random_init(&random, seed);
    rig_start(r, &(struct delivery_options){
                     .settings = {.request_timeout_ms = 80, .bytes_max = 200000}});
    for (int i = 0; i < DAY_THREADS; i++) {
        days[i].rig = r;
        days[i].first_id = 1000 * i;
        random_init(&days[i].random, seed + 1 + (uint64_t)i);
        days[i].thread = thread_start("day", live_through, &days[i]);
    }
    for (int i = 0; i < 100; i++) {
        spoil(r, &random);
        rig_sleep((int64_t)random_below(&random, 30));
    }
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery); /* at once, not after the pause */
    for (int i = 0; i < DAY_THREADS; i++)
        pthread_join(days[i].thread, NULL);
    rig_wait_done(r);
    rig_sleep(450); /* the last zombie */
    for (int i = 0; i < DAY_THREADS; i++)
        check_day(r, &days[i]);
    assert_int_equal(r->dead.n, 0);
    assert_true(delivery_drain(r->delivery, 20000));
    assert_int_equal(delivery_status(r->delivery).bytes_held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_random_bad_day_loses_nothing_and_brings_nothing_back),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_bad_day", tests, NULL, NULL);
}
