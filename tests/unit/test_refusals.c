#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/build/refusals.h"
#include "src/base/buf.h"

#include <stdio.h>

#define PRICE "mapper_parsing_exception: failed to parse field [price] of type [long]"

static void add(struct refusals *r, bool is_new, unsigned n, const char *field)
{
    char reason[200];

    for (unsigned i = 0; i < n; i++) {
        snprintf(
            reason, sizeof(reason),
            "mapper_parsing_exception: failed to parse field [%s] of type [long] in document "
            "with "
            "id '%u'. Preview of field's value: 'it's %u'",
            field, i, i * 7);
        refusals_add(r, is_new, STR("shop.orders"), str_from(reason));
    }
}

/* It lacks `now` documents of so many rows, the one before `before`, all for one reason. */
static bool is_worse(uint64_t rows, unsigned now, unsigned before)
{
    struct refusals *r = refusals_new();

    add(r, true, now, "price");
    add(r, false, before, "price");

    const bool worse = refusals_lost(r) > refusals_allowed(rows);

    refusals_free(r);
    return worse;
}

static void a_build_may_lose_a_thousandth_and_always_one(void **state)
{
    (void)state;
    assert_false(is_worse(10000, 10, 0));
    assert_true(is_worse(10000, 11, 0));
    assert_true(is_worse(10000, 4000, 0));
    assert_false(is_worse(1999, 1, 0));
    assert_true(is_worse(1999, 2, 0));
    assert_false(is_worse(2000, 2, 0));
    assert_false(is_worse(2, 1, 0));
}

static void a_build_never_loses_every_row(void **state)
{
    (void)state;
    assert_true(is_worse(2, 2, 0));
    assert_true(is_worse(1, 1, 0));
    assert_false(is_worse(1, 0, 0));
    assert_false(is_worse(0, 0, 0));
    assert_int_equal(refusals_allowed(0), 1);
}

static void what_was_refused_before_for_the_same_reason_is_not_lost(void **state)
{
    (void)state;
    assert_false(is_worse(2, 2, 2));
    assert_false(is_worse(10000, 4000, 4000));
    assert_false(is_worse(10000, 4010, 4000));
    assert_true(is_worse(10000, 4011, 4000));
    assert_false(is_worse(10000, 5, 4000));
}

static void what_was_refused_before_for_another_reason_stands_for_nothing(void **state)
{
    struct refusals *r = refusals_new();

    (void)state;
    add(r, true, 20, "price");
    add(r, false, 100, "name");
    refusals_add(r, true, STR("shop.lines"), STR(PRICE));
    assert_int_equal(refusals_lost(r), 21);
    assert_int_equal(refusals_all(r), 21);
    refusals_free(r);
}

static void kind_is(const char *reason, const char *expected)
{
    struct buf kind = {0};

    refusals_append_kind(str_from(reason), &kind);
    assert_string_equal(kind.ptr, expected);
    buf_free(&kind);
}

static void a_kind_names_the_field_and_no_document(void **state)
{
    (void)state;
    kind_is(
        PRICE
        " in document with id '2'. Preview of field's value: 'abc': For input string: \"abc\"",
        PRICE);
    kind_is("document_parsing_exception: [1:5] failed to parse field [a1] of type [long] in "
            "document "
            "with id 'a b'. Preview",
            "document_parsing_exception: [N:N] failed to parse field [a1] of type [long]");
    kind_is("a document of 4711 bytes is above the limit of 100mb",
            "a document of N bytes is above the limit of 100mb");
    kind_is("field's value 'it is' and \"7\" are open 'to the end",
            "field's value '...' and '...' are open '...'");
    kind_is("column v2 of 12", "column v2 of N");
    kind_is("\xc3\xbc"
            "7 7",
            "\xc3\xbc"
            "7 N");
    kind_is("x", "x");
}

static void the_most_frequent_kinds_are_told_first(void **state)
{
    struct refusals *r = refusals_new();
    struct buf text = {0};

    (void)state;
    add(r, true, 2, "name");
    add(r, true, 1500, "price");
    add(r, false, 500, "price");
    add(r, true, 9, "old");
    add(r, false, 9, "old");
    refusals_append(r, 1, &text);
    assert_string_equal(text.ptr, "1,000 of shop.orders: " PRICE "; and others");
    buf_clear(&text);
    refusals_append(r, 3, &text);
    assert_non_null(strstr(text.ptr, "[long]; 2 of shop.orders"));
    assert_null(strstr(text.ptr, "[old]"));
    buf_free(&text);
    refusals_free(r);
}

static void any_number_of_kinds_is_judged(void **state)
{
    struct refusals *r = refusals_new();
    char field[20];

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(field, sizeof(field), "f%u", i);
        add(r, true, 2, field);
        add(r, false, 1, field);
    }
    assert_int_equal(refusals_all(r), 6000);
    assert_int_equal(refusals_lost(r), 3000);
    refusals_free(r);
}

static void of_very_many_kinds_those_that_come_last_are_one(void **state)
{
    struct refusals *r = refusals_new();
    struct buf text = {0};
    char table[32];

    (void)state;
    for (unsigned i = 0; i < 1100; i++) {
        snprintf(table, sizeof(table), "shop.orders_%u", i);
        refusals_add(r, true, str_from(table), STR(PRICE));
    }
    assert_int_equal(refusals_lost(r), 1100);
    refusals_append(r, 1, &text);
    assert_string_equal(text.ptr, "100 of other reasons; and others");
    buf_free(&text);
    refusals_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_very_many_kinds_those_that_come_last_are_one),
        cmocka_unit_test(a_build_may_lose_a_thousandth_and_always_one),
        cmocka_unit_test(a_build_never_loses_every_row),
        cmocka_unit_test(what_was_refused_before_for_the_same_reason_is_not_lost),
        cmocka_unit_test(what_was_refused_before_for_another_reason_stands_for_nothing),
        cmocka_unit_test(a_kind_names_the_field_and_no_document),
        cmocka_unit_test(the_most_frequent_kinds_are_told_first),
        cmocka_unit_test(any_number_of_kinds_is_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
