#include "config.h"

#include "tests/component/bucket_rig.h"

#include "src/base/buf.h"
#include "sync/document/key.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

/* The first m parts of a place. */
static struct str beginning(struct str place, size_t m)
{
    struct str rest = place, part;

    while (m-- > 0)
        assert_true(key_next(&rest, &part));
    return (struct str){place.ptr, place.len - rest.len};
}

static size_t n_parts(struct str place)
{
    struct str part;
    size_t n = 0;

    while (key_next(&place, &part))
        n++;
    return n;
}

/* A place parts the rows into those up to it and those after it, in the order of all. */
static size_t assert_parts(const struct bucket_table *t, const struct bucket_rows *all,
                           struct loader_bucket bucket, struct str place, size_t rows_max)
{
    struct bucket_rows both = {0};
    size_t n_until;

    bucket.until = place;
    bucket_read(t, &bucket, STR(""), rows_max, &both);
    n_until = both.n;
    bucket.until = STR("");
    bucket_read(t, &bucket, place, rows_max, &both);
    if (both.n != all->n || memcmp(both.rows, all->rows, all->n * sizeof(*all->rows)) != 0)
        fail_msg("%s: %zu rows of %zu, until row %zu", t->made, both.n, all->n, n_until);
    bucket_rows_free(&both);
    return n_until;
}

static void assert_places(const struct bucket_table *t, const struct loader_bucket *bucket,
                          struct random *random)
{
    struct bucket_rows all = {0};

    bucket_read(t, bucket, STR(""), 1, &all);
    bucket_assert_whole(t, &all);
    for (size_t i = 0; i < all.n; i++) {
        const size_t rows_max = 1 + random_below(random, 20);
        const size_t n = n_parts(all.places[i]);

        assert_int_equal(assert_parts(t, &all, *bucket, all.places[i], rows_max), i + 1);
        for (size_t m = 1; m < n; m++)
            assert_in_range(
                assert_parts(t, &all, *bucket, beginning(all.places[i], m), rows_max), i + 1,
                all.n);
    }
    bucket_rows_free(&all);
}

static void each_place_parts_a_table_of_any_key_without_loss(void **state)
{
    struct random random;

    (void)state;
    random_init(&random, 20);
    for (size_t i = 0; i < 60; i++) {
        struct bucket_table t;

        bucket_table_draw(&t, &random, 25);
        assert_places(&t, &(struct loader_bucket){.by = STR("")}, &random);
        assert_places(&t, &(struct loader_bucket){.by = STR("c"), .index = STR("by_c")},
                      &random);
        assert_places(&t, &(struct loader_bucket){.by = STR("c")}, &random);
        bucket_table_free(&t);
    }
}

/* ---- what is refused ---- */

static bool reads(const struct bucket_table *t, struct loader_bucket bucket, struct str after,
                  const char *why)
{
    struct loader_page page = {.bucket = bucket, .after = after, .rows_max = 9};
    struct err err = {0};

    if (loader_load_range(&bucket_conn, t->plan, &page, t->arena, &err))
        return true;
    assert_int_equal(err.kind, ERR_REJECT);
    if (strstr(err.msg, why) == NULL)
        fail_msg("%s", err.msg);
    return false;
}

static void what_is_no_place_of_the_table_is_not_read(void **state)
{
    static const char *const sql[] = {
        "CREATE TABLE t (n INT, k0 INT, k1 VARCHAR(20), c DATETIME, v TEXT, "
        "PRIMARY KEY (k0, k1), KEY by_c (c))",
        "INSERT INTO t VALUES (1, 2, 'x', NULL, 'y')"};
    const char *const no_place = "a stored place is none of its rows' order";
    struct buf long_place = {0}, text = {0};
    struct bucket_table t;

    (void)state;
    bucket_table_make(&t, sql, ARRAY_LEN(sql), 2);
    for (size_t i = 0; i < 3; i++)
        key_append_part(&long_place, STR("1"));
    key_append_part(&text, STR("1 OR 1"));

    const struct str good = beginning(buf_str(&long_place), 2);
    const struct str bad[] = {
        buf_str(&long_place), buf_str(&text), STR("\x01"), {good.ptr, good.len - 1}};
    const struct loader_bucket by_key = {.by = STR("")}, by_c = {.by = STR("c")};

    assert_true(reads(&t, by_key, good, ""));
    assert_true(reads(&t, by_c, buf_str(&long_place), ""));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(reads(&t, by_key, bad[i], no_place));
        assert_false(reads(&t, (struct loader_bucket){.until = bad[i]}, STR(""), no_place));
    }
    assert_false(reads(&t, (struct loader_bucket){.by = STR("gone")}, STR(""), "no column"));
    assert_false(reads(&t, (struct loader_bucket){.by = STR("v")}, STR(""), "is text"));
    assert_false(reads(&t, (struct loader_bucket){.by = STR("c"), .index = STR("gone")},
                       STR(""), "gone"));
    bucket_table_free(&t);
    buf_free(&long_place);
    buf_free(&text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_parts_a_table_of_any_key_without_loss),
        cmocka_unit_test(what_is_no_place_of_the_table_is_not_read),
    };

    return cmocka_run_group_tests(tests, bucket_rig_open, bucket_rig_close);
}
