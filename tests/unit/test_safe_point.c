#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/random.h"
#include "sync/checkpoint/safe_point.h"

#include <string.h>

static struct commit_position at(uint64_t offset)
{
    return (struct commit_position){
        .file_number = 1,
        .offset = offset,
        .gtid = {.family = GTID_MYSQL, .uuid = {1}, .number = offset},
    };
}

static bool contains(const struct gtid_set *set, uint64_t offset)
{
    const struct commit_position m = at(offset);

    return gtid_set_contains(set, &m.gtid);
}

static uint64_t take(struct safe_point *s, struct gtid_set *executed)
{
    struct commit_position m;

    (void)safe_point_take(s, &m, executed);
    return m.offset;
}

static void finish(struct safe_point *s, uint64_t offset)
{
    const struct commit_position m = at(offset);

    safe_point_done(s, &m, NULL);
}

static void the_place_is_the_end_of_what_is_done(void **state)
{
    const struct commit_position start = at(4);
    struct safe_point *s = safe_point_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct commit_position m;

    (void)state;
    assert_false(safe_point_take(s, &m, executed));
    assert_int_equal(m.offset, 4);
    finish(s, 5);
    assert_true(safe_point_take(s, &m, executed));
    assert_int_equal(m.offset, 5);
    assert_false(safe_point_take(s, &m, executed));
    gtid_set_free(executed);
    safe_point_free(s);
}

static void a_hold_keeps_the_place_and_the_gtids_behind_it(void **state)
{
    const struct commit_position start = at(4), five = at(5), nine = at(9);
    struct safe_point *s = safe_point_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct buf text = {0};

    (void)state;
    finish(s, 5);

    const uint64_t hold = safe_point_hold(s, &five);

    finish(s, 6);
    finish(s, 7);
    assert_int_equal(take(s, executed), 5);
    assert_int_equal(safe_point_end(s)->offset, 7);
    assert_true(contains(executed, 5));
    assert_false(contains(executed, 6));
    safe_point_release(s, hold, &nine);
    assert_int_equal(take(s, executed), 5);
    finish(s, 9);
    assert_int_equal(take(s, executed), 9);
    gtid_set_format(&text, executed);
    assert_non_null(strstr(text.ptr, ":5-7:9"));
    buf_free(&text);
    gtid_set_free(executed);
    safe_point_free(s);
}

/* It was prepared and ended while earlier transactions were still on their way. */
static void a_hold_ahead_of_what_is_done_does_not_hold_yet(void **state)
{
    const struct commit_position start = at(4), six = at(6);
    struct safe_point *s = safe_point_new(&start);
    struct gtid_set *executed = gtid_set_new();

    (void)state;
    (void)safe_point_hold(s, &six);
    finish(s, 5);
    assert_int_equal(take(s, executed), 5);
    finish(s, 6);
    assert_int_equal(take(s, executed), 6);
    finish(s, 7);
    assert_int_equal(take(s, executed), 6);
    assert_false(contains(executed, 7));
    gtid_set_free(executed);
    safe_point_free(s);
}

/* The second is open, and lies between the first one's PREPARE and its COMMIT. */
static void the_place_is_not_between_the_ends_of_a_hold(void **state)
{
    const struct commit_position start = at(4), five = at(5), six = at(6), seven = at(7),
                                 eight = at(8);
    struct safe_point *s = safe_point_new(&start);
    struct gtid_set *executed = gtid_set_new();

    (void)state;
    finish(s, 5);

    const uint64_t first = safe_point_hold(s, &five);

    finish(s, 6);

    const uint64_t second = safe_point_hold(s, &six);

    safe_point_release(s, first, &seven);
    finish(s, 7);
    assert_int_equal(take(s, executed), 5);
    safe_point_release(s, second, &eight);
    finish(s, 8);
    assert_int_equal(take(s, executed), 8);
    assert_int_equal(safe_point_holds(s), 0);
    gtid_set_free(executed);
    safe_point_free(s);
}

static void a_place_that_is_held_is_new_when_it_was_not_taken_yet(void **state)
{
    const struct commit_position start = at(4), six = at(6);
    struct safe_point *s = safe_point_new(&start);
    struct gtid_set *executed = gtid_set_new();
    struct commit_position m;

    (void)state;
    finish(s, 5);
    (void)safe_point_hold(s, &six);
    finish(s, 6);
    finish(s, 7);
    assert_true(safe_point_take(s, &m, executed));
    assert_int_equal(m.offset, 6);
    finish(s, 8);
    assert_false(safe_point_take(s, &m, executed));
    gtid_set_free(executed);
    safe_point_free(s);
}

/* ---- against a model ---- */

#define N 200

/* Transactions end at 1, 2, 3 ...; each may prepare one that a later one ends. */
struct model {
    struct safe_point *s;
    struct gtid_set *executed;
    struct random random;
    uint64_t read, done;
    uint64_t hold[N + 1];  /* of the transaction that prepares */
    uint64_t ended[N + 1]; /* by which; 0: open */
};

/* A restart there would read the end of one that was prepared before, or none of an open
 * one. */
static bool is_torn(const struct model *m, uint64_t place)
{
    for (uint64_t i = 1; i <= place; i++)
        if (m->hold[i] != 0 && (m->ended[i] == 0 || m->ended[i] > place))
            return true;
    return false;
}

static uint64_t expected_place(const struct model *m)
{
    uint64_t place = m->done;

    while (is_torn(m, place))
        place--;
    return place;
}

static void check(struct model *m)
{
    const uint64_t place = expected_place(m);

    assert_int_equal(take(m->s, m->executed), place);
    for (uint64_t i = 1; i <= m->read; i++)
        assert_int_equal(contains(m->executed, i), i <= place);
}

static void end_some(struct model *m)
{
    for (uint64_t i = 1; i < m->read; i++) {
        const struct commit_position end = at(m->read);

        if (m->hold[i] == 0 || m->ended[i] != 0 || random_below(&m->random, 8) != 0)
            continue;
        m->ended[i] = m->read;
        safe_point_release(m->s, m->hold[i], &end);
    }
}

static void read_one(struct model *m)
{
    const struct commit_position last = at(m->read);

    if (random_below(&m->random, 4) == 0)
        m->hold[m->read + 1] = safe_point_hold(m->s, &last);
    m->read++;
    end_some(m);
}

static void any_holds_in_any_order_keep_place_and_gtids_together(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const struct commit_position start = {.file_number = 1};
        struct model m = {.s = safe_point_new(&start), .executed = gtid_set_new()};

        random_init(&m.random, seed);
        while (m.read < N) {
            if (m.done < m.read && random_below(&m.random, 2) == 0)
                finish(m.s, ++m.done);
            else
                read_one(&m);
            check(&m);
        }
        gtid_set_free(m.executed);
        safe_point_free(m.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_is_the_end_of_what_is_done),
        cmocka_unit_test(a_hold_keeps_the_place_and_the_gtids_behind_it),
        cmocka_unit_test(a_hold_ahead_of_what_is_done_does_not_hold_yet),
        cmocka_unit_test(the_place_is_not_between_the_ends_of_a_hold),
        cmocka_unit_test(a_place_that_is_held_is_new_when_it_was_not_taken_yet),
        cmocka_unit_test(any_holds_in_any_order_keep_place_and_gtids_together),
    };
    return cmocka_run_group_tests_name("safe_point", tests, NULL, NULL);
}
