#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/str.h"
#include "sync/document/bucket/sections.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* Sections of so many rows, named a, b, ... but for the last. */
static void sections_of(struct sections *s, const uint64_t *rows, size_t n)
{
    struct row_section parts[8];

    sections_init(s);
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct row_section){.until = str_from(names[i]), .rows = rows[i]};
    sections_split(s, 0, parts, n);
}

static void assert_cut(const uint64_t *rows, size_t n, size_t buckets, const char *expected)
{
    struct sections s;
    struct str places[8];
    char all[32] = "";

    sections_of(&s, rows, n);
    for (size_t i = 0, found = sections_cut(&s, buckets, places); i < found; i++)
        strncat(all, places[i].ptr, 1);
    assert_string_equal(all, expected);
    sections_fini(&s);
}

static void buckets_end_at_the_sections_nearest_to_their_shares(void **state)
{
    (void)state;
    assert_cut((const uint64_t[]){10, 10, 10, 10}, 4, 2, "b");
    assert_cut((const uint64_t[]){10, 10, 10, 10}, 4, 4, "abc");
    assert_cut((const uint64_t[]){10, 10, 10, 10}, 4, 1, "");
    assert_cut((const uint64_t[]){1, 97, 1, 1}, 4, 2, "b");
    assert_cut((const uint64_t[]){90, 2, 2, 2, 2, 2}, 6, 4, "a");
    assert_cut((const uint64_t[]){2, 2, 2, 2, 2, 90}, 6, 4, "e");
    assert_cut((const uint64_t[]){0, 0, 5}, 3, 3, "");
    assert_cut((const uint64_t[]){UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4}, 3, 3, "ab");
}

static void a_split_keeps_the_order_and_where_the_section_ended(void **state)
{
    const struct row_section parts[] = {{STR("x"), 3, 0, false}, {STR("y"), 4, 0, false}};
    struct sections s;

    (void)state;
    sections_of(&s, (const uint64_t[]){5, 9, 5}, 3);
    assert_int_equal(sections_largest(&s, 0), 1);
    assert_int_equal(sections_largest(&s, 9), SIZE_MAX);
    sections_split(&s, 1, parts, 2);
    assert_int_equal(s.n, 4);
    assert_int_equal(sections_rows(&s), 17);
    assert_true(str_equal(sections_after(&s, 0), STR("")));
    assert_true(str_equal(sections_after(&s, 2), STR("x")));
    assert_true(str_equal(sections_after(&s, 3), STR("b")));
    assert_int_equal(s.list[3].until.len, 0);
    sections_fini(&s);
}

/* Values that the column's order tells apart and the server does not. */
static void a_section_that_no_split_makes_smaller_is_left_as_it_is(void **state)
{
    const struct row_section parts[] = {{STR("x"), 1000, 0, false}, {STR("y"), 1, 0, false}};
    struct sections s;
    size_t n = 0;

    (void)state;
    sections_init(&s);
    for (size_t at = 0; at != SIZE_MAX && n < 100; n++) {
        sections_split(&s, at, parts, 2);
        at = sections_largest(&s, 10);
    }
    assert_in_range(n, 20, 30);
    sections_fini(&s);
}

static void each_bucket_has_the_rows_of_its_sections(void **state)
{
    const struct str places[] = {STR("b"), STR("c")};
    uint64_t sizes[3];
    struct sections s;

    (void)state;
    sections_of(&s, (const uint64_t[]){1, 2, 4, 8, 16}, 5);
    sections_sum(&s, places, 2, sizes);
    assert_int_equal(sizes[0], 3);
    assert_int_equal(sizes[1], 4);
    assert_int_equal(sizes[2], 24);
    sections_sum(&s, places, 0, sizes);
    assert_int_equal(sizes[0], 31);
    sections_fini(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_end_at_the_sections_nearest_to_their_shares),
        cmocka_unit_test(a_split_keeps_the_order_and_where_the_section_ended),
        cmocka_unit_test(each_bucket_has_the_rows_of_its_sections),
        cmocka_unit_test(a_section_that_no_split_makes_smaller_is_left_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
