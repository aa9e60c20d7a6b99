#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "sync/check/check_live.h"
#include "sync/definition/parse.h"

#include <string.h>

static struct mysql_conn *conn;

static int open_server(void **state)
{
    (void)state;
    conn = server_connect();
    server_exec(conn, "DROP DATABASE IF EXISTS live");
    server_exec(conn, "CREATE DATABASE live");
    server_exec(conn,
                "CREATE TABLE live.orders (id INT PRIMARY KEY, customer_id INT, note TEXT)");
    server_exec(conn, "CREATE TABLE live.customer (id INT PRIMARY KEY, name VARCHAR(50), "
                      "deleted INT)");
    server_exec(conn, "CREATE TABLE live.item (id INT PRIMARY KEY, order_id INT, "
                      "FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)");
    server_exec(conn, "CREATE VIEW live.seen AS SELECT id FROM live.orders");
    return 0;
}

static int close_server(void **state)
{
    (void)state;
    server_exec(conn, "DROP DATABASE live");
    mysql_conn_close(conn);
    return 0;
}

static struct mysql_conn *open_topic(void *ctx, struct str topic, struct err *err)
{
    if (str_equal(topic, STR("away")))
        err_set(err, ERR_RETRY, "nobody listens");
    return str_equal(topic, STR("away")) ? NULL : ctx;
}

/* What the server has to say against the table; the counts of errors and warnings. */
static void assert_check(const char *table, size_t n_errors, size_t n_warnings,
                         const char *said)
{
    const struct check_servers servers = {conn, open_topic};
    struct problems *problems = problems_new();
    struct buf text = {0};
    struct err err = {0};

    buf_printf(&text,
               "topics: [{name: t, address: /a}, {name: away, address: /b}]\n"
               "databases: [{name: d, topic: t, schema: live}, {name: n, topic: t}, "
               "{name: far, topic: away}]\n"
               "tables:\n  - %s\n",
               table);

    const struct definition_file file = {STR("f"), buf_str(&text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    assert_non_null(d);

    struct check_live *live = check_live_new(&servers, d);

    if (!check_live_table(live, &d->tables[0], problems, &err))
        fail_msg("%s", err.msg);
    check_live_free(live);
    buf_clear(&text);
    problems_append_text(problems, &text);
    if (problems_count(problems, SEVERITY_ERROR) != n_errors ||
        problems_count(problems, SEVERITY_WARNING) != n_warnings ||
        (said != NULL && strstr(text.ptr, said) == NULL))
        fail_msg("%s: %s", table, text.ptr);
    definitions_unref(d);
    problems_free(problems);
    buf_free(&text);
}

static void what_the_server_has_is_taken(void **state)
{
    (void)state;
    assert_check("{table: d.customer}", 0, 0, NULL);
    assert_check(
        "{table: d.item, columns: [id], relations: [{from: order_id, table: d.orders, to: "
        "id, columns: [note]}]}",
        0, 0, NULL);
}

static void what_it_does_not_have_is_refused(void **state)
{
    (void)state;
    assert_check("{table: d.order}", 1, 0, "did you mean `orders`?");
    assert_check("{table: n.orders}", 1, 0, "the server has no schema `n`");
    assert_check("{table: d.seen}", 1, 0, "is a view");
    assert_check("{table: d.orders, columns: [noet]}", 1, 0, "did you mean `note`?");
    assert_check("{table: d.orders, key: [note]}", 1, 0, "may be NULL");
}

static void a_join_to_a_server_without_access_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_check(
        "{table: d.orders, columns: [id], relations: [{from: customer_id, "
        "table: far.customer, to: id, refresh: none}]}",
        1, 0,
        "f:4:77: error: `far.customer` is on topic `away`, whose server does not answer: "
        "nobody "
        "listens");
}

static void an_index_that_is_missing_is_named_and_its_statement_works(void **state)
{
    static const char table[] =
        "{table: d.orders, columns: [id], relations: [{from: customer_id, "
        "table: d.customer, to: id, where: deleted = 0}]}";

    (void)state;
    assert_check(table, 0, 1,
                 "fix: CREATE INDEX `orders_customer_id` ON `live`.`orders` (`customer_id`);");
    server_exec(conn, "CREATE INDEX `orders_customer_id` ON `live`.`orders` (`customer_id`)");
    assert_check(table, 0, 0, NULL);
    server_exec(conn, "DROP INDEX `orders_customer_id` ON `live`.`orders`");
}

static void a_condition_is_tried_by_the_server(void **state)
{
    (void)state;
    assert_check(
        "{table: d.item, columns: [id], relations: [{from: id, table: d.customer, to: id, "
        "refresh: none, where: delted = 0}]}",
        1, 0, "the server refuses this condition");
    assert_check(
        "{table: d.item, columns: [id], relations: [{from: id, table: d.customer, to: id, "
        "refresh: none, where: deleted = 0 LIMIT 1}]}",
        1, 0, "the server refuses this condition");
}

static void a_lost_server_is_no_mistake_of_the_definition(void **state)
{
    struct mysql_conn *other = server_connect();
    struct problems *problems = problems_new();
    struct err err = {0};
    const struct definition_file file = {
        STR("f"),
        STR("topics: [{name: t, address: /a}]\ndatabases: [{name: live, topic: t}]\n"
            "tables: [{table: live.orders}]\n"),
        STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);
    struct check_live *live = check_live_new(&(struct check_servers){other, open_topic}, d);

    (void)state;
    mysql_conn_interrupt(other);
    assert_false(check_live_table(live, &d->tables[0], problems, &err));
    check_live_free(live);
    assert_true(err.kind == ERR_RETRY || err.kind == ERR_STOP);
    assert_int_equal(problems_n(problems), 0);
    mysql_conn_close(other);
    definitions_unref(d);
    problems_free(problems);
}

/* Check so many tables, of which the server has the first; the statements that this took. */
static uint64_t check_many(size_t n, size_t *n_errors)
{
    struct problems *problems = problems_new();
    struct buf text = {0};
    struct err err = {0};
    uint64_t n_statements = 0;

    buf_append(&text, STR("topics: [{name: t, address: /a}]\n"
                          "databases: [{name: live, topic: t}]\ntables:\n"));
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "- {table: live.m%zu}\n", i);

    const struct definition_file file = {STR("f"), buf_str(&text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);
    struct check_live *live = check_live_new(&(struct check_servers){conn, open_topic}, d);

    mysql_conn_count(conn, &n_statements);
    for (size_t i = 0; i < n; i++)
        check_live_expect(live, &d->tables[i]);
    for (size_t i = 0; i < n; i++)
        if (!check_live_table(live, &d->tables[i], problems, &err))
            fail_msg("%s", err.msg);
    mysql_conn_count(conn, NULL);
    *n_errors = problems_count(problems, SEVERITY_ERROR);
    check_live_free(live);
    definitions_unref(d);
    problems_free(problems);
    buf_free(&text);
    return n_statements;
}

static void more_tables_take_no_more_statements(void **state)
{
    uint64_t one, many;
    size_t n_errors;

    (void)state;
    for (size_t i = 0; i < 60; i++) {
        char sql[80];

        snprintf(sql, sizeof(sql), "CREATE TABLE live.m%zu (id INT PRIMARY KEY)", i);
        server_exec(conn, sql);
    }
    one = check_many(1, &n_errors);
    assert_int_equal(n_errors, 0);
    many = check_many(60, &n_errors);
    assert_int_equal(n_errors, 0);
    assert_int_equal(many, one);
    /* One that is missing: is it denied, and what is there instead? */
    assert_int_equal(check_many(61, &n_errors), one + 2);
    assert_int_equal(n_errors, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_server_has_is_taken),
        cmocka_unit_test(what_it_does_not_have_is_refused),
        cmocka_unit_test(a_join_to_a_server_without_access_is_refused_at_its_place),
        cmocka_unit_test(an_index_that_is_missing_is_named_and_its_statement_works),
        cmocka_unit_test(a_condition_is_tried_by_the_server),
        cmocka_unit_test(more_tables_take_no_more_statements),
        cmocka_unit_test(a_lost_server_is_no_mistake_of_the_definition),
    };
    return cmocka_run_group_tests_name("definition_live", tests, open_server, close_server);
}
