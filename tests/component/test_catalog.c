#include "config.h"

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/foreign_keys.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct mysql_conn *conn;

static bool is_mariadb(void)
{
    return mysql_conn_flavor(conn) == FLAVOR_MARIADB;
}

static int open_server(void **state)
{
    (void)state;
    conn = server_connect();
    server_exec(conn, "DROP DATABASE IF EXISTS cat");
    server_exec(conn, "CREATE DATABASE cat CHARACTER SET utf8mb4");
    server_exec(conn, "USE cat");
    return 0;
}

static int close_server(void **state)
{
    (void)state;
    server_exec(conn, "DROP DATABASE cat");
    mysql_conn_close(conn);
    return 0;
}

static struct schema *load(const char *table)
{
    const struct catalog_name name = {STR("cat"), str_from(table)};
    struct schema *s = NULL;
    struct err err = {0};

    if (!catalog_load(conn, &name, 1, &s, &err))
        fail_msg("%s", err.msg);
    return s;
}

static const struct column *column(const struct schema *s, const char *name)
{
    size_t i = schema_find(s, str_from(name));

    if (i == SIZE_MAX)
        fail_msg("no column %s", name);
    return &s->columns[i];
}

static void assert_text(struct str s, const char *text)
{
    if (!str_equal(s, str_from(text)))
        fail_msg("\"%.*s\" is not \"%s\"", (int)s.len, s.ptr, text);
}

static void every_type_is_recognised(void **state)
{
    static const struct {
        const char *type;
        enum column_type is;
        bool is_unsigned;
        uint32_t length;
        const char *charset;
    } cases[] = {
        {"TINYINT(1)", COLUMN_TINYINT, false, 0, ""},
        {"TINYINT UNSIGNED", COLUMN_TINYINT, true, 0, ""},
        {"SMALLINT", COLUMN_SMALLINT, false, 0, ""},
        {"MEDIUMINT UNSIGNED ZEROFILL", COLUMN_MEDIUMINT, true, 0, ""},
        {"INT UNSIGNED", COLUMN_INT, true, 0, ""},
        {"BIGINT", COLUMN_BIGINT, false, 0, ""},
        {"FLOAT", COLUMN_FLOAT, false, 0, ""},
        {"DOUBLE", COLUMN_DOUBLE, false, 0, ""},
        {"BIT(9)", COLUMN_BIT, false, 9, ""},
        {"YEAR", COLUMN_YEAR, false, 0, ""},
        {"DATE", COLUMN_DATE, false, 0, ""},
        {"CHAR(7)", COLUMN_CHAR, false, 7, "utf8mb4"},
        {"VARCHAR(300) CHARACTER SET latin1", COLUMN_VARCHAR, false, 300, "latin1"},
        {"BINARY(16)", COLUMN_BINARY, false, 16, "binary"},
        {"VARBINARY(20)", COLUMN_VARBINARY, false, 20, "binary"},
        {"TINYTEXT", COLUMN_TEXT, false, 255, "utf8mb4"},
        {"LONGTEXT", COLUMN_TEXT, false, UINT32_MAX, "utf8mb4"},
        {"MEDIUMBLOB", COLUMN_BLOB, false, 16777215, "binary"},
        {"POINT", COLUMN_POINT, false, 0, ""},
        {"GEOMETRY", COLUMN_GEOMETRY, false, 0, ""},
        {"MULTIPOLYGON", COLUMN_GEOMETRY, false, 0, ""},
        {"GEOMETRYCOLLECTION", COLUMN_GEOMETRY, false, 0, ""},
    };
    struct buf sql = {0};

    (void)state;
    buf_append(&sql, STR("CREATE TABLE cat.types (id INT PRIMARY KEY"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        buf_printf(&sql, ", c%zu %s", i, cases[i].type);
    buf_append(&sql, STR(")"));
    server_exec(conn, sql.ptr);

    struct schema *s = load("types");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct column *c = &s->columns[i + 1];

        if (c->type != cases[i].is || c->is_unsigned != cases[i].is_unsigned ||
            c->length != cases[i].length || !str_equal(c->charset, str_from(cases[i].charset)))
            fail_msg("%s: type %d, unsigned %d, length %u, charset %.*s", cases[i].type,
                     c->type, c->is_unsigned, c->length, (int)c->charset.len, c->charset.ptr);
        assert_true(c->nullable);
    }
    assert_false(s->columns[0].nullable);
    assert_text(s->engine, "InnoDB");
    assert_false(s->is_view);
    schema_unref(s);
    buf_free(&sql);
}

static void decimals_and_fractions_keep_their_digits(void **state)
{
    (void)state;
    server_exec(conn, "CREATE TABLE cat.digits (a DECIMAL(10,2) UNSIGNED, b DECIMAL(65,30), "
                      "t TIME(3), d DATETIME(6), s TIMESTAMP(1) NULL, x DATETIME)");

    struct schema *s = load("digits");

    assert_int_equal(column(s, "a")->precision, 10);
    assert_int_equal(column(s, "a")->scale, 2);
    assert_true(column(s, "a")->is_unsigned);
    assert_int_equal(column(s, "b")->precision, 65);
    assert_int_equal(column(s, "b")->scale, 30);
    assert_int_equal(column(s, "t")->fsp, 3);
    assert_int_equal(column(s, "d")->fsp, 6);
    assert_int_equal(column(s, "s")->fsp, 1);
    assert_int_equal(column(s, "x")->fsp, 0);
    assert_int_equal(s->n_key, 0);
    assert_text(column(s, "a")->type_text, "decimal(10,2) unsigned");
    schema_unref(s);
}

static void labels_are_what_was_declared(void **state)
{
    (void)state;
    server_exec(conn, "CREATE TABLE cat.labels (e ENUM('new','it''s','a,b','x\\\\y','', "
                      "'l\\nf', '\xc3\xa9', 'unsigned COMPRESSED') CHARACTER SET latin1, "
                      "s SET('a','b''','c)') NOT NULL)");

    struct schema *s = load("labels");
    static const char *const labels[] = {"new", "it's", "a,b",      "x\\y",
                                         "",    "l\nf", "\xc3\xa9", "unsigned COMPRESSED"};

    assert_int_equal(column(s, "e")->n_labels, ARRAY_LEN(labels));
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        assert_text(column(s, "e")->labels[i], labels[i]);
    assert_false(column(s, "e")->compressed);
    assert_false(column(s, "e")->is_unsigned);
    assert_int_equal(column(s, "s")->n_labels, 3);
    assert_text(column(s, "s")->labels[1], "b'");
    assert_text(column(s, "s")->labels[2], "c)");
    assert_false(column(s, "s")->nullable);
    schema_unref(s);
}

static void json_is_json_on_mariadb_too(void **state)
{
    (void)state;
    server_exec(conn, "CREATE TABLE cat.`js``on` (j JSON, t LONGTEXT, `o``dd` JSON)");

    struct schema *s = load("js`on");

    assert_int_equal(column(s, "j")->type, COLUMN_JSON);
    assert_int_equal(column(s, "t")->type, COLUMN_TEXT);
    assert_int_equal(column(s, "o`dd")->type, COLUMN_JSON);
    schema_unref(s);
    if (!is_mariadb())
        return;
    server_exec(conn, "CREATE TABLE cat.checked (a LONGTEXT CHECK (json_valid(a) or a = 'x'), "
                      "b LONGTEXT, CONSTRAINT z CHECK (json_valid(b)))");
    s = load("checked");
    assert_int_equal(column(s, "a")->type, COLUMN_TEXT);
    assert_int_equal(column(s, "b")->type, COLUMN_JSON);
    schema_unref(s);
}

static void defaults_are_seen_and_null_is_none(void **state)
{
    (void)state;
    server_exec(conn, "CREATE TABLE cat.defaults (a INT, b INT DEFAULT NULL, c INT NOT NULL, "
                      "d INT DEFAULT 0, e VARCHAR(9) DEFAULT '', f VARCHAR(9) DEFAULT 'NULL', "
                      "g DATETIME DEFAULT CURRENT_TIMESTAMP)");

    struct schema *s = load("defaults");

    for (size_t i = 0; i < s->n_columns; i++)
        assert_int_equal(s->columns[i].has_default, s->columns[i].name.ptr[0] >= 'd');
    schema_unref(s);
}

static void generated_and_invisible_columns_are_marked(void **state)
{
    (void)state;
    if (!is_mariadb() && mysql_conn_version(conn) < 80023)
        skip();
    server_exec(conn,
                "CREATE TABLE cat.special (id INT PRIMARY KEY, v INT AS (id + 1) VIRTUAL, "
                "s INT AS (id + 2) STORED, i INT NOT NULL DEFAULT 5 INVISIBLE, "
                "d VARCHAR(40) DEFAULT (UUID()))");

    struct schema *s = load("special");

    assert_true(memmem(column(s, "v")->expression.ptr, column(s, "v")->expression.len, "+ 1",
                       3) != NULL);
    assert_text(column(s, "i")->expression, "");
    assert_true(column(s, "v")->generated);
    assert_true(column(s, "s")->generated);
    assert_true(column(s, "i")->invisible);
    assert_false(column(s, "i")->generated);
    assert_false(column(s, "d")->generated);
    assert_false(column(s, "id")->invisible);
    schema_unref(s);
}

static void types_of_mariadb_alone_are_recognised(void **state)
{
    (void)state;
    if (!is_mariadb())
        skip();
    server_exec(conn, "CREATE TABLE cat.own (u UUID, i4 INET4, i6 INET6, t TEXT COMPRESSED, "
                      "v VARCHAR(100) COMPRESSED, b BLOB COMPRESSED)");

    struct schema *s = load("own");

    assert_int_equal(column(s, "u")->type, COLUMN_UUID);
    assert_int_equal(column(s, "i4")->type, COLUMN_INET4);
    assert_int_equal(column(s, "i6")->type, COLUMN_INET6);
    assert_true(column(s, "t")->compressed);
    assert_true(column(s, "v")->compressed);
    assert_int_equal(column(s, "v")->type, COLUMN_VARCHAR);
    assert_int_equal(column(s, "v")->length, 100);
    assert_true(column(s, "b")->compressed);
    schema_unref(s);
}

static void old_temporals_are_seen_on_either_setting(void **state)
{
    (void)state;
    if (!is_mariadb())
        skip();
    server_exec(conn, "SET GLOBAL mysql56_temporal_format = OFF");
    server_exec(conn, "CREATE TABLE cat.old (d DATETIME(3), e DATETIME)");

    struct schema *s = load("old");

    assert_true(column(s, "d")->old_temporal);
    assert_false(column(s, "e")->old_temporal);
    schema_unref(s);
    s = load("digits");
    assert_false(column(s, "d")->old_temporal);
    schema_unref(s);
    server_exec(conn, "SET GLOBAL mysql56_temporal_format = ON");
    s = load("old");
    assert_true(column(s, "d")->old_temporal);
    schema_unref(s);
    s = load("digits");
    assert_false(column(s, "d")->old_temporal);
    assert_int_equal(column(s, "d")->type, COLUMN_DATETIME);
    schema_unref(s);
}

static void vectors_have_dimensions(void **state)
{
    bool known =
        is_mariadb() ? mysql_conn_version(conn) >= 110700 : mysql_conn_version(conn) >= 90000;

    (void)state;
    if (!known)
        skip();
    server_exec(conn, "CREATE TABLE cat.vectors (v VECTOR(5) NOT NULL)");

    struct schema *s = load("vectors");

    assert_int_equal(column(s, "v")->type, COLUMN_VECTOR);
    assert_int_equal(column(s, "v")->length, 5);
    schema_unref(s);
}

static void keys_have_their_own_order(void **state)
{
    (void)state;
    server_exec(conn, "CREATE TABLE cat.keyed (a INT, b INT, c VARCHAR(300), "
                      "PRIMARY KEY (c(20), a), UNIQUE (b))");

    struct schema *s = load("keyed");

    assert_int_equal(s->n_key, 2);
    assert_int_equal(s->key[0], 2);
    assert_int_equal(s->key[1], 0);
    schema_unref(s);
}

static void views_are_views_and_missing_tables_are_missing(void **state)
{
    (void)state;
    server_exec(conn, "CREATE VIEW cat.seen AS SELECT a FROM cat.digits");

    struct schema *s = load("seen");

    assert_true(s->is_view);
    assert_int_equal(s->n_columns, 1);
    schema_unref(s);
    assert_null(load("nothing"));
    assert_null(load("SEEN"));
    assert_null(load("x' OR '1'='1"));
}

/* A statement before did not show it: a right came, or the table, between the two. */
static void what_can_be_read_by_now_is_neither_denied_nor_missing(void **state)
{
    const struct catalog_name there = {STR("cat"), STR("digits")},
                              missing = {STR("cat"), STR("nothing")};
    struct err err = {0};

    (void)state;
    assert_false(catalog_is_denied(conn, &there, NULL, 0, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_false(catalog_is_denied(conn, &there, &STR("a"), 1, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    err = (struct err){0};
    assert_false(catalog_is_denied(conn, &missing, NULL, 0, &err));
    assert_int_equal(err.kind, ERR_NONE);
}

static void many_tables_come_in_the_order_asked_for(void **state)
{
    enum { N = 120 };
    struct catalog_name names[N];
    char text[N][16];
    struct schema *s[N];
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < N; i++) {
        struct buf sql = {0};

        snprintf(text[i], sizeof(text[i]), "many%zu", N - i);
        names[i] = (struct catalog_name){STR("cat"), str_from(text[i])};
        if (i % 7 == 3)
            continue;
        buf_printf(&sql, "CREATE TABLE cat.%s (id INT PRIMARY KEY, c%zu INT)", text[i], i);
        server_exec(conn, sql.ptr);
        buf_free(&sql);
    }
    assert_true(catalog_load(conn, names, N, s, &err));
    for (size_t i = 0; i < N; i++) {
        char name[16];

        if (i % 7 == 3) {
            assert_null(s[i]);
            continue;
        }
        snprintf(name, sizeof(name), "c%zu", i);
        assert_text(s[i]->table, text[i]);
        assert_int_equal(s[i]->n_columns, 2);
        assert_text(s[i]->columns[1].name, name);
        schema_unref(s[i]);
    }
}

/* The tables whose definitions this session has opened. */
static uint64_t n_opened(void)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;

    assert_true(mysql_conn_query(
        conn, STR("SHOW SESSION STATUS LIKE 'opened_table_definitions'"), &r, &err));
    assert_int_equal(mysql_result_next(r, &row, &err), 1);

    const uint64_t n = strtoull(row.cells[1].ptr, NULL, 10);

    mysql_result_close(r);
    return n;
}

/* More than the server would look up in one list without opening all tables. */
static void a_statement_about_many_tables_opens_no_other(void **state)
{
    enum { N = 1500, THERE = 4 };
    struct catalog_name names[N];
    char text[N][16];
    struct schema *s[N];
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof(text[i]), "wide%zu", i);
        names[i] = (struct catalog_name){STR("cat"), str_from(text[i])};
    }
    server_exec(conn, "CREATE TABLE cat.WIDE3 (other INT PRIMARY KEY)");
    for (size_t i = 0; i < N; i += N / THERE) {
        struct buf sql = {0};

        buf_printf(&sql, "CREATE TABLE cat.%s (id INT PRIMARY KEY)", text[i]);
        server_exec(conn, sql.ptr);
        buf_free(&sql);
    }
    server_exec(conn, "FLUSH TABLES");

    const uint64_t before = n_opened();

    assert_true(catalog_load(conn, names, N, s, &err));
    if (is_mariadb())
        assert_true(n_opened() - before < 10);
    for (size_t i = 0; i < N; i++) {
        assert_true((s[i] != NULL) == (i % (N / THERE) == 0));
        if (s[i] != NULL)
            assert_text(s[i]->columns[0].name, "id");
        schema_unref(s[i]);
    }
}

static void facts_tell_indexes(void **state)
{
    const struct catalog_name names[] = {{STR("cat"), STR("child")}, {STR("cat"), STR("gone")}};
    struct table_facts facts[2];
    struct arena *a = arena_new();
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE cat.child (id INT PRIMARY KEY, pa INT, pb INT, t TEXT, "
                      "n VARCHAR(50), UNIQUE u (n(9)), KEY k (pa, pb), FULLTEXT f (t))");
    server_exec(conn, "INSERT INTO cat.child VALUES (1, 1, 2, 'x', 'y')");
    server_exec(conn, "CREATE INDEX hidden ON cat.child (pb)");
    server_exec(conn, is_mariadb() ? "ALTER TABLE cat.child ALTER INDEX hidden IGNORED"
                                   : "ALTER TABLE cat.child ALTER INDEX hidden INVISIBLE");
    if (!catalog_load_facts(conn, names, 2, a, facts, &err))
        fail_msg("%s", err.msg);
    assert_non_null(facts[0].schema);
    assert_null(facts[1].schema);
    assert_int_equal(facts[0].n_indexes, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct catalog_index *index = &facts[0].indexes[i];

        if (str_equal(index->name, STR("k"))) {
            assert_false(index->is_unique);
            assert_int_equal(index->n_columns, 2);
            assert_text(index->columns[1], "pb");
        } else if (str_equal(index->name, STR("u"))) {
            assert_true(index->is_unique && index->has_prefix);
        } else {
            assert_text(index->name, "PRIMARY");
            assert_true(index->is_unique && !index->has_prefix);
        }
    }
    table_facts_fini(facts, 2);
    arena_free(a);
}

static bool is_unique(const char *table, const char *first, const char *second)
{
    const struct str columns[] = {str_from(first), str_from(second)};
    struct schema *s = load(table);
    const bool unique = schema_is_unique(s, columns, second[0] == '\0' ? 1 : 2);

    assert_true(s->uniques_known);
    schema_unref(s);
    return unique;
}

static void columns_are_unique_where_an_index_lies_within_them(void **state)
{
    (void)state;
    server_exec(conn,
                "CREATE TABLE cat.uniq (id INT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, "
                "c VARCHAR(99) NOT NULL, d INT, UNIQUE ab (a, b), UNIQUE c (c(9)), "
                "UNIQUE d (d), KEY b (b))");
    assert_true(is_unique("uniq", "id", ""));
    assert_true(is_unique("uniq", "B", "a"));
    assert_true(is_unique("uniq", "c", ""));
    assert_true(is_unique("uniq", "c", "d"));
    assert_false(is_unique("uniq", "a", ""));
    assert_true(is_unique("uniq", "d", "")); /* but for NULLs */
    assert_true(is_unique("uniq", "b", "d"));
    assert_false(is_unique("uniq", "b", ""));
    server_exec(conn, "DROP INDEX ab ON cat.uniq");
    assert_false(is_unique("uniq", "b", "a"));
    assert_true(is_unique("uniq", "c", ""));
}

static void foreign_keys_come_with_what_they_do(void **state)
{
    const struct catalog_name name = {STR("cat"), STR("o'dd`")};
    struct arena *a = arena_new();
    struct foreign_keys of;
    struct foreign_key *keys;
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE cat.`mum,` (a INT, b INT, PRIMARY KEY (a, b), KEY (b))");
    server_exec(conn,
                "CREATE TABLE cat.`o'dd``` (id INT PRIMARY KEY, pa INT, pb INT, "
                "CONSTRAINT `) ON DELETE CASCADE` FOREIGN KEY (pa) REFERENCES `mum,` (a), "
                "CONSTRAINT `two``` FOREIGN KEY (pa, pb) REFERENCES `mum,` (a, b) "
                "ON DELETE CASCADE ON UPDATE SET NULL)");
    if (!foreign_keys_load(conn, &name, 1, a, &of, &err) ||
        !foreign_keys_load_actions(conn, &name, 1, a, &of, &err))
        fail_msg("%s", err.msg);
    keys = of.keys;
    assert_int_equal(of.n, 2);
    assert_text(keys[0].name, ") ON DELETE CASCADE");
    assert_false(foreign_key_acts(keys[0].on_delete) || foreign_key_acts(keys[0].on_update));
    assert_text(keys[1].parent_table, "mum,");
    assert_text(keys[1].parent_schema, "cat");
    assert_int_equal(keys[1].n_columns, 2);
    assert_text(keys[1].columns[1], "pb");
    assert_text(keys[1].parent_columns[1], "b");
    assert_text(keys[1].on_delete, "CASCADE");
    assert_text(keys[1].on_update, "SET NULL");
    arena_free(a);
}

static void foreign_keys_of_many_tables_take_few_statements(void **state)
{
    static const char *const actions[] = {"CASCADE", "SET NULL", "RESTRICT"};
    enum { N = 60 };
    struct catalog_name names[N + 1];
    char text[N][16];
    struct arena *a = arena_new();
    struct foreign_keys of[N + 1];
    uint64_t n_statements = 0;
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE cat.up (id INT PRIMARY KEY)");
    for (size_t i = 0; i < N; i++) {
        struct buf sql = {0};

        snprintf(text[i], sizeof(text[i]), "down%zu", N - i);
        names[i] = (struct catalog_name){STR("cat"), str_from(text[i])};
        buf_printf(&sql,
                   "CREATE TABLE cat.%s (id INT PRIMARY KEY, u INT, "
                   "FOREIGN KEY (u) REFERENCES up (id) ON DELETE %s)",
                   text[i], actions[i % 3]);
        server_exec(conn, sql.ptr);
        buf_free(&sql);
    }
    names[N] = (struct catalog_name){STR("cat"), STR("up")};
    mysql_conn_count(conn, &n_statements);
    if (!foreign_keys_load(conn, names, N + 1, a, of, &err) ||
        !foreign_keys_load_actions(conn, names, N + 1, a, of, &err))
        fail_msg("%s", err.msg);
    mysql_conn_count(conn, NULL);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(of[i].n, 1);
        assert_text(of[i].keys[0].table, text[i]);
        assert_int_equal(foreign_key_acts(of[i].keys[0].on_delete), i % 3 != 2);
        if (i % 3 != 2)
            assert_text(of[i].keys[0].on_delete, actions[i % 3]);
    }
    assert_int_equal(of[N].n, 0);
    assert_true(n_statements < 10);
    arena_free(a);
}

/* The server refuses to show some; the message says at which. */
static void a_table_that_goes_while_its_foreign_keys_are_read_is_named(void **state)
{
    const struct catalog_name names[] = {{STR("cat"), STR("down1")},
                                         {STR("cat"), STR("down2")}};
    struct arena *a = arena_new();
    struct foreign_keys of[2];
    struct err err = {0};

    (void)state;
    if (!foreign_keys_load(conn, names, 2, a, of, &err))
        fail_msg("%s", err.msg);
    server_exec(conn, "DROP TABLE cat.down2");
    if (is_mariadb()) {
        assert_false(foreign_keys_load_actions(conn, names, 2, a, of, &err));
        assert_non_null(strstr(err.msg, "reading the foreign keys of cat.down2"));
    }
    arena_free(a);
}

static bool takes(enum catalog_clause clause, struct str text, struct err *err)
{
    const struct clause_wanted wanted = {{STR("cat"), STR("keyed")}, clause, text};

    return catalog_try_clauses(conn, &wanted, 1, err);
}

static void tables_are_listed_and_conditions_tried(void **state)
{
    struct arena *a = arena_new();
    struct str *tables;
    size_t n;
    struct err err = {0};

    (void)state;
    assert_true(catalog_list_tables(conn, STR("cat"), 5, a, &tables, &n, &err));
    assert_int_equal(n, 5);
    assert_true(takes(CLAUSE_WHERE, STR("a = 1 or b in (2, 3)"), &err));
    assert_false(takes(CLAUSE_WHERE, STR("nothing = 1"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "nothing"));
    assert_false(takes(CLAUSE_WHERE, STR("a = 1 ORDER BY a"), &err));
    assert_true(takes(CLAUSE_ORDER_BY, STR("a DESC, b + 1"), &err));
    assert_false(takes(CLAUSE_ORDER_BY, STR("a LIMIT 1"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    arena_free(a);
}

static void many_conditions_and_orders_are_tried_by_one_statement(void **state)
{
    struct clause_wanted wanted[] = {
        {{STR("cat"), STR("keyed")}, CLAUSE_WHERE, STR("a = 1 or b in (2, 3)")},
        {{STR("cat"), STR("keyed")}, CLAUSE_ORDER_BY, STR("a DESC, b + 1")},
        {{STR("cat"), STR("keyed")}, CLAUSE_WHERE, STR("a = 2")},
    };
    uint64_t statements = 0;
    struct err err = {0};

    (void)state;
    mysql_conn_count(conn, &statements);
    assert_true(catalog_try_clauses(conn, wanted, ARRAY_LEN(wanted), &err));
    wanted[1].text = STR("a LIMIT 1");
    assert_false(catalog_try_clauses(conn, wanted, ARRAY_LEN(wanted), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    mysql_conn_count(conn, NULL);
    assert_int_equal(statements, 2);
}

static void rows_that_share_values_are_counted_up_to_a_limit(void **state)
{
    const struct str columns[] = {STR("a"), STR("b")};
    struct shares_wanted wanted = {
        .name = {STR("cat"), STR("shared")}, .columns = columns, .n_columns = 1};
    struct catalog_shares found;
    struct err err = {0};

    (void)state;
    server_exec(conn, "CREATE TABLE cat.shared (id INT PRIMARY KEY, a INT, b INT, KEY (a, b))");
    server_exec(conn, "INSERT INTO cat.shared VALUES (1, 1, 1), (2, 1, 2), (3, 1, NULL), "
                      "(4, 2, 2), (5, NULL, 1), (6, NULL, 1)");
    for (int indexed = 0; indexed < 2; indexed++) {
        wanted.has_index = indexed == 1;
        wanted.n_columns = 1;
        assert_true(catalog_count_shares(conn, &wanted, 1, &found, &err));
        assert_int_equal(found.largest, 3);
        assert_int_equal(found.n_values, 2);
        assert_int_equal(found.n_rows, 4);
        assert_true(found.complete);
        wanted.n_columns = 2;
        assert_true(catalog_count_shares(conn, &wanted, 1, &found, &err));
        assert_int_equal(found.largest, 1);
        assert_int_equal(found.n_rows, 3);
    }
    const struct shares_wanted both[] = {
        {.name = wanted.name, .columns = columns, .n_columns = 1},
        {.name = wanted.name, .columns = columns, .n_columns = 2, .has_index = true},
    };
    struct catalog_shares counted[2];

    assert_true(catalog_count_shares(conn, both, 2, counted, &err));
    assert_int_equal(counted[0].largest, 3);
    assert_int_equal(counted[1].n_rows, 3);
    for (size_t n = 6; n < SHARES_ROWS_MAX; n *= 2)
        server_exec(conn,
                    "INSERT INTO cat.shared SELECT id + (SELECT MAX(id) FROM cat.shared), "
                    "7, id FROM cat.shared");
    wanted.n_columns = 1;
    assert_true(catalog_count_shares(conn, &wanted, 1, &found, &err));
    assert_int_equal(found.n_rows, SHARES_ROWS_MAX);
    assert_false(found.complete);
    server_exec(conn, "DROP TABLE cat.shared");
    assert_true(catalog_count_shares(conn, &wanted, 1, &found, &err) == false);
    assert_int_equal(err.kind, ERR_REJECT);
}

/* Until it is told to stop; each table that comes is another. */
static void *alter(void *arg)
{
    struct mysql_conn *c = server_connect();

    for (unsigned i = 0; !__atomic_load_n((bool *)arg, __ATOMIC_SEQ_CST); i++) {
        char create[100], change[120];

        snprintf(create, sizeof(create),
                 "CREATE TABLE cat.restless (a%u INT NOT NULL PRIMARY KEY, b INT)", i);
        snprintf(change, sizeof(change),
                 "ALTER TABLE cat.restless DROP PRIMARY KEY, DROP COLUMN b, "
                 "ADD COLUMN c%u INT PRIMARY KEY",
                 i);
        server_exec(c, create);
        server_exec(c, change);
        server_exec(c, "DROP TABLE cat.restless");
    }
    mysql_conn_close(c);
    return NULL;
}

static void a_table_is_seen_as_it_was_at_one_moment(void **state)
{
    const struct catalog_name names[] = {{STR("cat"), STR("keyed")},
                                         {STR("cat"), STR("restless")}};
    pthread_t thread;
    bool enough = false;
    unsigned n_seen = 0;

    (void)state;
    server_exec(conn, "DROP TABLE IF EXISTS cat.restless");
    assert_int_equal(pthread_create(&thread, NULL, alter, &enough), 0);
    while (n_seen < 5) {
        struct schema *both[2] = {NULL}, *s;
        struct err err = {0};

        if (!catalog_load(conn, names, 2, both, &err))
            assert_int_equal(err.kind, ERR_RETRY); /* it was another at each look */
        else
            assert_text(both[0]->table, "keyed");
        schema_unref(both[0]);
        s = both[1];
        if (s == NULL)
            continue;
        n_seen++;
        assert_int_equal(s->n_columns, 2);
        assert_int_equal(s->n_key, 1);
        assert_int_equal(s->columns[s->key[0]].name.ptr[0],
                         schema_find(s, STR("b")) != SIZE_MAX ? 'a' : 'c');
        schema_unref(s);
    }
    __atomic_store_n(&enough, true, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_recognised),
        cmocka_unit_test(decimals_and_fractions_keep_their_digits),
        cmocka_unit_test(labels_are_what_was_declared),
        cmocka_unit_test(json_is_json_on_mariadb_too),
        cmocka_unit_test(defaults_are_seen_and_null_is_none),
        cmocka_unit_test(generated_and_invisible_columns_are_marked),
        cmocka_unit_test(types_of_mariadb_alone_are_recognised),
        cmocka_unit_test(old_temporals_are_seen_on_either_setting),
        cmocka_unit_test(vectors_have_dimensions),
        cmocka_unit_test(keys_have_their_own_order),
        cmocka_unit_test(views_are_views_and_missing_tables_are_missing),
        cmocka_unit_test(what_can_be_read_by_now_is_neither_denied_nor_missing),
        cmocka_unit_test(many_tables_come_in_the_order_asked_for),
        cmocka_unit_test(a_statement_about_many_tables_opens_no_other),
        cmocka_unit_test(facts_tell_indexes),
        cmocka_unit_test(columns_are_unique_where_an_index_lies_within_them),
        cmocka_unit_test(foreign_keys_come_with_what_they_do),
        cmocka_unit_test(foreign_keys_of_many_tables_take_few_statements),
        cmocka_unit_test(a_table_that_goes_while_its_foreign_keys_are_read_is_named),
        cmocka_unit_test(tables_are_listed_and_conditions_tried),
        cmocka_unit_test(many_conditions_and_orders_are_tried_by_one_statement),
        cmocka_unit_test(rows_that_share_values_are_counted_up_to_a_limit),
        cmocka_unit_test(a_table_is_seen_as_it_was_at_one_moment),
    };
    return cmocka_run_group_tests_name("catalog", tests, open_server, close_server);
}
