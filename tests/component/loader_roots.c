/*
 * From a related row to the documents that hold it: the roots that it leads to, page by page,
 * and over two servers.
 */
#include "config.h"

#include "tests/component/loader_parts.h"

#include "src/base/mem.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"
#include <assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct loader_schemas schemas = {0};
    struct schema *s = loader_find_schema(&schemas, STR(""), STR("doc"), STR("customer"));
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
    struct plan *p = loader_compile("doc.orders");
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
    plan_free(p);
    return pages;
}

/* Customer 4 has as many orders as are few, and customer 5 one more. */
static void a_row_with_just_as_many_documents_as_are_few_is_followed_to_each(void **state)
{
    enum { FOUR = 20000, FIVE = 30000, END = 40000 };
    const int customers[] = {4, 5};
    struct found f = {.times = mem_alloc(END, 4)};
    struct err err = {0};
    size_t n = 0;

    (void)state;
    server_exec(conn,
                "INSERT INTO doc.orders SELECT id + 20000, 4 FROM doc.orders WHERE id < 1000");
    server_exec(conn,
                "INSERT INTO doc.orders SELECT id + 30000, 5 FROM doc.orders WHERE id < 1001");
    find_roots(&f, customers, ARRAY_LEN(customers), 0, &err);
    server_exec(conn, "DELETE FROM doc.orders WHERE id >= 20000");
    assert_false(f.crowded[0]);
    assert_true(f.crowded[1]);
    for (size_t i = FOUR; i < FOUR + RESOLVER_FEW; i++)
        n += f.times[i * 4] == 1;
    assert_int_equal(n, RESOLVER_FEW);
    for (size_t i = FIVE; i < END; i++)
        assert_int_equal(f.times[i * 4 + 1], 0);
    free(f.times);
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

static bool note_key(void *ctx, size_t join_key, struct str id, struct str key,
                     struct str routing)
{
    size_t *times = ctx;

    (void)id;
    (void)key;
    (void)routing;
    times[join_key]++;
    return true;
}

static bool is_not_crowded(void *ctx, size_t join_key)
{
    (void)ctx;
    (void)join_key;
    return false;
}

/* The last customer stands alone in the second one, and has ten orders. */
static void keys_count_on_from_one_statement_to_the_next(void **state)
{
    enum { N = RESOLVER_KEYS_MAX + 1 };
    size_t times[N] = {0};
    const struct resolver_sink sink = {note_key, is_not_crowded, times};
    struct plan *p = loader_compile("doc.orders");
    struct err err = {0};
    struct buf join[N] = {{0}};
    struct str keys[N];
    int customers[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        customers[i] = i + 1 < N ? 1000 + (int)i : 2;
    customer_keys(p, customers, N, join);
    for (size_t i = 0; i < N; i++)
        keys[i] = buf_str(&join[i]);

    const struct resolver_rows rows = {.plan = p, .place = 1, .keys = keys, .n = N};

    assert_true(resolver_find(&conn, &rows, &sink, &err));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(times[i], i + 1 < N ? 0 : 10);
        buf_free(&join[i]);
    }
    plan_free(p);
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

/* ---- over two servers ---- */

/* Groups of one owner, on another server as far as the plan knows; more than one statement
 * takes. Each is of one thing, and the later the group, the lower that one's key. */
#define N_GROUPS 700

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
    struct loader_schemas schemas = {0};
    struct err err = {0};

    make_groups();
    *w = (struct walk){.plan = loader_compile("doc.thing"),
                       .found.times = mem_alloc(N_ORDERS, 4)};

    struct schema *s = loader_find_schema(&schemas, STR(""), STR("far"), STR("owner"));
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
    plan_free(w->plan);
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

/* Customers 4 to 7 have just as many orders as are few. */
static void give_few_orders_each(void)
{
    char sql[200];

    snprintf(
        sql, sizeof(sql),
        "UPDATE orders SET customer = 4 + (id - 10) DIV %d WHERE id >= 10 AND id < 10 + 4 * %d",
        RESOLVER_FEW, RESOLVER_FEW);
    server_exec(conn, sql);
}

static void a_row_that_leads_to_just_as_many_as_are_few_is_followed(void **state)
{
    const int customers[] = {4, 2};
    struct found f = {.times = mem_alloc(N_ORDERS, 4)};
    struct err err = {0};

    (void)state;
    give_few_orders_each();
    find_roots(&f, customers, ARRAY_LEN(customers), 0, &err);
    server_exec(conn, "UPDATE orders SET customer = 1 WHERE customer > 3");
    assert_false(f.crowded[0] || f.crowded[1]);
    assert_int_equal(f.n, RESOLVER_FEW + 10);
    free(f.times);
}

static void rows_that_fill_an_answer_with_few_each_are_all_crowded(void **state)
{
    const int customers[] = {4, 5, 6, 7};
    struct found f = {.times = mem_alloc(N_ORDERS, 4)};
    struct err err = {0};

    (void)state;
    static_assert(RESOLVER_SOME == 4 * RESOLVER_FEW, "they fill it");
    give_few_orders_each();
    find_roots(&f, customers, ARRAY_LEN(customers), 0, &err);
    server_exec(conn, "UPDATE orders SET customer = 1 WHERE customer > 3");
    assert_true(f.crowded[0] && f.crowded[1] && f.crowded[2] && f.crowded[3]);
    assert_int_equal(f.n, 0);
    free(f.times);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_row_that_leads_to_just_as_many_as_are_few_is_followed),
    cmocka_unit_test(rows_that_fill_an_answer_with_few_each_are_all_crowded),
    cmocka_unit_test(rows_that_lead_to_few_documents_are_followed_and_crowded_ones_named),
    cmocka_unit_test(a_row_with_just_as_many_documents_as_are_few_is_followed_to_each),
    cmocka_unit_test(keys_count_on_from_one_statement_to_the_next),
    cmocka_unit_test(pages_give_every_root_once_in_the_order_of_its_key),
    cmocka_unit_test(a_search_for_roots_can_be_stopped),
    cmocka_unit_test(a_row_between_two_servers_that_goes_lets_no_document_be_passed_by),
    cmocka_unit_test(nor_does_one_that_goes_before_work_goes_on_in_the_middle_of_a_page),
    cmocka_unit_test(rows_that_come_between_two_servers_let_no_document_be_passed_by),
    cmocka_unit_test(rows_between_two_servers_that_all_go_end_the_walk),
    cmocka_unit_test(rows_between_two_servers_without_a_usable_key_are_an_error),
};
const struct test_part loader_roots = {tests, ARRAY_LEN(tests)};
