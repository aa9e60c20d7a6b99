#include "config.h"

#include "tests/component/bucket_rig.h"

#include "src/base/buf.h"
#include "sync/document/bucket/borders.h"
#include "sync/document/bucket/mod.h"
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
    for (size_t i = 0; i < 40; i++) {
        struct bucket_table t;

        bucket_table_draw(&t, &random, 25);
        assert_places(&t, &(struct loader_bucket){.by = STR("")}, &random);
        assert_places(&t, &(struct loader_bucket){.by = STR("c"), .index = STR("by_c")},
                      &random);
        assert_places(&t, &(struct loader_bucket){.by = STR("c")}, &random);
        bucket_table_free(&t);
    }
}

/* ---- borders ---- */

static void find(const struct bucket_table *t, const struct borders_wish *wish,
                 struct borders *out)
{
    struct err err = {0};

    if (!borders_find(bucket_conn, t->plan, wish, t->arena, out, &err))
        fail_msg("%s: %s", t->made, err.msg);
}

/* Read all buckets into `all`; returns the size of the largest. */
static size_t read_buckets(const struct bucket_table *t, struct str by,
                           const struct borders *borders, size_t rows_max,
                           struct bucket_rows *all)
{
    size_t largest = 0;

    for (size_t i = 0; i <= borders->n; i++) {
        const struct loader_bucket bucket = {.by = by,
                                             .index = borders->index,
                                             .until =
                                                 i < borders->n ? borders->places[i] : STR("")};
        const size_t before = all->n;

        bucket_read(t, &bucket, i > 0 ? borders->places[i - 1] : STR(""), rows_max, all);
        if (all->n - before > largest)
            largest = all->n - before;
    }
    return largest;
}

/* The guesses of the buckets are together that of the table. */
static void assert_sizes(const struct borders *borders)
{
    uint64_t sum = 0;

    for (size_t i = 0; borders->sizes != NULL && i <= borders->n; i++)
        sum += borders->sizes[i];
    assert_int_equal(sum, borders->rows);
}

static void every_row_of_any_table_is_in_one_of_its_buckets(void **state)
{
    struct random random;
    size_t n_borders = 0;

    (void)state;
    random_init(&random, 21);
    for (size_t i = 0; i < 150; i++) {
        const struct str by = random_below(&random, 2) == 0 ? STR("") : STR("c");
        const struct borders_wish wish = {.by = by, .n = 1 + random_below(&random, 12)};
        struct bucket_rows all = {0};
        struct bucket_table t;
        struct borders borders;

        bucket_table_draw(&t, &random, 1 + random_below(&random, 200));
        find(&t, &wish, &borders);
        assert_true(borders.n < wish.n);
        assert_sizes(&borders);
        n_borders += borders.n;
        (void)read_buckets(&t, by, &borders, 1 + random_below(&random, 50), &all);
        bucket_assert_whole(&t, &all);
        bucket_rows_free(&all);
        bucket_table_free(&t);
    }
    assert_true(n_borders > 300); /* or it would show nothing */
}

/* ---- how good they are, and what they cost ---- */

#define N_LARGE 32768 /* rows of a large table */

/* A large table's keys, as SQL of a number: seq. */
static const struct shape {
    const char *name;
    const char *columns; /* of the key, and c */
    const char *values;
    size_t n_keys;
    const char *by; /* "c", or "" for the key */
} shapes[] = {
    {"even", "k0 INT, c INT", "seq * 3, NULL", 1, ""},
    {"a huge gap", "k0 BIGINT, c INT", "IF(seq < 10000, seq, 9000000000000000000 + seq), NULL",
     1, ""},
    {"two gaps", "k0 BIGINT, c INT",
     "CASE seq % 3 WHEN 0 THEN seq - 9000000000000000000 WHEN 1 THEN seq ELSE "
     "9000000000000000000 + seq END, NULL",
     1, ""},
    {"squares", "k0 BIGINT, c INT", "seq * seq, NULL", 1, ""},
    {"cubes", "k0 BIGINT UNSIGNED, c INT", "CAST(seq AS UNSIGNED) * seq * seq, NULL", 1, ""},
    {"exponents", "k0 BIGINT UNSIGNED, c INT",
     "CAST(EXP(seq / 1800) * 1000 AS UNSIGNED) + seq, NULL", 1, ""},
    {"decimals", "k0 DECIMAL(30,8), c INT", "seq * seq / 1000 - 300000, NULL", 1, ""},
    {"reals", "k0 DOUBLE, c INT", "(seq - 15000) * 1e-9, NULL", 1, ""},
    {"hashes", "k0 CHAR(32) CHARACTER SET latin1, c INT", "MD5(seq), NULL", 1, ""},
    {"numbered texts", "k0 VARCHAR(40) CHARACTER SET utf8mb4, c INT",
     "CONCAT('order-2024-', LPAD(seq, 9, '0')), NULL", 1, ""},
    {"words", "k0 VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, c INT",
     "CONCAT(ELT(1 + seq % 6, 'Amsterdam', 'berlin', 'Oslo', 'ROME', 'Zürich', 'Ålesund'), "
     "' no. ', seq), NULL",
     1, ""},
    {"exact words", "k0 VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c INT",
     "CONCAT(ELT(1 + seq % 5, 'Amsterdam', 'berlin', 'Oslo', 'ROME', 'Київ'), "
     "' no. ', seq), NULL",
     1, ""},
    {"binary hashes", "k0 BINARY(16), c INT", "UNHEX(MD5(seq)), NULL", 1, ""},
    {"UUIDs", "k0 UUID, c INT", "INSERT(INSERT(MD5(seq), 13, 1, '4'), 17, 1, '8'), NULL", 1,
     ""},
    {"UUIDs of times", "k0 UUID, c INT",
     "CONCAT(LPAD(HEX(26000000000000 + seq * 1000), 12, '0'), '7', LEFT(MD5(seq), 3), 'a', "
     "LEFT(MD5(seq), 15)), NULL",
     1, ""},
    {"partitions", "k0 INT, c INT", "seq * 2, NULL", 1, ""},
    {"few values, then many", "k0 INT, k1 INT, c INT", "seq % 3, seq, NULL", 2, ""},
    {"one value for most", "k0 INT, k1 BIGINT, c INT",
     "IF(seq % 10 = 0, seq % 7, 3), seq * seq, NULL", 2, ""},
    {"a country and a number", "k0 VARCHAR(9), k1 DATE, k2 INT, c INT",
     "ELT(1 + seq % 3, 'de', 'fr', 'FR '), '2024-02-29', seq, NULL", 3, ""},
    {"labels", "k0 ENUM('z','y','x','w','v','u'), k1 INT, c INT", "1 + seq % 6, seq, NULL", 2,
     ""},
    {"one label for most", "k0 ENUM('z','y','x'), k1 INT, c INT",
     "IF(seq % 10 = 0, 1 + seq % 2, 3), seq * seq, NULL", 2, ""},
    {"a number and labels", "k0 INT, k1 ENUM('z','y','x'), k2 INT, c INT",
     "seq % 2, 1 + seq % 3, seq, NULL", 3, ""},
    {"INET6 hashes", "k0 INET6, c INT", "INET6_NTOA(UNHEX(MD5(seq))), NULL", 1, ""},
    {"INET6 of a net", "k0 INET6, c INT", "CONCAT('2001:db8::', HEX(seq)), NULL", 1, ""},
    {"days", "k0 DATE, k1 INT, c INT", "'1999-12-30' + INTERVAL seq % 200 DAY, seq, NULL", 2,
     ""},
    {"times", "k0 INT, c DATETIME", "seq, '2020-01-01' + INTERVAL seq * 31 SECOND", 1, "c"},
    {"times ever closer", "k0 INT, c TIMESTAMP(6) NULL",
     "seq, '1971-01-01' + INTERVAL (SQRT(seq) * 4000000) SECOND", 1, "c"},
    {"times within a second", "k0 INT, c DATETIME(6)",
     "seq, '2024-03-31 02:30:00' + INTERVAL seq MICROSECOND", 1, "c"},
    {"times of the future", "k0 INT, c DATETIME",
     "seq, IF(seq % 100 = 0, '9999-12-31 23:59:59', '2024-01-01' + INTERVAL seq MINUTE)", 1,
     "c"},
    {"hours", "k0 INT, c TIME(3)", "seq, SEC_TO_TIME(seq - 15000)", 1, "c"},
    {"NULLs", "k0 INT, c DATETIME",
     "seq, IF(seq % 3 = 0, NULL, '2024-01-01' + INTERVAL seq MINUTE)", 1, "c"},
    {"nothing but NULL", "k0 VARCHAR(20), c DATETIME", "CONCAT('k', seq), NULL", 1, "c"},
    {"one time for all", "k0 INT, c DATETIME", "seq, '2024-01-01'", 1, "c"},
    {"few states", "k0 BIGINT, k1 INT, c TINYINT", "seq DIV 100, seq, IF(seq % 9 = 0, 1, 7)", 2,
     "c"},
    {"prices", "k0 INT, c DECIMAL(10,2)", "seq, seq % 1000 / 100 - 2", 1, "c"},
};

static void make_large(struct bucket_table *t, const struct shape *shape)
{
    struct buf create = {0}, insert = {0};

    buf_printf(&create,
               "CREATE TABLE t (n INT NOT NULL, %s, pad CHAR(50) NOT NULL DEFAULT 'x', "
               "PRIMARY KEY (k0%s%s), KEY by_c (c)) CHARACTER SET utf8mb4%s",
               shape->columns, shape->n_keys > 1 ? ",k1" : "", shape->n_keys > 2 ? ",k2" : "",
               strcmp(shape->name, "partitions") == 0 ? " PARTITION BY HASH (k0) PARTITIONS 4"
                                                      : "");
    buf_printf(&insert, "INSERT INTO t%s SELECT seq, %s FROM number ORDER BY RAND(4)",
               shape->n_keys == 1   ? " (n, k0, c)"
               : shape->n_keys == 2 ? " (n, k0, k1, c)"
                                    : " (n, k0, k1, k2, c)",
               shape->values);
    bucket_table_make(t, (const char *const[]){create.ptr, insert.ptr, "ANALYZE TABLE t"}, 3,
                      shape->n_keys);
    assert_int_equal(t->n_rows, N_LARGE);
    buf_free(&create);
    buf_free(&insert);
}

static void assert_good(const struct shape *shape, size_t n)
{
    const struct borders_wish wish = {
        .by = str_from(shape->by), .n = n, .rows_min = BORDERS_ROWS_MIN};
    struct bucket_rows all = {0};
    struct bucket_table t;
    struct borders borders;
    uint64_t finding, reading;
    size_t largest;

    make_large(&t, shape);
    (void)bucket_rows_examined();
    find(&t, &wish, &borders);
    finding = bucket_rows_examined();
    largest = read_buckets(&t, wish.by, &borders, 1000, &all);
    reading = bucket_rows_examined();
    print_message("%-24s %2zu buckets: largest %.2f, examined %.3f to find and %.3f to read\n",
                  shape->name, borders.n + 1, (double)largest * (double)n / N_LARGE,
                  (double)finding / N_LARGE, (double)reading / N_LARGE);
    assert_int_equal(all.n, N_LARGE);
    assert_int_equal(borders.n + 1, n);
    assert_true(largest * 2 <= 5 * N_LARGE / n);
    assert_true((finding + reading) * 10 <= 12 * N_LARGE);
    bucket_rows_free(&all);
    bucket_table_free(&t);
}

static void large_tables_are_cut_evenly_and_read_once(void **state)
{
    (void)state;
    server_numbers(bucket_conn, "number", 15);
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if ((strstr(shapes[i].columns, "UUID") == NULL &&
             strstr(shapes[i].columns, "INET6") == NULL) ||
            mysql_conn_flavor(bucket_conn) == FLAVOR_MARIADB)
            assert_good(&shapes[i], 3 + 5 * (i % 3));
}

static void buckets_end_between_values_of_the_first_column_and_within_them(void **state)
{
    static const struct shape halves = {"halves of three values", "k0 INT, k1 INT, c INT",
                                        "seq % 3, seq, NULL", 2, ""};

    (void)state;
    assert_good(&halves, 6);
}

/* ---- by mod ---- */

static void read_mod(const struct bucket_table *t, uint32_t n, struct bucket_rows *all)
{
    for (uint32_t i = 0; i < n; i++) {
        struct loader_page page = {.rows_max = 500};
        struct buf where = {0};
        struct err err = {0};

        assert_true(mod_append(&where, t->plan, STR("c"), n, i, &err));
        page.where = buf_str(&where);
        do {
            if (!loader_load_range(&bucket_conn, t->plan, &page, t->arena, &err))
                fail_msg("%s: %s", t->made, err.msg);
            bucket_take_page(&page, all);
            page.after = page.next;
        } while (!page.is_end);
        buf_free(&where);
    }
}

static void make_times(struct bucket_table *t, const char *type)
{
    struct buf create = {0};

    buf_printf(&create, "CREATE TABLE t (n INT, k0 INT PRIMARY KEY, c %s)", type);
    bucket_table_make(
        t,
        (const char *const[]){
            create.ptr,
            "INSERT INTO t SELECT seq, seq, CASE seq % 9 WHEN 0 THEN NULL WHEN 1 THEN "
            "'1971-01-01' + INTERVAL seq HOUR ELSE '2024-01-01 23:59:59.75' + INTERVAL seq * "
            "7919 SECOND END FROM number WHERE seq < 5000",
            strncmp(type, "TIMESTAMP", 9) == 0
                ? "DO 0"
                : "UPDATE t SET c = c - INTERVAL 70 YEAR WHERE n % 9 = 2",
            "ANALYZE TABLE t"},
        4, 1);
    buf_free(&create);
}

static void buckets_by_mod_have_each_row_once_and_read_all_rows_each(void **state)
{
    static const char *const times[] = {"DATE NULL", "DATETIME NULL", "DATETIME(6) NULL",
                                        "TIMESTAMP NULL", "TIMESTAMP(3) NULL"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        const uint32_t n = 1 + (uint32_t)i * 2;
        struct bucket_rows all = {0};
        struct bucket_table t;
        struct err err = {0};
        uint64_t expected, examined;

        make_times(&t, times[i]);
        assert_true(mod_rows_examined(bucket_conn, t.plan, n, &expected, &err));
        (void)bucket_rows_examined();
        read_mod(&t, n, &all);
        examined = bucket_rows_examined();
        bucket_assert_whole(&t, &all);
        assert_in_range(examined, n * t.n_rows, n * t.n_rows * 11 / 10);
        assert_in_range(expected, examined / 2, examined * 2);
        bucket_rows_free(&all);
        bucket_table_free(&t);
    }
}

/* As the specification says, whatever the session's zone would be. */
static void a_row_is_in_the_bucket_of_its_seconds(void **state)
{
    static const char *const sql[] = {
        "CREATE TABLE t (n INT, k0 INT PRIMARY KEY, c DATETIME(3), v INT)",
        "INSERT INTO t VALUES (1, 1, NULL, 0), (2, 2, '1970-01-01 00:00:06.999', 0), "
        "(3, 3, '1970-01-01 00:00:08', 0), (4, 4, '2024-03-31 02:30:00', 0), "
        "(5, 5, '1969-12-31 23:59:59', 0), (6, 6, '0000-00-00 00:00:00', 0)"};
    /* 1711852200 is 0 modulo 3 */
    static const long expected[] = {1, 2, 4, 5, 6, 3};
    struct bucket_rows all = {0};
    struct bucket_table t;
    struct buf where = {0};
    struct err err = {0};

    (void)state;
    bucket_table_make(&t, sql, ARRAY_LEN(sql), 1);
    read_mod(&t, 3, &all);
    assert_int_equal(all.n, ARRAY_LEN(expected));
    assert_memory_equal(all.rows, expected, sizeof(expected));
    assert_false(mod_append(&where, t.plan, STR("v"), 3, 0, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "of type DATE, DATETIME or TIMESTAMP"));
    assert_false(mod_append(&where, t.plan, STR(""), 3, 0, &err));
    bucket_rows_free(&all);
    bucket_table_free(&t);
}

/* ---- tables that are not cut ---- */

static const char *borders_of(const char *const *sql, size_t n, const char *by, size_t wished,
                              struct borders *out)
{
    const struct borders_wish wish = {.by = str_from(by), .n = wished};
    struct bucket_table t;
    struct err err = {0};
    static char message[ERR_MSG_MAX], index[100];

    bucket_table_make(&t, sql, n, 1);

    const bool found = borders_find(bucket_conn, t.plan, &wish, t.arena, out, &err);

    assert_true(found || err.kind == ERR_REJECT);
    snprintf(message, sizeof(message), "%s",
             !found                 ? err.msg
             : out->why_not != NULL ? out->why_not
                                    : "");
    snprintf(index, sizeof(index), "%.*s", found ? (int)out->index.len : 0,
             found ? out->index.ptr : "");
    out->index = str_from(index); /* outlives the table's arena */
    bucket_table_free(&t);
    return message;
}

static void a_table_that_cannot_be_cut_says_why(void **state)
{
    static const char *const empty[] = {
        "CREATE TABLE t (n INT, k0 INT PRIMARY KEY, c DATETIME, "
        "v TEXT, KEY (v(9)), KEY two (c, n))",
        "INSERT INTO t VALUES (1, 1, NULL, 'x')"};
    static const char *const labels[] = {
        "CREATE TABLE t (n INT, k0 SET('a','b','c') PRIMARY KEY)",
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"};
    static const char *const view[] = {"CREATE TABLE IF NOT EXISTS below (n INT, k0 INT)",
                                       "CREATE VIEW t AS SELECT * FROM below"};
    struct borders b;

    (void)state;
    assert_string_equal(borders_of(empty, 1, "", 4, &b), "the table has few rows");
    assert_true(b.n == 0 && b.rows == 0 && str_equal(b.index, STR("PRIMARY")));
    assert_string_equal(borders_of(empty, 2, "", 4, &b), "the table has few rows");
    assert_true(b.n == 0 && b.rows == 1);
    assert_string_equal(borders_of(empty, 2, "", 1, &b), "");
    assert_true(b.n == 0 && b.rows == 1);
    assert_non_null(strstr(borders_of(empty, 1, "c", 4, &b),
                           "`bkt`.`t` has no index that has its rows in the order of `c`"));
    assert_non_null(strstr(borders_of(empty, 1, "v", 4, &b), "is text"));
    assert_non_null(strstr(borders_of(empty, 1, "gone", 4, &b), "has no column `gone`"));
    assert_string_equal(borders_of(labels, 2, "", 3, &b),
                        "many of the rows cannot be told apart by the order's columns");
    assert_true(b.n == 0 && b.rows == 3);
    assert_string_equal(borders_of(view, 2, "", 4, &b), "a view has no index");
    assert_true(b.n == 0 && b.index.len == 0);
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
    struct buf long_place = {0}, text = {0}, bad_end = {0};
    struct bucket_table t;

    (void)state;
    bucket_table_make(&t, sql, ARRAY_LEN(sql), 2);
    for (size_t i = 0; i < 3; i++)
        key_append_part(&long_place, STR("1"));
    key_append_part(&text, STR("1 OR 1"));
    key_append_part(&bad_end, STR("1"));
    key_append_part(&bad_end, STR("\xff"));

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
    buf_free(&bad_end);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_parts_a_table_of_any_key_without_loss),
        cmocka_unit_test(every_row_of_any_table_is_in_one_of_its_buckets),
        cmocka_unit_test(large_tables_are_cut_evenly_and_read_once),
        cmocka_unit_test(buckets_end_between_values_of_the_first_column_and_within_them),
        cmocka_unit_test(buckets_by_mod_have_each_row_once_and_read_all_rows_each),
        cmocka_unit_test(a_row_is_in_the_bucket_of_its_seconds),
        cmocka_unit_test(a_table_that_cannot_be_cut_says_why),
        cmocka_unit_test(what_is_no_place_of_the_table_is_not_read),
    };

    return cmocka_run_group_tests(tests, bucket_rig_open, bucket_rig_close);
}
