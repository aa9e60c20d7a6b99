#include "config.h"

#include "tests/unit/unit.h"

#include "sync/server/recent_gtids.h"

static struct gtid numbered(uint64_t number)
{
    return (struct gtid){.family = GTID_MARIADB, .server = 1, .number = number};
}

static void add(struct recent_gtids *r, uint64_t version, uint64_t number)
{
    const struct gtid g = numbered(number);

    recent_gtids_add(r, version, &g);
}

/* 0: none. */
static uint64_t find(const struct recent_gtids *r, uint64_t version)
{
    const struct gtid *g = recent_gtids_find(r, version);

    return g == NULL ? 0 : g->number;
}

static void a_place_is_in_the_transaction_that_began_before_it(void **state)
{
    struct recent_gtids *r = recent_gtids_new();

    (void)state;
    assert_int_equal(find(r, 100), 0);
    add(r, 100, 1);
    add(r, 200, 2);
    assert_int_equal(find(r, 99), 0);
    assert_int_equal(find(r, 100), 1);
    assert_int_equal(find(r, 199), 1);
    assert_int_equal(find(r, 200), 2);
    assert_int_equal(find(r, UINT64_MAX), 2);
    recent_gtids_free(r);
}

static void a_transaction_without_an_id_has_none(void **state)
{
    struct recent_gtids *r = recent_gtids_new();

    (void)state;
    add(r, 100, 1);
    recent_gtids_add(r, 200, &(struct gtid){.family = GTID_NONE});
    assert_int_equal(find(r, 150), 1);
    assert_int_equal(find(r, 250), 0);
    recent_gtids_free(r);
}

static void a_stream_that_starts_anew_says_the_same_again(void **state)
{
    struct recent_gtids *r = recent_gtids_new();

    (void)state;
    for (uint64_t i = 1; i <= 5; i++)
        add(r, i * 100, i);
    for (uint64_t i = 3; i <= 4; i++)
        add(r, i * 100, i + 10);
    assert_int_equal(find(r, 299), 2);
    assert_int_equal(find(r, 300), 13);
    assert_int_equal(find(r, 1000), 14);
    recent_gtids_free(r);
}

static void the_last_of_very_many_are_known(void **state)
{
    struct recent_gtids *r = recent_gtids_new();
    const uint64_t n = 3 * RECENT_GTIDS_MAX + 5;

    (void)state;
    for (uint64_t i = 1; i <= n; i++)
        add(r, i * 10, i);
    for (uint64_t i = 1; i <= n; i++)
        assert_int_equal(find(r, i * 10 + 9), i + RECENT_GTIDS_MAX > n ? i : 0);
    recent_gtids_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_in_the_transaction_that_began_before_it),
        cmocka_unit_test(a_transaction_without_an_id_has_none),
        cmocka_unit_test(a_stream_that_starts_anew_says_the_same_again),
        cmocka_unit_test(the_last_of_very_many_are_known),
    };

    return cmocka_run_group_tests_name("recent_gtids", tests, NULL, NULL);
}
