#include "config.h"

#include "tests/component/loader_parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/mysql/trace.h"
#include "sync/catalog/catalog.h"
#include "sync/definition/definition.h"
#include "sync/definition/parse.h"
#include "sync/document/key.h"
#include "sync/document/key_set.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"
#include "sync/document/poll_query.h"
#include "sync/value/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITION                                                                        \
    "topics:\n"                                                                           \
    "  - {name: t, address: 127.0.0.1, user: root, password_env: X}\n"                    \
    "  - {name: u, address: 127.0.0.1, user: root, password_env: X}\n"                    \
    "databases: [{name: doc, topic: t}, {name: far, topic: u}]\n"                         \
    "tables:\n"                                                                           \
    "  - table: doc.stamped\n"                                                            \
    "  - table: doc.thing\n"                                                              \
    "    relations:\n"                                                                    \
    "      - from: grp\n"                                                                 \
    "        to: id\n"                                                                    \
    "        table: far.grp\n"                                                            \
    "        as: shown\n"                                                                 \
    "        relations: [{from: owner, to: id, table: far.owner, as: by}]\n"              \
    "  - table: doc.word\n"                                                               \
    "  - table: doc.orders\n"                                                             \
    "    relations:\n"                                                                    \
    "      - {from: customer, to: id, table: doc.customer, as: buyer, columns: [name]}\n" \
    "      - {from: id, to: orders, table: doc.item, many: true, columns: [id, text]}\n"  \
    "  - table: doc.box\n"                                                                \
    "    relations:\n"                                                                    \
    "      - {from: id, through: {table: doc.slip, from: box, to: sheet},\n"              \
    "         table: doc.sheet, to: id, as: sheets, many: true}\n"                        \
    "  - table: doc.mesh\n"                                                               \
    "  - table: doc.leaf\n"                                                               \
    "  - table: doc.sheet\n"                                                              \
    "  - table: doc.scroll\n"

struct mysql_conn *conn;
static struct definitions *defs;

static int open_server(void **state)
{
    const struct definition_file file = {STR("test"), STR(DEFINITION), STR(""), NULL};
    struct problems *problems = problems_new();

    (void)state;
    conn = server_connect();
    server_database(conn, "doc");
    server_exec(conn, "USE doc");
    server_exec(conn, "CREATE TABLE word (id VARCHAR(20) CHARACTER SET utf8mb4 COLLATE "
                      "utf8mb4_general_ci PRIMARY KEY, v INT)");
    server_exec(conn, "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(20))");
    server_exec(conn, "CREATE TABLE orders (id INT PRIMARY KEY, customer INT, KEY (customer))");
    server_exec(conn, "CREATE TABLE item (id INT PRIMARY KEY, orders INT, text LONGTEXT "
                      "CHARACTER SET utf8mb4, KEY (orders))");
    server_exec(conn, "CREATE TABLE mesh (a INT, b INT, grp INT, PRIMARY KEY (a, b))");
    server_exec(conn, "INSERT INTO word VALUES ('a', 1), ('B', 2), ('c ', 3)");
    server_exec(conn, "INSERT INTO customer VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    server_numbers(conn, "number", 14);
    server_exec(conn, "INSERT INTO orders SELECT seq, IF(seq < 10, 2, 1) FROM number");
    server_exec(conn, "INSERT INTO item SELECT seq, seq DIV 2, seq FROM number");
    defs = definition_apply(NULL, &file, 1, false, problems);
    assert_non_null(defs);
    problems_free(problems);
    return 0;
}

static int close_server(void **state)
{
    (void)state;
    definitions_unref(defs);
    server_exec(conn, "DROP DATABASE doc");
    mysql_conn_close(conn);
    return 0;
}

struct schema *loader_find_schema(void *ctx, struct str topic, struct str database,
                                  struct str table)
{
    struct loader_schemas *s = ctx;
    struct err err = {0};

    (void)topic;
    assert_true(
        catalog_load(conn, &(struct catalog_name){database, table}, 1, &s->all[s->n], &err));
    return s->all[s->n++];
}

struct plan *loader_compile(const char *table)
{
    struct loader_schemas schemas = {0};
    struct err err = {0};
    struct plan *p = plan_compile(defs, definitions_table(defs, str_from(table)),
                                  loader_find_schema, &schemas, &err);

    if (p == NULL)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < schemas.n; i++)
        schema_unref(schemas.all[i]);
    return p;
}

static struct str key_of(const struct plan *p, struct arena *a, const char *id)
{
    struct buf key = {0};
    struct err err = {0};

    assert_true(plan_key_of_id(p, str_from(id), &key, &err));
    struct str copy = arena_copy(a, buf_str(&key));

    buf_free(&key);
    return copy;
}

static void load(const struct plan *p, struct arena *a, const struct str *keys, size_t n,
                 struct loaded *out)
{
    struct err err = {0};

    if (!loader_load(&conn, p, &(struct loader_keys){.keys = keys, .n = n}, a, out, &err))
        fail_msg("%s", err.msg);
}

static void assert_loaded(const struct loaded *l, const char *id, const char *body)
{
    assert_null(l->err);
    assert_true(str_equal(l->id, str_from(id)));
    if (body == NULL)
        assert_null(l->body.ptr);
    else if (!str_equal(l->body, str_from(body)))
        fail_msg("%.*s is not %s", (int)l->body.len, l->body.ptr, body);
}

static void a_key_that_only_the_collation_finds_is_another_document(void **state)
{
    struct plan *p = loader_compile("doc.word");
    struct arena *a = arena_new();
    const struct str keys[] = {key_of(p, a, "A"), key_of(p, a, "a"), key_of(p, a, "b"),
                               key_of(p, a, "B"), key_of(p, a, "c"), key_of(p, a, "c "),
                               key_of(p, a, "d"), key_of(p, a, "a")};
    struct loaded out[ARRAY_LEN(keys)];

    (void)state;
    load(p, a, keys, ARRAY_LEN(keys), out);
    assert_loaded(&out[0], "A", NULL);
    assert_loaded(&out[1], "a", "{\"id\":\"a\",\"v\":1}");
    assert_loaded(&out[2], "b", NULL);
    assert_loaded(&out[3], "B", "{\"id\":\"B\",\"v\":2}");
    assert_loaded(&out[4], "c", NULL);
    assert_loaded(&out[5], "c ", "{\"id\":\"c \",\"v\":3}");
    assert_loaded(&out[6], "d", NULL);
    assert_loaded(&out[7], "a", "{\"id\":\"a\",\"v\":1}");
    arena_free(a);
    plan_free(p);
}

static void a_key_that_makes_no_id_is_an_error_only_where_a_row_has_it(void **state)
{
    struct plan *p = loader_compile("doc.word");
    struct arena *a = arena_new();
    struct buf key = {0};
    struct loaded out;

    (void)state;
    key_append_part(&key, STR(""));

    const struct str empty = buf_str(&key);

    load(p, a, &empty, 1, &out);
    assert_loaded(&out, "", NULL);
    server_exec(conn, "INSERT INTO word VALUES ('', 4)");
    load(p, a, &empty, 1, &out);
    server_exec(conn, "DELETE FROM word WHERE id = ''");
    assert_non_null(out.err);
    buf_free(&key);
    arena_free(a);
    plan_free(p);
}

static void nothing_is_asked_for_no_keys(void **state)
{
    struct plan *p = loader_compile("doc.orders");
    struct arena *a = arena_new();
    struct mysql_trace trace = {0};

    (void)state;
    mysql_conn_trace(conn, &trace);
    load(p, a, NULL, 0, NULL);
    mysql_conn_trace(conn, NULL);
    assert_int_equal(trace.n, 0);
    arena_free(a);
    plan_free(p);
}

static void many_keys_need_few_statements(void **state)
{
    const size_t n = 2500;
    struct plan *p = loader_compile("doc.orders");
    struct arena *a = arena_new();
    struct str *keys = mem_alloc(n, sizeof(*keys));
    struct loaded *out = mem_alloc(n, sizeof(*out));
    struct mysql_trace trace = {0};
    char id[16], body[128];

    (void)state;
    for (size_t i = 0; i < n; i++) {
        snprintf(id, sizeof(id), "%zu", i * 7);
        keys[i] = key_of(p, a, id);
    }
    mysql_conn_trace(conn, &trace);
    load(p, a, keys, n, out);
    mysql_conn_trace(conn, NULL);
    assert_in_range(trace.n, 3, 10);
    for (size_t i = 10; i < n; i++) {
        snprintf(id, sizeof(id), "%zu", i * 7);
        snprintf(body, sizeof(body),
                 "{\"id\":%s,\"customer\":1,\"buyer\":{\"name\":\"one\"},\"item\":[{\"id\":%zu,"
                 "\"text\":\"%zu\"},{\"id\":%zu,\"text\":\"%zu\"}]}",
                 id, i * 14, i * 14, i * 14 + 1, i * 14 + 1);
        if (i * 14 + 1 < N_ORDERS)
            assert_loaded(&out[i], id, body);
        else if (i * 7 >= N_ORDERS)
            assert_loaded(&out[i], id, NULL);
    }
    free(keys);
    free(out);
    mysql_trace_fini(&trace);
    arena_free(a);
    plan_free(p);
}

static void a_large_text_arrives_whole(void **state)
{
    struct plan *p = loader_compile("doc.orders");
    struct arena *a = arena_new();
    const struct str key = key_of(p, a, "9000");
    const size_t size = 8 << 20;
    struct loaded out;

    (void)state;
    server_exec(conn,
                "INSERT INTO item VALUES (100000, 9000, REPEAT('0123456789abcdé', 524288))");
    load(p, a, &key, 1, &out);
    assert_null(out.err);
    assert_in_range(out.body.len, size, size + 200);
    assert_memory_equal(out.body.ptr + out.body.len - 6, "\xc3\xa9\"}]}", 6);
    server_exec(conn, "DELETE FROM item WHERE id = 100000");
    arena_free(a);
    plan_free(p);
}

static void a_failing_statement_names_its_table(void **state)
{
    struct plan *p = loader_compile("doc.orders");
    struct arena *a = arena_new();
    const struct str key = key_of(p, a, "1");
    struct loaded out;
    struct err err = {0};

    (void)state;
    server_exec(conn, "RENAME TABLE item TO elsewhere");
    assert_false(
        loader_load(&conn, p, &(struct loader_keys){.keys = &key, .n = 1}, a, &out, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "item"));
    server_exec(conn, "RENAME TABLE elsewhere TO item");
    load(p, a, &key, 1, &out);
    arena_free(a);
    plan_free(p);
}

/* A table that is read by time, of ten rows. */
static void make_stamped(void)
{
    server_exec(conn, "DROP TABLE IF EXISTS stamped");
    server_exec(conn, "CREATE TABLE stamped (id DECIMAL(9) PRIMARY KEY, at DATETIME)");
    server_exec(conn, "INSERT INTO stamped SELECT seq, '2026-01-01' + INTERVAL seq SECOND FROM "
                      "number WHERE seq BETWEEN 1 AND 10");
}

static void a_page_of_changed_rows_without_one_of_its_keys_is_not_the_last(void **state)
{
    struct arena *a = arena_new();
    struct poll_row *rows;
    struct err err = {0};
    size_t n, seen = 0;
    bool end = false;

    (void)state;
    make_stamped();

    struct plan *p = loader_compile("doc.stamped");
    struct poll_page page = {.plan = p, .check = STR("at"), .limit = 4};

    /* The table has another shape than the plan knows of. */
    server_exec(conn, "ALTER TABLE stamped MODIFY id VARCHAR(20)");
    server_exec(conn, "UPDATE stamped SET id = 'x' WHERE id = '2'");
    while (!end) {
        assert_true(poll_load(conn, &page, a, &rows, &n, &end, &err));
        seen += n;
        page.last = n > 0 ? &rows[n - 1] : page.last;
    }
    assert_int_equal(seen, 9);
    server_exec(conn, "UPDATE stamped SET id = CONCAT('x', at)");
    page.last = NULL;
    assert_false(poll_load(conn, &page, a, &rows, &n, &end, &err));
    assert_non_null(strstr(err.msg, "without a usable key"));
    arena_free(a);
    plan_free(p);
}

/* Box 1 and 2 show 100 MiB each, 3 shows 300 and 4 140, all from one sheet. */
static void make_boxes(void)
{
    server_exec(conn, "CREATE TABLE box (id INT PRIMARY KEY)");
    server_exec(conn, "CREATE TABLE slip (id INT PRIMARY KEY, box INT, sheet INT, KEY (box))");
    server_exec(conn, "CREATE TABLE sheet (id INT PRIMARY KEY, text LONGTEXT)");
    server_exec(conn, "INSERT INTO box VALUES (1), (2), (3), (4)");
    server_exec(conn, "INSERT INTO sheet VALUES (1, REPEAT('x', 1 << 20))");
    server_exec(conn, "INSERT INTO slip SELECT seq, IF(seq < 100, 1, IF(seq < 200, 2, "
                      "IF(seq < 500, 3, 4))), 1 FROM number WHERE seq < 640");
}

static bool load_boxes(const struct plan *p, const char *const *ids, size_t n,
                       struct loaded *out, struct err *err)
{
    struct arena *a = arena_new();
    struct str keys[2];

    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(p, a, ids[i]);

    const bool ok =
        loader_load(&conn, p, &(struct loader_keys){.keys = keys, .n = n}, a, out, err);

    for (size_t i = 0; ok && i < n; i++) {
        assert_true((out[i].body.ptr != NULL) == (out[i].err == NULL));
        if (out[i].err != NULL) {
            *err = *out[i].err;
            out[i].err = err;
        }
    }
    arena_free(a);
    return ok;
}

static void
documents_that_do_not_fit_into_memory_are_refused_and_smaller_batches_are_not(void **state)
{
    static const char *const ids[] = {"1", "2", "3", "4"};
    struct arena *a = arena_new();
    struct loader_page page = {.after = STR(""), .rows_max = 2};
    struct loaded out[2];
    struct err err = {0};

    (void)state;
    make_boxes();

    struct plan *p = loader_compile("doc.box");

    assert_false(load_boxes(p, ids, 2, out, &err));
    assert_true(err.kind == ERR_REJECT);
    for (size_t i = 0; i < 2; i++)
        assert_true(load_boxes(p, &ids[i], 1, out, &err) && out[0].err == NULL);
    assert_false(load_boxes(p, &ids[2], 1, out, &err));
    assert_true(err.kind == ERR_REJECT);
    assert_true(load_boxes(p, &ids[3], 1, out, &err) && out[0].err != NULL);

    assert_false(loader_load_range(&conn, p, &page, a, &err));
    assert_true(err.kind == ERR_REJECT);
    page = (struct loader_page){.after = key_of(p, a, "1"), .rows_max = 1};
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_true(page.n == 1 && page.docs[0].err == NULL && !page.is_end);
    page = (struct loader_page){.after = key_of(p, a, "2"), .rows_max = 1};
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_true(page.n == 1 && page.docs[0].err != NULL && page.docs[0].body.ptr == NULL);
    assert_true(str_equal(page.docs[0].id, STR("3")));
    plan_free(p);
    arena_free(a);
}

/* Sheets 1 to 60 have 1 KiB each, 61 to 64 have 1 MiB each. */
static void make_sheets(void)
{
    server_exec(conn, "DROP TABLE IF EXISTS sheet");
    server_exec(conn, "CREATE TABLE sheet (id INT PRIMARY KEY, text LONGTEXT)");
    server_exec(conn, "INSERT INTO sheet SELECT seq, REPEAT('x', IF(seq > 60, 1 << 20, 1024)) "
                      "FROM number WHERE seq BETWEEN 1 AND 64");
}

static void a_page_ends_before_the_row_that_does_not_fit(void **state)
{
    static const size_t pages[] = {31, 29, 1, 1, 1, 1};
    struct loader_page page = {.after = STR(""), .rows_max = 50, .bytes_max = 32 << 10};
    struct err err = {0};

    (void)state;
    make_sheets();

    struct plan *p = loader_compile("doc.sheet");
    struct arena *a = arena_new();

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        const size_t before = arena_size(a);

        assert_true(loader_load_range(&conn, p, &page, a, &err));
        assert_int_equal(page.n, pages[i]);
        assert_int_equal(page.is_end, i + 1 == ARRAY_LEN(pages));
        assert_true(page.n == 1 || arena_size(a) - before <= 4 * page.bytes_max);
        page.after = page.docs[page.n - 1].key;
    }
    plan_free(p);
    arena_free(a);
}

static void
a_sample_finds_the_last_rows_the_bounds_of_a_key_and_what_meets_a_condition(void **state)
{
    struct loader_page page = {.is_last = true, .rows_max = 2};
    struct buf least = {0}, greatest = {0};
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE leaf (id INT PRIMARY KEY, n INT)");

    struct plan *p = loader_compile("doc.leaf");
    struct arena *a = arena_new();

    assert_true(loader_bounds(conn, p, &least, &greatest, &err));
    assert_int_equal(least.len, 0);
    server_exec(conn, "INSERT INTO leaf VALUES (-7, 1), (2, 2), (30, 3)");
    assert_true(loader_bounds(conn, p, &least, &greatest, &err));
    assert_string_equal(least.ptr, "-7");
    assert_string_equal(greatest.ptr, "30");
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_int_equal(page.n, 2);
    assert_true(str_equal(page.docs[0].id, STR("30")));
    assert_true(str_equal(page.docs[1].id, STR("2")));
    page = (struct loader_page){.where = STR("n > 1 OR 1 = 0"), .rows_max = 9};
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_int_equal(page.n, 2);
    page.where = STR("nothing = 1");
    assert_false(loader_load_range(&conn, p, &page, a, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    buf_free(&least);
    buf_free(&greatest);
    plan_free(p);
    arena_free(a);
}

/* As JSON, each text has six times its size, and the first scroll 270 MiB. */
static void a_first_row_without_room_is_an_error_of_its_own_and_not_the_last(void **state)
{
    struct loader_page page = {.after = STR(""), .rows_max = 9, .bytes_max = 32 << 10};
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE scroll (id INT PRIMARY KEY, a LONGTEXT, b LONGTEXT, "
                      "c LONGTEXT)");
    server_exec(conn, "INSERT INTO scroll (id, a) VALUES (1, REPEAT(CHAR(1), 15 << 20)), "
                      "(2, 'short')");
    server_exec(conn, "UPDATE scroll SET b = a, c = a WHERE id = 1");

    struct plan *p = loader_compile("doc.scroll");
    struct arena *a = arena_new();

    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_true(page.n == 1 && page.docs[0].err != NULL && !page.is_end);
    page.after = page.docs[0].key;
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_true(page.n == 1 && page.docs[0].err == NULL && page.is_end);
    plan_free(p);
    arena_free(a);
}

/* The boxes themselves are small; what they show is not. */
static void several_documents_of_a_page_share_its_memory_and_one_alone_does_not(void **state)
{
    struct loader_page page = {.after = STR(""), .rows_max = 2, .bytes_max = 1 << 20};
    struct err err = {0};

    (void)state;
    server_exec(conn, "DROP TABLE IF EXISTS box, slip");
    make_sheets();
    server_exec(conn, "CREATE TABLE box (id INT PRIMARY KEY)");
    server_exec(conn, "CREATE TABLE slip (id INT PRIMARY KEY, box INT, sheet INT, KEY (box))");
    server_exec(conn, "INSERT INTO box VALUES (1), (2), (3)");
    server_exec(conn, "INSERT INTO slip SELECT seq, 1 + seq % 2, 61 FROM number WHERE seq < 8");

    struct plan *p = loader_compile("doc.box");
    struct arena *a = arena_new();

    assert_false(loader_load_range(&conn, p, &page, a, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(page.n, 2);
    page.rows_max = 1;
    assert_true(loader_load_range(&conn, p, &page, a, &err));
    assert_true(page.n == 1 && page.docs[0].err == NULL && page.docs[0].body.len > 3 << 20);
    plan_free(p);
    arena_free(a);
}

/* Sheets 1 to 2000 have up to 4 KiB each. */
static void make_many_sheets(void)
{
    server_exec(conn, "DROP TABLE IF EXISTS sheet");
    server_exec(conn, "CREATE TABLE sheet (id INT PRIMARY KEY, text LONGTEXT)");
    server_exec(conn, "INSERT INTO sheet SELECT seq, REPEAT(CHAR(97 + seq % 26), seq * 7919 % "
                      "4000) FROM number WHERE seq BETWEEN 1 AND 2000");
}

/* n different keys of sheets 1 to 2500, in any order. */
static void draw_keys(const struct plan *p, struct arena *a, struct random *random,
                      struct str *keys, size_t n)
{
    int ids[2500];
    char id[16];

    for (int i = 0; i < 2500; i++)
        ids[i] = i + 1;
    for (size_t i = 0; i < n; i++) {
        const size_t other = i + random_below(random, 2500 - i);
        const int drawn = ids[other];

        ids[other] = ids[i];
        ids[i] = drawn;
        snprintf(id, sizeof(id), "%d", drawn);
        keys[i] = key_of(p, a, id);
    }
}

/* One read of keys[0..n]; those that it left stay there.  Returns how many. */
static size_t read_some(const struct plan *p, struct arena *a, struct str *keys, size_t n,
                        size_t bytes_max, struct loaded *all, size_t *n_all)
{
    struct loaded *out = arena_alloc(a, n, sizeof(*out));
    struct loader_keys some = {.keys = keys, .n = n, .bytes_max = bytes_max};
    size_t n_left = 0, n_found = 0, bytes = 0;
    struct err err = {0};

    if (!loader_load(&conn, p, &some, a, out, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        if (out[i].left) {
            keys[n_left++] = keys[i];
            continue;
        }
        assert_true(str_equal(out[i].key, keys[i]));
        n_found += out[i].body.ptr != NULL;
        bytes += out[i].body.len;
        all[(*n_all)++] = out[i];
    }
    assert_true(n_left < n);
    assert_true(n_found <= 1 || some.bytes <= bytes_max);
    assert_in_range(some.bytes, bytes / 4, bytes + 1); /* it is what a caller goes by */
    return n_left;
}

/* How many of the keys have a row, by bounded looks for them; they lose their order. */
static uint64_t find_all(const struct plan *p, struct arena *a, struct str *keys, size_t n,
                         size_t bytes_max)
{
    struct loaded *out = arena_alloc(a, n, sizeof(*out));
    uint64_t n_found = 0;
    struct err err = {0};

    while (n > 0) {
        struct loader_keys some = {.keys = keys, .n = n, .bytes_max = bytes_max};
        size_t n_left = 0, n_placed = 0;

        assert_true(loader_find_keys(conn, p, &some, out, &err));
        for (size_t i = 0; i < n; i++)
            if (out[i].left)
                keys[n_left++] = keys[i];
            else
                n_placed += out[i].placed;
        assert_true(n_left < n);
        assert_true(n_placed <= 1 || some.bytes <= bytes_max);
        n_found += n_placed;
        n = n_left;
    }
    return n_found;
}

static void bounded_looks_for_keys_find_each_row_once(void **state)
{
    static const size_t bounds[] = {1, 4000, 20000, 300000, 10000000};
    struct random random;
    struct str keys[1950];

    (void)state;
    make_many_sheets();
    random_init(&random, 18);

    struct plan *p = loader_compile("doc.sheet");

    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        struct arena *a = arena_new();
        const size_t n = bounds[i] < 20000 ? 100 : ARRAY_LEN(keys);
        struct loaded *rows = arena_alloc(a, n, sizeof(*rows));
        struct key_set set = {0};
        uint64_t n_rows = 0, counted = 0;
        struct err err = {0};

        draw_keys(p, a, &random, keys, n);
        load(p, a, keys, n, rows);
        for (size_t k = 0; k < n; k++) {
            n_rows += rows[k].placed;
            (void)key_set_add(&set, keys[k]);
        }
        assert_true(loader_count_keys(conn, p, &set, &counted, &err));
        assert_int_equal(counted, n_rows);
        assert_int_equal(find_all(p, a, keys, n, bounds[i]), n_rows);
        key_set_fini(&set);
        arena_free(a);
    }
    plan_free(p);
}

static int by_key(const void *a, const void *b)
{
    return str_order(((const struct loaded *)a)->key, ((const struct loaded *)b)->key);
}

static void what_bounded_reads_read_together_is_every_key_once(void **state)
{
    static const size_t bounds[] = {1, 1000, 4000, 20000, 300000, 10000000};
    struct random random;
    struct str keys[1950];
    struct loaded all[1950], unbounded[1950];
    size_t n_cut = 0;

    (void)state;
    make_many_sheets();
    random_init(&random, 17);

    struct plan *p = loader_compile("doc.sheet");

    for (size_t round = 0; round < 30; round++) {
        struct arena *a = arena_new();
        const size_t bound = bounds[round % ARRAY_LEN(bounds)];
        const size_t n = 1 + random_below(&random, bound < 20000 ? 100 : ARRAY_LEN(keys));
        size_t n_left = n, n_all = 0, n_reads = 0;

        draw_keys(p, a, &random, keys, n);
        load(p, a, keys, n, unbounded);
        for (; n_left > 0; n_reads++)
            n_left = read_some(p, a, keys, n_left, bound, all, &n_all);
        assert_int_equal(n_all, n);
        qsort(all, n, sizeof(*all), by_key);
        qsort(unbounded, n, sizeof(*unbounded), by_key);
        for (size_t i = 0; i < n; i++) { /* the keys differ, so each is there once */
            assert_true(str_equal(all[i].key, unbounded[i].key));
            assert_true(str_equal(all[i].body, unbounded[i].body));
        }
        assert_true(bound < 1000000 || n_reads == 1);
        n_cut += n_reads > 1;
        arena_free(a);
    }
    assert_in_range(n_cut, 15, 25);
    plan_free(p);
}

/* The boxes themselves are small; what they show is not. */
static void what_keys_show_together_is_bounded_and_one_alone_is_not(void **state)
{
    struct err err = {0};
    struct loaded out[2];
    struct str keys[2];

    (void)state;
    server_exec(conn, "DROP TABLE IF EXISTS box, slip");
    make_sheets();
    server_exec(conn, "CREATE TABLE box (id INT PRIMARY KEY)");
    server_exec(conn, "CREATE TABLE slip (id INT PRIMARY KEY, box INT, sheet INT, KEY (box))");
    server_exec(conn, "INSERT INTO box VALUES (1), (2), (3)");
    server_exec(conn, "INSERT INTO slip SELECT seq, 1 + seq % 2, 61 FROM number WHERE seq < 8");

    struct plan *p = loader_compile("doc.box");
    struct arena *a = arena_new();
    struct loader_keys both = {.keys = keys, .n = 2, .bytes_max = 1 << 20};

    keys[0] = key_of(p, a, "1");
    keys[1] = key_of(p, a, "2");
    assert_false(loader_load(&conn, p, &both, a, out, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    for (both.n = 1; both.keys < keys + 2; both.keys++) {
        assert_true(loader_load(&conn, p, &both, a, out, &err));
        assert_true(!out[0].left && out[0].err == NULL && out[0].body.len > 3 << 20);
        assert_true(both.bytes > 1 << 20);
    }
    plan_free(p);
    arena_free(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_only_the_collation_finds_is_another_document),
        cmocka_unit_test(a_key_that_makes_no_id_is_an_error_only_where_a_row_has_it),
        cmocka_unit_test(nothing_is_asked_for_no_keys),
        cmocka_unit_test(many_keys_need_few_statements),
        cmocka_unit_test(
            a_sample_finds_the_last_rows_the_bounds_of_a_key_and_what_meets_a_condition),
        cmocka_unit_test(a_large_text_arrives_whole),
        cmocka_unit_test(a_failing_statement_names_its_table),
        cmocka_unit_test(a_page_of_changed_rows_without_one_of_its_keys_is_not_the_last),
        cmocka_unit_test(
            documents_that_do_not_fit_into_memory_are_refused_and_smaller_batches_are_not),
        cmocka_unit_test(a_page_ends_before_the_row_that_does_not_fit),
        cmocka_unit_test(a_first_row_without_room_is_an_error_of_its_own_and_not_the_last),
        cmocka_unit_test(what_bounded_reads_read_together_is_every_key_once),
        cmocka_unit_test(bounded_looks_for_keys_find_each_row_once),
        cmocka_unit_test(what_keys_show_together_is_bounded_and_one_alone_is_not),
        cmocka_unit_test(several_documents_of_a_page_share_its_memory_and_one_alone_does_not),
    };
    static const struct test_part own = {tests, ARRAY_LEN(tests)};
    const struct test_part *const parts[] = {&own, &loader_roots, &loader_delayed};

    return run_parts("loader", parts, ARRAY_LEN(parts), open_server, close_server);
}
