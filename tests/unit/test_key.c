#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/key.h"
#include "tests/unit/document_fixture.h"

static struct column column_of(enum column_type type)
{
    return (struct column){.name = STR("c"), .type = type, .charset = STR("utf8mb4")};
}

static void append(struct buf *key, const struct column *c, struct value v)
{
    struct err err = {0};

    assert_true(key_append(key, c, &v, &err));
}

static void an_id_is_the_text_of_its_key(void **state)
{
    const struct column number = column_of(COLUMN_BIGINT);
    const struct column *columns[] = {&number};
    struct buf key = {0}, id = {0};
    struct err err = {0};

    (void)state;
    append(&key, &number, (struct value){.kind = VALUE_UINT, .u = UINT64_MAX});
    assert_true(key_append_id(&id, columns, 1, buf_str(&key), &err));
    assert_string_equal(id.ptr, "18446744073709551615");
    buf_free(&key);
    buf_free(&id);
}

/* Each kind of part: its value, and what it looks like alone and in a composite key. */
static void parts_of_composite_keys_do_not_collide(void **state)
{
    const struct column text = column_of(COLUMN_VARCHAR), bytes = column_of(COLUMN_VARBINARY);
    const struct column stamp = column_of(COLUMN_TIMESTAMP);
    const struct column *columns[] = {&text, &bytes, &stamp};
    struct buf key = {0}, id = {0}, again = {0};
    struct err err = {0};

    (void)state;
    append(&key, &text, text_value("a,b%c\xc3\xa4"));
    append(&key, &bytes, (struct value){.kind = VALUE_BYTES, .s = {"\0,%\xff", 4}});
    append(&key, &stamp,
           (struct value){.kind = VALUE_TIMESTAMP, .s = STR("2024-01-02 03:04:05.6")});
    assert_true(key_append_id(&id, columns, 3, buf_str(&key), &err));
    assert_string_equal(id.ptr, "a%2Cb%25c\xc3\xa4,002c25ff,2024-01-02T03:04:05.6Z");
    assert_true(key_parse_id(&again, columns, 3, buf_str(&id), &err));
    assert_true(str_equal(buf_str(&again), buf_str(&key)));
    buf_free(&key);
    buf_free(&id);
    buf_free(&again);
}

static void a_single_part_is_not_encoded(void **state)
{
    const struct column text = column_of(COLUMN_VARCHAR);
    const struct column *columns[] = {&text};
    struct buf key = {0}, id = {0}, again = {0};
    struct err err = {0};

    (void)state;
    append(&key, &text, text_value("50%,x"));
    assert_true(key_append_id(&id, columns, 1, buf_str(&key), &err));
    assert_string_equal(id.ptr, "50%,x");
    assert_true(key_parse_id(&again, columns, 1, buf_str(&id), &err));
    assert_true(str_equal(buf_str(&again), buf_str(&key)));
    buf_free(&key);
    buf_free(&id);
    buf_free(&again);
}

static void keys_that_make_no_id_are_refused(void **state)
{
    const struct column text = column_of(COLUMN_VARCHAR);
    const struct column *columns[] = {&text};
    char longest[KEY_ID_MAX + 1];
    struct value v = {.kind = VALUE_TEXT, .s = {longest, sizeof(longest)}};
    struct value odd = text_value("\xff");
    struct value null = null_value();
    struct buf key = {0}, id = {0};
    struct err err = {0};

    (void)state;
    memset(longest, 'x', sizeof(longest));
    append(&key, &text, v);
    assert_false(key_append_id(&id, columns, 1, buf_str(&key), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    buf_clear(&key);
    buf_clear(&id);
    v.s.len--;
    append(&key, &text, v);
    assert_true(key_append_id(&id, columns, 1, buf_str(&key), &err));
    buf_clear(&key);
    buf_clear(&id);
    append(&key, &text, text_value(""));
    assert_false(key_append_id(&id, columns, 1, buf_str(&key), &err));
    buf_clear(&key);
    assert_false(key_append(&key, &text, &null, &err));
    assert_false(key_append(&key, &text, &odd, &err));
    assert_int_equal(key.len, 0);
    assert_false(key_append_id(&id, columns, 1, STR("\x05\0\0\0abc"), &err));
    buf_free(&key);
    buf_free(&id);
}

/* A row image has -0 where a SELECT shows 0. */
static void both_zeros_are_one_key(void **state)
{
    static const enum column_type types[] = {COLUMN_FLOAT, COLUMN_DOUBLE};
    static const enum value_kind kinds[] = {VALUE_FLOAT, VALUE_DOUBLE};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct column c = column_of(types[i]);
        struct buf minus = {0}, plus = {0};

        append(&minus, &c, (struct value){.kind = kinds[i], .d = -0.0});
        append(&plus, &c, (struct value){.kind = kinds[i], .d = 0.0});
        assert_true(str_equal(buf_str(&minus), buf_str(&plus)));
        buf_free(&minus);
        buf_free(&plus);
    }
}

static void what_is_no_number_never_reaches_a_statement(void **state)
{
    const struct column number = column_of(COLUMN_INT), pair = column_of(COLUMN_VARCHAR);
    const struct column *columns[] = {&number}, *two[] = {&number, &pair};
    struct value v = text_value("1 OR 1");
    struct buf key = {0};
    struct err err = {0};

    (void)state;
    assert_false(key_parse_id(&key, columns, 1, STR("1 OR 1"), &err));
    assert_false(key_parse_id(&key, columns, 1, STR(""), &err));
    assert_false(key_parse_id(&key, columns, 1, STR("1,2"), &err));
    assert_false(key_parse_id(&key, two, 2, STR("1"), &err));
    assert_false(key_parse_id(&key, two, 2, STR("1,a%2"), &err));
    assert_false(key_append(&key, &number, &v, &err));
    buf_free(&key);
}

static const struct {
    enum column_type type;
    const char *part;
    const char *literal;
} literals[] = {
    {COLUMN_INT, "-5", "-5"},
    {COLUMN_DECIMAL, "12.50", "12.50"},
    {COLUMN_FLOAT, "0.1", "1.0000000149011612e-01"},
    {COLUMN_DOUBLE, "0.1", "1.0000000000000001e-01"},
    {COLUMN_VARCHAR, "it's", "'it''s'"},
    {COLUMN_BLOB, "ab", "x'6162'"},
    {COLUMN_DATETIME, "2024-01-02T03:04:05", "'2024-01-02T03:04:05'"},
};

static void literals_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
        const struct column c = column_of(literals[i].type);
        struct buf sql = {0};

        key_append_literal(&sql, &c, str_from(literals[i].part));
        assert_string_equal(sql.ptr, literals[i].literal);
        buf_free(&sql);
    }
}

static void labels_sort_by_their_numbers(void **state)
{
    struct str labels[] = {STR("b"), STR("a"), STR("c")};
    struct column c = column_of(COLUMN_ENUM), set = column_of(COLUMN_SET);
    struct buf key = {0};

    (void)state;
    set_labels(&c, labels, 3);
    set_labels(&set, labels, 3);
    assert_int_equal(key_sort_number(&c, STR("a")), 2);
    assert_int_equal(key_sort_number(&c, STR("")), 0);
    assert_int_equal(key_sort_number(&set, STR("b,c")), 5);
    assert_int_equal(key_listed_max(&c), 3);
    assert_int_equal(key_listed_max(&set), 0);
    c.n_labels = KEY_LISTED_MAX + 1;
    assert_int_equal(key_listed_max(&c), 0);
    append(&key, &set, (struct value){.kind = VALUE_SET, .u = 5});
    append(&key, &c, (struct value){.kind = VALUE_ENUM, .u = 2});
    append(&key, &c, (struct value){.kind = VALUE_ENUM, .u = 3});
    assert_memory_equal(key.ptr, "\3\0\0\0b,c\1\0\0\0a\1\0\0\0c", key.len);
    buf_free(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_the_text_of_its_key),
        cmocka_unit_test(parts_of_composite_keys_do_not_collide),
        cmocka_unit_test(a_single_part_is_not_encoded),
        cmocka_unit_test(keys_that_make_no_id_are_refused),
        cmocka_unit_test(both_zeros_are_one_key),
        cmocka_unit_test(what_is_no_number_never_reaches_a_statement),
        cmocka_unit_test(literals_are_exact),
        cmocka_unit_test(labels_sort_by_their_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
