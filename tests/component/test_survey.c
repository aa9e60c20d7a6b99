#include "config.h"

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/draft/survey.h"

#include <string.h>

static struct mysql_conn *conn;
static struct arena *arena;

static int open_server(void **state)
{
    static const char *const statements[] = {
        "DROP DATABASE IF EXISTS survey",
        "CREATE DATABASE survey CHARACTER SET utf8mb4",
        "USE survey",
        "CREATE TABLE parent (a INT, b INT, c INT AS (a + 1), PRIMARY KEY (b, a))",
        "CREATE TABLE child (id INT PRIMARY KEY, x INT, y INT, up INT, UNIQUE one (up), "
        "CONSTRAINT k1 FOREIGN KEY (x, y) REFERENCES parent (b, a), "
        "CONSTRAINT k2 FOREIGN KEY (up) REFERENCES child (id))",
        "CREATE TABLE `odd ``name's` (mail VARCHAR(20) NOT NULL, doc JSON, UNIQUE (mail))",
        "CREATE VIEW a_view AS SELECT a FROM parent",
        "CREATE VIEW z_view AS SELECT a FROM parent",
    };

    (void)state;
    conn = server_connect();
    arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        server_exec(conn, statements[i]);
    return 0;
}

static int close_server(void **state)
{
    (void)state;
    server_exec(conn, "DROP DATABASE survey");
    mysql_conn_close(conn);
    arena_free(arena);
    return 0;
}

static struct survey load(void)
{
    struct survey s;
    struct err err = {0};

    if (!survey_load(conn, STR("survey"), arena, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

static void assert_same(const struct table_facts *a, const struct table_facts *b)
{
    assert_int_equal(a->schema->n_columns, b->schema->n_columns);
    for (size_t i = 0; i < a->schema->n_columns; i++) {
        assert_true(str_equal(a->schema->columns[i].name, b->schema->columns[i].name));
        assert_int_equal(a->schema->columns[i].type, b->schema->columns[i].type);
    }
    assert_int_equal(a->schema->n_key, b->schema->n_key);
    for (size_t i = 0; i < a->schema->n_key; i++)
        assert_int_equal(a->schema->key[i], b->schema->key[i]);
    assert_int_equal(a->schema->n_uniques, b->schema->n_uniques);
    assert_int_equal(a->n_indexes, b->n_indexes);
    for (size_t i = 0; i < a->n_indexes; i++) {
        assert_true(str_equal(a->indexes[i].name, b->indexes[i].name));
        assert_int_equal(a->indexes[i].n_columns, b->indexes[i].n_columns);
    }
}

static void all_tables_at_once_have_the_facts_of_each_by_its_name(void **state)
{
    struct survey s = load();
    struct err err = {0};

    (void)state;
    assert_int_equal(s.n_tables, 3);
    for (size_t i = 0; i < s.n_tables; i++) {
        const struct catalog_name name = {s.schema, s.tables[i].name};
        struct table_facts one;

        if (!catalog_load_facts(conn, &name, 1, arena, &one, &err))
            fail_msg("%s", err.msg);
        assert_true(survey_is_usable(&s.tables[i]));
        assert_same(s.tables[i].facts, &one);
        table_facts_fini(&one, 1);
    }
    assert_int_equal(survey_find(&s, STR("odd `name's")), 1 + survey_find(&s, STR("child")));
    assert_int_equal(survey_find(&s, STR("a_view")), s.n_tables);
    assert_int_equal(s.n_views, 2);
    assert_true(str_equal(s.views[0], STR("a_view")));
    assert_true(str_equal(s.views[1], STR("z_view")));
    survey_fini(&s);
}

static void foreign_keys_come_in_order_with_their_pairs_of_columns(void **state)
{
    struct survey s = load();

    (void)state;
    assert_int_equal(s.n_keys, 2);
    assert_true(str_equal(s.keys[0].name, STR("k1")));
    assert_int_equal(s.keys[0].n_columns, 2);
    assert_true(str_equal(s.keys[0].columns[1], STR("y")));
    assert_true(str_equal(s.keys[0].parent_columns[1], STR("a")));
    assert_true(str_equal(s.keys[0].parent_table, STR("parent")));
    assert_true(str_equal(s.keys[1].parent_table, STR("child")));
    assert_int_equal(s.keys[1].n_columns, 1);
    survey_fini(&s);
}

static void more_tables_take_no_more_statements(void **state)
{
    uint64_t few = 0, many = 0;
    struct survey s;
    struct buf sql = {0};

    (void)state;
    mysql_conn_count(conn, &few);
    s = load();
    survey_fini(&s);
    mysql_conn_count(conn, NULL);
    for (int i = 0; i < 120; i++) {
        buf_clear(&sql);
        buf_printf(&sql, "CREATE TABLE more%d (id INT PRIMARY KEY) ENGINE = MyISAM", i);
        server_exec(conn, sql.ptr);
    }
    mysql_conn_count(conn, &many);
    s = load();
    mysql_conn_count(conn, NULL);
    assert_int_equal(s.n_tables, 123);
    assert_int_equal(few, many);
    survey_fini(&s);
    buf_free(&sql);
}

static void a_schema_that_is_not_there_is_refused(void **state)
{
    struct survey s;
    struct err err = {0};

    (void)state;
    assert_false(survey_load(conn, STR("survey_nowhere"), arena, &s, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "survey_nowhere"));
    survey_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tables_at_once_have_the_facts_of_each_by_its_name),
        cmocka_unit_test(foreign_keys_come_in_order_with_their_pairs_of_columns),
        cmocka_unit_test(more_tables_take_no_more_statements),
        cmocka_unit_test(a_schema_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests_name("survey", tests, open_server, close_server);
}
