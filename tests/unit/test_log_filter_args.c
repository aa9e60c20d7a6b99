#include "config.h"

#include "tests/unit/unit.h"

#include "sync/inspect/log_filter_args.h"

static void a_time_is_taken_as_people_write_it(void **state)
{
    static const struct {
        const char *text;
        uint32_t time;
    } cases[] = {
        {"2026-11-21T10:00:01Z", 1795255201},
        {"2026-11-21T10:00:01", 1795255201},
        {"2026-11-21 10:00:01", 1795255201},
        {"2026-11-21T10:00Z", 1795255200},
        {"2026-11-21 10:00", 1795255200},
        {"2026-11-21", 1795219200},
        {"1970-01-01", 0},
    };
    uint32_t time;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(log_filter_args_time(cases[i].text, &time, &err));
        assert_int_equal(time, cases[i].time);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "now",
        "21.11.2026",
        "2026-11-21T10",
        "2026-13-01",
        "2026-02-30",
        "2026-11-21T10:00:00+01",
        "1969-12-31",
        "2200-01-01",
    };
    uint32_t time;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (log_filter_args_time(cases[i], &time, &err))
            fail_msg("%s is taken for %u", cases[i], (unsigned)time);
}

static void check_position(const char *text, const char *file, const char *name,
                           uint64_t offset)
{
    struct position p;
    struct err err;

    assert_true(log_filter_args_position(text, file, &p, &err));
    assert_true(str_equal(p.file, str_from(name)));
    assert_int_equal(p.offset, offset);
}

static void a_position_may_leave_out_the_file_or_name_its_folder(void **state)
{
    struct position p;
    struct err err;

    (void)state;
    check_position("bin.000001:4", NULL, "bin.000001", 4);
    check_position("/var/lib/mysql/bin.000001:4", "x", "bin.000001", 4);
    check_position("1234", "/var/lib/mysql/bin.000002", "bin.000002", 1234);
    check_position("5000000000", "-", "stdin", 5000000000);
    assert_false(log_filter_args_position("1234", NULL, &p, &err));
    assert_false(log_filter_args_position("", "bin.000001", &p, &err));
    assert_false(log_filter_args_position("bin.000001", "bin.000001", &p, &err));
    assert_false(log_filter_args_position("99999999999999999999", "bin.000001", &p, &err));
}

static void a_table_is_named_with_its_database(void **state)
{
    struct err err;

    (void)state;
    assert_true(log_filter_args_table("shop.orders", &err));
    assert_true(log_filter_args_table("*.orders_?", &err));
    assert_false(log_filter_args_table("orders", &err));
    assert_false(log_filter_args_table(".orders", &err));
    assert_false(log_filter_args_table("shop.", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_taken_as_people_write_it),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(a_position_may_leave_out_the_file_or_name_its_folder),
        cmocka_unit_test(a_table_is_named_with_its_database),
    };
    return cmocka_run_group_tests_name("log_filter_args", tests, NULL, NULL);
}
