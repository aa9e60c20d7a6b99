#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/thread.h"
#include "sync/definition/definition.h"
#include "sync/delivery/document/target.h"
#include "sync/routing/routing.h"
#include "sync/routing/wanted_versions.h"
#include "sync/server/server_access.h"

#define EPOCH (UINT64_C(1) << 53)
#define PLACE (EPOCH | UINT64_C(3) << 33 | 700)

#define LONG_MS 60000

static struct server_access server = {.refs = 1};

/* One index version; its definitions belong to the caller. */
static struct version_spec spec(struct definitions *d, const char *index)
{
    return (struct version_spec){.definitions = d,
                                 .server = &server,
                                 .topic = (char *)(uintptr_t) "shop",
                                 .index = (char *)(uintptr_t)index,
                                 .alias = (char *)(uintptr_t) "a",
                                 .write_alias = (char *)(uintptr_t) "w"};
}

static struct routing *routing(void)
{
    return routing_new(STR("shop"), NULL, 0);
}

static void what_is_wanted_is_taken_when_a_routing_was_made_for_it(void **state)
{
    struct wanted_versions *a = wanted_versions_new();
    uint64_t at = 0;

    (void)state;
    assert_false(wanted_versions_is_taken(a));
    assert_null(wanted_versions_routing(a));

    const uint64_t first = wanted_versions_set(a, NULL, 0);

    assert_false(wanted_versions_wait(a, first, 0, &at));
    wanted_versions_take(a, routing(), first, 700);
    assert_true(wanted_versions_is_taken(a));
    assert_true(wanted_versions_wait(a, first, LONG_MS, &at));
    assert_int_equal(at, 700);

    const uint64_t second = wanted_versions_set(a, NULL, 0);

    assert_false(wanted_versions_is_taken(a));
    wanted_versions_take(a, routing(), first, 800);
    assert_false(wanted_versions_wait(a, second, 0, &at));
    wanted_versions_take(a, routing(), second, 900);
    wanted_versions_renew(a);
    assert_false(wanted_versions_is_taken(a));
    wanted_versions_free(a);
}

static void a_version_taken_before_its_place_is_known_is_to_be_taken_again(void **state)
{
    struct wanted_versions *a = wanted_versions_new();
    struct routing *r = routing();
    uint64_t at = 0;

    (void)state;
    r->targets[r->n_targets++] =
        target_new(STR("orders_v1"), STR("w"), STR("shop.orders"), STR("shop"));
    wanted_versions_take(a, routing_ref(r), wanted_versions_set(a, NULL, 0), EPOCH);
    assert_false(wanted_versions_has_taken(a, STR("orders_v1"), &at));
    wanted_versions_take(a, r, wanted_versions_set(a, NULL, 0), PLACE);
    assert_true(wanted_versions_has_taken(a, STR("orders_v1"), &at));
    wanted_versions_free(a);
}

static void a_version_that_is_taken_is_so_while_others_are_wanted(void **state)
{
    struct wanted_versions *a = wanted_versions_new();
    struct routing *r = routing();
    uint64_t at = 0;

    (void)state;
    assert_false(wanted_versions_has_taken(a, STR("orders_v1"), &at));
    r->targets[r->n_targets++] =
        target_new(STR("orders_v1"), STR("w"), STR("shop.orders"), STR("shop"));

    const uint64_t first = wanted_versions_set(a, NULL, 0);

    wanted_versions_set(a, NULL, 0); /* before the first is taken, and so on */
    wanted_versions_take(a, r, first, PLACE);
    assert_false(wanted_versions_is_taken(a));
    assert_true(wanted_versions_has_taken(a, STR("orders_v1"), &at));
    assert_int_equal(at, PLACE);
    assert_false(wanted_versions_has_taken(a, STR("orders_v2"), &at));
    wanted_versions_free(a);
}

static void a_stopped_version_stays_out_until_others_are_wanted(void **state)
{
    struct definitions *d = definitions_new();
    struct wanted_versions *a = wanted_versions_new();
    const struct version_spec one = spec(d, "orders_v1"), two = spec(d, "orders_v2");
    const struct version_spec *const both[] = {&one, &two};
    uint64_t generation;
    size_t n;

    (void)state;
    wanted_versions_set(a, both, 2);
    wanted_versions_stop(a, "orders_v2");
    wanted_versions_renew(a);

    struct version_spec **specs = wanted_versions_specs(a, &n, &generation);

    assert_int_equal(n, 2);
    assert_int_equal(generation, 2);
    assert_string_equal(specs[1]->index, "orders_v2");
    assert_false(specs[0]->stopped);
    assert_true(specs[1]->stopped);
    version_specs_free(specs, n);
    wanted_versions_set(a, both, 2);
    specs = wanted_versions_specs(a, &n, &generation);
    assert_false(specs[1]->stopped);
    version_specs_free(specs, n);
    wanted_versions_free(a);
    definitions_unref(d);
}

struct taker {
    struct wanted_versions *a;
    uint64_t generation;
};

static void *take(void *arg)
{
    struct taker *t = arg;

    wanted_versions_take(t->a, routing(), t->generation, 5);
    return NULL;
}

static void who_waits_is_woken_when_the_versions_are_taken(void **state)
{
    struct taker t = {.a = wanted_versions_new()};
    uint64_t at = 0;

    (void)state;
    t.generation = wanted_versions_set(t.a, NULL, 0);

    pthread_t thread = thread_start("builder", take, &t);

    assert_true(wanted_versions_wait(t.a, t.generation, LONG_MS, &at));
    assert_int_equal(at, 5);
    pthread_join(thread, NULL);
    wanted_versions_free(t.a);
}

static void a_table_is_read_again_where_its_database_is(void **state)
{
    static struct server_access replica = {.refs = 1};
    struct version_spec v = spec(NULL, "forum_v1");
    struct database_server own = {(char *)(uintptr_t) "archive", &replica};

    (void)state;
    v.own = &own;
    v.n_own = 1;
    assert_ptr_equal(version_spec_server(&v, STR("shop.question")), &server);
    assert_ptr_equal(version_spec_server(&v, STR("archive.answer")), &replica);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wanted_is_taken_when_a_routing_was_made_for_it),
        cmocka_unit_test(a_version_taken_before_its_place_is_known_is_to_be_taken_again),
        cmocka_unit_test(a_version_that_is_taken_is_so_while_others_are_wanted),
        cmocka_unit_test(a_stopped_version_stays_out_until_others_are_wanted),
        cmocka_unit_test(who_waits_is_woken_when_the_versions_are_taken),
        cmocka_unit_test(a_table_is_read_again_where_its_database_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
