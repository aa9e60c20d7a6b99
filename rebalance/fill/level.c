#include "config.h"

#include "rebalance/fill/level.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/explain.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/resolver.h"
#include "sync/value/schema.h"

static const struct column *find_column(const struct level_query *q, unsigned *by,
                                        struct err *err)
{
    const struct schema *s = plan_place_schema(q->plan, 0);
    size_t which[RESOLVER_COLUMNS_MAX], n;

    *by = resolver_by_columns(q->plan, 0, &q->top->column, 1, which, &n);
    for (size_t i = 0; *by != 0 && i < s->n_columns; i++)
        if (str_equal_any_case(s->columns[i].name, q->top->column))
            return &s->columns[i];
    err_set(err, ERR_REJECT,
            "`%" STR_FMT "` is no key column of %" STR_FMT
            " any more; fix: correct its top relation, millrace apply",
            STR_ARG(q->top->column), STR_ARG(q->top->table));
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
    const struct schema *s = plan_place_schema(q->plan, 0);

    buf_append(sql, STR(" FROM "));
    mysql_quote_name(sql, s->database);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, s->table);
    buf_printf(sql, " JOIN (%" STR_FMT ") AS " ROWS " ON ", STR_ARG(q->top->level_sql));
    append_column(sql, s->table, c->name);
    buf_append(sql, STR(" = "));
    append_column(sql, STR(ROWS), q->top->target_key);
}

static void append_bound(struct buf *sql, struct str table, struct str column,
                         const char *compares, struct str text)
{
    if (text.len == 0)
        return;
    buf_append(sql, STR(" AND "));
    append_column(sql, table, column);
    buf_append(sql, str_from(compares));
    mysql_quote_text(sql, text);
}

/* Begin the statement with its verb.  The server ends it after a time. */
static void append_verb(struct buf *sql, enum mysql_flavor flavor, const char *verb)
{
    if (flavor == FLAVOR_MARIADB)
        buf_printf(sql, "SET STATEMENT max_statement_time=%d FOR %s ", LEVEL_S, verb);
    else
        buf_printf(sql, "%s /*+ MAX_EXECUTION_TIME(%d) */ ", verb, LEVEL_S * 1000);
}

/* Grouped, as DISTINCT would forbid to order by the column itself. */
static void append_groups(struct buf *sql, const struct level_query *q, const struct column *c)
{
    const struct str table = plan_place_schema(q->plan, 0)->table;

    cell_append_select(sql, table, c);
    append_from(sql, q, c);
    buf_append(sql, STR(" WHERE "));
    append_ids(sql, q);
    if (q->where.len > 0)
        buf_printf(sql, " AND (%" STR_FMT ")", STR_ARG(q->where));
    append_bound(sql, table, c->name, " > ", q->after);
    append_bound(sql, table, c->name, " <= ", q->until);
    buf_append(sql, STR(" GROUP BY "));
    append_column(sql, table, c->name);
}

static void append_page(struct buf *sql, const struct level_query *q, const struct column *c)
{
    append_groups(sql, q, c);
    buf_append(sql, STR(" ORDER BY "));
    append_column(sql, plan_place_schema(q->plan, 0)->table, c->name);
    buf_printf(sql, " LIMIT %d", LEVEL_KNOWN);
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

static bool fail_at(const struct level_query *q, struct err *err)
{
    return err_wrap(err, "`level_sql` of %" STR_FMT, STR_ARG(q->top->table));
}

static bool ask(struct mysql_conn *conn, const struct level_query *q, const struct column *c,
                struct arena *a, struct level_page *out, struct err *err)
{
    struct buf sql = {0};

    out->n = 0;
    out->keys = arena_alloc(a, LEVEL_KNOWN, sizeof(*out->keys));
    out->texts = arena_alloc(a, LEVEL_KNOWN, sizeof(*out->texts));
    append_verb(&sql, mysql_conn_flavor(conn), "SELECT");
    append_page(&sql, q, c);

    const bool ok = read_keys(conn, buf_str(&sql), c, a, out, err) || fail_at(q, err);

    out->is_last = out->n < LEVEL_KNOWN && q->until.len == 0;
    buf_free(&sql);
    return ok;
}

/* ---- what is known ---- */

void level_keys_fini(struct level_keys *k)
{
    arena_free(k->arena);
    *k = (struct level_keys){.arena = NULL};
}

/* How many of the known keys end with this one; SIZE_MAX: it is none of them. */
static size_t n_up_to(const struct level_keys *k, struct str text)
{
    if (str_equal(text, k->above))
        return 0;
    for (size_t i = 0; i < k->page.n; i++)
        if (str_equal(text, k->page.texts[i]))
            return i + 1;
    return SIZE_MAX;
}

static bool find_known(const struct level_keys *k, const struct level_query *q,
                       struct level_page *out)
{
    const size_t from = n_up_to(k, q->after);
    size_t to = q->until.len > 0 ? n_up_to(k, q->until) : k->page.n;

    if (from == SIZE_MAX || to == SIZE_MAX || to < from ||
        (from == k->page.n && !k->page.is_last))
        return false;
    if (q->until.len == 0 && to - from > LEVEL_KEYS)
        to = from + LEVEL_KEYS;
    *out = (struct level_page){.by = k->page.by,
                               .keys = k->page.keys + from,
                               .texts = k->page.texts + from,
                               .n = to - from,
                               .is_last = k->page.is_last && to == k->page.n};
    return true;
}

/* Ask for many keys, and keep them. */
static bool learn(struct mysql_conn *conn, const struct level_query *q, const struct column *c,
                  struct str question, struct level_keys *k, struct err *err)
{
    const unsigned by = k->page.by;

    level_keys_fini(k);
    k->arena = arena_new();
    k->question = arena_copy(k->arena, question);
    k->above = arena_copy(k->arena, q->after);
    k->page.by = by;
    if (ask(conn, q, c, k->arena, &k->page, err))
        return true;
    level_keys_fini(k);
    return false;
}

/* Pages of the same question differ in their bounds only. */
static void append_question(struct buf *out, const struct level_query *q,
                            const struct column *c)
{
    struct level_query whole = *q;

    whole.after = whole.until = STR("");
    append_groups(out, &whole, c);
}

static bool find_or_learn(struct mysql_conn *conn, const struct level_query *q,
                          const struct column *c, struct level_keys *k, struct arena *a,
                          struct level_page *out, struct err *err)
{
    struct buf question = {0};
    bool ok = true;

    append_question(&question, q, c);
    k->page.by = out->by;
    if (k->arena == NULL || !str_equal(k->question, buf_str(&question)) ||
        !find_known(k, q, out))
        ok = q->until.len > 0
                 ? ask(conn, q, c, a, out, err)
                 : learn(conn, q, c, buf_str(&question), k, err) && find_known(k, q, out);
    buf_free(&question);
    return ok;
}

bool level_find_keys(struct mysql_conn *conn, const struct level_query *q,
                     struct level_keys *known, struct arena *a, struct level_page *out,
                     struct err *err)
{
    unsigned by = 0;
    const struct column *c = find_column(q, &by, err);

    *out = (struct level_page){.by = by};
    return c != NULL && find_or_learn(conn, q, c, known, a, out, err);
}

/* ---- what it costs ---- */

bool level_rows_examined(struct mysql_conn *conn, const struct level_query *q, uint64_t *rows,
                         struct err *err)
{
    unsigned by;
    const struct column *c = find_column(q, &by, err);
    struct buf sql = {0};

    *rows = 0;
    if (c == NULL)
        return false;
    append_verb(&sql, mysql_conn_flavor(conn), "EXPLAIN SELECT");
    append_groups(&sql, q, c);

    const bool ok = explain_rows(conn, buf_str(&sql), rows, err) || fail_at(q, err);

    buf_free(&sql);
    return ok;
}
