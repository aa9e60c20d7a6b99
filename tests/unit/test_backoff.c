#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/backoff.h"

#define T 1000000

static void a_server_that_is_there_is_tried_by_all(void **state)
{
    struct absence a = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(absence_may_try(&a, T));
    absence_tell(&a, true, T);
    assert_true(absence_may_try(&a, T));
}

static void one_that_did_not_answer_is_tried_after_a_while_by_one(void **state)
{
    struct absence a = {0};

    (void)state;
    assert_true(absence_may_try(&a, T));
    absence_tell(&a, false, T);
    assert_false(absence_may_try(&a, T + ABSENCE_FIRST_MS - 1));
    assert_true(absence_may_try(&a, T + ABSENCE_FIRST_MS));
    assert_false(absence_may_try(&a, T + 10 * ABSENCE_MAX_MS)); /* somebody does */
    absence_tell(&a, true, T + 10 * ABSENCE_MAX_MS);
    for (int i = 0; i < 3; i++)
        assert_true(absence_may_try(&a, T + 10 * ABSENCE_MAX_MS));
}

static void it_is_left_alone_ever_longer_up_to_a_bound(void **state)
{
    struct absence a = {0};
    int64_t now_ms = T, pause_ms = ABSENCE_FIRST_MS;

    (void)state;
    absence_tell(&a, false, now_ms);
    for (int i = 0; i < 20; i++) {
        assert_false(absence_may_try(&a, now_ms + pause_ms - 1));
        assert_true(absence_may_try(&a, now_ms + pause_ms));
        now_ms += pause_ms;
        absence_tell(&a, false, now_ms);
        pause_ms = pause_ms * 2 > ABSENCE_MAX_MS ? ABSENCE_MAX_MS : pause_ms * 2;
    }
}

static void who_began_while_it_was_there_makes_the_pause_no_longer(void **state)
{
    struct absence a = {0};

    (void)state;
    for (int i = 0; i < 8; i++)
        absence_tell(&a, false, T);
    assert_true(absence_may_try(&a, T + ABSENCE_FIRST_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_is_there_is_tried_by_all),
        cmocka_unit_test(one_that_did_not_answer_is_tried_after_a_while_by_one),
        cmocka_unit_test(it_is_left_alone_ever_longer_up_to_a_bound),
        cmocka_unit_test(who_began_while_it_was_there_makes_the_pause_no_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
