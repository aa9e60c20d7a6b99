/* Zones and their days, with the C library as the judge. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/file/zone_file.h"
#include "src/format/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_S 86400

/* One type and a rule: what follows the last transition of a real file. */
static struct zone *zone_of(const char *rule)
{
    char header[44] = "TZif2", types[7] = {0};
    struct buf b = {0};
    struct zone *z = NULL;
    struct err err = {0};

    header[39] = 1; /* types */
    header[43] = 1; /* characters */
    for (int i = 0; i < 2; i++) {
        buf_append(&b, (struct str){header, sizeof(header)});
        buf_append(&b, (struct str){types, sizeof(types)});
    }
    buf_printf(&b, "\n%s\n", rule);
    assert_true(zone_parse(buf_str(&b), &z, &err));
    buf_free(&b);
    return z;
}

static int64_t day(const char *text)
{
    int64_t d;

    assert_true(day_parse(str_from(text), &d));
    return d;
}

static int64_t at(const char *text, int64_t hour, int64_t minute)
{
    return day(text) * DAY_S + hour * 3600 + minute * 60;
}

static void tell_the_library(const char *zone)
{
    assert_int_equal(setenv("TZ", zone, 1), 0);
    tzset();
}

static void agrees_with_the_library(const struct zone *z, int64_t from, int64_t to,
                                    int64_t step)
{
    for (int64_t t = from; t < to; t += step) {
        const time_t time = (time_t)t;
        struct tm tm;

        assert_non_null(localtime_r(&time, &tm));
        if (zone_offset(z, t) != tm.tm_gmtoff)
            fail_msg("at %lld: %lld, not %ld", (long long)t, (long long)zone_offset(z, t),
                     tm.tm_gmtoff);
    }
}

static void rules_mean_what_the_c_library_says(void **state)
{
    static const char *const rules[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3",      "EST5EDT,M3.2.0,M11.1.0",
        "CST5CDT,M3.2.0/0,M11.1.0/1",      "<-03>3<-02>,M10.3.0/0,M2.3.0/0",
        "AEST-10AEDT,M10.1.0,M4.1.0/3",    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "IST-1GMT0,M10.5.0,M3.5.0/1",      "JST-9",
        "<+00>0<+02>-2,J60/1,J300/2",      "EET-2EEST,M3.4.4/50,M10.4.4/50",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct zone *z = zone_of(rules[i]);

        tell_the_library(rules[i]);
        agrees_with_the_library(z, at("2023-01-01", 0, 0), at("2029-01-01", 0, 0), 1800);
        zone_free(z);
    }
}

static void damaged_rules_and_files_are_refused(void **state)
{
    static const char *const rules[] = {"C",
                                        "CET",
                                        "CET-1CEST",
                                        "CET-1CEST,M3.5.0",
                                        "CET-1CEST,M13.5.0,M10.5.0",
                                        "CET-1CEST,M3.6.0,M1.1.0",
                                        "CET-1CEST,J0,J5",
                                        "CET-900",
                                        "JST-9x",
                                        "<+1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        char bytes[400] = "TZif2";
        struct zone *z = NULL;
        struct err err = {0};

        bytes[39] = 1;
        bytes[43] = 1;
        memcpy(bytes + 51, bytes, 51);
        snprintf(bytes + 102, sizeof(bytes) - 102, "\n%s\n", rules[i]);
        if (zone_parse((struct str){bytes, 104 + strlen(rules[i])}, &z, &err))
            fail_msg("%s", rules[i]);
        assert_int_equal(err.kind, ERR_REJECT);
        for (size_t cut = 0; cut < 103; cut++)
            assert_false(zone_parse((struct str){bytes, cut}, &z, &err));
    }
}

static void named_zones_are_those_of_the_machine(void **state)
{
    static const char *const names[] = {"Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu",
                                        "Pacific/Apia", "Australia/Lord_Howe"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct zone *z;
        struct err err = {0};

        if (!zone_open(str_from(names[i]), &z, &err))
            fail_msg("%s", err.msg);
        tell_the_library(names[i]);
        agrees_with_the_library(z, at("1960-01-01", 0, 0), at("2050-01-01", 0, 0), 6 * 3600);
        zone_free(z);
    }
}

static void a_zone_that_the_machine_does_not_know_is_refused_with_the_fix(void **state)
{
    static const char *const names[] = {"Europe/Nowhere",
                                        "../../../etc/passwd",
                                        "/etc/passwd",
                                        "Europe//Berlin",
                                        "",
                                        "+15:00",
                                        "+08:60",
                                        "zone.tab"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct zone *z;
        struct err err = {0};

        assert_false(zone_open(str_from(names[i]), &z, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "fix:"));
    }
    assert_true(zone_name_is_fine(STR("Europe/Nowhere")));
    assert_true(zone_name_is_fine(STR("-03:30")));
    assert_false(zone_name_is_fine(STR("../x")));
    assert_false(zone_name_is_fine(STR("a/../x")));
}

static void a_fixed_offset_has_its_midnight_there(void **state)
{
    struct zone *east = zone_fixed(STR("+08:00")), *west = zone_fixed(STR("-03:30")),
                *utc = zone_fixed(STR("UTC"));

    (void)state;
    assert_int_equal(zone_midnight(east, day("2026-11-27")), at("2026-11-26", 16, 0));
    assert_int_equal(zone_midnight(west, day("2026-11-27")), at("2026-11-27", 3, 30));
    assert_int_equal(zone_midnight(utc, day("2026-11-27")), at("2026-11-27", 0, 0));
    assert_int_equal(zone_day(east, at("2026-11-26", 16, 0)), day("2026-11-27"));
    assert_int_equal(zone_day(east, at("2026-11-26", 15, 59)), day("2026-11-26"));
    assert_int_equal(zone_midnight(utc, day("1969-12-31")), -DAY_S);
    assert_int_equal(zone_day(utc, -1), day("1969-12-31"));
    zone_free(east);
    zone_free(west);
    zone_free(utc);
}

/* Havana: at 0:00 it becomes 1:00. */
static void where_midnight_is_skipped_the_day_begins_at_the_skip(void **state)
{
    struct zone *z = zone_of("CST5CDT,M3.2.0/0,M11.1.0/1");

    (void)state;
    assert_int_equal(zone_midnight(z, day("2026-03-08")), at("2026-03-08", 5, 0));
    assert_int_equal(zone_day(z, at("2026-03-08", 5, 0) - 1), day("2026-03-07"));
    assert_int_equal(zone_day(z, at("2026-03-08", 5, 0)), day("2026-03-08"));
    assert_int_equal(zone_midnight(z, day("2026-03-09")), at("2026-03-09", 4, 0));
    zone_free(z);
}

/* At 0:00 it becomes 23:00 of the day before: that hour is the new day's. */
static void where_the_clock_goes_back_over_midnight_the_first_one_counts(void **state)
{
    struct zone *z = zone_of("<-03>3<-02>,M10.3.0/0,M2.3.0/0");
    const int64_t first = at("2026-02-15", 2, 0);

    (void)state;
    assert_int_equal(zone_offset(z, first - 1), -2 * 3600);
    assert_int_equal(zone_offset(z, first), -3 * 3600);
    /* The clock never showed 0:00 of the 15th before it went back. */
    assert_int_equal(zone_midnight(z, day("2026-02-15")), first + 3600);
    zone_free(z);
    /* A minute later it does. */
    z = zone_of("<-03>3<-02>,M10.3.0/0,M2.3.0/0:01");
    assert_int_equal(zone_midnight(z, day("2026-02-15")), first);
    assert_int_equal(zone_day(z, first + 1800), day("2026-02-15"));
    assert_int_equal(zone_day(z, first - 1), day("2026-02-14"));
    zone_free(z);
}

static void a_day_that_a_zone_skips_is_empty(void **state)
{
    struct zone *z;
    struct err err = {0};

    (void)state;
    assert_true(zone_open(STR("Pacific/Apia"), &z, &err));
    assert_int_equal(zone_midnight(z, day("2011-12-30")), zone_midnight(z, day("2011-12-31")));
    assert_true(zone_midnight(z, day("2011-12-29")) < zone_midnight(z, day("2011-12-30")));
    zone_free(z);
}

static void each_instant_is_in_one_day(void **state)
{
    static const char *const rules[] = {"CST5CDT,M3.2.0/0,M11.1.0/1",
                                        "<-03>3<-02>,M10.3.0/0,M2.3.0/0:01",
                                        "CET-1CEST,M3.5.0,M10.5.0/3"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct zone *z = zone_of(rules[i]);

        for (int64_t t = at("2026-01-01", 0, 0); t < at("2027-01-01", 0, 0); t += 1801) {
            const int64_t d = zone_day(z, t);

            assert_true(zone_midnight(z, d) <= t);
            assert_true(t < zone_midnight(z, d + 1));
        }
        zone_free(z);
    }
}

static void days_are_written_as_they_are_read(void **state)
{
    static const char *const wrong[] = {"2026-02-29", "2026-13-01", "2026-00-01",
                                        "2026-01-00", "2026-1-1",   "26-01-01",
                                        "2026-04-31", "yesterday",  "2026/01/01"};
    int64_t d;

    (void)state;
    for (int64_t n = -800000; n < 800000; n += 13) {
        struct buf b = {0};
        const time_t time = (time_t)(n * DAY_S);
        char text[32];
        struct tm tm;

        if (n * DAY_S < day("0001-01-01") * DAY_S)
            continue;
        assert_non_null(gmtime_r(&time, &tm));
        snprintf(text, sizeof(text), "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday);
        day_append(&b, n);
        assert_string_equal(b.ptr, text);
        assert_int_equal(day(text), n);
        buf_free(&b);
    }
    assert_int_equal(day("2028-02-29") + 1, day("2028-03-01"));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(day_parse(str_from(wrong[i]), &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_mean_what_the_c_library_says),
        cmocka_unit_test(damaged_rules_and_files_are_refused),
        cmocka_unit_test(named_zones_are_those_of_the_machine),
        cmocka_unit_test(a_zone_that_the_machine_does_not_know_is_refused_with_the_fix),
        cmocka_unit_test(a_fixed_offset_has_its_midnight_there),
        cmocka_unit_test(where_midnight_is_skipped_the_day_begins_at_the_skip),
        cmocka_unit_test(where_the_clock_goes_back_over_midnight_the_first_one_counts),
        cmocka_unit_test(a_day_that_a_zone_skips_is_empty),
        cmocka_unit_test(each_instant_is_in_one_day),
        cmocka_unit_test(days_are_written_as_they_are_read),
    };

    return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
