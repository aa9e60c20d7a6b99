#include "config.h"

#include "sync/catalog/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/column.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 10 /* attempts, if tables change meanwhile */

/* What one look at the reader's names finds. */
struct loading {
    struct catalog_reader *reader;
    struct schema **schemas;
    uint64_t *n_rows;
    uint64_t *before, *behind; /* hashes of the columns, as read first and as read last */
};

static void on_table(void *ctx, size_t table, const struct mysql_row *row)
{
    struct loading *x = ctx;
    const struct str *cells = row->cells;

    /* Two names that differ only in case: the server has one table. */
    if (x->schemas[table] != NULL)
        return;

    const struct catalog_name *name = &x->reader->names[table];
    struct schema *s = schema_new(name->schema, name->table);

    s->is_view = cells[3].len >= 4 && memmem(cells[3].ptr, cells[3].len, "VIEW", 4) != NULL;
    s->any_case = x->reader->any_case;
    s->uniques_known = true;
    s->engine = arena_copy(s->arena, cells[4]);
    x->schemas[table] = s;
    x->n_rows[table] = cells[5].len == 0 ? 0 : strtoull(cells[5].ptr, NULL, 10);
}

static void hash_row(const struct mysql_row *row, uint64_t *hash)
{
    for (size_t i = 0; i < row->n_cells; i++)
        *hash = hash_bytes(row->cells[i], *hash);
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

    hash_row(row, &x->before[table]);
    if (s == NULL)
        return;
    s->columns = catalog_grow(s->arena, s->columns, s->n_columns, sizeof(*s->columns));
    catalog_column(&cells, s->arena, &s->columns[s->n_columns++]);
}

/* The key of a versioned table includes the row end, which is the same for all present rows. */
static void on_key(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    size_t column = s == NULL ? SIZE_MAX : schema_find(s, row->cells[3]);

    if (column == SIZE_MAX || s->columns[column].row_end)
        return;
    s->key = catalog_grow(s->arena, s->key, s->n_key, sizeof(*s->key));
    s->key[s->n_key++] = column;
}

/*
 * 3 name, 4 sequence, 5 column (NULL for an expression).  As in on_key(), ignore the row end.
 */
static void on_unique(void *ctx, size_t table, const struct mysql_row *row)
{
    struct schema *s = ((struct loading *)ctx)->schemas[table];
    const struct str *c = row->cells;
    struct schema_unique *u;

    if (s == NULL)
        return;
    if (str_equal(c[4], STR("1"))) {
        s->uniques = catalog_grow(s->arena, s->uniques, s->n_uniques, sizeof(*s->uniques));
        s->uniques[s->n_uniques++] = (struct schema_unique){0};
    }
    if (s->n_uniques == 0)
        return;

    const size_t column = c[5].ptr == NULL ? SIZE_MAX : schema_find(s, c[5]);

    if (c[5].ptr != NULL && (column == SIZE_MAX || s->columns[column].row_end))
        return;
    u = &s->uniques[s->n_uniques - 1];
    u->columns = catalog_grow(s->arena, u->columns, u->n, sizeof(*u->columns));
    u->columns[u->n++] = column;
}

/* Hidden columns come after the visible ones, as in the log. */
static void add_hidden(struct schema *s, const struct column *c)
{
    s->columns = catalog_grow(s->arena, s->columns, s->n_columns, sizeof(*s->columns));
    s->columns[s->n_columns] = *c;
    s->columns[s->n_columns++].invisible = true;
}

/* Versioned without explicit period columns. */
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

/*
 * A hash stands for the long values of a unique key.  MEMORY's hash indexes only share the
 * name.
 */
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

/* MariaDB's JSON is LONGTEXT with a check of exactly json_valid(`column`). */
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

static const struct catalog_query tables_query = {
    "TABLE_SCHEMA, TABLE_NAME, 0, TABLE_TYPE, ENGINE, TABLE_ROWS", "TABLES", "TABLE_SCHEMA",
    "TABLE_NAME", ""};
#define COLUMNS_OF(default_and_expression)                                                   \
    {                                                                                        \
        "TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, "  \
        "IS_NULLABLE, EXTRA, CHARACTER_SET_NAME, COLLATION_NAME, CHARACTER_MAXIMUM_LENGTH, " \
        "NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, " default_and_expression,     \
            "COLUMNS", "TABLE_SCHEMA", "TABLE_NAME", ""                                      \
    }

/* MariaDB prints defaults as SQL, so text is quoted. */
static const struct catalog_query columns_queries[] = {
    [FLAVOR_MYSQL] = COLUMNS_OF("COLUMN_DEFAULT, GENERATION_EXPRESSION"),
    [FLAVOR_MARIADB] = COLUMNS_OF("NULLIF(COLUMN_DEFAULT, 'NULL'), GENERATION_EXPRESSION"),
};
static const struct catalog_query old_columns_query = COLUMNS_OF("COLUMN_DEFAULT, NULL");
static const struct catalog_query keys_query = {
    "TABLE_SCHEMA, TABLE_NAME, SEQ_IN_INDEX, COLUMN_NAME", "STATISTICS", "TABLE_SCHEMA",
    "TABLE_NAME", " AND INDEX_NAME = 'PRIMARY'"};
static const struct catalog_query uniques_query = {
    "TABLE_SCHEMA, TABLE_NAME, CONCAT(INDEX_NAME, '/', LPAD(SEQ_IN_INDEX, 3, '0')), "
    "INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME",
    "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME",
    " AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY'"};
static const struct catalog_query checks_query = {
    "CONSTRAINT_SCHEMA, TABLE_NAME, 0, CHECK_CLAUSE", "CHECK_CONSTRAINTS", "CONSTRAINT_SCHEMA",
    "TABLE_NAME", " AND CHECK_CLAUSE LIKE 'json_valid(%'"};

/* MariaDB only, by version; in the order of the columns in its log. */
static const struct catalog_query versioned_query = {"TABLE_SCHEMA, TABLE_NAME, 0, 0", "TABLES",
                                                     "TABLE_SCHEMA", "TABLE_NAME",
                                                     " AND TABLE_TYPE = 'SYSTEM VERSIONED'"};
static const struct catalog_query hashes_query = {
    "TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, 0", "STATISTICS", "TABLE_SCHEMA", "TABLE_NAME",
    " AND SEQ_IN_INDEX = 1 AND NON_UNIQUE = 0 AND INDEX_TYPE = 'HASH'"};

static void forget(struct schema **schemas, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        schema_unref(schemas[i]);
        schemas[i] = NULL;
    }
}

/* A schema without columns was dropped after we read its name; a view may be broken. */
static void forget_dropped(struct schema **schemas, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (schemas[i] != NULL && schemas[i]->n_columns == 0 && !schemas[i]->is_view)
            forget(&schemas[i], 1);
}

static void on_column_again(void *ctx, size_t table, const struct mysql_row *row)
{
    hash_row(row, &((struct loading *)ctx)->behind[table]);
}

/*
 * Read columns first and again at the end: keys read after a DDL do not fit columns read before
 * it.
 */
static bool look(struct loading *x, struct err *err)
{
    struct catalog_reader *r = x->reader;
    const bool mariadb = mysql_conn_flavor(r->conn) == FLAVOR_MARIADB;
    const bool old = mysql_conn_version(r->conn) < (mariadb ? 100205U : 50700U);
    const unsigned version = mariadb ? mysql_conn_version(r->conn) : 0;
    const struct catalog_query *columns =
        old ? &old_columns_query : &columns_queries[mysql_conn_flavor(r->conn)];

    if (!catalog_reader_run(r, &tables_query, on_table, x, err) ||
        !catalog_reader_run(r, columns, on_column, x, err))
        return false;
    forget_dropped(x->schemas, r->n);
    return catalog_reader_run(r, &keys_query, on_key, x, err) &&
           catalog_reader_run(r, &uniques_query, on_unique, x, err) &&
           (version < 100310 || catalog_reader_run(r, &checks_query, on_check, x, err)) &&
           (version < 100304 ||
            catalog_reader_run(r, &versioned_query, on_versioned, x, err)) &&
           (version < 100400 || catalog_reader_run(r, &hashes_query, on_hash, x, err)) &&
           catalog_reader_run(r, columns, on_column_again, x, err);
}

/* The tables that are still to be read: all at first, then those that changed meanwhile. */
struct unread {
    struct catalog_name *names;
    size_t *places; /* of each in the arrays of the caller */
    size_t n;
};

/* Hand over what was read at one moment, and keep the rest for another look. */
static void settle(const struct loading *x, struct unread *u, struct schema **out,
                   uint64_t *n_rows)
{
    size_t n = 0;

    for (size_t i = 0; i < u->n; i++) {
        if (x->before[i] == x->behind[i]) {
            out[u->places[i]] = x->schemas[i];
            n_rows[u->places[i]] = x->n_rows[i];
            continue;
        }
        schema_unref(x->schemas[i]);
        u->names[n] = u->names[i];
        u->places[n++] = u->places[i];
    }
    u->n = n;
}

static bool look_once(struct catalog_reader *r, struct unread *u, struct schema **out,
                      uint64_t *n_rows, struct err *err)
{
    struct arena *a = arena_new();
    struct loading x = {.reader = r,
                        .schemas = arena_alloc(a, u->n, sizeof(struct schema *)),
                        .n_rows = arena_alloc(a, u->n, sizeof(uint64_t)),
                        .before = arena_alloc(a, u->n, sizeof(uint64_t)),
                        .behind = arena_alloc(a, u->n, sizeof(uint64_t))};

    catalog_reader_take(r, u->names, u->n);

    const bool fine = look(&x, err);

    if (fine)
        settle(&x, u, out, n_rows);
    else
        forget(x.schemas, u->n);
    arena_free(a);
    return fine;
}

static bool look_until_settled(struct catalog_reader *r, struct unread *u, struct schema **out,
                               uint64_t *n_rows, struct err *err)
{
    for (unsigned i = 0; i < LOOKS && u->n > 0; i++)
        if (!look_once(r, u, out, n_rows, err))
            return false;
    return u->n == 0 ||
           err_set(err, ERR_RETRY,
                   "table %" STR_FMT ".%" STR_FMT " changed during each of %d reads; Millrace "
                   "continues once ALTER TABLE and the like are over",
                   STR_ARG(u->names[0].schema), STR_ARG(u->names[0].table), LOOKS);
}

bool catalog_read_schemas(struct catalog_reader *r, struct schema **out, uint64_t *n_rows,
                          struct err *err)
{
    const struct catalog_name *all = r->names;
    const size_t n = r->n;
    struct arena *a = arena_new();
    struct unread u = {.names = arena_alloc(a, n + 1, sizeof(*u.names)),
                       .places = arena_alloc(a, n + 1, sizeof(*u.places)),
                       .n = n};

    for (size_t i = 0; i < n; i++) {
        u.names[i] = all[i];
        u.places[i] = i;
    }

    const bool fine = look_until_settled(r, &u, out, n_rows, err);

    catalog_reader_take(r, all, n);
    arena_free(a);
    return fine;
}

bool catalog_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                  struct schema **out, struct err *err)
{
    struct catalog_reader r;
    uint64_t *n_rows = mem_alloc(n + 1, sizeof(*n_rows));
    bool fine = catalog_reader_open(&r, c, err);

    memset(out, 0, n * sizeof(*out));
    for (size_t i = 0; fine && catalog_reader_next(&r, names, n, i); i += r.n)
        fine = catalog_read_schemas(&r, out + i, n_rows + i, err);
    if (!fine)
        forget(out, n);
    catalog_reader_close(&r);
    free(n_rows);
    return fine;
}
