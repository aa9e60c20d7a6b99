#include "config.h"

#include "tests/unit/unit.h"

#include "src/cli/view/progress_line.h"

#include <fcntl.h>
#include <unistd.h>

static void assert_line(const struct progress_facts *f, const char *expected)
{
    struct buf out = {0};

    progress_line_format(&out, f);
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static void a_line_tells_rows_rate_and_time_left(void **state)
{
    (void)state;
    assert_line(&(struct progress_facts){.what = STR("orders v8"),
                                         .done = 4200,
                                         .total = 10000,
                                         .rate = 2000.4,
                                         .remaining_seconds = 2.9},
                "orders v8   42.0 %  4,200 of about 10,000 rows  2,000/s  2.9 s left");
    assert_line(&(struct progress_facts){.what = STR("orders v8"), .remaining_seconds = -1},
                "orders v8  begins");
    assert_line(&(struct progress_facts){.what = STR("orders v8"), .finished = true},
                "orders v8  100.0 %");
}

static void once_all_rows_are_written_it_tells_what_is_left(void **state)
{
    (void)state;
    assert_line(&(struct progress_facts){.what = STR("orders v8"),
                                         .done = 10000,
                                         .total = 10000,
                                         .rate = 2000,
                                         .remaining_seconds = -1,
                                         .step = STR("counting rows and documents")},
                "orders v8   99.9 %  counting rows and documents");
}

static void a_step_is_near_the_end_whatever_rows_were_estimated(void **state)
{
    (void)state;
    assert_line(&(struct progress_facts){.what = STR("orders v8"),
                                         .done = 7100,
                                         .total = 10000,
                                         .rate = 2000,
                                         .remaining_seconds = 2,
                                         .step = STR("publishing the version")},
                "orders v8   99.9 %  publishing the version");
    assert_line(&(struct progress_facts){.what = STR("orders v8"),
                                         .remaining_seconds = -1,
                                         .step = STR("counting rows and documents")},
                "orders v8   99.9 %  counting rows and documents");
}

static void it_is_never_above_100_and_100_only_when_finished(void **state)
{
    (void)state;
    assert_line(
        &(struct progress_facts){
            .what = STR("a"), .done = 12, .total = 10, .remaining_seconds = -1},
        "a   99.9 %  12 of about 12 rows  0/s");
    assert_line(
        &(struct progress_facts){.what = STR("a"), .done = 12, .total = 10, .finished = true},
        "a  100.0 %  12 rows");
}

static void without_a_terminal_lines_are_plain_and_few(void **state)
{
    struct progress_facts f = {.what = STR("a"), .total = 10, .remaining_seconds = -1};
    char text[512] = "";
    struct progress_line m;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    progress_line_init(&m, fds[1]);
    for (int64_t ms = 0; ms < 7000; ms += 500) {
        f.done++;
        progress_line_show(&m, &f, ms);
    }
    f.finished = true;
    f.done = 10;
    progress_line_show(&m, &f, 7100);
    progress_line_end(&m);
    close(fds[1]);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "a   10.0 %  1 of about 10 rows  0/s\n"
                              "a   99.9 %  11 of about 11 rows  0/s\n"
                              "a  100.0 %  10 rows\n");
    close(fds[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_tells_rows_rate_and_time_left),
        cmocka_unit_test(once_all_rows_are_written_it_tells_what_is_left),
        cmocka_unit_test(a_step_is_near_the_end_whatever_rows_were_estimated),
        cmocka_unit_test(it_is_never_above_100_and_100_only_when_finished),
        cmocka_unit_test(without_a_terminal_lines_are_plain_and_few),
    };
    return cmocka_run_group_tests_name("progress_line", tests, NULL, NULL);
}
