#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/histogram.h"
#include "src/metric/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void samples_are_grouped_below_their_help_and_type(void **state)
{
    struct buf samples = {0}, page = {0};

    (void)state;
    metric_put_u64(&samples, METRIC_BINLOG_BYTES, 7, STR("shop"));
    metric_put_u64(&samples, METRIC_SOURCE_CONNECTED, 1, STR("shop"));
    metric_put_double(&samples, METRIC_SOURCE_LAG, 0.25, STR("shop"));
    metric_put_u64(&samples, METRIC_BINLOG_BYTES, UINT64_MAX, STR("crm"));
    buf_append(&samples, STR("foreign_metric 3\n"));
    metric_put_u64(&samples, METRIC_SOURCE_CONNECTED, 0, STR("crm"));
    metric_render(&page, buf_str(&samples));
    assert_string_equal(
        page.ptr,
        "# HELP millrace_source_connected 1 while the binlog is being read, 0 otherwise.\n"
        "# TYPE millrace_source_connected gauge\n"
        "millrace_source_connected{topic=\"shop\"} 1\n"
        "millrace_source_connected{topic=\"crm\"} 0\n"
        "# HELP millrace_source_lag_seconds Age of the oldest change that is not delivered. "
        "While the source cannot be asked, this is an upper bound: the age of the last moment "
        "at which everything was delivered.\n"
        "# TYPE millrace_source_lag_seconds gauge\n"
        "millrace_source_lag_seconds{topic=\"shop\"} 0.25\n"
        "# HELP millrace_binlog_bytes_total Bytes of binlog read.\n"
        "# TYPE millrace_binlog_bytes_total counter\n"
        "millrace_binlog_bytes_total{topic=\"shop\"} 7\n"
        "millrace_binlog_bytes_total{topic=\"crm\"} 18446744073709551615\n"
        "foreign_metric 3\n");
    buf_free(&samples);
    buf_free(&page);
}

static void label_values_are_escaped(void **state)
{
    struct buf out = {0};

    (void)state;
    metric_put_u64(&out, METRIC_BINLOG_EVENTS, 1, STR("a\"b\\c\nd\xff"), STR("\xe4\xb8\xad"));
    assert_string_equal(out.ptr,
                        "millrace_binlog_events_total{topic=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\","
                        "type=\"\xe4\xb8\xad\"} 1\n");
    buf_free(&out);
}

static void doubles_are_short_and_infinity_has_its_name(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0.1, " 0.1\n"},
                 {3, " 3\n"},
                 {INFINITY, " +Inf\n"},
                 {-INFINITY, " -Inf\n"},
                 {NAN, " NaN\n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = {0};

        metric_put_double(&out, METRIC_PROCESS_CPU, cases[i].v);
        assert_string_equal(out.ptr + strlen("process_cpu_seconds_total"), cases[i].text);
        buf_free(&out);
    }
}

static void a_histogram_counts_up_to_each_bound(void **state)
{
    struct histogram h = {0};
    struct buf samples = {0}, page = {0};

    (void)state;
    histogram_add(&h, 1);
    histogram_add(&h, 1000);
    histogram_add(&h, 1024);
    histogram_add(&h, 1025);
    histogram_add(&h, UINT64_C(1) << 40);
    metric_put_histogram(&samples, METRIC_BULK_DOCUMENTS, &h, STR("main"));
    metric_render(&page, buf_str(&samples));
    assert_non_null(strstr(
        page.ptr, "# TYPE millrace_bulk_request_documents histogram\n"
                  "millrace_bulk_request_documents_bucket{cluster=\"main\",le=\"1\"} 1\n"));
    assert_non_null(strstr(page.ptr, "_bucket{cluster=\"main\",le=\"512\"} 1\n"));
    assert_non_null(strstr(page.ptr, "_bucket{cluster=\"main\",le=\"1024\"} 3\n"));
    assert_non_null(strstr(page.ptr, "_bucket{cluster=\"main\",le=\"2048\"} 4\n"));
    assert_non_null(strstr(page.ptr, "_bucket{cluster=\"main\",le=\"+Inf\"} 5\n"
                                     "millrace_bulk_request_documents_sum{cluster=\"main\"} "));
    assert_non_null(
        strstr(page.ptr, "millrace_bulk_request_documents_count{cluster=\"main\"} 5\n"));
    assert_ptr_equal(strstr(page.ptr, "# HELP"), page.ptr);
    assert_null(strstr(page.ptr + 1, "# HELP"));
    buf_free(&samples);
    buf_free(&page);
}

static void durations_are_given_in_seconds(void **state)
{
    struct histogram h = {0};
    struct buf out = {0};

    (void)state;
    histogram_add(&h, 1500000); /* microseconds */
    metric_put_histogram(&out, METRIC_BULK_SECONDS, &h, STR("main"));
    assert_non_null(strstr(out.ptr, "le=\"0.000256\"} 0\n"));
    assert_non_null(strstr(out.ptr, "le=\"2.097152\"} 1\n"));
    assert_non_null(strstr(out.ptr, "le=\"67.108864\"} 1\n"));
    assert_non_null(strstr(out.ptr, "_sum{cluster=\"main\"} 1.5\n"));
    buf_free(&out);
}

/* The value of the sample of that name. */
static double value_of(const struct buf *page, const char *name)
{
    struct buf line = {0};
    const char *found;

    buf_printf(&line, "\n%s ", name);
    found = strstr(page->ptr, line.ptr);
    if (found == NULL)
        fail_msg("%s is missing", name);

    double v = strtod(found + line.len, NULL);

    buf_free(&line);
    return v;
}

static void the_process_is_described(void **state)
{
    struct buf samples = {0}, page = {0};
    double now_s = (double)clock_wall_ms() / 1000;

    (void)state;
    metric_put_process(&samples);
    metric_render(&page, buf_str(&samples));
    assert_non_null(
        strstr(page.ptr, "millrace_build_info{version=\"" PACKAGE_VERSION "\"} 1\n"));
    assert_true(value_of(&page, "process_cpu_seconds_total") >= 0);
    assert_true(value_of(&page, "process_resident_memory_bytes") > 100000);
    assert_true(value_of(&page, "process_virtual_memory_bytes") > 100000);
    assert_true(value_of(&page, "process_open_fds") >= 3);
    assert_true(value_of(&page, "process_max_fds") >= 3);
    assert_true(fabs(value_of(&page, "process_start_time_seconds") - now_s) < 600);
    buf_free(&samples);
    buf_free(&page);
}

/* The rules of prometheus.io/docs/practices/naming, as far as a program can check them. */
static void names_follow_the_rules(void **state)
{
    (void)state;
    for (int i = 0; i < N_METRICS; i++) {
        const char *name = metric_name((enum metric)i);

        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        assert_true(strncmp(name, "millrace_", 9) == 0 || strncmp(name, "process_", 8) == 0);
        assert_null(strstr(name, "_ms"));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(name, metric_name((enum metric)k));
    }
}

static void a_rendered_page_renders_to_itself(void **state)
{
    struct buf samples = {0}, page = {0}, again = {0};

    (void)state;
    metric_put_process(&samples);
    metric_put_u64(&samples, METRIC_BINLOG_BYTES, 7, STR("shop"));
    metric_render(&page, buf_str(&samples));
    metric_render(&again, buf_str(&page));
    assert_string_equal(again.ptr, page.ptr);
    buf_free(&samples);
    buf_free(&page);
    buf_free(&again);
}

static void no_samples_make_no_page(void **state)
{
    struct buf page = {0};

    (void)state;
    metric_render(&page, STR(""));
    assert_int_equal(page.len, 0);
    buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_grouped_below_their_help_and_type),
        cmocka_unit_test(label_values_are_escaped),
        cmocka_unit_test(doubles_are_short_and_infinity_has_its_name),
        cmocka_unit_test(a_histogram_counts_up_to_each_bound),
        cmocka_unit_test(durations_are_given_in_seconds),
        cmocka_unit_test(the_process_is_described),
        cmocka_unit_test(names_follow_the_rules),
        cmocka_unit_test(a_rendered_page_renders_to_itself),
        cmocka_unit_test(no_samples_make_no_page),
    };
    return cmocka_run_group_tests_name("metric", tests, NULL, NULL);
}
