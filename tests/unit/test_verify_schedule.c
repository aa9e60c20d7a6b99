#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/compared.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/schedule.h"

#include "src/base/clock.h"

#include <stdio.h>

#define WEEK INT64_C(604800000)

static void an_index_is_due_within_the_last_quarter(void **state)
{
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char name[32];

        snprintf(name, sizeof(name), "orders%d_v1", i);

        const int64_t due = verify_due_ms(str_from(name), 1000, WEEK);

        assert_int_equal(due, verify_due_ms(str_from(name), 1000, WEEK));
        assert_true(due > 1000 + WEEK / 4 * 3 - 2);
        assert_true(due <= 1000 + WEEK);
        least = due < least ? due : least;
        most = due > most ? due : most;
    }
    assert_true(least < 1000 + WEEK / 100 * 77); /* they are spread over all of it */
    assert_true(most > 1000 + WEEK / 100 * 98);
}

static void a_short_time_is_a_time_as_well(void **state)
{
    (void)state;
    for (int64_t every = 1; every < 10; every++) {
        const int64_t due = verify_due_ms(STR("a_v1"), 0, every);

        assert_true(due > 0);
        assert_true(due <= every);
    }
}

static void what_is_put_off_waits_an_hour_or_less_and_others_do_not(void **state)
{
    struct verify_jobs *all = verify_jobs_new();

    (void)state;
    assert_false(verify_jobs_are_put_off(all, STR("a_v1")));
    verify_jobs_put_off(all, STR("a_v1"), WEEK);
    assert_true(verify_jobs_are_put_off(all, STR("a_v1")));
    assert_false(verify_jobs_are_put_off(all, STR("b_v1")));
    verify_jobs_put_off(all, STR("a_v1"), 1);
    for (int i = 0; i < 100000000 && verify_jobs_are_put_off(all, STR("a_v1")); i++)
        ;
    assert_false(verify_jobs_are_put_off(all, STR("a_v1")));
    verify_jobs_put_off(all, STR("a_v1"), verify_jobs_again_ms(0)); /* not at once */
    assert_true(verify_jobs_are_put_off(all, STR("a_v1")));
    assert_int_equal(verify_jobs_again_ms(WEEK), verify_jobs_again_ms(0));
    assert_int_equal(verify_jobs_again_ms(1), 1); /* as often as that */
    verify_jobs_put_off(all, STR("a_v1"), WEEK);
    assert_true(verify_jobs_are_put_off(all, STR("a_v1")));
    verify_jobs_note_whole(all, STR("a_v1"), NULL); /* a person has compared it meanwhile */
    assert_false(verify_jobs_are_put_off(all, STR("a_v1")));
    assert_false(verify_jobs_run_for(all, STR("a_v1")));
    verify_jobs_free(all);
}

static void exchanges_are_counted_by_what_they_found(void **state)
{
    const struct verify_result equal = {.equal = 9}, repaired = {.repaired = 3},
                               different = {.repaired = 1, .differing = 2},
                               unknown = {.apart = {[VERIFY_CHANGING] = 1}};
    struct verify_jobs *all = verify_jobs_new();
    struct exchanges e;
    struct err why = {0};

    (void)state;
    err_set(&why, ERR_REJECT, "not all could be delivered");
    verify_jobs_note_exchange(all, STR("a_v1"), NULL, 0, &why);
    verify_jobs_exchanges(all, STR("a_v1"), &e);
    assert_string_equal(e.why.msg, "not all could be delivered");
    assert_int_equal(e.n[EXCHANGE_PUT_OFF], 1);
    assert_int_equal(e.ended_ms, 0);
    assert_int_equal(exchanges_n_ended(&e), 0);
    assert_false(verify_jobs_are_put_off(all, STR("a_v1")));
    verify_jobs_put_off(all, STR("a_v1"), WEEK);
    verify_jobs_note_exchange(all, STR("a_v1"), &unknown, 0, NULL);
    verify_jobs_note_exchange(all, STR("a_v1"), &repaired, 0, NULL);
    verify_jobs_note_exchange(all, STR("a_v1"), &equal, 0, NULL);
    verify_jobs_note_exchange(all, STR("a_v1"), &equal, 0, NULL);
    verify_jobs_note_exchange(all, STR("a_v1"), &different, 0, NULL);
    assert_true(verify_jobs_are_put_off(all, STR("a_v1")));
    verify_jobs_exchanges(all, STR("a_v1"), &e);
    assert_int_equal(e.why.kind, ERR_NONE);
    assert_int_equal(e.n[EXCHANGE_EQUAL], 2);
    assert_int_equal(e.n[EXCHANGE_REPAIRED], 1);
    assert_int_equal(e.n[EXCHANGE_DIFFERENT], 1);
    assert_int_equal(e.n[EXCHANGE_UNKNOWN], 1);
    assert_int_equal(exchanges_n_ended(&e), 5);
    assert_int_equal(e.differing, 2);
    assert_true(e.ended_ms > clock_wall_ms() - 60000);
    verify_jobs_note_exchange(all, STR("a_v1"), &equal, 3, NULL); /* nobody can name these */
    verify_jobs_exchanges(all, STR("a_v1"), &e);
    assert_int_equal(e.n[EXCHANGE_DIFFERENT], 2);
    assert_int_equal(e.differing, 3);
    verify_jobs_exchanges(all, STR("b_v1"), &e);
    assert_int_equal(exchanges_n_ended(&e), 0);
    verify_jobs_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_due_within_the_last_quarter),
        cmocka_unit_test(a_short_time_is_a_time_as_well),
        cmocka_unit_test(what_is_put_off_waits_an_hour_or_less_and_others_do_not),
        cmocka_unit_test(exchanges_are_counted_by_what_they_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
