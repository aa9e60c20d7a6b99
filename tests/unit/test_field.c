#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/cell.h"
#include "sync/document/field.h"
#include "tests/unit/document_fixture.h"

/* A POINT(1.5 -2) of SRID 4326, and a VECTOR of two. */
#define POINT  "\xe6\x10\0\0\1\1\0\0\0\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0"
#define VECTOR "\0\0\0\x3f\0\0\x80\xbf"

static struct str labels[] = {STR("red"), STR("gr\"een"), STR("blue")};

/*
 * The same column value as the row image has it and as SELECT prints it, and its JSON: both
 * ways must lead to it.
 */
static const struct {
    enum column_type type;
    const char *field_type;
    bool is_unsigned;
    uint8_t precision;
    struct value image;
    struct str cell;
    const char *json;
} forms[] = {
    {COLUMN_INT, "", false, 0, {VALUE_INT, {.i = -7}, {0}}, STR("-7"), "-7"},
    {COLUMN_INT, "", true, 0, {VALUE_UINT, {.u = 42}, {0}}, STR("0000000042"), "42"},
    {COLUMN_BIGINT,
     "",
     false,
     0,
     {VALUE_INT, {.i = INT64_MIN}, {0}},
     STR("-9223372036854775808"),
     "-9223372036854775808"},
    {COLUMN_BIGINT,
     "",
     true,
     0,
     {VALUE_UINT, {.u = UINT64_MAX}, {0}},
     STR("18446744073709551615"),
     "18446744073709551615"},
    {COLUMN_TINYINT, "boolean", false, 0, {VALUE_INT, {.i = 1}, {0}}, STR("1"), "true"},
    {COLUMN_TINYINT, "boolean", false, 0, {VALUE_INT, {.i = 0}, {0}}, STR("0"), "false"},
    {COLUMN_TINYINT, "keyword", false, 0, {VALUE_INT, {.i = 3}, {0}}, STR("3"), "3"},
    {COLUMN_DECIMAL, "", false, 10, {VALUE_DECIMAL, {0}, STR("12.50")}, STR("12.50"), "12.50"},
    {COLUMN_DECIMAL,
     "",
     true,
     10,
     {VALUE_DECIMAL, {0}, STR("0.50")},
     STR("00000000.50"),
     "0.50"},
    {COLUMN_DECIMAL, "", false, 10, {VALUE_DECIMAL, {0}, STR("-0.05")}, STR("-0.05"), "-0.05"},
    {COLUMN_DECIMAL,
     "keyword",
     false,
     10,
     {VALUE_DECIMAL, {0}, STR("12.50")},
     STR("12.50"),
     "\"12.50\""},
    {COLUMN_DECIMAL, "", false, 19, {VALUE_DECIMAL, {0}, STR("1.0")}, STR("1.0"), "\"1.0\""},
    {COLUMN_DECIMAL, "double", false, 30, {VALUE_DECIMAL, {0}, STR("1.0")}, STR("1.0"), "1.0"},
    {COLUMN_FLOAT,
     "",
     false,
     0,
     {VALUE_FLOAT, {.d = (double)0.1F}, {0}},
     STR("0.10000000149011612"),
     "0.1"},
    {COLUMN_FLOAT,
     "",
     false,
     0,
     {VALUE_FLOAT, {.d = (double)16777216.0F}, {0}},
     STR("16777216"),
     "16777216"},
    {COLUMN_DOUBLE, "", false, 0, {VALUE_DOUBLE, {.d = 0.1}, {0}}, STR("0.1"), "0.1"},
    {COLUMN_BIT, "", false, 0, {VALUE_BIT, {.u = 0x0102}, {0}}, STR("\1\2"), "258"},
    {COLUMN_BIT, "boolean", false, 0, {VALUE_BIT, {.u = 1}, {0}}, STR("\1"), "true"},
    {COLUMN_YEAR, "", false, 0, {VALUE_YEAR, {.u = 2024}, {0}}, STR("2024"), "2024"},
    {COLUMN_YEAR, "", false, 0, {VALUE_YEAR, {.u = 1999}, {0}}, STR("99"), "1999"},
    {COLUMN_YEAR, "", false, 0, {VALUE_YEAR, {.u = 0}, {0}}, STR("0000"), "0"},
    {COLUMN_DATE,
     "",
     false,
     0,
     {VALUE_DATE, {0}, STR("2024-02-03")},
     STR("2024-02-03"),
     "\"2024-02-03\""},
    {COLUMN_DATE,
     "",
     false,
     0,
     {VALUE_DATE, {0}, STR("0000-00-00")},
     STR("0000-00-00"),
     "null"},
    {COLUMN_DATE,
     "",
     false,
     0,
     {VALUE_DATE, {0}, STR("2024-00-07")},
     STR("2024-00-07"),
     "null"},
    {COLUMN_DATETIME,
     "",
     false,
     0,
     {VALUE_DATETIME, {0}, STR("2024-02-03T04:05:06.70")},
     STR("2024-02-03 04:05:06.70"),
     "\"2024-02-03T04:05:06.70\""},
    {COLUMN_TIMESTAMP,
     "",
     false,
     0,
     {VALUE_TIMESTAMP, {0}, STR("2024-02-03T04:05:06")},
     STR("2024-02-03 04:05:06"),
     "\"2024-02-03T04:05:06Z\""},
    {COLUMN_TIMESTAMP,
     "",
     false,
     0,
     {VALUE_TIMESTAMP, {0}, STR("0000-00-00T00:00:00")},
     STR("0000-00-00 00:00:00"),
     "null"},
    {COLUMN_TIME,
     "",
     false,
     0,
     {VALUE_TIME, {0}, STR("-838:59:59.0")},
     STR("-838:59:59.0"),
     "\"-838:59:59.0\""},
    {COLUMN_VARCHAR,
     "",
     false,
     0,
     {VALUE_TEXT, {0}, STR("a\"\n\xc3\xa4")},
     STR("a\"\n\xc3\xa4"),
     "\"a\\\"\\n\xc3\xa4\""},
    {COLUMN_TEXT,
     "",
     false,
     0,
     {VALUE_BYTES, {0}, STR("a\xff")},
     STR("a\xff"),
     "\"a\xef\xbf\xbd\""},
    {COLUMN_BLOB, "", false, 0, {VALUE_BYTES, {0}, STR("\0\1\2")}, STR("\0\1\2"), "\"AAEC\""},
    {COLUMN_BINARY, "", false, 0, {VALUE_BYTES, {0}, STR("a\0")}, STR("a\0"), "\"YQA=\""},
    {COLUMN_ENUM, "", false, 0, {VALUE_ENUM, {.u = 2}, {0}}, STR("gr\"een"), "\"gr\\\"een\""},
    {COLUMN_ENUM, "", false, 0, {VALUE_ENUM, {.u = 0}, {0}}, STR(""), "\"\""},
    {COLUMN_SET,
     "",
     false,
     0,
     {VALUE_SET, {.u = 5}, {0}},
     STR("red,blue"),
     "[\"red\",\"blue\"]"},
    {COLUMN_SET, "", false, 0, {VALUE_SET, {.u = 0}, {0}}, STR(""), "[]"},
    {COLUMN_JSON,
     "",
     false,
     0,
     {VALUE_JSON, {0}, STR("{\"a\":[1,1.50]}")},
     STR("{ \"a\" :\n[1, 1.50]}"),
     "{\"a\":[1,1.50]}"},
    {COLUMN_POINT,
     "",
     false,
     0,
     {VALUE_GEOMETRY, {0}, STR(POINT)},
     STR(POINT),
     "{\"type\":\"Point\",\"coordinates\":[1.5,-2]}"},
    {COLUMN_UUID,
     "",
     false,
     0,
     {VALUE_TEXT, {0}, STR("00000000-0000-0000-0000-0000000000ff")},
     STR("00000000-0000-0000-0000-0000000000ff"),
     "\"00000000-0000-0000-0000-0000000000ff\""},
    {COLUMN_VECTOR, "", false, 0, {VALUE_VECTOR, {0}, STR(VECTOR)}, STR(VECTOR), "[0.5,-1]"},
    {COLUMN_INT, "", false, 0, {VALUE_NULL, {0}, {0}}, {NULL, 0}, "null"},
};

static const struct topic_definition plain = {.name = STR("t")};

static void a_row_image_and_a_select_give_the_same_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const struct column c = {.name = STR("c"),
                                 .type = forms[i].type,
                                 .is_unsigned = forms[i].is_unsigned,
                                 .precision = forms[i].precision,
                                 .labels = labels,
                                 .n_labels = ARRAY_LEN(labels)};
        const struct field f =
            field_make(&c, STR("\"c\":"), str_from(forms[i].field_type), &plain);
        const struct value cell = cell_value(&c, forms[i].cell);
        struct buf json = {0};
        struct err err = {0};

        assert_true(field_append(&f, &forms[i].image, &json, &err));
        assert_string_equal(json.ptr, forms[i].json);
        buf_clear(&json);
        assert_true(field_append(&f, &cell, &json, &err));
        assert_string_equal(json.ptr, forms[i].json);
        buf_free(&json);
    }
}

static void expect(const struct topic_definition *t, enum column_type type, struct value v,
                   const char *json)
{
    const struct column c = {.name = STR("c"), .type = type};
    const struct field f = field_make(&c, STR("\"c\":"), STR(""), t);
    struct buf b = {0};
    struct err err = {0};

    if (json != NULL) {
        assert_true(field_append(&f, &v, &b, &err));
        assert_string_equal(b.ptr, json);
    } else {
        assert_false(field_append(&f, &v, &b, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "`c`"));
    }
    buf_free(&b);
}

static void incomplete_dates_are_what_the_topic_says(void **state)
{
    const struct topic_definition text = {.zero_date = ZERO_DATE_TEXT,
                                          .time_zone = STR("+02:00")};
    const struct topic_definition dead = {.zero_date = ZERO_DATE_DEAD_LETTER};
    const struct value zero = {.kind = VALUE_DATETIME, .s = STR("0000-00-00 00:00:00")};
    const struct value partial = {.kind = VALUE_DATE, .s = STR("2024-01-00")};

    (void)state;
    expect(&text, COLUMN_DATETIME, zero, "\"0000-00-00T00:00:00\"");
    expect(&text, COLUMN_DATE, partial, "\"2024-01-00\"");
    expect(&dead, COLUMN_DATETIME, zero, NULL);
    expect(&dead, COLUMN_DATE, partial, NULL);
}

static void a_datetime_has_the_offset_of_its_topic(void **state)
{
    const struct topic_definition east = {.time_zone = STR("+08:00")};
    const struct topic_definition utc = {.time_zone = STR("UTC")};
    const struct value v = {.kind = VALUE_DATETIME, .s = STR("2024-01-02 03:04:05")};
    const struct value stamp = {.kind = VALUE_TIMESTAMP, .s = STR("2024-01-02 03:04:05")};

    (void)state;
    expect(&east, COLUMN_DATETIME, v, "\"2024-01-02T03:04:05+08:00\"");
    expect(&east, COLUMN_TIMESTAMP, stamp, "\"2024-01-02T03:04:05Z\"");
    expect(&utc, COLUMN_DATETIME, v, "\"2024-01-02T03:04:05Z\"");
}

static void what_cannot_be_json_is_refused(void **state)
{
    (void)state;
    expect(&plain, COLUMN_JSON, (struct value){.kind = VALUE_JSON, .s = STR("{a:1}")}, NULL);
    expect(&plain, COLUMN_JSON, (struct value){.kind = VALUE_JSON, .s = STR("")}, NULL);
    expect(&plain, COLUMN_GEOMETRY,
           (struct value){.kind = VALUE_GEOMETRY, .s = STR("\0\0\0\0")}, NULL);
    expect(&plain, COLUMN_ENUM, (struct value){.kind = VALUE_ENUM, .u = 9}, NULL);
    expect(&plain, COLUMN_SET, (struct value){.kind = VALUE_SET, .u = 9}, NULL);
    expect(&plain, COLUMN_INT, (struct value){.kind = VALUE_ABSENT}, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_image_and_a_select_give_the_same_json),
        cmocka_unit_test(incomplete_dates_are_what_the_topic_says),
        cmocka_unit_test(a_datetime_has_the_offset_of_its_topic),
        cmocka_unit_test(what_cannot_be_json_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
