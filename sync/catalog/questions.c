#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"

#define BASE_TABLES_MAX 100000 /* per schema */

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

bool catalog_list_unreadable(struct mysql_conn *c, struct str schema, struct arena *a,
                             struct str **out, size_t *n, struct err *err)
{
    struct buf sql = {0};

    buf_append(&sql, STR("SELECT DISTINCT TABLE_NAME FROM information_schema.COLUMNS WHERE NOT "
                         "FIND_IN_SET('select', PRIVILEGES) AND TABLE_SCHEMA = "));
    mysql_quote_text(&sql, schema);
    buf_append(&sql, STR(" ORDER BY 1"));

    const bool fine = list_names(c, buf_str(&sql), BASE_TABLES_MAX, a, out, n, err);

    buf_free(&sql);
    return fine;
}

bool catalog_is_denied(struct mysql_conn *c, const struct catalog_name *name,
                       const struct str *columns, size_t n_columns, struct err *err)
{
    struct buf sql = {0};

    buf_append(&sql, n_columns == 0 ? STR("SELECT 1") : STR("SELECT "));
    for (size_t i = 0; i < n_columns; i++) {
        buf_append(&sql, i == 0 ? STR("") : STR(", "));
        mysql_quote_name(&sql, columns[i]);
    }
    buf_append(&sql, STR(" FROM "));
    mysql_quote_name(&sql, name->schema);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, name->table);
    buf_append(&sql, STR(" LIMIT 0"));

    const bool shown = mysql_conn_exec(c, buf_str(&sql), err),
               denied = !shown && mysql_err_is_denial(err);

    buf_free(&sql);
    if (shown)
        return err_set(err, ERR_RETRY,
                       "table %" STR_FMT ".%" STR_FMT ", or a right on it, changed while "
                       "Millrace read its schema",
                       STR_ARG(name->schema), STR_ARG(name->table));
    if (!denied && mysql_err_is_of_server(err) && err->kind == ERR_REJECT)
        *err = (struct err){0};
    return denied;
}

static void append_clause(struct buf *sql, const struct clause_wanted *w)
{
    static const struct {
        const char *before, *behind;
    } parts[] = {
        [CLAUSE_WHERE] = {" WHERE (", ") LIMIT 0"},
        [CLAUSE_ORDER_BY] = {" ORDER BY ", ", NULL LIMIT 0"},
    };

    buf_append(sql, STR("SELECT 1 FROM "));
    mysql_quote_name(sql, w->name.schema);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, w->name.table);
    buf_append(sql, str_from(parts[w->clause].before));
    buf_append(sql, w->text);
    buf_append(sql, str_from(parts[w->clause].behind));
}

bool catalog_try_clauses(struct mysql_conn *c, const struct clause_wanted *w, size_t n,
                         struct err *err)
{
    struct buf sql = {0};

    if (n == 1)
        append_clause(&sql, w);
    for (size_t i = 0; n > 1 && i < n; i++) {
        buf_append(&sql, i == 0 ? STR("(") : STR(" UNION ALL ("));
        append_clause(&sql, &w[i]);
        buf_append_char(&sql, ')');
    }

    const bool fine = mysql_conn_exec(c, buf_str(&sql), err);

    buf_free(&sql);
    return fine;
}
