#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/part/changed_state.h"

static void a_time_is_a_date_and_perhaps_more_of_it(void **state)
{
    static const char *const times[] = {"2026-11-25",
                                        "2024-02-29",
                                        "2000-02-29",
                                        "2026-11-25 13:00",
                                        "2026-11-25T13:00",
                                        "2026-11-25 13:00:59",
                                        "2026-11-25 00:00:00.1",
                                        "2026-11-25 23:59:59.999999"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        if (!verify_changed_is_time(str_from(times[i])))
            fail_msg("%s is refused", times[i]);
}

static void what_the_server_would_take_for_no_time_is_none(void **state)
{
    static const char *const others[] = {"",
                                         "now",
                                         "2026",
                                         "2026-1-5",
                                         "2026-13-01",
                                         "2026-00-10",
                                         "2026-02-29",
                                         "1900-02-29",
                                         "2026-04-31",
                                         "2026-11-00",
                                         "0000-01-01",
                                         "2026-11-25 ",
                                         "2026-11-25 1",
                                         "2026-11-25 24:00",
                                         "2026-11-25 13:60",
                                         "2026-11-25 13:00:60",
                                         "2026-11-25 13:00:5",
                                         "2026-11-25 13:00:00.",
                                         "2026-11-25 13:00:00.1234567",
                                         "2026-11-25x13:00",
                                         "2026-11-25 13:00'; --"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (verify_changed_is_time(str_from(others[i])))
            fail_msg("%s is taken", others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_a_date_and_perhaps_more_of_it),
        cmocka_unit_test(what_the_server_would_take_for_no_time_is_none),
    };

    return cmocka_run_group_tests_name("verify_changed", tests, NULL, NULL);
}
