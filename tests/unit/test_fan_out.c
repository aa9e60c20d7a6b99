#include "config.h"

#include "tests/unit/unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_as_large_as_what_is_acknowledged_in_its_time),
        cmocka_unit_test(a_slice_changes_by_half_at_most_and_has_bounds),
    };

    return cmocka_run_group_tests_name("fan_out", tests, NULL, NULL);
}
