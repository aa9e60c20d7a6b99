#include "config.h"

#include "tests/unit/events.h"

#include "src/base/mem.h"
#include "sync/decode/row.h"
#include "sync/decode/row_fill.h"
#include "sync/decode/table_map.h"
#include "sync/value/value_json.h"

#include <zlib.h>

struct fixture {
    struct event_format format;
    struct table_maps *maps;
    struct row_reader *rows;
    struct table_map *map; /* of the last table */
};

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(1, sizeof(*f));
    struct buf body = {0};
    struct err err;

    format_body(&body, "10.11.6-MariaDB", false);
    put_le(&body, 0, 4);
    assert_true(event_format_parse(buf_str(&body), &f->format, &err));
    buf_free(&body);
    f->maps = table_maps_new(NULL, NULL);
    f->rows = row_reader_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    row_reader_free(f->rows);
    table_maps_free(f->maps);
    free(f);
    return 0;
}

/* A table of these types and metadata, in hex. */
static void use_table(struct fixture *f, const char *types, const char *meta)
{
    struct buf body = {0}, bytes = {0};
    struct err err = {0};
    const size_t n = strlen(types) / 2;

    put_le(&body, 1, 6);
    put_le(&body, 1, 2);
    buf_append(&body, STR("\x01"
                          "d\0"
                          "\x01"
                          "t\0"));
    put_le(&body, n, 1);
    buf_append(&body, unhex(&bytes, types));
    put_le(&body, strlen(meta) / 2, 1);
    buf_append(&body, unhex(&bytes, meta));
    for (size_t i = 0; i < (n + 7) / 8; i++)
        put_le(&body, 0xff, 1);
    assert_true(table_maps_add(f->maps, &f->format, buf_str(&body), &f->map, &err));
    assert_int_equal(f->map->broken.kind, ERR_NONE);
    buf_free(&body);
    buf_free(&bytes);
}

static void print_image(struct buf *out, const struct value *v, size_t n)
{
    for (size_t i = 0; v != NULL && i < n; i++) {
        buf_append_char(out, i == 0 ? '(' : ' ');
        if (v[i].kind == VALUE_ABSENT)
            buf_append_char(out, '-');
        else
            value_append_json(out, &v[i]);
    }
    if (v != NULL)
        buf_append_char(out, ')');
}

/* The rows of an event (column count, bitmaps, rows) as text; ! where it is damaged. */
static void read_rows(struct fixture *f, struct event_rows rows, const char *hex, bool in_arena,
                      struct buf *out)
{
    struct arena *a = in_arena ? arena_new() : NULL;
    struct buf bytes = {0};
    struct row_change change;
    struct err err = {0};
    int got = -1;

    buf_clear(out);
    buf_append(out, STR(""));
    rows.rest = unhex(&bytes, hex);
    if (row_reader_open(f->rows, &rows, f->map, &err))
        while ((got = row_reader_next(f->rows, a, &change, &err)) == 1) {
            print_image(out, change.before, f->map->n_columns);
            if (change.before != NULL && change.after != NULL)
                buf_append(out, STR(">"));
            print_image(out, change.after, f->map->n_columns);
            if (change.partial)
                buf_append_char(out, '~');
            if (change.unsolved)
                buf_append_char(out, '?');
        }
    if (got < 0) {
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "d.t"));
        buf_append_char(out, '!');
    }
    buf_free(&bytes);
    if (a != NULL)
        arena_free(a);
}

static void check(struct fixture *f, struct event_rows rows, const char *hex,
                  const char *expected)
{
    struct buf text = {0};

    for (int in_arena = 0; in_arena < 2; in_arena++) {
        read_rows(f, rows, hex, in_arena, &text);
        assert_string_equal(text.ptr, expected);
    }
    buf_free(&text);
}

static const struct event_rows insert = {.op = ROW_INSERT}, update = {.op = ROW_UPDATE},
                               delete = {.op = ROW_DELETE};

static void rows_of_each_kind_are_read(void **state)
{
    struct fixture *f = *state;

    use_table(f, "030f", "1400");
    check(f, insert,
          "02ff"
          "00"
          "01000000"
          "0161"
          "02"
          "02000000",
          "(1 \"a\")(2 null)");
    check(f, delete,
          "02ff"
          "00"
          "ffffffff"
          "00",
          "(-1 \"\")");
    check(f, update,
          "02ffff"
          "00"
          "01000000"
          "0161"
          "00"
          "01000000"
          "0162",
          "(1 \"a\")>(1 \"b\")");
    check(f, insert, "02ff", "");
}

static void an_absent_column_is_not_null(void **state)
{
    struct fixture *f = *state;

    use_table(f, "030f03", "1400");
    /* MINIMAL: the key before, what changed after; the bits of NULLs follow the present ones */
    check(f, update,
          "03"
          "01"
          "06"
          "00"
          "01000000"
          "02"
          "0161",
          "(1 - -)>(- \"a\" null)~");
    /* FULL_NODUP: everything before */
    check(f, update,
          "03"
          "07"
          "02"
          "00"
          "01000000"
          "0161"
          "05000000"
          "00"
          "0162",
          "(1 \"a\" 5)>(- \"b\" -)~");
    check(f, delete,
          "03"
          "01"
          "00"
          "01000000",
          "(1 - -)~");
    check(f, insert,
          "03"
          "05"
          "00"
          "01000000"
          "07000000",
          "(1 - 7)~");
}

/* The filled new image of the change with these images; '-' is absent, digits are values. */
static void check_fill(const char *before, const char *after, const char *expected)
{
    struct value old_row[3], new_row[3];
    struct column columns[] = {{.name = STR("a")}, {.name = STR("b")}, {.name = STR("c")}};
    const struct schema schema = {.columns = columns, .n_columns = 3};
    const struct str generated[] = {{0}, {0}, STR("`b` + `xa` + 1")};
    struct row_change change = {.op = ROW_UPDATE, .partial = strchr(after, '-') != NULL};
    struct row_fill fill = {0};
    char got[4] = "";

    for (size_t i = 0; i < 3; i++) {
        old_row[i] =
            (struct value){.kind = before[i] == '-' ? VALUE_ABSENT : VALUE_INT, .i = before[i]};
        new_row[i] =
            (struct value){.kind = after[i] == '-' ? VALUE_ABSENT : VALUE_INT, .i = after[i]};
    }
    change.before = old_row;
    change.after = new_row;
    row_fill(&fill, &change, &schema, generated);
    for (size_t i = 0; i < 3; i++)
        got[i] = change.after[i].kind == VALUE_ABSENT ? '-' : (char)change.after[i].i;
    assert_string_equal(got, expected);
    assert_ptr_equal(change.before, old_row);
    row_fill_fini(&fill);
}

static void a_new_image_is_filled_from_the_old_one(void **state)
{
    const struct value row[] = {{.kind = VALUE_ABSENT}};
    struct row_change added = {.op = ROW_INSERT, .after = row, .partial = true};
    struct row_fill fill = {0};

    (void)state;
    check_fill("123", "456", "456");
    check_fill("123", "-5-", "15-"); /* the third is made of the second: nobody knows */
    check_fill("123", "-2-", "123");
    check_fill("123", "4--", "423");
    check_fill("12-", "4--", "42-");
    check_fill("1-3", "42-", "42-");
    check_fill("123", "--6", "126");
    check_fill("1--", "-5-", "15-");
    check_fill("1--", "---", "1--");
    check_fill("1--", "4-6", "4-6");
    row_fill(&fill, &added, &(struct schema){.n_columns = 1}, NULL);
    assert_ptr_equal(added.after, row);
    row_fill_fini(&fill);
}

static void null_bits_of_many_columns_take_more_bytes(void **state)
{
    struct fixture *f = *state;

    use_table(f, "010101010101010101", "");
    check(f, insert,
          "09ffff"
          "aa00"
          "01"
          "03"
          "05"
          "07"
          "09",
          "(1 null 3 null 5 null 7 null 9)");
    check(f, insert,
          "09ffff"
          "0001"
          "0102030405060708",
          "(1 2 3 4 5 6 7 8 null)");
}

static void damaged_rows_are_refused_with_the_tables_name(void **state)
{
    static const char *const cases[] = {
        "",
        "01ff",
        "03ff00",
        "02",
        "02ff00010000",
        "02ff000100000002",
        "02ff00010000000561",
        "02000000",
        "fd",
    };
    struct fixture *f = *state;

    use_table(f, "030f", "1400");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check(f, insert, cases[i], "!");
    check(f, insert,
          "02ff"
          "00"
          "01000000"
          "0161"
          "00"
          "0200",
          "(1 \"a\")!");
}

static void a_broken_table_says_why(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};

    use_table(f, "030f", "1400");
    (void)err_set(&f->map->broken, ERR_REJECT, "table d.t: because");
    assert_false(row_reader_open(f->rows, &insert, f->map, &err));
    assert_string_equal(err.msg, "table d.t: because");
}

/* MariaDB: head, length of 2 bytes, zlib. */
static void pack(const char *hex, struct buf *out_hex)
{
    struct buf rows = {0}, packed = {0};
    const struct str plain = unhex(&rows, hex);
    uLongf len = compressBound(plain.len);

    buf_reserve(&packed, len);
    assert_int_equal(compress((Bytef *)packed.ptr, &len, (const Bytef *)plain.ptr, plain.len),
                     Z_OK);
    buf_printf(out_hex, "82%04x", (unsigned)plain.len);
    buf_append_hex(out_hex, (struct str){packed.ptr, len});
    buf_free(&rows);
    buf_free(&packed);
}

static void rows_of_a_release_that_never_was_stop_their_table(void **state)
{
    struct fixture *f = *state;
    const struct event_rows pre_ga = {.op = ROW_INSERT, .pre_ga = true};

    use_table(f, "030f", "1400");
    check(f, pre_ga, "02ff00010000000161", "!");
}

static void compressed_rows_are_unpacked(void **state)
{
    struct fixture *f = *state;
    const struct event_rows packed = {.op = ROW_INSERT, .compressed = true};
    struct buf hex = {0};

    use_table(f, "030f", "1400");
    buf_append(&hex, STR("02ff"));
    pack("00"
         "01000000"
         "0161"
         "02"
         "02000000",
         &hex);
    check(f, packed, hex.ptr, "(1 \"a\")(2 null)");
    for (size_t n = 4; n < hex.len; n += 2) {
        const char c = hex.ptr[n];

        hex.ptr[n] = '\0';
        check(f, packed, hex.ptr, "!");
        hex.ptr[n] = c;
    }
    check(f, packed,
          "02ff"
          "84ffffffff"
          "789c0300000000",
          "!");
    check(f, packed,
          "02ff"
          "8105"
          "789c",
          "!");
    check(f, packed,
          "02ff"
          "a105"
          "789c",
          "!");
    buf_free(&hex);
}

static void partial_json_is_applied_to_the_image_before(void **state)
{
    struct fixture *f = *state;
    const struct event_rows partial = {.op = ROW_UPDATE, .partial = true};

    use_table(f, "03f5f5", "0404");
    /* from MySQL 9.7: two JSON columns, both bits set, the second unchanged */
    check(f, partial,
          "03"
          "07"
          "07"
          "00"
          "01000000"
          "0d000000"
          "0001000c000b000100053000"
          "61"
          "02000000"
          "0400"
          "01"
          "03"
          "00"
          "01000000"
          "0a000000"
          "00"
          "03"
          "242e61"
          "04"
          "0c027a7a"
          "00000000",
          "(1 {\"a\":48} null)>(1 {\"a\":\"zz\"} null)");
    /* options without partial JSON: whole values */
    check(f, partial,
          "03"
          "01"
          "02"
          "00"
          "01000000"
          "00"
          "00"
          "02000000"
          "0401",
          "(1 - -)>(- true -)~");
    /* the image before does not have it: nobody knows */
    check(f, partial,
          "03"
          "01"
          "06"
          "00"
          "01000000"
          "01"
          "01"
          "00"
          "0a000000"
          "00"
          "03"
          "242e61"
          "04"
          "0c027a7a"
          "02000000"
          "0401",
          "(1 - -)>(- - true)~?");
    /* a change that does not fit */
    check(f, partial,
          "03"
          "03"
          "02"
          "00"
          "01000000"
          "02000000"
          "0401"
          "01"
          "01"
          "00"
          "0a000000"
          "00"
          "03"
          "242e61"
          "04"
          "0c027a7a",
          "!");
}

/* id INT, at TIME(3) as MariaDB 5.3 has it: four bytes, and the log says three. */
static void times_whose_fraction_digits_nothing_tells_are_named(void **state)
{
    struct fixture *f = *state;
    struct event_rows rows = {.op = ROW_INSERT};
    struct buf bytes = {0};
    struct row_change change;
    struct err err = {0};
    int got;

    use_table(f, "030b", "");
    rows.rest = unhex(&bytes, "02ff00010000007b000001");
    assert_true(row_reader_open(f->rows, &rows, f->map, &err));
    while ((got = row_reader_next(f->rows, NULL, &change, &err)) == 1)
        ;
    assert_int_equal(got, -1);
    assert_non_null(strstr(err.msg, "'@2' has fraction digits in MariaDB's old form"));
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_each_kind_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_absent_column_is_not_null, set_up, tear_down),
        cmocka_unit_test(a_new_image_is_filled_from_the_old_one),
        cmocka_unit_test_setup_teardown(null_bits_of_many_columns_take_more_bytes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(damaged_rows_are_refused_with_the_tables_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(times_whose_fraction_digits_nothing_tells_are_named,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_table_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_a_release_that_never_was_stop_their_table,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(compressed_rows_are_unpacked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partial_json_is_applied_to_the_image_before, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("row", tests, NULL, NULL);
}
