/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * The fill of a build beside the stream: how many of its requests are in flight at a time, and
 * who goes before it.  How many that may be is test_guests.c's to check.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/index/index_queues.h"
#include "sync/delivery/index/neighbours.h"
#include "sync/delivery/neighbours_ask.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HELPERS    4
#define NARROW     2 /* requests at a time that are always left */
#define QUICK_MS   10
#define SLOW_MS    150
#define LIVE       1000000 /* ids of the stream */
#define N_REQUESTS 8       /* in so many the most at a time would show */
#define BUSY_MS    600000  /* while other tests keep the machine busy, any engine is slow */

/* A build that fills the queues until it is told to end. */
struct fill {
    struct rig *rig;
    pthread_t thread;
    char text[8001]; /* few to a request, as the fill itself must not be the limit */
    bool is_end;     /* atomic */
};

static void *fill(void *arg)
{
    struct fill *f = arg;

    for (int i = 0; !__atomic_load_n(&f->is_end, __ATOMIC_RELAXED); i++)
        rig_fill(f->rig, i, 1, f->text);
    return NULL;
}

static void begin(struct rig *r, struct fill *f, enum builds_manner builds)
{
    rig_start(r, &(struct delivery_options){.settings = {.builds = builds,
                                                         .helpers = HELPERS,
                                                         .bytes_max = 4 << 20,
                                                         .batch_bytes = 64 << 10}});
    *f = (struct fill){.rig = r};
    memset(f->text, 'x', sizeof(f->text) - 1);
    f->thread = thread_start("fill", fill, f);
}

static void end(struct rig *r, struct fill *f)
{
    __atomic_store_n(&f->is_end, true, __ATOMIC_RELAXED);
    fake_search_clear_rules(r->fake);
    pthread_join(f->thread, NULL);
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), r->tickets.read);
}

/* From now on the engine takes so long. */
static void take(struct rig *r, int64_t ms)
{
    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake, &(struct fake_rule){.delay_ms = ms});
}

/* The most requests at a time, of the next few. */
static unsigned at_once(struct rig *r)
{
    fake_search_count_anew(r->fake);
    rig_wait_requests(r, fake_search_requests(r->fake) + N_REQUESTS);
    return fake_search_most_at_once(r->fake);
}

static void wait_at_once(struct rig *r, unsigned n)
{
    const int64_t until_ms = clock_mono_ms() + BUSY_MS;

    while (clock_mono_ms() < until_ms)
        if (at_once(r) == n)
            return;
    fail_msg("never %u requests at a time", n);
}

/* The request that brought this document to the index, which comes soon. */
static uint64_t request_of(struct rig *r, const char *index, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    for (int i = 0; i < 20000; i++) {
        const size_t n = fake_search_items(r->fake);

        for (size_t k = n; k-- > 0 && k + 2000 > n;) {
            const struct fake_item item = fake_search_item(r->fake, k);

            if (strcmp(item.id, name) == 0 && strcmp(item.index, index) == 0)
                return item.request;
        }
        rig_sleep(1);
    }
    fail_msg("document %d does not come", id);
    return 0;
}

static void a_fill_takes_all_slots_of_an_engine_that_answers_as_soon_with_it(void **state)
{
    struct rig *r = *state;
    struct fill f;

    take(r, QUICK_MS);
    begin(r, &f, BUILDS_POLITE);
    wait_at_once(r, HELPERS);
    end(r, &f);
}

static void a_fill_leaves_the_slots_of_an_engine_that_becomes_slow(void **state)
{
    struct rig *r = *state;
    struct fill f;

    take(r, QUICK_MS);
    begin(r, &f, BUILDS_POLITE);
    wait_at_once(r, HELPERS);
    take(r, SLOW_MS);
    wait_at_once(r, NARROW);
    end(r, &f);
}

static void a_greedy_fill_keeps_the_slots_of_a_slow_engine(void **state)
{
    struct rig *r = *state;
    struct fill f;

    take(r, QUICK_MS);
    begin(r, &f, BUILDS_GREEDY);
    wait_at_once(r, HELPERS);
    take(r, SLOW_MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(at_once(r), HELPERS);
    end(r, &f);
}

static void only_indexes_of_others_are_counted(void **state)
{
    static const struct {
        const char *answer;
        int64_t total; /* -1: it says nothing */
    } cases[] = {
        {"{\"_nodes\":{\"failed\":0}}", 0},
        {"{\"_nodes\":{\"failed\":1},\"nodes\":{}}", -1},
        {"{\"acknowledged\":true}", -1},
        {"[]", -1},
        {"", -1},
        {"{\"_nodes\":{\"failed\":0},\"nodes\":{\"a\":{\"indices\":{\"indices\":{\"x\":{"
         "\"indexing\":{\"index_total\":3,\"delete_total\":4}},\".tasks\":{\"indexing\":{"
         "\"index_total\":50}},\".ds-logs-1\":{\"indexing\":{\"index_total\":600}},\".\":{"
         "\"indexing\":{\"index_total\":9}}}}},\"b\":{\"indices\":{\"indices\":{\"x\":{"
         "\"indexing\":{\"index_total\":7000}},\"orders_v1\":{\"indexing\":{\"index_total\":"
         "1}}}}}}}",
         7607},
        {"{\"_nodes\":{\"failed\":0},\"nodes\":{\"a\":{\"indices\":{\"indices\":{\"x\":{"
         "\"indexing\":{\"index_total\":3,",
         -1},
        {"{\"_nodes\":{\"failed\":0},\"nodes\":{\"a\":{\"indices\":[]}}}", -1},
    };
    struct index_queues ours;
    const struct index_queue_options opt = {
        .workers = 1, .width_max = 1, .batch_min = 1, .fuse = {.failures = 1}};

    (void)state;
    index_queues_init(&ours);
    index_queues_add(&ours, index_queue_new(STR("orders_v1"), &opt, 1));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t total = 0;
        const bool says = neighbours_read(str_from(cases[i].answer), &ours, &total);

        if (says != (cases[i].total >= 0) || (says && total != (uint64_t)cases[i].total))
            fail_msg("case %zu: %d, %" PRIu64, i, says, total);
    }
    index_queues_fini(&ours);
}

/* A change of the stream came, and the engine becomes slow. */
static void begin_beside_a_change(struct rig *r, struct fill *f)
{
    fake_search_say_others(r->fake, 7);
    take(r, QUICK_MS);
    begin(r, f, BUILDS_POLITE);
    rig_index_to(r, r->target, LIVE, 2, "live");
    wait_at_once(r, HELPERS);
    take(r, SLOW_MS);
    wait_at_once(r, NARROW);
}

static void a_fill_that_is_alone_takes_all_slots(void **state)
{
    struct rig *r = *state;
    struct fill f;

    begin_beside_a_change(r, &f);
    wait_at_once(r, HELPERS); /* the change is long ago */
    end(r, &f);
}

static void a_fill_leaves_slots_while_others_write(void **state)
{
    struct rig *r = *state;
    struct fill f;

    begin_beside_a_change(r, &f);
    for (uint64_t i = 0; i < NEIGHBOURS_QUIET_MS / 500 + 2; i++) {
        fake_search_say_others(r->fake, 100 + i);
        rig_sleep(500);
    }
    assert_int_equal(at_once(r), NARROW);
    end(r, &f);
}

/*
 * Some thousand documents of the fill wait: forty requests.  A change waits for the one in
 * flight of its worker, if that has one.
 */
static void check_goes_first(struct rig *r, struct target *t, int id)
{
    const uint64_t before = fake_search_requests(r->fake);

    rig_index_to(r, t, id, 2, "live");
    assert_in_range(request_of(r, t->index, id), before, before + 4);
}

static void changes_of_the_stream_go_before_a_fill(void **state)
{
    struct rig *r = *state;
    struct fill f;
    struct target *other =
        target_new(STR("items_v1"), STR("items_v1_write"), STR("shop.items"), STR("shop"));

    fake_search_create(r->fake, "items_v1", "items_v1_write");
    take(r, QUICK_MS);
    begin(r, &f, BUILDS_POLITE);
    wait_at_once(r, HELPERS);
    take(r, SLOW_MS);
    wait_at_once(r, NARROW);
    rig_wait_blocked(r, 1);
    for (int i = 0; i < 5; i++) {
        check_goes_first(r, r->target, LIVE + i);
        check_goes_first(r, other, LIVE + i);
    }
    end(r, &f);
    target_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_fill_takes_all_slots_of_an_engine_that_answers_as_soon_with_it),
        RIG_TEST(a_fill_leaves_the_slots_of_an_engine_that_becomes_slow),
        RIG_TEST(a_greedy_fill_keeps_the_slots_of_a_slow_engine),
        cmocka_unit_test(only_indexes_of_others_are_counted),
        RIG_TEST(a_fill_that_is_alone_takes_all_slots),
        RIG_TEST(a_fill_leaves_slots_while_others_write),
        RIG_TEST(changes_of_the_stream_go_before_a_fill),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_guests", tests, NULL, NULL);
}
