#include "config.h"

#include "rebalance/fill/level.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/delivery/document/target.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/resolver.h"
#include "sync/routing/routing.h"
#include "sync/value/schema.h"

static const struct plan *plan_of(const struct level_query *q)
{
    return ((const struct reading *)q->target->plan)->plan;
}

static const struct column *find_column(const struct level_query *q, unsigned *by)
{
    const struct schema *s = plan_place_schema(plan_of(q), 0);
    size_t which[RESOLVER_COLUMNS_MAX], n;

    *by = resolver_by_columns(plan_of(q), 0, &q->top->column, 1, which, &n);
    for (size_t i = 0; *by != 0 && i < s->n_columns; i++)
        if (str_equal_any_case(s->columns[i].name, q->top->column))
            return &s->columns[i];
    return NULL;
}

/* What the statement calls the rows of `level_sql`; the table has its own name. */
#define ROWS "millrace_level"

static void append_column(struct buf *sql, struct str of, struct str name)
{
    mysql_quote_name(sql, of);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, name);
}

static void append_ids(struct buf *sql, const struct level_query *q)
{
    append_column(sql, STR(ROWS), q->top->business_id);
    buf_append(sql, STR(" IN ("));
    for (size_t i = 0; i < q->n_ids; i++) {
        buf_append(sql, i == 0 ? STR("") : STR(","));
        mysql_quote_text(sql, q->ids[i]);
    }
    buf_append(sql, STR(")"));
}

static void append_from(struct buf *sql, const struct level_query *q, const struct column *c)
{
    const struct schema *s = plan_place_schema(plan_of(q), 0);

    buf_append(sql, STR(" FROM "));
    mysql_quote_name(sql, s->database);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, s->table);
    buf_printf(sql, " JOIN (%" STR_FMT ") AS " ROWS " ON ", STR_ARG(q->top->level_sql));
    append_column(sql, s->table, c->name);
    buf_append(sql, STR(" = "));
    append_column(sql, STR(ROWS), q->top->target_key);
}

/* Grouped, as DISTINCT would forbid to order by the column itself. */
static void append_statement(struct buf *sql, enum mysql_flavor flavor,
                             const struct level_query *q, const struct column *c)
{
    const struct str table = plan_place_schema(plan_of(q), 0)->table;

    if (flavor == FLAVOR_MARIADB)
        buf_printf(sql, "SET STATEMENT max_statement_time=%d FOR SELECT ", LEVEL_S);
    else
        buf_printf(sql, "SELECT /*+ MAX_EXECUTION_TIME(%d) */ ", LEVEL_S * 1000);
    cell_append_select(sql, table, c);
    append_from(sql, q, c);
    buf_append(sql, STR(" WHERE "));
    append_ids(sql, q);
    if (q->where.len > 0)
        buf_printf(sql, " AND (%" STR_FMT ")", STR_ARG(q->where));
    if (q->after.len > 0) {
        buf_append(sql, STR(" AND "));
        append_column(sql, table, c->name);
        buf_append(sql, STR(" > "));
        mysql_quote_text(sql, q->after);
    }
    buf_append(sql, STR(" GROUP BY "));
    append_column(sql, table, c->name);
    buf_append(sql, STR(" ORDER BY "));
    append_column(sql, table, c->name);
    buf_printf(sql, " LIMIT %d", LEVEL_KEYS);
}

static bool take_key(const struct column *c, struct str cell, struct arena *a,
                     struct level_page *out, struct err *err)
{
    const struct value v = cell_value(c, cell);
    struct buf key = {0};
    const bool ok = key_append(&key, c, &v, err);

    if (ok) {
        out->texts[out->n] = arena_copy(a, cell);
        out->keys[out->n++] = arena_copy(a, buf_str(&key));
    }
    buf_free(&key);
    return ok;
}

static bool read_keys(struct mysql_conn *conn, struct str sql, const struct column *c,
                      struct arena *a, struct level_page *out, struct err *err)
{
    struct mysql_result *result;
    struct mysql_row row;
    int more = 0;
    bool ok = true;

    if (!mysql_conn_query(conn, sql, &result, err))
        return false;
    while (ok && (more = mysql_result_next(result, &row, err)) > 0)
        ok = take_key(c, row.cells[0], a, out, err);
    mysql_result_close(result);
    return ok && more >= 0;
}

bool level_find_keys(struct mysql_conn *conn, const struct level_query *q, struct arena *a,
                     struct level_page *out, struct err *err)
{
    const struct column *c = find_column(q, &out->by);
    struct buf sql = {0};

    *out = (struct level_page){.by = out->by};
    if (c == NULL)
        return err_set(err, ERR_REJECT,
                       "`%" STR_FMT "` is no key column of %" STR_FMT
                       " any more; fix: correct its top relation, millrace apply",
                       STR_ARG(q->top->column), STR_ARG(q->top->table));
    out->keys = arena_alloc(a, LEVEL_KEYS, sizeof(*out->keys));
    out->texts = arena_alloc(a, LEVEL_KEYS, sizeof(*out->texts));
    append_statement(&sql, mysql_conn_flavor(conn), q, c);

    const bool ok = read_keys(conn, buf_str(&sql), c, a, out, err);

    buf_free(&sql);
    return ok || err_wrap(err, "`level_sql` of %" STR_FMT, STR_ARG(q->top->table));
}
