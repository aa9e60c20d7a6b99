#include "config.h"

#include "tests/unit/unit.h"

#include "src/store_fan_out.h"
#include "sync/fan_out_jobs.h"
#include "sync/fan_out_run.h"

static void a_slice_is_as_large_as_what_is_acknowledged_in_its_time(void **state)
{
    (void)state;
    assert_int_equal(fan_out_slice_size(200, SLICE_MS), 200);
    assert_int_equal(fan_out_slice_size(200, SLICE_MS * 4 / 5), 250);
    assert_int_equal(fan_out_slice_size(200, SLICE_MS * 2), 100);
}

static void a_slice_changes_by_half_at_most_and_has_bounds(void **state)
{
    (void)state;
    assert_int_equal(fan_out_slice_size(200, 0), 400);
    assert_int_equal(fan_out_slice_size(200, SLICE_MS * 100), 100);
    assert_int_equal(fan_out_slice_size(60, SLICE_MS * 100), 50);
    assert_int_equal(fan_out_slice_size(900, 1), 1000);
}

static void what_the_store_has_the_keys_of_is_not_read_again(void **state)
{
    (void)state;
    assert_int_equal(fan_out_slice_end(OUTCOME_SUPERSEDED), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_PURGED), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_DEAD), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_DEFERRED), SLICE_UNDONE);
}

/* ---- which jobs may be worked off ---- */

/* The stream of `abroad` has come to 1000; no other one runs. */
static uint64_t read_of(void *ctx, struct str topic)
{
    (void)ctx;
    return str_equal(topic, STR("abroad")) ? 1000 : 0;
}

static struct fan_out_reach reach(bool others)
{
    return (struct fan_out_reach){.topic = STR("shop"), .others = others, .read_of = read_of};
}

static struct stored_fan_out a_job(const char *key, const char *source, uint64_t run,
                                   uint64_t at_least)
{
    return (struct stored_fan_out){.key = str_from(key),
                                   .source = str_from(source),
                                   .run = run,
                                   .place = 1,
                                   .at_least = at_least};
}

static void a_run_of_another_source_goes_on_only_as_a_whole_after_a_restart(void **state)
{
    const struct fan_out_reach r = reach(true);
    struct stored_fan_out jobs[] = {
        a_job("read", "abroad", 7, 900),     /* of a run of which another ... */
        a_job("not yet", "abroad", 7, 2000), /* ... is yet to be read again */
        a_job("read too", "abroad", 8, 950), /* another run, all of it read */
        a_job("waits", "abroad", 0, 1000),
        a_job("waits longer", "abroad", 0, 3000),
    };

    (void)state;
    assert_int_equal(fan_out_jobs_leave_away(&r, jobs, ARRAY_LEN(jobs)), 2);
    assert_string_equal(jobs[0].key.ptr, "read too");
    assert_string_equal(jobs[1].key.ptr, "waits");
}

static void another_source_that_is_away_keeps_no_own_change_waiting(void **state)
{
    const struct fan_out_reach on = reach(true), off = reach(false);
    struct stored_fan_out jobs[] = {
        a_job("nobody knows", "away", 0, 100),
        a_job("own", "shop", 0, 5000),
        a_job("abroad", "abroad", 0, 900),
    };

    (void)state;
    assert_int_equal(fan_out_jobs_leave_away(&on, jobs, 3), 2);
    assert_string_equal(jobs[0].key.ptr, "own");
    assert_string_equal(jobs[1].key.ptr, "abroad");
    assert_int_equal(fan_out_jobs_leave_away(&off, jobs, 2), 1);
    assert_string_equal(jobs[0].key.ptr, "own");
}

static void jobs_of_one_run_place_and_source_go_together(void **state)
{
    struct stored_fan_out jobs[] = {
        a_job("a", "shop", 0, 10), a_job("b", "abroad", 0, 20), a_job("c", "shop", 0, 40),
        a_job("d", "shop", 3, 50), a_job("e", "shop", 0, 30),
    };
    struct stored_fan_out out[5];

    (void)state;
    jobs[4].place = 2;
    assert_int_equal(fan_out_jobs_gather(jobs, 5, out), 2);
    assert_string_equal(out[0].key.ptr, "a");
    assert_string_equal(out[1].key.ptr, "c");
    assert_int_equal(fan_out_jobs_highest(out, 2), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_as_large_as_what_is_acknowledged_in_its_time),
        cmocka_unit_test(a_slice_changes_by_half_at_most_and_has_bounds),
        cmocka_unit_test(what_the_store_has_the_keys_of_is_not_read_again),
        cmocka_unit_test(a_run_of_another_source_goes_on_only_as_a_whole_after_a_restart),
        cmocka_unit_test(another_source_that_is_away_keeps_no_own_change_waiting),
        cmocka_unit_test(jobs_of_one_run_place_and_source_go_together),
    };

    return cmocka_run_group_tests_name("fan_out", tests, NULL, NULL);
}
