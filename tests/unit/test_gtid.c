#include "config.h"

#include "tests/unit/vectors.h"

#include "src/base/buf.h"
#include "sync/position/gtid_set.h"

#define A "3e11fa47-71ca-11e1-9e33-c80aa9429562"
#define B "ffffffff-0000-0000-0000-000000000001"

static struct gtid_set *set(const char *text)
{
    struct gtid_set *s = NULL;
    struct err err = {0};

    assert_true(gtid_set_parse(str_from(text), &s, &err));
    return s;
}

static void assert_text(const struct gtid_set *s, const char *text)
{
    struct buf b = {0};

    buf_append(&b, STR(""));
    gtid_set_format(&b, s);
    assert_string_equal(b.ptr, text);
    buf_free(&b);
}

static void a_set_is_printed_sorted_and_joined(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {A ":1", A ":1"},
        {A ":5-7:1-4:9", A ":1-7:9"},
        {" " B " : 3 ,\n " A ":1-2", A ":1-2," B ":3"},
        {"3E11FA4771CA11E19E33C80AA9429562:1-3", A ":1-3"},
        {A ":1:tag_b:2-3:Tag_A:9:1," A ":2", A ":1-2:tag_a:1:9:tag_b:2-3"},
        {A ":3-5:1-9," A ":8-20", A ":1-20"},
        {"0-1-100", "0-1-100"},
        {"1-2-5,0-1-18446744073709551615", "0-1-18446744073709551615,1-2-5"},
        {"0-1-5,0-2-6", "0-2-6"},
        {"," A ":1,,", A ":1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gtid_set *s = set(cases[i][0]);

        assert_text(s, cases[i][1]);
        gtid_set_free(s);
    }
}

static void text_that_is_no_set_is_refused(void **state)
{
    static const char *const bad[] = {
        "x",
        A,
        A ":",
        A ":0",
        A ":5-3",
        A ":1-",
        A ":tag",
        A ":1:2x",
        "0-1",
        "0-1-2-3",
        "4294967296-1-1",
        A ":9223372036854775807",
        A ":1;" A ":2",
        A ":abcdefghijklmnopqrstuvwxyz0123456:1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct gtid_set *s = NULL;
        struct err err = {0};

        assert_false(gtid_set_parse(str_from(bad[i]), &s, &err));
        assert_int_equal(err.kind, ERR_REJECT);
    }
}

static void one_id_is_read_and_printed(void **state)
{
    static const char *const ids[] = {A ":7", A ":tag_1:42", "3-17-99"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct gtid g;
        struct err err = {0};
        struct buf b = {0};

        assert_true(gtid_parse(str_from(ids[i]), &g, &err));
        gtid_format(&b, &g);
        assert_string_equal(b.ptr, ids[i]);
        buf_free(&b);
    }

    struct gtid g;
    struct err err = {0};

    assert_false(gtid_parse(STR(A ":1-2"), &g, &err));
    assert_false(gtid_parse(STR(A ":tag"), &g, &err));
}

/* Against a plain array of booleans. */
static void adding_in_any_order_equals_a_naive_model(void **state)
{
    unsigned seed = 12345;

    (void)state;
    for (int round = 0; round < 50; round++) {
        bool model[66] = {0};
        struct gtid_set *s = gtid_set_new();

        for (int i = 0; i < 60; i++) {
            struct gtid g = {.family = GTID_MYSQL};

            seed = seed * 1103515245 + 12345;
            g.number = 1 + (seed >> 16) % 64;
            model[g.number] = true;
            gtid_set_add(s, &g);
            if (i % 10 == 0) {
                struct gtid_set *copy = gtid_set_copy(s);

                assert_true(gtid_set_equal(s, copy));
                gtid_set_free(s);
                s = copy;
            }
        }
        for (uint64_t n = 1; n < 65; n++)
            assert_int_equal(
                gtid_set_contains(s, &(struct gtid){.family = GTID_MYSQL, .number = n}),
                model[n]);
        gtid_set_free(s);
    }
}

static void a_set_minus_another_is_what_is_missing(void **state)
{
    static const char *const cases[][3] = {
        {A ":1-10", A ":3-4:8", A ":1-2:5-7:9-10"},
        {A ":1-10", A ":1-10", ""},
        {A ":1-10", B ":1-10", A ":1-10"},
        {A ":5", A ":tag:5", A ":5"},
        {A ":2-3:7-9", A ":1-7", A ":8-9"},
        {"0-1-5,1-1-7", "0-2-6,1-1-6", "1-1-7"},
        {"", A ":1", ""},
        {A ":1-3:5-7", A ":4", A ":1-3:5-7"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gtid_set *a = set(cases[i][0]), *b = set(cases[i][1]);
        struct gtid_set *left = gtid_set_minus(a, b);

        assert_text(left, cases[i][2]);
        assert_int_equal(gtid_set_includes(b, a), cases[i][2][0] == '\0');
        gtid_set_merge(left, b);
        assert_true(gtid_set_includes(left, a));
        gtid_set_free(a);
        gtid_set_free(b);
        gtid_set_free(left);
    }
}

static void merging_unites(void **state)
{
    struct gtid_set *a = set(A ":1-3:9"), *b = set(A ":4-8:tag:2," B ":1");

    (void)state;
    gtid_set_merge(a, b);
    assert_text(a, A ":1-9:tag:2," B ":1");
    gtid_set_free(a);
    gtid_set_free(b);

    a = set("0-1-5"), b = set("0-2-5");
    assert_true(gtid_set_equal(a, a));
    assert_false(gtid_set_equal(a, b));
    gtid_set_free(a);
    gtid_set_free(b);

    a = set("0-1-5,1-1-9"), b = set("0-2-6,1-3-2");
    gtid_set_merge(a, b);
    assert_text(a, "0-2-6,1-1-9");
    gtid_set_free(a);
    gtid_set_free(b);
}

static void a_mariadb_id_replaces_its_domain(void **state)
{
    struct gtid_set *s = set("0-1-100");

    (void)state;
    gtid_set_add(s, &(struct gtid){.family = GTID_MARIADB, .server = 2, .number = 7});
    assert_text(s, "0-2-7");
    gtid_set_add(s, &(struct gtid){.family = GTID_MYSQL, .number = 7});
    assert_text(s, "0-2-7");
    for (uint64_t number = 6; number <= 8; number++)
        assert_int_equal(
            gtid_set_contains(
                s, &(struct gtid){.family = GTID_MARIADB, .server = 2, .number = number}),
            number <= 7);
    gtid_set_free(s);
}

static void the_wire_form_is_read_back(void **state)
{
    static const char *const cases[] = {
        "",
        A ":1-5:11",
        A ":1," B ":2-9",
        A ":1:abc:7-9," B ":z_9:1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct gtid_set *s = set(cases[i]), *back = NULL;
        struct buf b = {0};
        struct err err = {0};

        gtid_set_encode(&b, s);
        assert_true(gtid_set_decode(buf_str(&b), &back, &err));
        assert_text(back, cases[i]);
        gtid_set_free(back);
        for (size_t cut = 0; cut < b.len; cut++)
            assert_false(gtid_set_decode((struct str){b.ptr, cut}, &back, &err));
        gtid_set_free(s);
        buf_free(&b);
    }
}

/* PREVIOUS_GTIDS of MySQL 9.6, from binlog_transaction_with_GTID_TAG.000001 of
 * rust_mysql_common. */
static void a_tagged_set_has_the_servers_bytes(void **state)
{
    struct buf wire = {0}, again = {0};
    struct gtid_set *s = NULL;
    struct err err = {0};

    (void)state;
    unhex(&wire,
          "010200000000000155778904029911f1b1b84ef0c4956feb00010000000000000001000000000000"
          "000e0000000000000055778904029911f1b1b84ef0c4956feb0a6d79746167010000000000000001"
          "000000000000000300000000000000");
    assert_true(gtid_set_decode(buf_str(&wire), &s, &err));
    assert_text(s, "55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2");
    gtid_set_encode(&again, s);
    assert_true(str_equal(buf_str(&again), buf_str(&wire)));
    gtid_set_free(s);
    buf_free(&wire);
    buf_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_printed_sorted_and_joined),
        cmocka_unit_test(text_that_is_no_set_is_refused),
        cmocka_unit_test(one_id_is_read_and_printed),
        cmocka_unit_test(adding_in_any_order_equals_a_naive_model),
        cmocka_unit_test(a_set_minus_another_is_what_is_missing),
        cmocka_unit_test(merging_unites),
        cmocka_unit_test(a_mariadb_id_replaces_its_domain),
        cmocka_unit_test(the_wire_form_is_read_back),
        cmocka_unit_test(a_tagged_set_has_the_servers_bytes),
    };
    return cmocka_run_group_tests_name("gtid", tests, NULL, NULL);
}
