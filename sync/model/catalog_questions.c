#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql.h"
#include "sync/model/catalog.h"

#define BASE_TABLES_MAX 100000 /* of one schema */

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

bool catalog_try_clause(struct mysql_conn *c, const struct catalog_name *name,
                        enum catalog_clause clause, struct str text, struct err *err)
{
    static const struct {
        const char *before, *behind;
    } parts[] = {
        [CLAUSE_WHERE] = {" WHERE (", ") LIMIT 0"},
        [CLAUSE_ORDER_BY] = {" ORDER BY ", ", NULL LIMIT 0"},
    };
    struct buf sql = {0};
    bool fine;

    buf_append(&sql, STR("SELECT 1 FROM "));
    mysql_quote_name(&sql, name->schema);
    buf_append_char(&sql, '.');
    mysql_quote_name(&sql, name->table);
    buf_append(&sql, str_from(parts[clause].before));
    buf_append(&sql, text);
    buf_append(&sql, str_from(parts[clause].behind));
    fine = mysql_conn_exec(c, buf_str(&sql), err);
    buf_free(&sql);
    return fine;
}
