#include "config.h"

#include "rebalance/doctor/visit.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"

/* The checks of a table: may we read it, has it a key, and does the log show its changes? */

/* Get the cells of the first row of the statement "HEAD NAME TAIL". */
static bool first_row(struct visit *v, const char *head, struct str name, const char *tail,
                      struct str cells[2], struct err *err)
{
    struct str sql = visit_text(v, "%s%" STR_FMT "%s", head, STR_ARG(name), tail);
    struct mysql_result *r;
    struct mysql_row row;

    if (!mysql_conn_query(v->conn, sql, &r, err))
        return false;
    int got = mysql_result_next(r, &row, err);

    for (size_t i = 0; i < 2; i++)
        cells[i] =
            got > 0 && i < row.n_cells ? arena_copy(v->arena, row.cells[i]) : (struct str){0};
    mysql_result_close(r);
    return got >= 0;
}

static bool check_read(struct visit *v, struct str name)
{
    struct str sql = visit_text(v, "SELECT * FROM %" STR_FMT " LIMIT 0", STR_ARG(name));
    struct err err;

    if (mysql_conn_exec(v->conn, sql, &err)) {
        visit_ok(v, "mysql.table_read",
                 visit_text(v, "the topic's user may read %" STR_FMT, STR_ARG(name)));
        return true;
    }
    switch (err.code) {
    case 1049: /* no such database */
    case 1146: /* no such table */
        visit_add(v, DOCTOR_FAIL, "mysql.table_read.missing",
                  visit_text(v, "%" STR_FMT " does not exist", STR_ARG(name)),
                  STR("a definition names it"),
                  STR("correct the name in the definition, or create the table"));
        return false;
    case 1044: /* no privilege on the database */
    case 1142: /* no privilege on the table */
    case 1143: /* no privilege on a column */
        visit_add(v, DOCTOR_FAIL, "mysql.table_read.denied", str_from(err.msg),
                  STR("Millrace reads its rows to build documents"),
                  visit_text(v, "GRANT SELECT ON %" STR_FMT " TO %" STR_FMT, STR_ARG(name),
                             STR_ARG(v->account)));
        return false;
    default:
        visit_add(v, DOCTOR_FAIL, "mysql.table_read", str_from(err.msg),
                  STR("Millrace reads its rows to build documents"),
                  STR("see the server's message"));
        return false;
    }
}

/* Returns the columns of a unique key without NULLs, "a, b", or an empty string. */
static struct str usable_key(struct visit *v, struct str name)
{
    struct str sql =
        visit_text(v, "SHOW KEYS FROM %" STR_FMT " WHERE Non_unique = 0", STR_ARG(name));
    struct buf columns = {0}, key = {0};
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;
    bool nulls = false, done = false;

    if (!mysql_conn_query(v->conn, sql, &r, &err))
        return STR("");
    /* Rows come key by key: 2 Key_name, 4 Column_name, 9 Null. */
    while (mysql_result_next(r, &row, &err) > 0) {
        if (!str_equal(row.cells[2], buf_str(&key))) {
            done = done || (columns.len > 0 && !nulls);
            if (done)
                continue;
            buf_clear(&key);
            buf_append(&key, row.cells[2]);
            buf_clear(&columns);
            nulls = false;
        }
        if (done)
            continue;
        if (columns.len > 0)
            buf_append(&columns, STR(", "));
        buf_append(&columns, row.cells[4]);
        nulls = nulls || str_equal(row.cells[9], STR("YES"));
    }
    mysql_result_close(r);
    struct str found = nulls ? STR("") : arena_copy(v->arena, buf_str(&columns));

    buf_free(&columns);
    buf_free(&key);
    return found;
}

static void check_key(struct visit *v, const struct doctor_table *t, struct str name)
{
    struct str cells[2];
    struct err err;

    if (!first_row(v, "SHOW KEYS FROM ", name, " WHERE Key_name = 'PRIMARY'", cells, &err) ||
        cells[0].ptr != NULL) {
        visit_ok(v, "mysql.table_key",
                 visit_text(v, "%" STR_FMT " has a primary key", STR_ARG(name)));
        return;
    }
    if (t->has_key) {
        visit_ok(
            v, "mysql.table_key",
            visit_text(v, "%" STR_FMT " has the key that its definition names", STR_ARG(name)));
        return;
    }
    struct str key = usable_key(v, name);

    visit_add(
        v, DOCTOR_FAIL, "mysql.table_key",
        visit_text(v, "%" STR_FMT " has no primary key", STR_ARG(name)),
        STR("a document's id is the key of its row"),
        key.len > 0
            ? visit_text(v, "key: [%" STR_FMT "] in the definition of the table", STR_ARG(key))
            : visit_text(v,
                         "ALTER TABLE %" STR_FMT " ADD COLUMN id BIGINT UNSIGNED NOT NULL "
                         "AUTO_INCREMENT PRIMARY KEY FIRST",
                         STR_ARG(name)));
}

/* Returns false for a view: the other checks do not apply to it. */
static bool check_engine(struct visit *v, const struct doctor_table *t, struct str name)
{
    struct buf sql = {0};
    struct str cells[2] = {{0}};
    struct err err;

    buf_append(&sql, STR("SELECT TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE "
                         "TABLE_SCHEMA = "));
    mysql_quote_text(&sql, t->schema);
    buf_append(&sql, STR(" AND TABLE_NAME = "));
    mysql_quote_text(&sql, t->table);
    bool known = first_row(v, sql.ptr, STR(""), "", cells, &err) && cells[0].ptr != NULL;

    buf_free(&sql);
    if (known && memmem(cells[0].ptr, cells[0].len, "VIEW", 4) != NULL) {
        if (t->synced) {
            visit_ok(v, "mysql.table_engine",
                     visit_text(v,
                                "%" STR_FMT " is a view that Millrace reads by modification "
                                "time",
                                STR_ARG(name)));
            return false;
        }
        visit_add(v, DOCTOR_FAIL, "mysql.table_engine.view",
                  visit_text(v, "%" STR_FMT " is a view", STR_ARG(name)),
                  STR("the log does not have a view's changes"),
                  STR("name its underlying tables, joined by relations"));
        return false;
    }
    if (!known || str_equal(cells[1], STR("InnoDB")))
        visit_ok(v, "mysql.table_engine",
                 visit_text(v, "%" STR_FMT " is InnoDB", STR_ARG(name)));
    else
        visit_add(
            v, DOCTOR_WARN, "mysql.table_engine",
            visit_text(v, "%" STR_FMT " is %" STR_FMT, STR_ARG(name), STR_ARG(cells[1])),
            STR("without transactions a read can see half a change, or one that is not in the "
                "log yet"),
            visit_text(v, "ALTER TABLE %" STR_FMT " ENGINE = InnoDB", STR_ARG(name)));
    return true;
}

void visit_tables(struct visit *v)
{
    for (size_t i = 0; i < v->opt->n_tables; i++) {
        const struct doctor_table *t = &v->opt->tables[i];
        struct str name = visit_table_name(v, t);

        if (!check_read(v, name) || !check_engine(v, t, name))
            continue;
        check_key(v, t, name);
    }
}
