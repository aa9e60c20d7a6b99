#include "config.h"

#include "sync/catalog/foreign_keys.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#include <string.h>

#define COLUMNS_MAX 32 /* per key, more than any server allows */

bool foreign_key_acts(struct str action)
{
    return str_equal(action, STR("CASCADE")) || str_equal(action, STR("SET NULL")) ||
           str_equal(action, STR("SET DEFAULT"));
}

static void write_query(struct buf *sql, const struct catalog_name *name)
{
    buf_append(sql,
               STR("SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, "
                   "REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM "
                   "information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT "
                   "NULL AND TABLE_SCHEMA = "));
    mysql_quote_text(sql, name->schema);
    buf_append(sql, STR(" AND TABLE_NAME = "));
    mysql_quote_text(sql, name->table);
    buf_append(sql, STR(" ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION"));
}

struct keys {
    struct arena *arena;
    struct foreign_key *list;
    size_t n, cap;
};

static struct foreign_key *add_key(struct keys *keys, const struct catalog_name *name,
                                   const struct str *cells)
{
    struct arena *a = keys->arena;

    if (keys->n == keys->cap) {
        struct foreign_key *more = arena_alloc(a, keys->cap * 2 + 4, sizeof(*keys->list));

        if (keys->n > 0)
            memcpy(more, keys->list, keys->n * sizeof(*more));
        keys->list = more;
        keys->cap = keys->cap * 2 + 4;
    }
    keys->list[keys->n] = (struct foreign_key){
        .name = arena_copy(a, cells[0]),
        .schema = arena_copy(a, name->schema),
        .table = arena_copy(a, name->table),
        .parent_schema = arena_copy(a, cells[2]),
        .parent_table = arena_copy(a, cells[3]),
        .columns = arena_alloc(a, COLUMNS_MAX, sizeof(struct str)),
        .parent_columns = arena_alloc(a, COLUMNS_MAX, sizeof(struct str)),
        .on_delete = STR("RESTRICT"),
        .on_update = STR("RESTRICT"),
    };
    return &keys->list[keys->n++];
}

static bool take_row(struct keys *keys, const struct catalog_name *name,
                     const struct str *cells, struct err *err)
{
    struct foreign_key *k = keys->n > 0 ? &keys->list[keys->n - 1] : NULL;

    if (k == NULL || !str_equal(k->name, cells[0]))
        k = add_key(keys, name, cells);
    if (k->n_columns == COLUMNS_MAX)
        return err_set(err, ERR_REJECT, "`%" STR_FMT "` has too many columns",
                       STR_ARG(k->name));
    k->columns[k->n_columns] = arena_copy(keys->arena, cells[1]);
    k->parent_columns[k->n_columns++] = arena_copy(keys->arena, cells[4]);
    return true;
}

/* ---- actions ---- */

/*
 * Parse SHOW CREATE TABLE instead: MariaDB shows REFERENTIAL_CONSTRAINTS only to users who may
 * write the table.
 */
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

static bool load_actions(struct mysql_conn *c, const struct catalog_name *name,
                         struct keys *keys, struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int more = 0;

    if (keys->n == 0)
        return true;
    buf_append(&sql, STR("SHOW CREATE TABLE "));
    mysql_quote_name(&sql, name->schema);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, name->table);

    bool ok = mysql_conn_query(c, buf_str(&sql), &r, err);

    if (ok) {
        while ((more = mysql_result_next(r, &row, err)) > 0)
            read_actions(row.cells[1], keys->list, keys->n);
        mysql_result_close(r);
    }
    buf_free(&sql);
    return ok && more == 0;
}

bool foreign_keys_load(struct mysql_conn *c, const struct catalog_name *name, struct arena *a,
                       struct foreign_key **out, size_t *n, struct err *err)
{
    struct keys keys = {.arena = a};
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int more = -1;

    write_query(&sql, name);
    if (mysql_conn_query(c, buf_str(&sql), &r, err)) {
        while ((more = mysql_result_next(r, &row, err)) > 0 &&
               take_row(&keys, name, row.cells, err))
            ;
        mysql_result_close(r);
    }
    buf_free(&sql);
    *out = keys.list;
    *n = keys.n;
    return (more == 0 && load_actions(c, name, &keys, err)) ||
           err_wrap(err, "reading the foreign keys of %" STR_FMT ".%" STR_FMT,
                    STR_ARG(name->schema), STR_ARG(name->table));
}

/* ---- those of a schema ---- */

static bool take_row_of(struct keys *keys, const struct mysql_row *row, struct str schema,
                        struct err *err)
{
    const struct str *cells = row->cells;
    struct foreign_key *k = keys->n > 0 ? &keys->list[keys->n - 1] : NULL;
    const struct catalog_name name = {schema, cells[5]};

    /* Names of foreign keys may repeat in another table. */
    if (k == NULL || !str_equal(k->table, name.table) || !str_equal(k->name, cells[0])) {
        k = add_key(keys, &name, cells);
        k->on_delete = k->on_update = (struct str){0};
    }
    return take_row(keys, &name, cells, err);
}

bool foreign_keys_load_all(struct mysql_conn *c, struct str schema, struct arena *a,
                           struct foreign_key **out, size_t *n, struct err *err)
{
    struct keys keys = {.arena = a};
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int more = -1;

    buf_append(&sql,
               STR("SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, "
                   "REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME, TABLE_NAME FROM "
                   "information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT "
                   "NULL AND TABLE_SCHEMA = "));
    mysql_quote_text(&sql, schema);
    buf_append(&sql, STR(" ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION"));
    if (mysql_conn_query(c, buf_str(&sql), &r, err)) {
        while ((more = mysql_result_next(r, &row, err)) > 0 &&
               take_row_of(&keys, &row, schema, err))
            ;
        mysql_result_close(r);
    }
    buf_free(&sql);
    *out = keys.list;
    *n = keys.n;
    return more == 0 || err_wrap(err, "reading the foreign keys of %" STR_FMT, STR_ARG(schema));
}
