#include "config.h"

#include "sync/model/catalog.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/mysql.h"
#include "sync/model/catalog_column.h"

#include <stdlib.h>
#include <string.h>

#define BASE_TABLES_MAX    100000 /* of one schema */
#define TABLES_A_STATEMENT 50
#define LOOKS              10 /* at tables that change meanwhile */

struct loader {
    struct mysql_conn *conn;
    const struct catalog_name *names; /* of this round */
    size_t n;
    bool any_case; /* the server compares names of tables without case */
    struct arena *arena;
    uint64_t seen; /* a hash of all that the last query gave */
};

typedef void (*row_fn)(void *ctx, size_t table, const struct mysql_row *row);

/*
 * `SELECT columns FROM table WHERE condition` for each name, all in one statement, ordered by
 * the first three columns, which are schema, table and something that puts rows in order.
 */
struct query {
    const char *columns;
    const char *table;
    const char *schema_column, *table_column;
    const char *condition; /* "" or " AND ..." */
};

/* Index of the table among the names, or n. */
static size_t find_name(const struct loader *l, struct str schema, struct str table)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->names[i].schema, schema) && str_equal(l->names[i].table, table))
            return i;
    for (size_t i = 0; i < l->n && l->any_case; i++)
        if (str_equal_any_case(l->names[i].schema, schema) &&
            str_equal_any_case(l->names[i].table, table))
            return i;
    return l->n;
}

static void append_query(struct buf *sql, const struct loader *l, const struct query *q)
{
    for (size_t i = 0; i < l->n; i++) {
        buf_printf(sql, "%s(SELECT %s FROM information_schema.%s WHERE %s = ",
                   i > 0 ? " UNION ALL " : "", q->columns, q->table, q->schema_column);
        mysql_quote_text(sql, l->names[i].schema);
        buf_printf(sql, " AND %s = ", q->table_column);
        mysql_quote_text(sql, l->names[i].table);
        buf_printf(sql, "%s)", q->condition);
    }
    buf_append(sql, STR(" ORDER BY 1, 2, 3"));
}

/* Calls found for every row that belongs to one of the names. */
static bool run(struct loader *l, const struct query *q, row_fn found, void *ctx,
                struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *result;
    struct mysql_row row;
    int more;

    append_query(&sql, l, q);
    l->seen = 0;
    if (!mysql_conn_query(l->conn, buf_str(&sql), &result, err)) {
        buf_free(&sql);
        return err_wrap(err, "reading information_schema.%s", q->table);
    }
    while ((more = mysql_result_next(result, &row, err)) > 0) {
        size_t table = find_name(l, row.cells[0], row.cells[1]);

        for (size_t i = 0; i < row.n_cells; i++)
            l->seen = hash_bytes(row.cells[i], l->seen);
        if (table < l->n)
            found(ctx, table, &row);
    }
    mysql_result_close(result);
    buf_free(&sql);
    return more == 0 || err_wrap(err, "reading information_schema.%s", q->table);
}

/* ---- schemas ---- */

struct loading {
    struct loader *l;
    struct schema **schemas;
    uint64_t *n_rows;
};

static void on_table(void *ctx, size_t table, const struct mysql_row *row)
{
    struct loading *x = ctx;
    const struct str *cells = row->cells;

    /* Twice the same table: names that differ in case, of which the server has one. */
    if (x->schemas[table] != NULL)
        return;

    struct schema *s = schema_new(x->l->names[table].schema, x->l->names[table].table);

    s->is_view = cells[3].len >= 4 && memmem(cells[3].ptr, cells[3].len, "VIEW", 4) != NULL;
    s->any_case = x->l->any_case;
    s->uniques_known = true;
    s->engine = arena_copy(s->arena, cells[4]);
    x->schemas[table] = s;
    x->n_rows[table] = cells[5].len == 0 ? 0 : strtoull(cells[5].ptr, NULL, 10);
}

/* Room for one more in an array of n in an arena: for 4, then doubled. */
static void *grow(struct arena *a, void *old, size_t n, size_t size)
{
    if (n > 0 && (n < 4 || (n & (n - 1)) != 0))
        return old;

    void *wider = arena_alloc(a, n == 0 ? 4 : n * 2, size);

    if (n > 0)
        memcpy(wider, old, n * size);
    return wider;
}

static void on_column(void *ctx, size_t table, const struct mysql_row *row)
{
    struct loading *x = ctx;
    struct schema *s = x->schemas[table];
    const struct str *c = row->cells;
    const struct catalog_cells cells = {
        .name = c[3],
        .data_type = c[4],
        .column_type = c[5],
        .is_nullable = c[6],
        .extra = c[7],
        .charset = c[8],
        .collation = c[9],
        .char_length = c[10],
        .precision = c[11],
        .scale = c[12],
        .fsp = c[13],
        .column_default = c[14],
        .expression = c[15],
    };

    if (s == NULL)
        return;
    s->columns = grow(s->arena, s->columns, s->n_columns, sizeof(*s->columns));
    catalog_column(&cells, s->arena, &s->columns[s->n_columns++]);
}

/* A versioned table's key has the end of the row's time too, which is the same for all of its
 * present rows. */
static void on_key(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    size_t column = s == NULL ? SIZE_MAX : schema_find(s, row->cells[3]);

    if (column == SIZE_MAX || s->columns[column].row_end)
        return;
    s->key = grow(s->arena, s->key, s->n_key, sizeof(*s->key));
    s->key[s->n_key++] = column;
}

/* 3 name, 4 sequence, 5 column, NULL of an expression.  As of on_key() the end of the row's time
 * does not count. */
static void on_unique(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    const struct str *c = row->cells;
    struct schema_unique *u;

    if (s == NULL)
        return;
    if (str_equal(c[4], STR("1"))) {
        s->uniques = grow(s->arena, s->uniques, s->n_uniques, sizeof(*s->uniques));
        s->uniques[s->n_uniques++] = (struct schema_unique){0};
    }
    if (s->n_uniques == 0)
        return;

    const size_t column = c[5].ptr == NULL ? SIZE_MAX : schema_find(s, c[5]);

    if (c[5].ptr != NULL && (column == SIZE_MAX || s->columns[column].row_end))
        return;
    u = &s->uniques[s->n_uniques - 1];
    u->columns = grow(s->arena, u->columns, u->n, sizeof(*u->columns));
    u->columns[u->n++] = column;
}

/* Behind the columns that can be seen, as in the log. */
static void add_hidden(struct schema *s, const struct column *c)
{
    s->columns = grow(s->arena, s->columns, s->n_columns, sizeof(*s->columns));
    s->columns[s->n_columns] = *c;
    s->columns[s->n_columns++].invisible = true;
}

/* Versioned without columns of its own for it. */
static void on_versioned(void *ctx, size_t table, const struct mysql_row *row)
{
    const struct column start = {.name = STR("row_start"),
                                 .type_text = STR("timestamp(6)"),
                                 .type = COLUMN_TIMESTAMP,
                                 .fsp = 6};
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    struct column end = start;

    (void)row;
    if (s == NULL || schema_keeps_history(s))
        return;
    end.name = STR("row_end");
    end.row_end = true;
    add_hidden(s, &start);
    add_hidden(s, &end);
}

/* A hash stands for long values of a unique key; the indexes of MEMORY are only called so. */
static void on_hash(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];

    (void)row;
    if (s != NULL && !str_equal(s->engine, STR("MEMORY")))
        add_hidden(s, &(struct column){.name = SCHEMA_HASH,
                                       .type_text = STR("bigint(20) unsigned"),
                                       .type = COLUMN_BIGINT,
                                       .is_unsigned = true,
                                       .nullable = true,
                                       .generated = true});
}

/* MariaDB's JSON is LONGTEXT with a check that says no more than json_valid(`column`). */
static void on_check(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    struct buf valid = {0};

    for (size_t i = 0; s != NULL && i < s->n_columns; i++) {
        struct column *c = &s->columns[i];

        if (c->type != COLUMN_TEXT)
            continue;
        buf_clear(&valid);
        buf_append(&valid, STR("json_valid("));
        mysql_quote_name(&valid, c->name);
        buf_append_char(&valid, ')');
        if (str_equal(buf_str(&valid), row->cells[3]))
            c->type = COLUMN_JSON;
    }
    buf_free(&valid);
}

static const struct query tables_query = {
    "TABLE_SCHEMA, TABLE_NAME, 0, TABLE_TYPE, ENGINE, TABLE_ROWS", "TABLES", "TABLE_SCHEMA",
    "TABLE_NAME", ""};
#define COLUMNS_OF(default_and_expression)                                                   \
    {                                                                                        \
        "TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, "  \
        "IS_NULLABLE, EXTRA, CHARACTER_SET_NAME, COLLATION_NAME, CHARACTER_MAXIMUM_LENGTH, " \
        "NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, " default_and_expression,     \
            "COLUMNS", "TABLE_SCHEMA", "TABLE_NAME", ""                                      \
    }

/* MariaDB writes defaults as SQL, so that a text is quoted. */
static const struct query columns_queries[] = {
    [FLAVOR_MYSQL] = COLUMNS_OF("COLUMN_DEFAULT, GENERATION_EXPRESSION"),
    [FLAVOR_MARIADB] = COLUMNS_OF("NULLIF(COLUMN_DEFAULT, 'NULL'), GENERATION_EXPRESSION"),
};
static const struct query old_columns_query = COLUMNS_OF("COLUMN_DEFAULT, NULL");
static const struct query keys_query = {"TABLE_SCHEMA, TABLE_NAME, SEQ_IN_INDEX, COLUMN_NAME",
                                        "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME",
                                        " AND INDEX_NAME = 'PRIMARY'"};
static const struct query uniques_query = {
    "TABLE_SCHEMA, TABLE_NAME, CONCAT(INDEX_NAME, '/', LPAD(SEQ_IN_INDEX, 3, '0')), INDEX_NAME, "
    "SEQ_IN_INDEX, COLUMN_NAME",
    "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME", " AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY'"};
static const struct query checks_query = {
    "CONSTRAINT_SCHEMA, TABLE_NAME, 0, CHECK_CLAUSE", "CHECK_CONSTRAINTS", "CONSTRAINT_SCHEMA",
    "TABLE_NAME", " AND CHECK_CLAUSE LIKE 'json_valid(%'"};

/* What only MariaDB has, from its versions on; in the order in which its log has columns. */
static const struct query versioned_query = {"TABLE_SCHEMA, TABLE_NAME, 0", "TABLES",
                                             "TABLE_SCHEMA", "TABLE_NAME",
                                             " AND TABLE_TYPE = 'SYSTEM VERSIONED'"};
static const struct query hashes_query = {
    "TABLE_SCHEMA, TABLE_NAME, INDEX_NAME", "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME",
    " AND SEQ_IN_INDEX = 1 AND NON_UNIQUE = 0 AND INDEX_TYPE = 'HASH'"};

static void forget(struct schema **schemas, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        schema_unref(schemas[i]);
        schemas[i] = NULL;
    }
}

/* What has no columns any more was dropped since its name was read; a view may be broken. */
static void forget_dropped(struct schema **schemas, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (schemas[i] != NULL && schemas[i]->n_columns == 0 && !schemas[i]->is_view)
            forget(&schemas[i], 1);
}

static void on_nothing(void *ctx, size_t table, const struct mysql_row *row)
{
    (void)ctx, (void)table, (void)row;
}

/*
 * Columns first and once more at the end: keys that were read after a DDL do not belong to
 * columns of before it.
 */
static bool look(struct loader *l, struct loading *x, bool *whole, struct err *err)
{
    const bool mariadb = mysql_conn_flavor(l->conn) == FLAVOR_MARIADB;
    const bool old = mysql_conn_version(l->conn) < (mariadb ? 100205U : 50700U);
    const unsigned version = mariadb ? mysql_conn_version(l->conn) : 0;
    const struct query *columns =
        old ? &old_columns_query : &columns_queries[mysql_conn_flavor(l->conn)];

    if (!run(l, &tables_query, on_table, x, err) || !run(l, columns, on_column, x, err))
        return false;

    const uint64_t seen = l->seen;

    forget_dropped(x->schemas, l->n);
    if (!run(l, &keys_query, on_key, x, err) ||
        !run(l, &uniques_query, on_unique, x, err) ||
        (version >= 100310 && !run(l, &checks_query, on_check, x, err)) ||
        (version >= 100304 && !run(l, &versioned_query, on_versioned, x, err)) ||
        (version >= 100400 && !run(l, &hashes_query, on_hash, x, err)) ||
        !run(l, columns, on_nothing, NULL, err))
        return false;
    *whole = l->seen == seen;
    return true;
}

static bool load_schemas(struct loader *l, struct schema **out, uint64_t *n_rows,
                         struct err *err)
{
    struct loading x = {l, out, n_rows};
    bool whole = false;

    for (unsigned i = 0; i < LOOKS; i++) {
        forget(out, l->n);
        if (!look(l, &x, &whole, err))
            return false;
        if (whole)
            return true;
    }
    return err_set(err, ERR_RETRY,
                   "tables from %" STR_FMT ".%" STR_FMT " on changed at each of %d looks at them; "
                   "it goes on when ALTER TABLE and the like are over",
                   STR_ARG(l->names[0].schema), STR_ARG(l->names[0].table), LOOKS);
}

static bool read_flag(struct mysql_conn *c, struct str sql, bool *flag, struct err *err)
{
    struct buf value = {0};
    bool fine = mysql_conn_scalar(c, sql, &value, err);

    *flag = fine && value.len > 0 && value.ptr[0] != '0';
    buf_free(&value);
    return fine;
}

/* Keys that MySQL makes itself are in the log in any case. */
static bool show_generated_keys(struct mysql_conn *c, struct err *err)
{
    return mysql_conn_flavor(c) != FLAVOR_MYSQL || mysql_conn_version(c) < 80030 ||
           mysql_conn_exec(
               c, STR("SET SESSION show_gipk_in_create_table_and_information_schema = ON"),
               err);
}

static bool open_loader(struct loader *l, struct mysql_conn *c, struct err *err)
{
    *l = (struct loader){.conn = c};
    if (!show_generated_keys(c, err) ||
        !read_flag(c, STR("SELECT @@lower_case_table_names"), &l->any_case, err))
        return err_wrap(err, "reading the server's catalog");
    return true;
}

/* Point the loader at the names from `start`; false: there are no more. */
static bool next_round(struct loader *l, const struct catalog_name *names, size_t n,
                       size_t start)
{
    l->names = names + start;
    l->n = n - start < TABLES_A_STATEMENT ? n - start : TABLES_A_STATEMENT;
    return start < n;
}

bool catalog_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                  struct schema **out, struct err *err)
{
    struct loader l;
    uint64_t n_rows[TABLES_A_STATEMENT];

    memset(out, 0, n * sizeof(*out));
    if (!open_loader(&l, c, err))
        return false;
    for (size_t i = 0; next_round(&l, names, n, i); i += l.n)
        if (!load_schemas(&l, out + i, n_rows, err)) {
            forget(out, n);
            return false;
        }
    return true;
}

/* ---- facts ---- */

struct facts_loading {
    struct loader *l;
    struct table_facts *facts;
};

static bool is_true(struct str cell)
{
    return str_equal(cell, STR("YES"));
}

/* 3 name, 4 sequence, 5 non-unique, 6 column, 7 prefix, 8 kind, 9 usable */
static void on_index(void *ctx, size_t table, const struct mysql_row *row)
{
    struct facts_loading *x = ctx;
    struct arena *a = x->l->arena;
    struct table_facts *f = &x->facts[table];
    const struct str *c = row->cells;
    bool first = str_equal(c[4], STR("1"));

    if (str_equal(c[8], STR("FULLTEXT")) || str_equal(c[8], STR("SPATIAL")) || !is_true(c[9]))
        return;
    if (first) {
        f->indexes = grow(a, f->indexes, f->n_indexes, sizeof(*f->indexes));
        f->indexes[f->n_indexes++] = (struct catalog_index){
            .name = arena_copy(a, c[3]), .is_unique = str_equal(c[5], STR("0"))};
    }
    if (f->n_indexes == 0)
        return;

    struct catalog_index *index = &f->indexes[f->n_indexes - 1];

    index->columns = grow(a, index->columns, index->n_columns, sizeof(*index->columns));
    index->columns[index->n_columns++] = arena_copy(a, c[6]);
    index->has_prefix = index->has_prefix || c[7].len > 0;
}

/* Whether an index may be used: the column of STATISTICS that says so, if there is one. */
static const char *usable_column(const struct mysql_conn *c)
{
    if (mysql_conn_flavor(c) == FLAVOR_MYSQL)
        return mysql_conn_version(c) >= 80000 ? "IS_VISIBLE" : "'YES'";
    return mysql_conn_version(c) >= 100600 ? "IF(IGNORED = 'YES', 'NO', 'YES')" : "'YES'";
}

static bool load_indexes(struct loader *l, struct facts_loading *x, struct err *err)
{
    struct buf columns = {0};

    buf_printf(&columns,
               "TABLE_SCHEMA, TABLE_NAME, CONCAT(INDEX_NAME, '/', LPAD(SEQ_IN_INDEX, 3, '0')), "
               "INDEX_NAME, SEQ_IN_INDEX, NON_UNIQUE, COLUMN_NAME, SUB_PART, INDEX_TYPE, %s",
               usable_column(l->conn));

    const struct query q = {columns.ptr, "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME", ""};
    bool fine = run(l, &q, on_index, x, err);

    buf_free(&columns);
    return fine;
}

/* At most TABLES_A_STATEMENT tables. */
static bool load_facts(struct loader *l, struct table_facts *out, struct err *err)
{
    struct schema *schemas[TABLES_A_STATEMENT] = {0};
    uint64_t n_rows[TABLES_A_STATEMENT] = {0};
    struct facts_loading x = {l, out};
    bool fine = load_schemas(l, schemas, n_rows, err);

    for (size_t i = 0; i < l->n; i++) {
        out[i].schema = schemas[i];
        out[i].n_rows = n_rows[i];
    }
    return fine && load_indexes(l, &x, err);
}

bool catalog_load_facts(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                        struct arena *a, struct table_facts *out, struct err *err)
{
    struct loader l;

    memset(out, 0, n * sizeof(*out));
    if (!open_loader(&l, c, err))
        return false;
    l.arena = a;
    for (size_t i = 0; next_round(&l, names, n, i); i += l.n)
        if (!load_facts(&l, out + i, err)) {
            table_facts_fini(out, n);
            return false;
        }
    return true;
}

void table_facts_fini(struct table_facts *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        schema_unref(facts[i].schema);
        facts[i].schema = NULL;
    }
}

/* ---- single questions ---- */

static bool list_names(struct mysql_conn *c, struct str sql, size_t max, struct arena *a,
                       struct str **out, size_t *n, struct err *err)
{
    struct mysql_result *result;
    struct mysql_row row;
    int more;

    *n = 0;
    *out = arena_alloc(a, max + 1, sizeof(**out));
    if (!mysql_conn_query(c, sql, &result, err))
        return err_wrap(err, "listing the tables");
    while ((more = mysql_result_next(result, &row, err)) > 0 && *n < max)
        (*out)[(*n)++] = arena_copy(a, row.cells[0]);
    mysql_result_close(result);
    return more >= 0 || err_wrap(err, "listing the tables");
}

bool catalog_list_tables(struct mysql_conn *c, struct str schema, size_t max, struct arena *a,
                         struct str **out, size_t *n, struct err *err)
{
    struct buf sql = {0};

    buf_append(&sql,
               STR("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "));
    mysql_quote_text(&sql, schema);
    buf_printf(&sql, " ORDER BY 1 LIMIT %zu", max);

    const bool fine = list_names(c, buf_str(&sql), max, a, out, n, err);

    buf_free(&sql);
    return fine;
}

bool catalog_list_base_tables(struct mysql_conn *c, struct str schema, struct arena *a,
                              struct str **out, size_t *n, struct err *err)
{
    struct buf sql = {0};

    buf_append(&sql,
               STR("SELECT TABLE_NAME FROM information_schema.TABLES WHERE "
                   "TABLE_TYPE IN ('BASE TABLE','SYSTEM VERSIONED') AND TABLE_SCHEMA = "));
    mysql_quote_text(&sql, schema);
    buf_append(&sql, STR(" ORDER BY 1"));

    const bool fine = list_names(c, buf_str(&sql), BASE_TABLES_MAX, a, out, n, err);

    buf_free(&sql);
    return fine;
}

bool catalog_try_clause(struct mysql_conn *c, const struct catalog_name *name,
                        enum catalog_clause clause, struct str text, struct err *err)
{
    static const struct {
        const char *before, *behind;
    } parts[] = {
        [CLAUSE_WHERE] = {" WHERE (", ") LIMIT 0"},
        [CLAUSE_ORDER_BY] = {" ORDER BY ", ", NULL LIMIT 0"},
    };
    struct buf sql = {0};
    bool fine;

    buf_append(&sql, STR("SELECT 1 FROM "));
    mysql_quote_name(&sql, name->schema);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, name->table);
    buf_append(&sql, str_from(parts[clause].before));
    buf_append(&sql, text);
    buf_append(&sql, str_from(parts[clause].behind));
    fine = mysql_conn_exec(c, buf_str(&sql), err);
    buf_free(&sql);
    return fine;
}
