#include "config.h"

#include "sync/catalog/foreign_keys.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/parts.h"

#include <string.h>

#define SHOWN_AT_ONCE 500 /* tables in one statement */

bool foreign_key_acts(struct str action)
{
    return str_equal(action, STR("CASCADE")) || str_equal(action, STR("SET NULL")) ||
           str_equal(action, STR("SET DEFAULT"));
}

/* ---- keys ---- */

struct key_loading {
    struct arena *arena;
    const struct catalog_name *names;
    struct foreign_keys *of;
};

static struct foreign_key *add_key(struct key_loading *x, size_t table, const struct str *c)
{
    struct foreign_keys *of = &x->of[table];
    struct arena *a = x->arena;

    of->keys = catalog_grow(a, of->keys, of->n, sizeof(*of->keys));
    of->keys[of->n] = (struct foreign_key){
        .name = arena_copy(a, c[2]),
        .schema = arena_copy(a, x->names[table].schema),
        .table = arena_copy(a, x->names[table].table),
        .parent_schema = arena_copy(a, c[5]),
        .parent_table = arena_copy(a, c[6]),
        .on_delete = STR("RESTRICT"),
        .on_update = STR("RESTRICT"),
    };
    return &of->keys[of->n++];
}

/* 2 key, 3 position, 4 column, 5 to 7 referenced schema, table, column */
static void on_column(void *ctx, size_t table, const struct mysql_row *row)
{
    struct key_loading *x = ctx;
    const struct foreign_keys *of = &x->of[table];
    const struct str *c = row->cells;
    struct foreign_key *k = of->n == 0 ? NULL : &of->keys[of->n - 1];

    if (k == NULL || !str_equal(k->name, c[2]))
        k = add_key(x, table, c);
    k->columns = catalog_grow(x->arena, k->columns, k->n_columns, sizeof(struct str));
    k->parent_columns =
        catalog_grow(x->arena, k->parent_columns, k->n_columns, sizeof(struct str));
    k->columns[k->n_columns] = arena_copy(x->arena, c[4]);
    k->parent_columns[k->n_columns++] = arena_copy(x->arena, c[7]);
}

static const struct catalog_query columns_query = {
    "TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION, COLUMN_NAME, "
    "REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME",
    "KEY_COLUMN_USAGE", "TABLE_SCHEMA", "TABLE_NAME", " AND REFERENCED_TABLE_NAME IS NOT NULL"};

/* ---- actions, from SHOW CREATE TABLE ---- */

static bool cut_end(struct str *line, struct str end)
{
    if (line->len < end.len || memcmp(line->ptr + line->len - end.len, end.ptr, end.len) != 0)
        return false;
    line->len -= end.len;
    return true;
}

static bool cut_action(struct str *line, struct foreign_key *k)
{
    static const struct str actions[] = {STR("CASCADE"), STR("SET NULL"), STR("SET DEFAULT"),
                                         STR("RESTRICT"), STR("NO ACTION")};
    struct str rest;

    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        rest = *line;
        if (!cut_end(&rest, actions[i]))
            continue;
        if (cut_end(&rest, STR(" ON DELETE ")))
            k->on_delete = actions[i];
        else if (cut_end(&rest, STR(" ON UPDATE ")))
            k->on_update = actions[i];
        else
            return false;
        *line = rest;
        return true;
    }
    return false;
}

static void read_line(struct str line, struct foreign_key *keys, size_t n)
{
    (void)cut_end(&line, STR(","));
    for (size_t i = 0; i < n; i++) {
        struct buf start = {0};

        buf_append(&start, STR("  CONSTRAINT "));
        mysql_quote_name(&start, keys[i].name);
        buf_append(&start, STR(" FOREIGN KEY ("));
        if (line.len > start.len && memcmp(line.ptr, start.ptr, start.len) == 0)
            while (cut_action(&line, &keys[i]))
                ;
        buf_free(&start);
    }
}

/* Read the actions from the output of SHOW CREATE TABLE. */
static void read_actions(struct str create, struct foreign_key *keys, size_t n)
{
    while (create.len > 0) {
        const char *end = memchr(create.ptr, '\n', create.len);
        const size_t len = end != NULL ? (size_t)(end - create.ptr) : create.len;

        read_line((struct str){create.ptr, len}, keys, n);
        create.ptr += len + (end != NULL);
        create.len -= len + (end != NULL);
    }
}

static void append_show(struct buf *sql, const struct catalog_name *name)
{
    buf_append(sql, STR("SHOW CREATE TABLE "));
    mysql_quote_name(sql, name->schema);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, name->table);
}

/* A table that has foreign keys. */
struct child {
    const struct catalog_name *name;
    struct foreign_keys *of;
};

/* Run a statement that shows these tables, each as a result of its own. */
static bool read_shown(struct mysql_conn *c, struct str sql, const struct child *tables,
                       size_t n, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int more = 1;

    if (!mysql_conn_query(c, sql, &r, err))
        return false;
    for (size_t i = 0; more > 0 && i < n; i++) {
        while ((more = mysql_result_next(r, &row, err)) > 0)
            read_actions(row.cells[1], tables[i].of->keys, tables[i].of->n);
        if (more == 0)
            more = mysql_result_more(r, err);
    }
    mysql_result_close(r);
    return more >= 0;
}

static bool show_one(struct mysql_conn *c, const struct child *table, struct err *err)
{
    struct buf sql = {0};

    append_show(&sql, table->name);

    const bool fine = read_shown(c, buf_str(&sql), table, 1, err);

    buf_free(&sql);
    return fine || err_wrap(err, "reading the foreign keys of %" STR_FMT ".%" STR_FMT,
                            STR_ARG(table->name->schema), STR_ARG(table->name->table));
}

/* One statement shows all of them.  If the server refuses, show_one() says at which. */
static bool show_some(struct mysql_conn *c, const struct child *tables, size_t n)
{
    struct buf sql = {0};
    struct err ignored = {0};

    buf_append(&sql, STR("BEGIN NOT ATOMIC "));
    for (size_t i = 0; i < n; i++) {
        append_show(&sql, tables[i].name);
        buf_append(&sql, STR("; "));
    }
    buf_append(&sql, STR("END"));

    const bool fine = read_shown(c, buf_str(&sql), tables, n, &ignored);

    buf_free(&sql);
    return fine;
}

static bool show(struct mysql_conn *c, const struct child *tables, size_t n, struct err *err)
{
    const bool at_once =
        mysql_conn_flavor(c) == FLAVOR_MARIADB && mysql_conn_version(c) >= 100101;

    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < SHOWN_AT_ONCE ? n - i : SHOWN_AT_ONCE;
        if (some > 1 && at_once && show_some(c, tables + i, some))
            continue;
        for (size_t k = i; k < i + some; k++)
            if (!show_one(c, &tables[k], err))
                return false;
    }
    return true;
}

static bool load_shown_actions(const struct key_loading *x, struct mysql_conn *c, size_t n,
                               struct err *err)
{
    struct child *tables = arena_alloc(x->arena, n + 1, sizeof(*tables));
    size_t n_tables = 0;

    for (size_t i = 0; i < n; i++)
        if (x->of[i].n > 0)
            tables[n_tables++] = (struct child){&x->names[i], &x->of[i]};
    return show(c, tables, n_tables, err);
}

/* ---- actions, from information_schema ---- */

static const struct catalog_query rules_query = {
    "CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE",
    "REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA", "TABLE_NAME", ""};

static void on_rule(void *ctx, size_t table, const struct mysql_row *row)
{
    const struct key_loading *x = ctx;
    struct foreign_keys *of = &x->of[table];

    for (size_t i = 0; i < of->n; i++)
        if (str_equal(of->keys[i].name, row->cells[2])) {
            of->keys[i].on_delete = arena_copy(x->arena, row->cells[3]);
            of->keys[i].on_update = arena_copy(x->arena, row->cells[4]);
        }
}

/* ---- both ---- */

static bool run(struct mysql_conn *c, const struct catalog_query *q, catalog_row_fn found,
                const struct key_loading *x, size_t n, struct err *err)
{
    struct catalog_reader r;
    bool fine = catalog_reader_open(&r, c, err);

    for (size_t i = 0; fine && catalog_reader_next(&r, x->names, n, i); i += r.n)
        fine = catalog_reader_run(
            &r, q, found, &(struct key_loading){x->arena, x->names + i, x->of + i}, err);
    catalog_reader_close(&r);
    return fine;
}

bool foreign_keys_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                       struct arena *a, struct foreign_keys *out, struct err *err)
{
    memset(out, 0, n * sizeof(*out));
    return run(c, &columns_query, on_column, &(struct key_loading){a, names, out}, n, err);
}

/*
 * MariaDB, and MySQL before 8.0, show REFERENTIAL_CONSTRAINTS only to users who may write the
 * table.
 */
bool foreign_keys_load_actions(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                               struct arena *a, struct foreign_keys *of, struct err *err)
{
    const struct key_loading x = {a, names, of};

    if (mysql_conn_flavor(c) == FLAVOR_MYSQL && mysql_conn_version(c) >= 80000)
        return run(c, &rules_query, on_rule, &x, n, err);
    return load_shown_actions(&x, c, n, err);
}
