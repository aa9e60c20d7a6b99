#include "config.h"

#include "sync/document/bucket/range_ask.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/mysql/explain.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

/* ---- SQL ---- */

static struct str table_of(const struct range_ask *ask)
{
    return ask->order.root->schema->table;
}

static void append_from(struct range_ask *ask)
{
    buf_printf(&ask->sql, " FROM %" STR_FMT, STR_ARG(ask->order.root->from));
    query_force_index(&ask->sql, ask->index);
}

static void append_range(struct range_ask *ask, const struct row_range *r, bool *first)
{
    if (r->after.len > 0) {
        buf_append(&ask->sql, str_from(query_part_and(first)));
        query_part_after(&ask->sql, table_of(ask), &ask->order, r->after);
    }
    if (r->until.len > 0) {
        buf_append(&ask->sql, str_from(query_part_and(first)));
        query_part_until(&ask->sql, table_of(ask), &ask->order, r->until);
    }
}

/* Select the order's columns of the first row of a range, or of the last one. */
static void append_end(struct range_ask *ask, const struct row_range *r, bool is_last)
{
    const struct column *c;
    bool first = true;

    for (size_t i = 0; (c = query_order_column(&ask->order, i)) != NULL; i++) {
        buf_append(&ask->sql, i > 0 ? STR(",") : STR("SELECT "));
        cell_append_select(&ask->sql, table_of(ask), c);
    }
    append_from(ask);
    append_range(ask, r, &first);
    for (size_t i = 0; (c = query_order_column(&ask->order, i)) != NULL; i++) {
        if (!c->nullable || c == ask->order.by)
            continue;
        buf_append(&ask->sql, str_from(query_part_and(&first)));
        query_part_column(&ask->sql, table_of(ask), c->name);
        buf_append(&ask->sql, STR(" IS NOT NULL"));
    }
    query_part_order(&ask->sql, table_of(ask), &ask->order, is_last);
    buf_append(&ask->sql, STR(" LIMIT 1"));
}

static bool send(struct range_ask *ask, struct mysql_result **r, struct err *err)
{
    return mysql_conn_query(ask->conn, buf_str(&ask->sql), r, err) ||
           err_wrap(err, "%" STR_FMT, STR_ARG(ask->order.root->from));
}

/* ---- EXPLAIN ---- */

bool range_ask_is_in_order(struct range_ask *ask, bool *in_order, struct err *err)
{
    struct explain_step step;
    struct mysql_result *r;
    int got;

    buf_clear(&ask->sql);
    buf_append(&ask->sql, STR("EXPLAIN "));
    append_end(ask, &(struct row_range){.after = STR("")}, false);
    if (!send(ask, &r, err))
        return false;
    *in_order = true;
    while ((got = explain_next(r, &step, err)) > 0)
        *in_order = *in_order && !step.sorts;
    mysql_result_close(r);
    return got == 0;
}

bool range_ask_rows(struct range_ask *ask, const struct row_range *ranges, size_t n,
                    uint64_t *rows, struct err *err)
{
    struct explain_step step;
    struct mysql_result *r;
    int got;

    buf_clear(&ask->sql);
    for (size_t i = 0; i < n; i++) {
        bool first = true;

        rows[i] = 0;
        buf_append(&ask->sql, i > 0 ? STR(" UNION ALL (SELECT 1") : STR("EXPLAIN (SELECT 1"));
        append_from(ask);
        append_range(ask, &ranges[i], &first);
        buf_append_char(&ask->sql, ')');
    }
    if (!send(ask, &r, err))
        return false;
    while ((got = explain_next(r, &step, err)) > 0)
        if (step.select >= 1 && step.select <= n)
            rows[step.select - 1] = step.rows;
    mysql_result_close(r);
    return got == 0;
}

/* ---- rows ---- */

static bool take_place(struct range_ask *ask, const struct str *cells, struct str *place,
                       struct err *err)
{
    const struct column *c;
    struct buf key = {0};
    bool fine = true;

    for (size_t i = 0; fine && (c = query_order_column(&ask->order, i)) != NULL; i++) {
        const struct value v = cell_value(c, cells[i]);

        if (c == ask->order.by && v.kind == VALUE_NULL)
            key_append_part(&key, STR(""));
        else
            fine = key_append(&key, c, &v, err) ||
                   err_wrap(err, "%" STR_FMT, STR_ARG(ask->order.root->from));
    }
    *place = arena_copy(ask->arena, buf_str(&key));
    buf_free(&key);
    return fine;
}

bool range_ask_ends(struct range_ask *ask, const struct row_range *range, struct str *first,
                    struct str *last, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    size_t n = 0;
    int got;

    *first = *last = STR("");
    buf_clear(&ask->sql);
    buf_append_char(&ask->sql, '(');
    append_end(ask, range, false);
    buf_append(&ask->sql, STR(") UNION ALL ("));
    append_end(ask, range, true);
    buf_append_char(&ask->sql, ')');
    if (!send(ask, &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0)
        if (!take_place(ask, row.cells, n++ == 0 ? first : last, err)) {
            got = -1;
            break;
        }
    mysql_result_close(r);
    return got == 0;
}

/* ---- the server's order ---- */

static void append_constant(struct buf *sql, const struct column *c, struct str part)
{
    struct buf literal = {0};

    if (key_sorts_by_number(c)) {
        buf_append_u64(sql, key_sort_number(c, part));
        return;
    }
    key_append_literal(&literal, c, part);
    comparison_append_as(sql, c, c, buf_str(&literal));
    buf_free(&literal);
}

/* Append whether place x comes before y, as an expression. */
static void append_rises(struct range_ask *ask, struct str x, struct str y)
{
    const struct column *c;
    struct str low, high;

    for (size_t i = 0; (c = query_order_column(&ask->order, i)) != NULL; i++) {
        if (x.len == 0 || y.len == 0 || !key_next(&x, &low) || !key_next(&y, &high))
            break;
        if (str_equal(low, high))
            continue;
        if (c == ask->order.by && (low.len == 0 || high.len == 0)) {
            buf_append(&ask->sql, low.len == 0 ? STR("TRUE") : STR("FALSE"));
            return;
        }
        append_constant(&ask->sql, c, low);
        buf_append(&ask->sql, STR(" < "));
        append_constant(&ask->sql, c, high);
        return;
    }
    /* One begins with the other, and so lies behind it. */
    buf_append(&ask->sql, y.len == 0 && x.len > 0 ? STR("TRUE") : STR("FALSE"));
}

/* Keep the first place, and those for which the statement's cells, one for each other, say 1.
 */
static bool keep(struct range_ask *ask, struct str *places, size_t *n, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    size_t kept = 1;
    int got;

    if (!send(ask, &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0)
        for (size_t i = 1; i < *n; i++)
            if (str_equal(row.cells[i - 1], STR("1")))
                places[kept++] = places[i];
    mysql_result_close(r);
    *n = kept;
    return got == 0;
}

bool range_ask_between(struct range_ask *ask, struct str *places, size_t *n, struct str last,
                       struct err *err)
{
    if (*n < 2)
        return true;
    buf_clear(&ask->sql);
    for (size_t i = 1; i < *n; i++) {
        buf_append(&ask->sql, i > 1 ? STR(",(") : STR("SELECT ("));
        append_rises(ask, places[0], places[i]);
        buf_append(&ask->sql, STR(") AND ("));
        append_rises(ask, places[i], last);
        buf_append_char(&ask->sql, ')');
    }
    return keep(ask, places, n, err);
}

/* One that rises above a neighbour that goes may not rise above the next one: ask again. */
bool range_ask_rise(struct range_ask *ask, struct str *places, size_t *n, struct err *err)
{
    size_t before = 0;

    while (*n > 1 && *n != before) {
        before = *n;
        buf_clear(&ask->sql);
        for (size_t i = 1; i < *n; i++) {
            buf_append(&ask->sql, i > 1 ? STR(",") : STR("SELECT "));
            append_rises(ask, places[i - 1], places[i]);
        }
        if (!keep(ask, places, n, err))
            return false;
    }
    return true;
}
