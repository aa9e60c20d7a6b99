#include "config.h"

#include "sync/catalog/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/mysql/mysql.h"

#include <string.h>

static bool is_name(const struct catalog_reader *r, size_t i, struct str schema,
                    struct str table)
{
    return i < r->n && str_equal(r->names[i].table, table) &&
           str_equal(r->names[i].schema, schema);
}

/* The index of the table among the names, or n. */
static size_t find_name(const struct catalog_reader *r, struct str schema, struct str table)
{
    for (size_t i = r->latest; i < r->latest + 2; i++)
        if (is_name(r, i, schema, table))
            return i;
    for (size_t i = 0; i < r->n; i++)
        if (is_name(r, i, schema, table))
            return i;
    for (size_t i = 0; i < r->n && r->any_case; i++)
        if (str_equal_any_case(r->names[i].schema, schema) &&
            str_equal_any_case(r->names[i].table, table))
            return i;
    return r->n;
}

/* One condition for the whole schema. */
static void append_whole_query(struct buf *sql, const struct catalog_reader *r,
                               const struct catalog_query *q)
{
    buf_printf(sql, "SELECT %s FROM information_schema.%s WHERE %s = ", q->columns, q->table,
               q->schema_column);
    mysql_quote_text(sql, r->names[0].schema);
    buf_printf(sql, "%s ORDER BY 1, 2, 3", q->condition);
}

static void append_query(struct buf *sql, const struct catalog_reader *r,
                         const struct catalog_query *q)
{
    if (r->whole) {
        append_whole_query(sql, r, q);
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        buf_printf(sql, "%s(SELECT %s FROM information_schema.%s WHERE %s = ",
                   i > 0 ? " UNION ALL " : "", q->columns, q->table, q->schema_column);
        mysql_quote_text(sql, r->names[i].schema);
        buf_printf(sql, " AND %s = ", q->table_column);
        mysql_quote_text(sql, r->names[i].table);
        buf_printf(sql, "%s)", q->condition);
    }
    buf_append(sql, STR(" ORDER BY 1, 2, 3"));
}

bool catalog_reader_run(struct catalog_reader *r, const struct catalog_query *q,
                        catalog_row_fn found, void *ctx, struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *result;
    struct mysql_row row;
    int more;

    append_query(&sql, r, q);
    r->seen = 0;
    r->latest = 0;
    if (!mysql_conn_query(r->conn, buf_str(&sql), &result, err)) {
        buf_free(&sql);
        return err_wrap(err, "reading information_schema.%s", q->table);
    }
    while ((more = mysql_result_next(result, &row, err)) > 0) {
        size_t table = find_name(r, row.cells[0], row.cells[1]);

        for (size_t i = 0; i < row.n_cells; i++)
            r->seen = hash_bytes(row.cells[i], r->seen);
        if (table == r->n)
            continue;
        r->latest = table;
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
    *r = (struct catalog_reader){.conn = c};
    if (!show_generated_keys(c, err) ||
        !read_flag(c, STR("SELECT @@lower_case_table_names"), &r->any_case, err))
        return err_wrap(err, "reading the server's catalog");
    return true;
}

bool catalog_reader_next(struct catalog_reader *r, const struct catalog_name *names, size_t n,
                         size_t start)
{
    r->names = names + start;
    r->n = n - start < TABLES_A_STATEMENT ? n - start : TABLES_A_STATEMENT;
    return start < n;
}
