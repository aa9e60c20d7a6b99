/* Where logs were at midnight, as the store keeps it. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/later/midnight.h"
#include "src/store/reset.h"

static struct midnight_owner owner = {{"shop", 4}, {"Europe/Berlin", 13}, 0};

static void own(void)
{
    ok(store_take_term(f.s, STR("topic/shop"), &owner.term, &f.err));
}

static void put(int64_t day, uint64_t offset)
{
    const struct stored_midnight m = {day, 3, STR("binlog.000007"), offset};

    ok(store_put_midnights(f.s, &owner, &m, 1, &f.err));
}

static struct stored_midnight *load(struct str topic, struct str zone, size_t n_expected)
{
    struct stored_midnight *out;
    size_t n;

    ok(store_load_midnights(f.s, f.a, topic, zone, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void a_midnight_comes_back_whole_and_by_its_day(void **state)
{
    const struct stored_midnight m[] = {{20000, 3, {"binlog.000007", 13}, 5000000000},
                                        {20001, 4, {"log.000001", 10}, 4}};
    const struct stored_midnight *out;

    (void)state;
    own();
    ok(store_put_midnights(f.s, &owner, m, 2, &f.err));
    put(19999, 99);
    out = load(owner.topic, owner.zone, 3);
    assert_int_equal(out[0].day, 19999);
    assert_int_equal(out[1].day, 20000);
    assert_int_equal(out[1].epoch, 3);
    assert_true(str_equal(out[1].file, m[0].file));
    assert_int_equal(out[1].offset, m[0].offset);
    assert_true(str_equal(out[2].file, m[1].file));
}

static void a_midnight_that_is_met_again_replaces_the_one_before(void **state)
{
    (void)state;
    own();
    put(20000, 99);
    put(20000, 120);
    assert_int_equal(load(owner.topic, owner.zone, 1)->offset, 120);
}

static void another_zone_or_topic_has_midnights_of_its_own(void **state)
{
    (void)state;
    own();
    put(20000, 99);
    (void)load(owner.topic, STR("UTC"), 0);
    (void)load(STR("other"), owner.zone, 0);
}

static void midnights_that_are_a_month_old_are_forgotten(void **state)
{
    (void)state;
    own();
    for (int64_t day = 20000; day < 20050; day++)
        put(day, 99);
    assert_int_equal(load(owner.topic, owner.zone, MIDNIGHT_DAYS_MAX)->day,
                     20050 - MIDNIGHT_DAYS_MAX);
}

static void who_has_lost_the_topic_stores_no_midnight(void **state)
{
    const struct stored_midnight m = {20000, 3, STR("binlog.000007"), 99};
    uint64_t term;

    (void)state;
    own();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    assert_false(store_put_midnights(f.s, &owner, &m, 1, &f.err));
    assert_int_equal(f.err.kind, ERR_STOP);
    f.err = (struct err){0};
    (void)load(owner.topic, owner.zone, 0);
}

static void a_reset_topic_has_no_midnights_of_before(void **state)
{
    const struct topic_reset r = {.topic = owner.topic,
                                  .start = {STR("start/shop"), STR("now")}};

    (void)state;
    own();
    put(20000, 99);
    ok(store_reset_topic(f.s, &r, &f.err));
    (void)load(owner.topic, owner.zone, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_midnight_comes_back_whole_and_by_its_day),
    STORE_TEST(a_midnight_that_is_met_again_replaces_the_one_before),
    STORE_TEST(another_zone_or_topic_has_midnights_of_its_own),
    STORE_TEST(midnights_that_are_a_month_old_are_forgotten),
    STORE_TEST(who_has_lost_the_topic_stores_no_midnight),
    STORE_TEST(a_reset_topic_has_no_midnights_of_before),
};
const struct test_part store_midnights = {tests, ARRAY_LEN(tests)};
