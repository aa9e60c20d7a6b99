#include "config.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

static void append_columns(struct buf *sql, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_append(sql, i > 0 ? STR(", ") : STR(""));
        mysql_quote_name(sql, columns[i]);
    }
}

static void append_no_nulls(struct buf *sql, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" WHERE "));
        mysql_quote_name(sql, columns[i]);
        buf_append(sql, STR(" IS NOT NULL"));
    }
}

/*
 * If an index begins with the columns, read it up to the limit.  Otherwise read rows in any
 * order, including those with NULLs: a table without others must not be read in full.
 */
static void append_count(struct buf *sql, const struct shares_wanted *w, size_t number)
{
    buf_printf(sql,
               "SELECT %zu, MAX(n), COUNT(*), SUM(n) FROM (SELECT COUNT(*) AS n FROM (SELECT ",
               number);
    append_columns(sql, w->columns, w->n_columns);
    buf_append(sql, STR(" FROM "));
    mysql_quote_name(sql, w->name.schema);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, w->name.table);
    if (w->has_index)
        append_no_nulls(sql, w->columns, w->n_columns);
    buf_printf(sql, " LIMIT %d) AS s", SHARES_ROWS_MAX);
    if (!w->has_index)
        append_no_nulls(sql, w->columns, w->n_columns);
    buf_append(sql, STR(" GROUP BY "));
    append_columns(sql, w->columns, w->n_columns);
    buf_append(sql, STR(") AS g"));
}

static uint64_t number_of(struct str cell)
{
    return cell.ptr == NULL ? 0 : strtoull(cell.ptr, NULL, 10);
}

static void fill(const struct shares_wanted *w, const struct str *cells,
                 struct catalog_shares *out)
{
    out->largest = number_of(cells[1]);
    out->n_values = number_of(cells[2]);
    out->n_rows = number_of(cells[3]);
    out->complete = w->has_index ? out->n_rows < SHARES_ROWS_MAX : w->n_rows < SHARES_ROWS_MAX;
}

bool catalog_count_shares(struct mysql_conn *c, const struct shares_wanted *w, size_t n,
                          struct catalog_shares *out, struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int more;

    for (size_t i = 0; i < n; i++) {
        buf_append(&sql, i == 0 ? STR("") : STR(" UNION ALL "));
        append_count(&sql, &w[i], i);
    }

    const bool fine = mysql_conn_query(c, buf_str(&sql), &r, err);

    buf_free(&sql);
    if (!fine)
        return false;
    memset(out, 0, n * sizeof(*out));
    while ((more = mysql_result_next(r, &row, err)) > 0) {
        const uint64_t i = number_of(row.cells[0]);

        if (i < n)
            fill(&w[i], row.cells, &out[i]);
    }
    mysql_result_close(r);
    return more == 0;
}
