#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/bytes.h"
#include "src/base/str.h"
#include "sync/value/temporal.h"

#include <stdio.h>
#include <time.h>

static void assert_text(const char *text, size_t n, const char *expected)
{
    if (!str_equal((struct str){text, n}, str_from(expected)))
        fail_msg("%.*s is not %s", (int)n, text, expected);
}

static void every_day_until_9999_is_that_of_the_c_library(void **state)
{
    (void)state;
    for (int64_t t = 0; t < INT64_C(253402300800); t += 86400 * 13 + 3723) {
        const time_t when = (time_t)t;
        char text[TEMPORAL_MAX], expected[32];
        struct tm tm;

        gmtime_r(&when, &tm);
        strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &tm);
        assert_text(text, temporal_epoch(text, (uint64_t)t), expected);
    }

    char text[TEMPORAL_MAX];

    assert_text(text, temporal_epoch(text, UINT64_C(253402300799)), "9999-12-31T23:59:59");
    assert_int_equal(temporal_epoch(text, UINT64_C(253402300800)), 0);
}

/* A TIME(fsp) of so many units of its last stored digit, as the server stores it. */
static void store_time2(uint8_t *p, int64_t seconds, int64_t micros, unsigned fsp)
{
    static const int64_t unit[] = {1000000, 10000, 10000, 100, 100, 1, 1};
    const unsigned bits = 8 * (unsigned)temporal_fraction_size(fsp);
    const int64_t hms = seconds / 3600 << 12 | seconds / 60 % 60 << 6 | seconds % 60;
    const int64_t magnitude = hms << bits | micros / unit[fsp];
    const uint64_t v =
        (UINT64_C(0x800000) << bits) + (uint64_t)(seconds < 0 ? -magnitude : magnitude);

    for (unsigned i = 0; i < 3 + bits / 8; i++)
        p[i] = (uint8_t)(v >> (8 * (2 + bits / 8 - i)));
}

static void times_of_every_precision_are_read(void **state)
{
    static const char *const fractions[] = {"",      ".7",     ".76",    ".765",
                                            ".7654", ".76543", ".765432"};
    static const int64_t micros[] = {0, 700000, 760000, 765000, 765400, 765430, 765432};

    (void)state;
    for (unsigned fsp = 0; fsp <= 6; fsp++) {
        uint8_t cell[8];
        char text[TEMPORAL_MAX], expected[64];

        store_time2(cell, 838 * 3600 + 59 * 60 + 58, micros[fsp], fsp);
        snprintf(expected, sizeof(expected), "838:59:58%s", fractions[fsp]);
        assert_text(text, temporal_time2(text, cell, fsp), expected);
        store_time2(cell, 0, 0, fsp);
        snprintf(expected, sizeof(expected), "00:00:00%s%.*s", fsp > 0 ? "." : "", (int)fsp,
                 "000000");
        assert_text(text, temporal_time2(text, cell, fsp), expected);
        store_time2(cell, 100 * 3600, 0, fsp);
        snprintf(expected, sizeof(expected), "100:00:00%s%.*s", fsp > 0 ? "." : "", (int)fsp,
                 "000000");
        assert_text(text, temporal_time2(text, cell, fsp), expected);
    }
}

/* Bytes of a MariaDB 10.11 table made with mysql56_temporal_format=OFF. */
static void mariadbs_old_fractions_are_read(void **state)
{
    char text[TEMPORAL_MAX];

    (void)state;
    for (unsigned fsp = 1; fsp <= 6; fsp++) {
        static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
        const uint64_t packed =
            ((((UINT64_C(2024) * 13 + 2) * 32 + 29) * 24 + 23) * 60 + 59) * 60 + 58;
        const uint64_t stored = packed * powers[fsp] + 123456 / powers[6 - fsp];
        const size_t size = temporal_hires_datetime_size(fsp);
        uint8_t cell[8];
        char expected[64];

        for (size_t i = 0; i < size; i++)
            cell[i] = (uint8_t)(stored >> (8 * (size - 1 - i)));
        snprintf(expected, sizeof(expected), "2024-02-29T23:59:58.%.*s", (int)fsp, "123456");
        assert_text(text, temporal_hires_datetime(text, cell, fsp), expected);
    }
    /* -12:34:56.7 in TIME(1): zero is 30204000 tenths */
    const uint32_t stored = 30204000u - ((12 * 3600 + 34 * 60 + 56) * 10 + 7);
    const uint8_t cell[] = {(uint8_t)(stored >> 24), (uint8_t)(stored >> 16),
                            (uint8_t)(stored >> 8), (uint8_t)stored};

    assert_text(text, temporal_hires_time(text, cell, 1), "-12:34:56.7");
}

static void zero_and_partial_dates_stay_as_they_are(void **state)
{
    static const uint8_t zero_date[3] = {0}, partial[] = {0x40, 0xd0, 0x0f}; /* 2024-02-00 */
    static const uint8_t zero[8] = {0x80}, zero_stamp[8] = {0};
    char text[TEMPORAL_MAX];

    (void)state;
    assert_text(text, temporal_date(text, zero_date), "0000-00-00");
    assert_text(text, temporal_date(text, partial), "2024-02-00");
    assert_text(text, temporal_datetime2(text, zero, 3), "0000-00-00T00:00:00.000");
    assert_text(text, temporal_timestamp2(text, zero_stamp, 0), "0000-00-00T00:00:00");
    assert_text(text, temporal_old_datetime(text, zero_stamp), "0000-00-00T00:00:00");
    assert_text(text, temporal_old_timestamp(text, zero_stamp), "0000-00-00T00:00:00");
}

static void packed_values_of_json_are_read(void **state)
{
    char text[TEMPORAL_MAX];
    const int64_t date = (INT64_C(2015) * 13 + 1) << 5 | 15;
    const int64_t clock = INT64_C(23) << 12 | 24 << 6 | 25;

    (void)state;
    assert_text(text, temporal_packed_date(text, date << 41), "2015-01-15");
    assert_text(text, temporal_packed_datetime(text, (date << 17 | clock) << 24 | 7),
                "2015-01-15 23:24:25.000007");
    assert_text(text, temporal_packed_time(text, clock << 24), "23:24:25.000000");
    assert_text(text, temporal_packed_time(text, -(clock << 24 | 500000)), "-23:24:25.500000");
    assert_int_equal(temporal_packed_date(text, -1), 0);
    assert_int_equal(temporal_packed_datetime(text, 0xffffff), 0);
    assert_int_equal(temporal_packed_time(text, INT64_MIN), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_until_9999_is_that_of_the_c_library),
        cmocka_unit_test(times_of_every_precision_are_read),
        cmocka_unit_test(mariadbs_old_fractions_are_read),
        cmocka_unit_test(zero_and_partial_dates_stay_as_they_are),
        cmocka_unit_test(packed_values_of_json_are_read),
    };
    return cmocka_run_group_tests_name("temporal", tests, NULL, NULL);
}
