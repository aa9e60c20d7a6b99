#include "config.h"

#include "sync/catalog/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/mysql/mysql.h"

#include <string.h>

#define NAMES_A_LIST   500          /* from 1000 on, MariaDB opens every table of the schema */
#define BRANCHES_MAX   50           /* each costs the server as much as a statement */
#define NAMES_SIZE_MAX (256 * 1024) /* bytes: servers limit the size of a statement */

static void append_key(struct buf *key, struct str schema, struct str table)
{
    buf_clear(key);
    buf_append(key, schema);
    buf_append_char(key, '\0');
    buf_append(key, table);
}

static void fold_case(struct buf *key)
{
    for (size_t i = 0; i < key->len; i++)
        if (key->ptr[i] >= 'A' && key->ptr[i] <= 'Z')
            key->ptr[i] = (char)(key->ptr[i] - 'A' + 'a');
}

/* ---- the names of a round ---- */

static void add_name(struct catalog_reader *r, size_t i, bool folded)
{
    append_key(&r->key, r->names[i].schema, r->names[i].table);
    if (folded)
        fold_case(&r->key);
    if (map_find(r->by_name, buf_str(&r->key)) == NULL)
        (void)map_put(r->by_name, buf_str(&r->key), (void *)(uintptr_t)&r->names[i]);
}

void catalog_reader_take(struct catalog_reader *r, const struct catalog_name *names, size_t n)
{
    map_free(r->by_name, NULL);
    r->by_name = map_new();
    r->names = names;
    r->n = n;
    for (size_t i = 0; i < n; i++)
        add_name(r, i, false);
    for (size_t i = 0; i < n && r->any_case; i++)
        add_name(r, i, true);
}

/* The index of the table among the names, or n. */
static size_t find_name(struct catalog_reader *r, struct str schema, struct str table)
{
    const struct catalog_name *found;

    append_key(&r->key, schema, table);
    found = map_find(r->by_name, buf_str(&r->key));
    if (found == NULL && r->any_case) {
        fold_case(&r->key);
        found = map_find(r->by_name, buf_str(&r->key));
    }
    return found == NULL ? r->n : (size_t)(found - r->names);
}

bool catalog_reader_next(struct catalog_reader *r, const struct catalog_name *names, size_t n,
                         size_t start)
{
    size_t end = start, schemas = 0, size = 0;

    for (; end < n; end++) {
        schemas += end == start || !str_equal(names[end].schema, names[end - 1].schema);
        size += names[end].table.len;
        if (end > start && (schemas > BRANCHES_MAX || size > NAMES_SIZE_MAX))
            break;
    }
    catalog_reader_take(r, names + start, end - start);
    return start < n;
}

/* ---- statements ---- */

static void append_names(struct buf *sql, const char *column, const struct catalog_name *names,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i % NAMES_A_LIST == 0)
            buf_printf(sql, "%s%s IN (", i > 0 ? ") OR " : "", column);
        else
            buf_append(sql, STR(", "));
        mysql_quote_text(sql, names[i].table);
    }
    buf_append_char(sql, ')');
}

/*
 * The number of names from i on that share a branch.  A server looks through all names of a
 * schema for a list, but not for one name: few names get a branch each.
 */
static size_t branch_len(const struct catalog_reader *r, size_t i)
{
    size_t n = 1;

    while (r->n > BRANCHES_MAX && i + n < r->n &&
           str_equal(r->names[i + n].schema, r->names[i].schema))
        n++;
    return n;
}

static void append_query(struct buf *sql, const struct catalog_reader *r,
                         const struct catalog_query *q)
{
    for (size_t i = 0, n; i < r->n; i += n) {
        n = branch_len(r, i);
        buf_printf(sql, "%s(SELECT %s FROM information_schema.%s WHERE %s = ",
                   i > 0 ? " UNION ALL " : "", q->columns, q->table, q->schema_column);
        mysql_quote_text(sql, r->names[i].schema);
        buf_append(sql, STR(" AND ("));
        append_names(sql, q->table_column, &r->names[i], n);
        buf_printf(sql, ")%s)", q->condition);
    }
    buf_append(sql, STR(" ORDER BY 1, 2, 3, 4"));
}

bool catalog_reader_run(struct catalog_reader *r, const struct catalog_query *q,
                        catalog_row_fn found, void *ctx, struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *result;
    struct mysql_row row;
    int more;

    append_query(&sql, r, q);
    if (!mysql_conn_query(r->conn, buf_str(&sql), &result, err)) {
        buf_free(&sql);
        return err_wrap(err, "reading information_schema.%s", q->table);
    }
    while ((more = mysql_result_next(result, &row, err)) > 0) {
        const size_t table = find_name(r, row.cells[0], row.cells[1]);

        if (table < r->n)
            found(ctx, table, &row);
    }
    mysql_result_close(result);
    buf_free(&sql);
    return more == 0 || err_wrap(err, "reading information_schema.%s", q->table);
}

void *catalog_grow(struct arena *a, void *old, size_t n, size_t size)
{
    if (n > 0 && (n < 4 || (n & (n - 1)) != 0))
        return old;

    void *wider = arena_alloc(a, n == 0 ? 4 : n * 2, size);

    if (n > 0)
        memcpy(wider, old, n * size);
    return wider;
}

static bool read_flag(struct mysql_conn *c, struct str sql, bool *flag, struct err *err)
{
    struct buf value = {0};
    bool fine = mysql_conn_scalar(c, sql, &value, err);

    *flag = fine && value.len > 0 && value.ptr[0] != '0';
    buf_free(&value);
    return fine;
}

/* Show keys that MySQL generates: the log always has them. */
static bool show_generated_keys(struct mysql_conn *c, struct err *err)
{
    return mysql_conn_flavor(c) != FLAVOR_MYSQL || mysql_conn_version(c) < 80030 ||
           mysql_conn_exec(
               c, STR("SET SESSION show_gipk_in_create_table_and_information_schema = ON"),
               err);
}

bool catalog_reader_open(struct catalog_reader *r, struct mysql_conn *c, struct err *err)
{
    *r = (struct catalog_reader){.conn = c, .by_name = map_new()};
    if (!show_generated_keys(c, err) ||
        !read_flag(c, STR("SELECT @@lower_case_table_names"), &r->any_case, err))
        return err_wrap(err, "reading the server's catalog");
    return true;
}

void catalog_reader_close(struct catalog_reader *r)
{
    map_free(r->by_name, NULL);
    buf_free(&r->key);
}
