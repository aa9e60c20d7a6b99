#include "config.h"

#include "tests/component/bucket_rig.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/catalog/catalog.h"
#include "sync/definition/definition.h"
#include "sync/definition/parse.h"
#include "sync/document/plan.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

struct mysql_conn *bucket_conn;

int bucket_rig_open(void **state)
{
    (void)state;
    bucket_conn = server_connect();
    server_database(bucket_conn, "bkt");
    server_exec(bucket_conn, "USE bkt");
    return 0;
}

int bucket_rig_close(void **state)
{
    (void)state;
    server_exec(bucket_conn, "DROP DATABASE bkt");
    mysql_conn_close(bucket_conn);
    return 0;
}

static struct schema *find_schema(void *ctx, struct str topic, struct str database,
                                  struct str table)
{
    struct schema **out = ctx;
    struct err err = {0};

    (void)topic;
    assert_true(
        catalog_load(bucket_conn, &(struct catalog_name){database, table}, 1, out, &err));
    return *out;
}

static struct plan *compile(size_t n_keys)
{
    struct definition_file file = {.name = STR("test"), .folder = STR("")};
    struct problems *problems = problems_new();
    struct schema *schema = NULL;
    struct buf text = {0};
    struct err err = {0};

    buf_append(&text, STR("topics:\n  - {name: t, address: 127.0.0.1, user: root, "
                          "password_env: X}\ndatabases: [{name: bkt, topic: t}]\n"
                          "tables:\n  - {table: bkt.t, key: [k0"));
    for (size_t i = 1; i < n_keys; i++)
        buf_printf(&text, ", k%zu", i);
    buf_append(&text, STR("]}\n"));
    file.text = buf_str(&text);

    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    assert_non_null(d);

    struct plan *p =
        plan_compile(d, definitions_table(d, STR("bkt.t")), find_schema, &schema, &err);

    if (p == NULL)
        fail_msg("%s", err.msg);
    schema_unref(schema);
    definitions_unref(d);
    problems_free(problems);
    buf_free(&text);
    return p;
}

static size_t count_rows(void)
{
    struct buf cell = {0};

    server_scalar(bucket_conn, "SELECT COUNT(*) FROM t", &cell);

    const size_t n = strtoull(cell.ptr, NULL, 10);

    buf_free(&cell);
    return n;
}

void bucket_table_make(struct bucket_table *t, const char *const *sql, size_t n, size_t n_keys)
{
    struct buf made = {0};

    server_exec(bucket_conn, "DROP TABLE IF EXISTS t");
    server_exec(bucket_conn, "DROP VIEW IF EXISTS t");
    for (size_t i = 0; i < n; i++) {
        server_exec(bucket_conn, sql[i]);
        buf_printf(&made, "%.400s; ", sql[i]);
    }
    *t = (struct bucket_table){.plan = compile(n_keys),
                               .arena = arena_new(),
                               .n_rows = count_rows(),
                               .n_keys = n_keys,
                               .made = made.ptr};
}

void bucket_table_free(struct bucket_table *t)
{
    plan_free(t->plan);
    arena_free(t->arena);
    free(t->made);
}

/* ---- any table ---- */

enum drawn {
    DRAW_INTEGER,
    DRAW_DECIMAL,
    DRAW_REAL,
    DRAW_TEXT,
    DRAW_BYTES,
    DRAW_LABEL,
    DRAW_YEAR,
    DRAW_DATE,
    DRAW_DATETIME,
    DRAW_TIMESTAMP,
    DRAW_TIME,
    DRAW_UUID,
    DRAW_ADDRESS
};

enum known_by { ALL_SERVERS = 0, MYSQL_ALONE, MARIADB_ALONE };

static const struct {
    const char *type;
    enum drawn drawn;
    enum known_by by;
} types[] = {
    /* those of a bucket column, which are numbers and times */
    {"INT", DRAW_INTEGER, ALL_SERVERS},
    {"TINYINT UNSIGNED", DRAW_INTEGER, ALL_SERVERS},
    {"BIGINT", DRAW_INTEGER, ALL_SERVERS},
    {"BIGINT UNSIGNED", DRAW_INTEGER, ALL_SERVERS},
    {"INT ZEROFILL", DRAW_INTEGER, ALL_SERVERS},
    {"DECIMAL(30,5)", DRAW_DECIMAL, ALL_SERVERS},
    {"DECIMAL(12,0) UNSIGNED", DRAW_DECIMAL, ALL_SERVERS},
    {"DOUBLE", DRAW_REAL, ALL_SERVERS},
    {"FLOAT", DRAW_REAL, ALL_SERVERS},
    {"YEAR", DRAW_YEAR, ALL_SERVERS},
    {"BIT(17)", DRAW_INTEGER, ALL_SERVERS},
    {"DATE", DRAW_DATE, ALL_SERVERS},
    {"DATETIME", DRAW_DATETIME, ALL_SERVERS},
    {"DATETIME(6)", DRAW_DATETIME, ALL_SERVERS},
    {"TIMESTAMP", DRAW_TIMESTAMP, ALL_SERVERS},
    {"TIMESTAMP(3)", DRAW_TIMESTAMP, ALL_SERVERS},
    {"TIME(2)", DRAW_TIME, ALL_SERVERS},
    /* those that only a key has */
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", DRAW_TEXT, ALL_SERVERS},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", DRAW_TEXT, ALL_SERVERS},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci", DRAW_TEXT,
     ALL_SERVERS},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_spanish_ci", DRAW_TEXT, ALL_SERVERS},
    {"CHAR(9) CHARACTER SET latin1 COLLATE latin1_german2_ci", DRAW_TEXT, ALL_SERVERS},
    {"VARCHAR(9) CHARACTER SET ucs2 COLLATE ucs2_general_ci", DRAW_TEXT, ALL_SERVERS},
    {"VARBINARY(6)", DRAW_BYTES, ALL_SERVERS},
    {"BINARY(4)", DRAW_BYTES, ALL_SERVERS},
    {"ENUM('b','a','C d')", DRAW_LABEL, ALL_SERVERS},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", DRAW_TEXT, MYSQL_ALONE},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs", DRAW_TEXT, MYSQL_ALONE},
    {"VARCHAR(12) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", DRAW_TEXT, MARIADB_ALONE},
    {"UUID", DRAW_UUID, MARIADB_ALONE},
    {"INET4", DRAW_ADDRESS, MARIADB_ALONE},
    {"INET6", DRAW_ADDRESS, MARIADB_ALONE},
};
#define N_SCALAR 17

static const char *const texts[] = {"a",  "A",  "b",   "B ",  "b  ", "ab",    "Ab", "zz", "-",
                                    "_x", "10", "9",   "é",   "ß",   "SS",    "e",  "ÿ",  "Ñ",
                                    "n",  "ch", "c h", "a-b", "ab1", "Zebra", "~"};

static void draw_integer(struct buf *sql, struct random *random)
{
    static const char *const extremes[] = {"0",
                                           "255",
                                           "2147483647",
                                           "-2147483648",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551615"};

    if (random_below(random, 4) == 0)
        buf_append(sql, str_from(extremes[random_below(random, ARRAY_LEN(extremes))]));
    else
        buf_append_i64(sql, (int64_t)random_below(random, 40) - 12);
}

static void draw_moment(struct buf *sql, struct random *random, bool zero)
{
    if (zero && random_below(random, 8) == 0)
        buf_append(sql, STR("'0000-00-00 00:00:00'"));
    else
        buf_printf(sql, "'20%02d-%02d-%02d %02d:%02d:%02d.%06d'",
                   (int)random_below(random, 4) + 20, (int)random_below(random, 12) + 1,
                   (int)random_below(random, 28) + 1, (int)random_below(random, 24),
                   (int)random_below(random, 60), (int)random_below(random, 60),
                   (int)random_below(random, 3) * 250000);
}

static void draw_text(struct buf *sql, struct random *random)
{
    buf_append_char(sql, '\'');
    for (size_t n = random_below(random, 3) + 1; n > 0; n--)
        buf_append(sql, str_from(texts[random_below(random, ARRAY_LEN(texts))]));
    buf_append_char(sql, '\'');
}

static void draw_uuid(struct buf *sql, struct random *random)
{
    static const char versions[] = "1467";

    buf_printf(sql, "'%08x-%04x-%c%03x-8%03x-%012x'", (unsigned)random_below(random, 1 << 30),
               (unsigned)random_below(random, 9), versions[random_below(random, 4)],
               (unsigned)random_below(random, 1 << 12), (unsigned)random_below(random, 9),
               (unsigned)random_below(random, 1 << 30));
}

static void draw_value(struct buf *sql, struct random *random, enum drawn drawn)
{
    switch (drawn) {
    case DRAW_INTEGER: draw_integer(sql, random); return;
    case DRAW_DECIMAL:
        buf_printf(sql, "%d.%05d", (int)random_below(random, 20) - 9,
                   (int)random_below(random, 3) * 25000);
        return;
    case DRAW_REAL:
        buf_printf(sql, "%d.%de%d", (int)random_below(random, 9) - 4,
                   (int)random_below(random, 10), (int)random_below(random, 20) - 10);
        return;
    case DRAW_TEXT: draw_text(sql, random); return;
    case DRAW_BYTES:
        buf_printf(sql, "x'%06x'", (unsigned)random_below(random, 1 << 24));
        return;
    case DRAW_LABEL: buf_printf(sql, "%d", (int)random_below(random, 3) + 1); return;
    case DRAW_YEAR: buf_printf(sql, "%d", (int)random_below(random, 100) + 1950); return;
    case DRAW_DATE:
        buf_printf(sql, "'19%02d-%02d-%02d'", (int)random_below(random, 3) + 70,
                   (int)random_below(random, 12) + 1, (int)random_below(random, 28) + 1);
        return;
    case DRAW_DATETIME: draw_moment(sql, random, true); return;
    case DRAW_TIMESTAMP: draw_moment(sql, random, false); return;
    case DRAW_UUID: draw_uuid(sql, random); return;
    case DRAW_ADDRESS:
        buf_printf(sql, "'%d.%d.0.%d'", (int)random_below(random, 256),
                   (int)random_below(random, 256), (int)random_below(random, 256));
        return;
    case DRAW_TIME:
        buf_printf(sql, "'%d:%02d:%02d.%02d'", (int)random_below(random, 300) - 100,
                   (int)random_below(random, 60), (int)random_below(random, 60),
                   (int)random_below(random, 4) * 25);
        return;
    }
}

static void append_rows(struct buf *sql, struct random *random, const size_t *of, size_t n_keys,
                        size_t n_rows)
{
    const bool few_nulls = random_below(random, 3) > 0;

    buf_append(sql, STR("INSERT IGNORE INTO t VALUES "));
    for (size_t i = 0; i < n_rows; i++) {
        buf_printf(sql, "%s(%zu", i > 0 ? "," : "", i);
        for (size_t k = 0; k <= n_keys; k++) {
            buf_append_char(sql, ',');
            if (k == n_keys && random_below(random, few_nulls ? 9 : 2) == 0)
                buf_append(sql, STR("NULL"));
            else
                draw_value(sql, random, types[of[k]].drawn);
        }
        buf_append_char(sql, ')');
    }
}

static size_t draw_type(struct random *random, size_t n)
{
    const bool mysql = mysql_conn_flavor(bucket_conn) == FLAVOR_MYSQL;
    size_t i;

    do
        i = random_below(random, n);
    while (types[i].by == (mysql ? MARIADB_ALONE : MYSQL_ALONE));
    return i;
}

void bucket_table_draw(struct bucket_table *t, struct random *random, size_t n_rows)
{
    const size_t n_keys = 1 + random_below(random, BUCKET_KEYS_MAX);
    size_t of[BUCKET_KEYS_MAX + 1];
    struct buf create = {0}, keys = {0}, insert = {0};

    buf_append(&create, STR("CREATE TABLE t (n INT NOT NULL"));
    for (size_t k = 0; k < n_keys; k++) {
        of[k] = draw_type(random, ARRAY_LEN(types));
        buf_printf(&create, ", k%zu %s NOT NULL", k, types[of[k]].type);
        buf_printf(&keys, "%sk%zu", k > 0 ? "," : "", k);
    }
    of[n_keys] = draw_type(random, N_SCALAR);
    buf_printf(&create, ", c %s NULL, KEY by_c (c), %s (%s))", types[of[n_keys]].type,
               random_below(random, 2) == 0 ? "PRIMARY KEY" : "UNIQUE KEY u", keys.ptr);
    append_rows(&insert, random, of, n_keys, n_rows);
    bucket_table_make(t, (const char *const[]){create.ptr, insert.ptr}, 2, n_keys);
    buf_free(&create);
    buf_free(&keys);
    buf_free(&insert);
}

/* ---- reading ---- */

static long number_of(const struct loaded *doc)
{
    const char *at;

    if (doc->err != NULL)
        fail_msg("%s", doc->err->msg);
    at = strstr(doc->body.ptr, "\"n\":");
    assert_non_null(at);
    return strtol(at + 4, NULL, 10);
}

void bucket_take_page(const struct loader_page *page, struct bucket_rows *out)
{
    out->rows = mem_resize(out->rows, out->n + page->n, sizeof(*out->rows));
    out->places = mem_resize(out->places, out->n + page->n, sizeof(*out->places));
    for (size_t i = 0; i < page->n; i++) {
        out->places[out->n] = i + 1 == page->n ? page->next : STR("");
        out->rows[out->n++] = number_of(&page->docs[i]);
    }
}

void bucket_read(const struct bucket_table *t, const struct loader_bucket *bucket,
                 struct str after, size_t rows_max, struct bucket_rows *out)
{
    struct loader_page page = {.bucket = *bucket, .after = after, .rows_max = rows_max};
    struct err err = {0};

    do {
        if (!loader_load_range(&bucket_conn, t->plan, &page, t->arena, &err))
            fail_msg("%s: %s", t->made, err.msg);
        assert_true(page.n > 0 || page.is_end);
        bucket_take_page(&page, out);
        page.after = page.next;
        assert_true(out->n <= 2 * t->n_rows); /* or it never ends */
    } while (!page.is_end);
}

void bucket_assert_whole(const struct bucket_table *t, const struct bucket_rows *rows)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err = {0};
    size_t n = 0;

    assert_true(mysql_conn_query(bucket_conn, STR("SELECT n FROM t"), &r, &err));
    while (mysql_result_next(r, &row, &err) > 0) {
        const long number = strtol(row.cells[0].ptr, NULL, 10);
        size_t found = 0;

        for (size_t i = 0; i < rows->n; i++)
            found += rows->rows[i] == number;
        if (found != 1)
            fail_msg("%s: row %ld is there %zu times", t->made, number, found);
        n++;
    }
    mysql_result_close(r);
    assert_int_equal(n, rows->n);
}

void bucket_rows_free(struct bucket_rows *rows)
{
    free(rows->rows);
    free(rows->places);
    *rows = (struct bucket_rows){0};
}

uint64_t bucket_rows_examined(void)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err = {0};
    uint64_t sum = 0;

    assert_true(mysql_conn_query(bucket_conn, STR("SHOW SESSION STATUS LIKE 'Handler_read%'"),
                                 &r, &err));
    while (mysql_result_next(r, &row, &err) > 0)
        if (!str_equal(row.cells[0], STR("Handler_read_retry")))
            sum += strtoull(row.cells[1].ptr, NULL, 10);
    mysql_result_close(r);
    server_exec(bucket_conn, "FLUSH STATUS");
    return sum;
}
