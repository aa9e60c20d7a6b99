#include "config.h"

#include "tests/unit/vectors.h"

#include "src/base/arena.h"
#include "src/base/cursor.h"
#include "sync/decode/cell.h"
#include "sync/decode/cell_json.h"
#include "sync/decode/wire.h"
#include "sync/value/schema.h"
#include "sync/value/value_json.h"

struct fixture {
    struct cell_reader reader;
    struct cell_writer writer;
    struct arena *a;
};

static struct fixture *shared; /* the vectors' callback has no context */

static int set_up(void **state)
{
    shared = calloc(1, sizeof(*shared));
    cell_reader_init(&shared->reader);
    cell_writer_init(&shared->writer);
    shared->a = arena_new();
    *state = shared;
    return 0;
}

static int tear_down(void **state)
{
    cell_reader_fini(&shared->reader);
    cell_writer_fini(&shared->writer);
    arena_free(shared->a);
    free(shared);
    *state = NULL;
    return 0;
}

/* The text that is written straight from the bytes is that of the value; NULL: both refuse. */
static void check_text(const struct column_plan *plan, struct str bytes, const struct value *v)
{
    const uint8_t *p = (const uint8_t *)bytes.ptr, *const end = p + bytes.len;
    struct buf text = {0}, expected = {0};
    struct cell_json c;

    cell_json_init(&c, plan, shared->a);
    cell_writer_begin(&shared->writer, &text);
    cell_writer_need(&shared->writer, CELL_JSON_ROOM);
    p = cell_json_write(&c, p, end, &shared->writer);
    cell_writer_end(&shared->writer);
    assert_int_equal(p == end, v != NULL);
    if (v != NULL) {
        value_append_json(&expected, v);
        assert_string_equal(text.ptr, expected.ptr);
    }
    buf_free(&text);
    buf_free(&expected);
}

/* The cell hex of a column of this type and these bytes of metadata; false: refused. */
static bool read_cell(uint8_t type, const char *meta_hex, const struct column *column,
                      const char *hex, struct value *out)
{
    struct buf meta = {0}, bytes = {0};
    struct cursor c = cursor_of(unhex(&meta, meta_hex));
    struct wire_column wire;
    struct column_plan plan;
    bool ok =
        wire_column_parse(type, &c, &wire) && !c.failed && cell_plan(&wire, column, &plan);

    if (ok) {
        const struct str copy = arena_copy(shared->a, unhex(&bytes, hex));
        const uint8_t *p = (const uint8_t *)copy.ptr;

        cell_reader_use(&shared->reader, shared->a, arena_bytes(shared->a, plan.text_max));
        ok = cell_read(&shared->reader, &plan, p, p + copy.len, out) == p + copy.len;
        check_text(&plan, copy, ok ? out : NULL);
    }
    buf_free(&meta);
    buf_free(&bytes);
    return ok;
}

static const struct {
    const char *name;
    uint8_t type;
    char meta; /* how Vitess' number becomes bytes: none, one, high first, low first */
} vector_types[] = {
    {"TINY", WIRE_TINY, '0'},
    {"YEAR", WIRE_YEAR, '0'},
    {"SHORT", WIRE_SHORT, '0'},
    {"INT24", WIRE_INT24, '0'},
    {"LONG", WIRE_LONG, '0'},
    {"FLOAT", WIRE_FLOAT, '1'},
    {"DOUBLE", WIRE_DOUBLE, '1'},
    {"TIMESTAMP", WIRE_TIMESTAMP, '0'},
    {"LONGLONG", WIRE_LONGLONG, '0'},
    {"DATE", WIRE_DATE, '0'},
    {"NEWDATE", WIRE_NEWDATE, '0'},
    {"TIME", WIRE_TIME, '0'},
    {"DATETIME", WIRE_DATETIME, '0'},
    {"VARCHAR", WIRE_VARCHAR, 'l'},
    {"BIT", WIRE_BIT, 'l'},
    {"TIMESTAMP2", WIRE_TIMESTAMP2, '1'},
    {"DATETIME2", WIRE_DATETIME2, '1'},
    {"TIME2", WIRE_TIME2, '1'},
    {"JSON", WIRE_JSON, '1'},
    {"ENUM", WIRE_ENUM, 'e'},
    {"SET", WIRE_SET, 's'},
    {"STRING", WIRE_STRING, 'h'},
    {"NEWDECIMAL", WIRE_NEWDECIMAL, 'h'},
    {"BLOB", WIRE_BLOB, '1'},
    {"GEOMETRY", WIRE_GEOMETRY, '1'},
    {"VAR_STRING", WIRE_VAR_STRING, 'l'},
};

static void meta_bytes(char how, unsigned meta, char out[16])
{
    const unsigned low = meta & 0xff, high = meta >> 8;

    if (how == '0')
        out[0] = '\0';
    else if (how == '1')
        snprintf(out, 16, "%02x", low);
    else if (how == 'h')
        snprintf(out, 16, "%02x%02x", high, low);
    else if (how == 'l')
        snprintf(out, 16, "%02x%02x", low, high);
    else
        snprintf(out, 16, "%02x%02x", how == 'e' ? WIRE_ENUM : WIRE_SET, low);
}

/* The value as the vectors write it. */
static void print_value(const struct value *v, struct buf *out)
{
    buf_clear(out);
    if (v->kind == VALUE_SET)
        buf_printf(out, "0x%02x%02x", (unsigned)v->u & 0xff, (unsigned)v->u >> 8);
    else if (v->kind == VALUE_BIT)
        buf_printf(out, "0x%04x", (unsigned)v->u);
    else if (v->kind == VALUE_JSON || v->kind == VALUE_TEXT || v->kind == VALUE_GEOMETRY ||
             (v->s.ptr != NULL && v->kind >= VALUE_DATE && v->kind <= VALUE_TIME))
        buf_append(out, v->s);
    else
        value_append_json(out, v);
    for (size_t i = 0; i < out->len; i++)
        if (v->kind == VALUE_DATETIME || v->kind == VALUE_TIMESTAMP)
            out->ptr[i] = out->ptr[i] == 'T' ? ' ' : out->ptr[i];
}

static void check_vector(char **f)
{
    struct column column = {.is_unsigned = f[2][0] == 'U'};
    struct buf text = {0}, expected = {0};
    struct value v = {0};
    char meta[16] = "";
    size_t i = 0;

    while (i < ARRAY_LEN(vector_types) && strcmp(vector_types[i].name, f[0]) != 0)
        i++;
    assert_true(i < ARRAY_LEN(vector_types));
    meta_bytes(vector_types[i].meta, (unsigned)strtoul(f[1], NULL, 0), meta);
    if (vector_types[i].type == WIRE_GEOMETRY)
        column.type = COLUMN_GEOMETRY;
    if (!read_cell(vector_types[i].type, meta, &column, f[3], &v))
        fail_msg("%s %s %s is refused", f[0], f[1], f[3]);
    print_value(&v, &text);
    buf_append(&expected, str_from(f[4]));
    if (v.kind == VALUE_JSON) {
        buf_clear(&expected);
        assert_true(value_append_compact_json(&expected, str_from(f[4])));
    } else if (vector_types[i].type == WIRE_STRING) {
        unhex(&expected, f[4] + 2);
    }
    if (!str_equal(buf_str(&text), buf_str(&expected)))
        fail_msg("%s %s %s is %s, not %s", f[0], f[1], f[3], text.ptr, f[4]);
    buf_free(&text);
    buf_free(&expected);
}

static void the_vectors_of_others_are_understood(void **state)
{
    (void)state;
    assert_true(for_each_vector("cells.tsv", check_vector) > 80);
}

static const struct str labels[] = {STR("red"), STR("grün"), STR("a")};

static void what_only_the_schema_knows_is_applied(void **state)
{
    static const struct {
        uint8_t type;
        const char *meta;
        struct column column;
        const char *hex, *json;
    } cases[] = {
        {WIRE_STRING,
         "fe10",
         {.type = COLUMN_UUID},
         "0b123e4567e89b12d3a45642",
         "\"123e4567-e89b-12d3-a456-420000000000\""},
        {WIRE_STRING,
         "fe10",
         {.type = COLUMN_UUID},
         "00",
         "\"00000000-0000-0000-0000-000000000000\""},
        {WIRE_STRING, "fe04", {.type = COLUMN_INET4}, "010a", "\"10.0.0.0\""},
        {WIRE_STRING, "fe10", {.type = COLUMN_INET6}, "00", "\"::\""},
        {WIRE_STRING, "fe10", {.type = COLUMN_INET6}, "0420010db8", "\"2001:db8::\""},
        {WIRE_STRING,
         "fe04",
         {.type = COLUMN_BINARY},
         "0101",
         "\"\\u0001\\u0000\\u0000\\u0000\""},
        {WIRE_STRING,
         "fe04",
         {.type = COLUMN_BINARY},
         "04ff000000",
         "{\"base64\":\"/wAAAA==\"}"},
        {WIRE_VARCHAR, "0c00", {.type = COLUMN_VECTOR}, "080000803f000000bf", "[1,-0.5]"},
        {WIRE_BLOB, "02", {.type = COLUMN_JSON}, "09007b202261223a20317d", "{\"a\":1}"},
        {WIRE_BLOB, "02", {.type = COLUMN_JSON}, "03007b2261", "\"{\\\"a\""},
        {WIRE_STRING,
         "f701",
         {.labels = (struct str *)(uintptr_t)labels, .n_labels = 3},
         "02",
         "\"grün\""},
        {WIRE_STRING,
         "f701",
         {.labels = (struct str *)(uintptr_t)labels, .n_labels = 3},
         "00",
         "\"\""},
        {WIRE_STRING,
         "f701",
         {.labels = (struct str *)(uintptr_t)labels, .n_labels = 3},
         "09",
         "9"},
        {WIRE_STRING,
         "f801",
         {.labels = (struct str *)(uintptr_t)labels, .n_labels = 3},
         "05",
         "[\"red\",\"a\"]"},
        {WIRE_STRING,
         "f801",
         {.labels = (struct str *)(uintptr_t)labels, .n_labels = 3},
         "00",
         "[]"},
        {WIRE_STRING, "f801", {.n_labels = 0}, "05", "5"},
        {WIRE_VARCHAR, "1400", {.charset = STR("latin1")}, "02e980", "\"é€\""},
        {WIRE_VARCHAR, "1400", {.charset = STR("utf8mb4")}, "02e980", "{\"base64\":\"6YA=\"}"},
        {WIRE_YEAR, "", {.type = COLUMN_UNKNOWN}, "00", "0"},
        {WIRE_DATE, "", {.type = COLUMN_UNKNOWN}, "000000", "\"0000-00-00\""},
        {WIRE_DATETIME2,
         "00",
         {.type = COLUMN_UNKNOWN},
         "8000000000",
         "\"0000-00-00T00:00:00\""},
        {WIRE_TIMESTAMP2,
         "03",
         {.type = COLUMN_UNKNOWN},
         "000000000000",
         "\"0000-00-00T00:00:00.000Z\""},
        {WIRE_TIME, "", {.fsp = 3}, "b434d99c", NULL},
        {WIRE_TIME, "", {.type = COLUMN_UNKNOWN}, "ffffff", "\"-00:00:01\""},
        {WIRE_VARCHAR_COMPRESSED, "1500", {.charset = STR("utf8mb4")}, "0400616263", "\"abc\""},
        {WIRE_VARCHAR_COMPRESSED, "1500", {.charset = STR("utf8mb4")}, "00", "\"\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = {0};
        struct value v = {0};
        const bool ok =
            read_cell(cases[i].type, cases[i].meta, &cases[i].column, cases[i].hex, &v);

        if (cases[i].json == NULL) {
            assert_false(ok);
            continue;
        }
        if (!ok)
            fail_msg("case %zu is refused", i);
        value_append_json(&text, &v);
        assert_string_equal(text.ptr, cases[i].json);
        buf_free(&text);
    }
}

/* Bytes from MariaDB 10.11 with mysql56_temporal_format=OFF. */
static void fractions_of_old_mariadb_tables_are_read(void **state)
{
    static const struct {
        uint8_t type, fsp;
        const char *hex, *text;
    } cases[] = {
        {WIRE_TIME, 0, "a45b02", "15:45:32"},
        {WIRE_DATETIME, 0, "a407486e0b120000", "1984-03-04T15:45:32"},
        {WIRE_TIMESTAMP, 0, "c537d158", "2017-03-21T14:25:09"},
        {WIRE_TIMESTAMP, 3, "58d137c502fd", "2017-03-21T14:25:09.765"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct column column = {.fsp = cases[i].fsp};
        struct value v = {0};

        assert_true(read_cell(cases[i].type, "", &column, cases[i].hex, &v));
        assert_true(str_equal(v.s, str_from(cases[i].text)));
    }
}

#define PLAIN                \
    {                        \
        .is_unsigned = false \
    }
#define UNSIGNED            \
    {                       \
        .is_unsigned = true \
    }
#define UTF8                      \
    {                             \
        .charset = STR("utf8mb4") \
    }
#define NINES    "3b9ac9ff3b9ac9ff3b9ac9ff"
#define MINUS    "c4653600c4653600c4653600"
#define NINES_27 "999999999999999999999999999"

/* The ends of what each type of the log holds; json NULL: the type is refused. */
static const struct extreme {
    uint8_t type;
    const char *meta;
    struct column column;
    const char *hex, *json;
} extremes[] = {
    {WIRE_DECIMAL, "", PLAIN, "00", NULL},
    {WIRE_TINY, "", PLAIN, "80", "-128"},
    {WIRE_TINY, "", UNSIGNED, "ff", "255"},
    {WIRE_SHORT, "", PLAIN, "0080", "-32768"},
    {WIRE_SHORT, "", UNSIGNED, "ffff", "65535"},
    {WIRE_INT24, "", PLAIN, "000080", "-8388608"},
    {WIRE_INT24, "", UNSIGNED, "ffffff", "16777215"},
    {WIRE_LONG, "", PLAIN, "00000080", "-2147483648"},
    {WIRE_LONG, "", UNSIGNED, "ffffffff", "4294967295"},
    {WIRE_LONGLONG, "", PLAIN, "0000000000000080", "-9223372036854775808"},
    {WIRE_LONGLONG, "", UNSIGNED, "ffffffffffffffff", "18446744073709551615"},
    {WIRE_FLOAT, "04", PLAIN, "0000c03f", "1.5"},
    {WIRE_DOUBLE, "08", PLAIN, "000000000000f8bf", "-1.5"},
    {WIRE_NEWDECIMAL, "411e", PLAIN, "85f5e0ff" NINES NINES "03e7",
     "99999999" NINES_27 "." NINES_27 "999"},
    {WIRE_NEWDECIMAL, "411e", PLAIN, "7a0a1f00" MINUS MINUS "fc18",
     "-99999999" NINES_27 "." NINES_27 "999"},
    {WIRE_YEAR, "", PLAIN, "00", "0"},
    {WIRE_YEAR, "", PLAIN, "ff", "2155"},
    {WIRE_BIT, "0101", PLAIN, "01ff", "511"},
    {WIRE_BIT, "0008", PLAIN, "8000000000000001", "9223372036854775809"},
    {WIRE_DATE, "", PLAIN, "5dd00f", "\"2024-02-29\""},
    {WIRE_DATE, "", PLAIN, "00d00f", "\"2024-00-00\""},
    {WIRE_NEWDATE, "", PLAIN, "5dd00f", "\"2024-02-29\""},
    {WIRE_TIME, "", PLAIN, "a45b02", "\"15:45:32\""},
    {WIRE_DATETIME, "", PLAIN, "a407486e0b120000", "\"1984-03-04T15:45:32\""},
    {WIRE_TIMESTAMP, "", PLAIN, "c537d158", "\"2017-03-21T14:25:09Z\""},
    {WIRE_TIMESTAMP2, "00", PLAIN, "58d137c5", "\"2017-03-21T14:25:09Z\""},
    {WIRE_TIMESTAMP2, "06", PLAIN, "ffffffff0f423f", "\"2106-02-07T06:28:15.999999Z\""},
    {WIRE_DATETIME2, "06", PLAIN, "fef3ff7efb0f423f", "\"9999-12-31T23:59:59.999999\""},
    {WIRE_TIME2, "06", PLAIN, "7fffffffffff", "\"-00:00:00.000001\""},
    {WIRE_TIME2, "00", PLAIN, "b46efb", "\"838:59:59\""},
    {WIRE_TIME2, "00", PLAIN, "4b9105", "\"-838:59:59\""},
    {WIRE_ENUM, "02", PLAIN, "ffff", NULL}, /* always inside STRING */
    {WIRE_SET, "08", PLAIN, "ff", NULL},
    {WIRE_STRING, "f702", PLAIN, "ffff", "65535"},
    {WIRE_STRING, "f808", PLAIN, "ffffffffffffffff", "18446744073709551615"},
    {WIRE_STRING, "fe04", UTF8, "0161", "\"a\""},
    {WIRE_STRING, "cefc", UTF8, "010061", "\"a\""}, /* 1020 bytes */
    {WIRE_VARCHAR, "ff00", UTF8, "0161", "\"a\""},
    {WIRE_VARCHAR, "0001", UTF8, "010061", "\"a\""},
    {WIRE_VAR_STRING, "ff00", UTF8, "0161", "\"a\""},
    {WIRE_TINY_BLOB, "01", UTF8, "0161", "\"a\""},
    {WIRE_MEDIUM_BLOB, "03", UTF8, "01000061", "\"a\""},
    {WIRE_LONG_BLOB, "04", UTF8, "0100000061", "\"a\""},
    {WIRE_BLOB, "02", {.charset = STR("binary")}, "0200ff00", "{\"base64\":\"/wA=\"}"},
    {WIRE_BLOB, "02", {.charset = STR("latin1")}, "0100e9", "\"é\""},
    {WIRE_JSON, "04", PLAIN, "00000000", "null"},
    {WIRE_JSON, "04", PLAIN, "020000000401", "true"},
    {WIRE_GEOMETRY,
     "04",
     {.type = COLUMN_GEOMETRY},
     "19000000"
     "00000000"
     "0101000000"
     "000000000000f03f"
     "0000000000000040",
     "{\"type\":\"Point\",\"coordinates\":[1,2]}"},
    {WIRE_VECTOR, "04", {.type = COLUMN_VECTOR}, "080000000000803f000000bf", "[1,-0.5]"},
    {WIRE_VECTOR, "04", {.type = COLUMN_VECTOR}, "00000000", "[]"},
    {WIRE_BLOB_COMPRESSED, "02", UTF8,
     "06008906"
     "4b4c8400"
     "0000",
     NULL}, /* cut */
    {WIRE_BLOB_COMPRESSED, "02", UTF8,
     "0a008906"
     "4b4c4a4e494d0300",
     "\"abcdef\""},
    {WIRE_BLOB_COMPRESSED, "02", UTF8, "040000616263", "\"abc\""},
    {WIRE_VARCHAR_COMPRESSED, "1500", UTF8,
     "0a8906"
     "4b4c4a4e494d0300",
     "\"abcdef\""},
    {WIRE_TYPED_ARRAY, "03", PLAIN, "00000000", NULL},
};

static void the_ends_of_every_type_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(extremes); i++) {
        const struct extreme *x = &extremes[i];
        struct buf text = {0};
        struct value v = {0};
        const bool ok = read_cell(x->type, x->meta, &x->column, x->hex, &v);

        if (ok != (x->json != NULL))
            fail_msg("case %zu (type %u) is %s", i, x->type, ok ? "read" : "refused");
        if (!ok)
            continue;
        value_append_json(&text, &v);
        if (strcmp(text.ptr, x->json) != 0)
            fail_msg("case %zu (type %u) is %s, not %s", i, x->type, text.ptr, x->json);
        buf_free(&text);
    }
}

/* What wire_column_parse() takes is what extremes has, and nothing else. */
static void no_other_type_is_known(void **state)
{
    bool tested[256] = {false};
    struct buf meta = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(extremes); i++)
        tested[extremes[i].type] = true;
    for (unsigned type = 0; type < 256; type++) {
        struct cursor c = cursor_of(unhex(&meta, "0404040404"));
        struct wire_column wire;
        const bool known = wire_column_parse((uint8_t)type, &c, &wire);

        if (known && !tested[type])
            fail_msg("type %u has no test", type);
        assert_true(known || type == WIRE_DECIMAL || !tested[type]);
    }
    buf_free(&meta);
}

static void damaged_cells_are_refused(void **state)
{
    static const struct {
        uint8_t type;
        const char *meta, *hex;
    } cases[] = {
        {WIRE_LONG, "", "010203"},
        {WIRE_VARCHAR, "1400", "0561"},
        {WIRE_BLOB, "04", "ffffffff61"},
        {WIRE_BLOB, "05", "0000000000"},
        {WIRE_NEWDECIMAL, "0a03", "ffffffffff"},
        {WIRE_NEWDECIMAL, "0000", ""},
        {WIRE_NEWDECIMAL, "4200", "80"},
        {WIRE_NEWDECIMAL, "0203", "8080"},
        {WIRE_DATETIME2, "07", "8000000000000000"},
        {WIRE_DATETIME2, "02", "998caafb51ff"},
        {WIRE_DATETIME2, "00", "0000000000"},
        {WIRE_JSON, "04", "0100000001"},
        {WIRE_BIT, "0009", "000000000000000000"},
        {WIRE_STRING, "f800", ""},
        {WIRE_FLOAT, "08", "00000000"},
        {WIRE_TYPED_ARRAY, "0305", "00000000"},
        {WIRE_DECIMAL, "", "00"},
        {WIRE_DATE, "", "ffffff"},
        {WIRE_VARCHAR_COMPRESSED, "1500", "028105"},
        {WIRE_VARCHAR_COMPRESSED, "1500", "0384ffff"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct column column = {.charset = STR("utf8mb4")};
        struct value v;

        if (read_cell(cases[i].type, cases[i].meta, &column, cases[i].hex, &v))
            fail_msg("case %zu is read", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_others_are_understood),
        cmocka_unit_test(what_only_the_schema_knows_is_applied),
        cmocka_unit_test(fractions_of_old_mariadb_tables_are_read),
        cmocka_unit_test(the_ends_of_every_type_are_read),
        cmocka_unit_test(no_other_type_is_known),
        cmocka_unit_test(damaged_cells_are_refused),
    };
    return cmocka_run_group_tests_name("cell", tests, set_up, tear_down);
}
