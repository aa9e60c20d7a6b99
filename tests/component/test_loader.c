#include "config.h"

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/mysql_trace.h"
#include "sync/binlog/schema.h"
#include "sync/binlog/value.h"
#include "sync/document/changed.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"
#include "sync/model/catalog.h"
#include "sync/model/definition.h"
#include "sync/model/definition_parse.h"

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
    "      - {from: id, to: orders, table: doc.item, many: true, columns: [id, text]}\n"    \
    "  - table: doc.box\n"                                                                \
    "    relations:\n"                                                                    \
    "      - {from: id, through: {table: doc.slip, from: box, to: sheet},\n"              \
    "         table: doc.sheet, to: id, as: sheets, many: true}\n"

/* Orders, of which all but the first ten belong to customer 1; more than a page of roots. */
#define N_ORDERS 16384

/* Groups of one owner, on another server as far as the plan knows; more than one statement
 * takes. Each is of one thing, and the later the group, the lower that one's key. */
#define N_GROUPS 700

static struct mysql_conn *conn;
static struct definitions *defs;

static int open_server(void **state)
{
    const struct definition_file file = {STR("test"), STR(DEFINITION), STR("")};
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

/* The schemas of one plan; it takes references of its own. */
struct schemas {
    struct schema *all[8];
    size_t n;
};

static struct schema *find_schema(void *ctx, struct str topic, struct str database,
                                  struct str table)
{
    struct schemas *s = ctx;
    struct err err = {0};

    (void)topic;
    assert_true(
        catalog_load(conn, &(struct catalog_name){database, table}, 1, &s->all[s->n], &err));
    return s->all[s->n++];
}

static struct plan *compile(const char *table)
{
    struct schemas schemas = {0};
    struct err err = {0};
    struct plan *p = plan_compile(defs, definitions_table(defs, str_from(table)), find_schema,
                                  &schemas, &err);

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

    if (!loader_load(&conn, p, keys, n, a, out, &err))
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
    struct plan *p = compile("doc.word");
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
    plan_unref(p);
}

static void nothing_is_asked_for_no_keys(void **state)
{
    struct plan *p = compile("doc.orders");
    struct arena *a = arena_new();
    struct mysql_trace trace = {0};

    (void)state;
    mysql_conn_trace(conn, &trace);
    load(p, a, NULL, 0, NULL);
    mysql_conn_trace(conn, NULL);
    assert_int_equal(trace.n, 0);
    arena_free(a);
    plan_unref(p);
}

static void many_keys_need_few_statements(void **state)
{
    const size_t n = 2500;
    struct plan *p = compile("doc.orders");
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
    plan_unref(p);
}

static void a_large_text_arrives_whole(void **state)
{
    struct plan *p = compile("doc.orders");
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
    plan_unref(p);
}

static void a_failing_statement_names_its_table(void **state)
{
    struct plan *p = compile("doc.orders");
    struct arena *a = arena_new();
    const struct str key = key_of(p, a, "1");
    struct loaded out;
    struct err err = {0};

    (void)state;
    server_exec(conn, "RENAME TABLE item TO elsewhere");
    assert_false(loader_load(&conn, p, &key, 1, a, &out, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "item"));
    server_exec(conn, "RENAME TABLE elsewhere TO item");
    load(p, a, &key, 1, &out);
    arena_free(a);
    plan_unref(p);
}

struct found {
    unsigned char *times; /* of each order and join key */
    size_t n, stop_at;
    bool crowded[4];
    size_t last; /* in the order of keys */
};

static bool note_root(void *ctx, size_t join_key, struct str id, struct str key,
                      struct str routing)
{
    struct found *f = ctx;
    char text[16];

    assert_true(key.len > 0 && routing.len == 0 && id.len < sizeof(text));
    memcpy(text, id.ptr, id.len);
    text[id.len] = '\0';
    f->last = strtoul(text, NULL, 10);
    f->times[f->last * 4 + join_key]++;
    f->n++;
    return f->n != f->stop_at;
}

static bool note_crowded(void *ctx, size_t join_key)
{
    struct found *f = ctx;

    assert_false(f->crowded[join_key]);
    f->crowded[join_key] = true;
    return true;
}

/* The rows of customers, whose keys are the caller's to free. */
static void customer_keys(const struct plan *p, const int *customers, size_t n,
                          struct buf *join)
{
    struct schemas schemas = {0};
    struct schema *s = find_schema(&schemas, STR(""), STR("doc"), STR("customer"));
    struct err err = {0};
    struct binding *b = plan_bind(p, 1, s, &err);

    for (size_t i = 0; i < n; i++) {
        const struct value row[] = {{.kind = VALUE_INT, .i = customers[i]},
                                    {.kind = VALUE_NULL}};

        assert_true(resolver_join_key(p, 1, b, row, &join[i]));
    }
    binding_free(b);
    schema_unref(s);
}

/* limit 0: as a change is followed; else page by page. */
static size_t find_roots(struct found *f, const int *customers, size_t n, size_t limit,
                         struct err *err)
{
    const struct resolver_sink sink = {note_root, note_crowded, f};
    struct plan *p = compile("doc.orders");
    struct resolver_cursor cursor = {0};
    struct buf join[4] = {{0}};
    struct str keys[4];
    bool done = true;
    size_t pages = 0;

    customer_keys(p, customers, n, join);
    for (size_t i = 0; i < n; i++)
        keys[i] = buf_str(&join[i]);

    const struct resolver_rows rows = {.plan = p, .place = 1, .keys = keys, .n = n};

    if (limit == 0)
        done = resolver_find(&conn, &rows, &sink, err);
    for (; limit > 0 && done && !cursor.end; pages++)
        done = resolver_page(&conn, &rows, limit, &cursor, &sink, err);
    assert_true(done == (err->kind == ERR_NONE));
    for (size_t i = 0; i < n; i++)
        buf_free(&join[i]);
    buf_free(&cursor.after);
    buf_free(&cursor.behind);
    plan_unref(p);
    return pages;
}

static void rows_that_lead_to_few_documents_are_followed_and_crowded_ones_named(void **state)
{
    const int customers[] = {1, 2, 3, 1};
    struct found f = {.times = mem_alloc(N_ORDERS, 4)};
    struct err err = {0};

    (void)state;
    find_roots(&f, customers, ARRAY_LEN(customers), 0, &err);
    assert_true(f.crowded[0] && f.crowded[3]);
    assert_false(f.crowded[1] || f.crowded[2]);
    for (size_t i = 0; i < N_ORDERS; i++) {
        assert_int_equal(f.times[i * 4 + 1], i < 10);
        assert_int_equal(f.times[i * 4 + 2], 0);
    }
    free(f.times);
}

static void pages_give_every_root_once_in_the_order_of_its_key(void **state)
{
    const int customers[] = {1, 2, 3, 1};
    struct found f = {.times = mem_alloc(N_ORDERS, 4)};
    struct err err = {0};

    (void)state;
    assert_int_equal(find_roots(&f, customers, ARRAY_LEN(customers), N_ORDERS / 10, &err), 11);
    assert_int_equal(f.n, N_ORDERS);
    assert_int_equal(f.last, N_ORDERS - 1);
    for (size_t i = 0; i < N_ORDERS; i++)
        assert_int_equal(f.times[i * 4], 1);
    free(f.times);
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
    struct changed_row *rows;
    struct err err = {0};
    size_t n, seen = 0;
    bool end = false;

    (void)state;
    make_stamped();

    struct plan *p = compile("doc.stamped");
    struct changed_page page = {.plan = p, .check = STR("at"), .limit = 4};

    /* The table has another shape than the plan knows of. */
    server_exec(conn, "ALTER TABLE stamped MODIFY id VARCHAR(20)");
    server_exec(conn, "UPDATE stamped SET id = 'x' WHERE id = '2'");
    while (!end) {
        assert_true(changed_load(conn, &page, a, &rows, &n, &end, &err));
        seen += n;
        page.last = n > 0 ? &rows[n - 1] : page.last;
    }
    assert_int_equal(seen, 9);
    server_exec(conn, "UPDATE stamped SET id = CONCAT('x', at)");
    page.last = NULL;
    assert_false(changed_load(conn, &page, a, &rows, &n, &end, &err));
    assert_non_null(strstr(err.msg, "without a usable key"));
    arena_free(a);
    plan_unref(p);
}

/* ---- over two servers ---- */

static struct mysql_conn *both[2]; /* of the topics of doc.thing */

/* Things of owner 1, page by page. */
struct walk {
    struct plan *plan;
    struct buf join;
    struct resolver_cursor cursor;
    struct found found;
};

static void make_groups(void)
{
    both[0] = both[1] = conn;
    server_database(conn, "far");
    server_exec(conn, "DROP TABLE IF EXISTS doc.thing");
    server_exec(conn, "CREATE TABLE doc.thing (id INT PRIMARY KEY, grp INT, KEY (grp))");
    server_exec(conn,
                "CREATE TABLE far.grp (id DECIMAL(9) PRIMARY KEY, owner INT, KEY (owner))");
    server_exec(conn, "CREATE TABLE far.owner (id INT PRIMARY KEY)");
    server_exec(conn,
                "INSERT INTO far.grp SELECT seq, 1 FROM number WHERE seq BETWEEN 1 AND 700");
    server_exec(conn, "INSERT INTO doc.thing SELECT 1000 - id, id FROM far.grp");
    server_exec(conn, "INSERT INTO far.owner VALUES (1)");
}

static void begin_walk(struct walk *w)
{
    const struct value row[] = {{.kind = VALUE_INT, .i = 1}};
    struct schemas schemas = {0};
    struct err err = {0};

    make_groups();
    *w = (struct walk){.plan = compile("doc.thing"), .found.times = mem_alloc(N_ORDERS, 4)};

    struct schema *s = find_schema(&schemas, STR(""), STR("far"), STR("owner"));
    struct binding *b = plan_bind(w->plan, 2, s, &err);

    assert_true(resolver_join_key(w->plan, 2, b, row, &w->join));
    binding_free(b);
    schema_unref(s);
}

static bool walk_page(struct walk *w, struct err *err)
{
    const struct str key = buf_str(&w->join);
    const struct resolver_rows rows = {.plan = w->plan, .place = 2, .keys = &key, .n = 1};
    const struct resolver_sink sink = {note_root, note_crowded, &w->found};

    return resolver_page(both, &rows, 100, &w->cursor, &sink, err);
}

static void end_walk(struct walk *w)
{
    plan_unref(w->plan);
    free(w->found.times);
    buf_free(&w->join);
    buf_free(&w->cursor.after);
    buf_free(&w->cursor.behind);
    server_exec(conn, "DROP DATABASE far");
}

/* As after a restart: all that is kept is the cursor behind one root. */
static void go_on_behind(struct walk *w, int id)
{
    struct buf key = {0}, after = {0};
    struct err err = {0};
    char text[16];

    snprintf(text, sizeof(text), "%d", id);
    assert_true(plan_key_of_id(w->plan, str_from(text), &key, &err));
    resolver_after(&w->cursor, buf_str(&key), &after);
    buf_clear(&w->cursor.after);
    buf_append(&w->cursor.after, buf_str(&after));
    buf_free(&key);
    buf_free(&after);
}

static void check_all_found(struct walk *w, int but_group)
{
    struct err err = {0};

    while (!w->cursor.end)
        assert_true(walk_page(w, &err));
    for (int group = 1; group <= N_GROUPS; group++)
        if (group != but_group && w->found.times[(size_t)(1000 - group) * 4] == 0)
            fail_msg("the thing of group %d was passed by", group);
}

static void a_row_between_two_servers_that_goes_lets_no_document_be_passed_by(void **state)
{
    struct err err = {0};
    struct walk w;

    (void)state;
    begin_walk(&w);
    assert_true(walk_page(&w, &err));
    server_exec(conn, "DELETE FROM far.grp WHERE id = 1");
    check_all_found(&w, 1);
    end_walk(&w);
}

static void nor_does_one_that_goes_before_work_goes_on_in_the_middle_of_a_page(void **state)
{
    struct err err = {0};
    struct walk w;

    (void)state;
    begin_walk(&w);
    assert_true(walk_page(&w, &err)); /* 500 to 599 */
    go_on_behind(&w, 549);
    server_exec(conn, "DELETE FROM far.grp WHERE id = 500");
    check_all_found(&w, 500);
    end_walk(&w);
}

static void rows_that_come_between_two_servers_let_no_document_be_passed_by(void **state)
{
    struct err err = {0};
    struct walk w;

    (void)state;
    begin_walk(&w);
    assert_true(walk_page(&w, &err));
    server_exec(conn, "INSERT INTO far.grp SELECT -id, 1 FROM far.grp WHERE id <= 100");
    check_all_found(&w, 0);
    end_walk(&w);
}

static void rows_between_two_servers_that_all_go_end_the_walk(void **state)
{
    struct err err = {0};
    struct walk w;

    (void)state;
    begin_walk(&w);
    assert_true(walk_page(&w, &err));
    server_exec(conn, "DELETE FROM far.grp");
    for (int i = 0; i < 10 && !w.cursor.end; i++)
        assert_true(walk_page(&w, &err));
    assert_true(w.cursor.end);
    end_walk(&w);
}

static void rows_between_two_servers_without_a_usable_key_are_an_error(void **state)
{
    struct err err = {0};
    struct walk w;

    (void)state;
    begin_walk(&w);
    /* Their table has another shape than the plan knows of. */
    server_exec(conn, "ALTER TABLE far.grp MODIFY id VARCHAR(20)");
    server_exec(conn, "UPDATE far.grp SET id = CONCAT('x', id)");
    assert_false(walk_page(&w, &err));
    assert_non_null(strstr(err.msg, "without a usable key"));
    end_walk(&w);
}

static void a_search_for_roots_can_be_stopped(void **state)
{
    const int customers[] = {2};
    struct found f = {.times = mem_alloc(N_ORDERS, 4), .stop_at = 5};
    struct err err = {0};

    (void)state;
    find_roots(&f, customers, 1, 0, &err);
    assert_int_equal(err.kind, ERR_STOP);
    assert_int_equal(f.n, 5);
    free(f.times);
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

static bool load_boxes(const struct plan *p, const char *const *ids, size_t n, struct loaded *out,
                       struct err *err)
{
    struct arena *a = arena_new();
    struct str keys[2];

    for (size_t i = 0; i < n; i++)
        keys[i] = key_of(p, a, ids[i]);

    const bool ok = loader_load(&conn, p, keys, n, a, out, err);

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

static void documents_that_do_not_fit_into_memory_are_refused_and_smaller_batches_are_not(
    void **state)
{
    static const char *const ids[] = {"1", "2", "3", "4"};
    struct arena *a = arena_new();
    struct loaded out[2], *range;
    struct err err = {0};
    size_t n;

    (void)state;
    make_boxes();

    struct plan *p = compile("doc.box");

    assert_false(load_boxes(p, ids, 2, out, &err));
    assert_true(err.kind == ERR_REJECT);
    for (size_t i = 0; i < 2; i++)
        assert_true(load_boxes(p, &ids[i], 1, out, &err) && out[0].err == NULL);
    assert_false(load_boxes(p, &ids[2], 1, out, &err));
    assert_true(err.kind == ERR_REJECT);
    assert_true(load_boxes(p, &ids[3], 1, out, &err) && out[0].err != NULL);

    assert_false(loader_load_range(&conn, p, STR(""), 2, a, &range, &n, &err));
    assert_true(err.kind == ERR_REJECT);
    assert_true(loader_load_range(&conn, p, key_of(p, a, "1"), 1, a, &range, &n, &err));
    assert_true(n == 1 && range[0].err == NULL);
    assert_true(loader_load_range(&conn, p, key_of(p, a, "2"), 1, a, &range, &n, &err));
    assert_true(n == 1 && range[0].err != NULL && range[0].body.ptr == NULL);
    assert_true(str_equal(range[0].id, STR("3")));
    plan_unref(p);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_only_the_collation_finds_is_another_document),
        cmocka_unit_test(nothing_is_asked_for_no_keys),
        cmocka_unit_test(many_keys_need_few_statements),
        cmocka_unit_test(a_large_text_arrives_whole),
        cmocka_unit_test(a_failing_statement_names_its_table),
        cmocka_unit_test(rows_that_lead_to_few_documents_are_followed_and_crowded_ones_named),
        cmocka_unit_test(pages_give_every_root_once_in_the_order_of_its_key),
        cmocka_unit_test(a_page_of_changed_rows_without_one_of_its_keys_is_not_the_last),
        cmocka_unit_test(a_row_between_two_servers_that_goes_lets_no_document_be_passed_by),
        cmocka_unit_test(nor_does_one_that_goes_before_work_goes_on_in_the_middle_of_a_page),
        cmocka_unit_test(rows_that_come_between_two_servers_let_no_document_be_passed_by),
        cmocka_unit_test(rows_between_two_servers_that_all_go_end_the_walk),
        cmocka_unit_test(rows_between_two_servers_without_a_usable_key_are_an_error),
        cmocka_unit_test(a_search_for_roots_can_be_stopped),
        cmocka_unit_test(
            documents_that_do_not_fit_into_memory_are_refused_and_smaller_batches_are_not),
    };

    return cmocka_run_group_tests_name("loader", tests, open_server, close_server);
}
