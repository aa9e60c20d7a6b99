#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/dead_letter/orders.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/state/parts.h"
#include "rebalance/verify/run.h"
#include "src/base/clock.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/operation.h"
#include "sync/pipeline/parts.h"
#include "sync/routing/routing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Jobs are guests (sync/delivery/index/guests.h), and a write's `gathered` says that a job
 * submits it.  These tests look at what a job hands to delivery: in place of delivery and of
 * the pipeline are the functions below (tests/unit/local.mk: --wrap).
 */

static struct fixture {
    char path[40];
    struct coordinator_options opt;
    struct coordinator *co;
    struct target *target;
    struct read_position *reader;
    unsigned n_gathered, n_others; /* writes submitted; atomic */
} f;

bool __wrap_delivery_submit_until(struct delivery *d, const struct stop *stop,
                                  const struct doc_write *writes, size_t n, struct err *err);
void __wrap_delivery_note_dead(struct delivery *d, struct str index, struct str routing,
                               struct str id, uint64_t version);
struct delivery_settings __wrap_delivery_get(struct delivery *d);
struct target *__wrap_pipeline_target(struct pipeline *p, struct str index, struct str table);
struct read_position *__wrap_pipeline_read_position(struct pipeline *p);
bool __wrap_pipeline_is_settled(struct pipeline *p);
bool __wrap_pipeline_save(struct pipeline *p, struct err *err);

/* Takes nothing over, as when stopping. */
bool __wrap_delivery_submit_until(struct delivery *d, const struct stop *stop,
                                  const struct doc_write *writes, size_t n, struct err *err)
{
    (void)d;
    (void)stop;
    for (size_t i = 0; i < n; i++)
        __atomic_fetch_add(writes[i].gathered ? &f.n_gathered : &f.n_others, 1,
                           __ATOMIC_RELAXED);
    return err_set(err, ERR_STOP, "stopping");
}

void __wrap_delivery_note_dead(struct delivery *d, struct str index, struct str routing,
                               struct str id, uint64_t version)
{
    (void)d;
    (void)index;
    (void)routing;
    (void)id;
    (void)version;
}

struct delivery_settings __wrap_delivery_get(struct delivery *d)
{
    (void)d;
    return (struct delivery_settings){.request_timeout_ms = 1};
}

struct target *__wrap_pipeline_target(struct pipeline *p, struct str index, struct str table)
{
    (void)p;
    (void)index;
    (void)table;
    return target_ref(f.target);
}

struct read_position *__wrap_pipeline_read_position(struct pipeline *p)
{
    (void)p;
    return f.reader;
}

bool __wrap_pipeline_is_settled(struct pipeline *p)
{
    (void)p;
    return true;
}

/* So that nobody repeats deletes. */
bool __wrap_pipeline_save(struct pipeline *p, struct err *err)
{
    (void)p;
    return err_set(err, ERR_STOP, "stopping");
}

static void store_index(void)
{
    const struct str table = STR("{\"table\":\"shop.orders\",\"index\":\"orders\"}");
    const struct stored_definition defs[] = {
        {STR("topic"), STR("shop"),
         STR("{\"name\":\"shop\",\"address\":\"127.0.0.1:1\",\"user\":\"mill\"}")},
        {STR("database"), STR("shop"), STR("{\"name\":\"shop\",\"topic\":\"shop\"}")},
        {STR("table"), STR("shop.orders"), table}};
    struct stored_version v = {
        .index = STR("orders"), .topic = STR("shop"), .definition = table};
    struct err err = {0};

    assert_true(store_save_definitions(f.opt.store, 0, defs, ARRAY_LEN(defs),
                                       &(struct definition_effects){0}, &err));
    assert_true(store_new_version(f.opt.store, &v, &err));
    assert_true(store_promote_version(
        f.opt.store,
        &(struct promotion){.index = v.index, .number = v.number, .finished_ms = 1}, &err));
}

static struct pipeline pipeline = {.refs = 1};

static int set_up(void **state)
{
    static struct reading reading;
    static char shop[] = "shop";
    static struct topic topic;
    static char delivery;
    struct err err = {0};

    (void)state;
    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    store_index();
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    topic = (struct topic){.name = shop, .pipeline = &pipeline};
    f.co->topics->first = &topic;
    f.co->delivery = (struct delivery *)&delivery;
    f.target =
        target_new(STR("orders_v1"), STR("orders_v1_write"), STR("shop.orders"), STR("shop"));
    f.target->plan = &reading;
    f.reader = read_position_new(10);
    return 0;
}

static int tear_down(void **state)
{
    char lock[sizeof(f.path) + 5];

    (void)state;
    f.co->topics->first = NULL;
    f.co->delivery = NULL;
    coordinator_close(f.co);
    store_close(f.opt.store);
    target_unref(f.target);
    read_position_free(f.reader);
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    unlink(lock);
    unlink(f.path);
    return 0;
}

static void expect_submitted(unsigned n_gathered, unsigned n_others)
{
    assert_int_equal(__atomic_load_n(&f.n_gathered, __ATOMIC_RELAXED), n_gathered);
    assert_int_equal(__atomic_load_n(&f.n_others, __ATOMIC_RELAXED), n_others);
}

static void replays_of_dead_letters_are_guests(void **state)
{
    const struct stored_dead_letter letter = {.topic = STR("shop"),
                                              .table = STR("shop.orders"),
                                              .index = STR("orders_v1"),
                                              .doc_id = STR("1"),
                                              .key = STR("1"),
                                              .reason = STR("a reason")};
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    assert_true(store_put_dead_letters(f.opt.store, &letter, 1, &err));
    assert_false(coordinator_dead_letter_replay(
        f.co, &(struct dead_letter_filter){.table = STR("shop.orders")}, false, &json, &err));
    assert_int_equal(err.kind, ERR_STOP);
    expect_submitted(1, 0);
    buf_free(&json);
}

static void replays_of_purged_changes_are_guests(void **state)
{
    const struct purged_note note = {
        .target = f.target, .id = STR("1"), .key = STR("1"), .version = 1};
    const int64_t until_ms = clock_mono_ms() + 20000;
    struct err err = {0};

    (void)state;
    assert_true(coordinator_put_purged(f.co, &note, 1, &err));
    coordinator_start_replays(f.co);
    while (__atomic_load_n(&f.n_gathered, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&f.n_others, __ATOMIC_RELAXED) == 0 && clock_mono_ms() < until_ms)
        usleep(1000);
    stop_set(&f.co->stop);
    coordinator_join_replays(f.co);
    assert_true(f.n_gathered > 0);
    assert_int_equal(f.n_others, 0);
}

/* errand: NULL for a job's */
static void repair(struct errand *errand)
{
    struct verify_key key = {.id = STR("1"),
                             .key = STR("1"),
                             .target = f.target,
                             .look = {.is_wanted = true},
                             .state = VERIFY_DIFFERS};
    struct verify_run run = {.co = f.co,
                             .stop = &f.co->stop,
                             .errand = errand,
                             .pipeline = &pipeline,
                             .keys = &key,
                             .n_keys = 1};
    struct err err = {0};

    assert_false(verify_run_repair(&run, &err));
    assert_int_equal(err.kind, ERR_STOP);
}

static void repairs_of_a_job_are_guests_and_a_person_waits_for_none(void **state)
{
    static char errand;

    (void)state;
    repair(NULL);
    expect_submitted(1, 0);
    repair((struct errand *)&errand);
    expect_submitted(1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replays_of_dead_letters_are_guests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replays_of_purged_changes_are_guests, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(repairs_of_a_job_are_guests_and_a_person_waits_for_none,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests_name("guest_writes", tests, NULL, NULL);
}
