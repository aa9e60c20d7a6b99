#include "config.h"

#include "sync/document/query_part.h"

#include "src/base/buf.h"
#include "sync/binlog/schema.h"
#include "sync/document/branch.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"

/* The list of keys as a table. */
#define LIST "_millrace_k"

void query_part_column(struct buf *sql, struct str alias, struct str column)
{
    mysql_quote_name(sql, alias);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, column);
}

void query_part_of_key(struct buf *b, size_t part)
{
    buf_printf(b, "_millrace_%zu", part);
}

/* The list's head: for MariaDB in front of the SELECT, for MySQL in its FROM. */
static void append_list_columns(struct buf *sql, size_t n_parts)
{
    buf_append(sql, STR(LIST "(" QUERY_NUMBER));
    for (size_t i = 0; i < n_parts; i++) {
        buf_append_char(sql, ',');
        query_part_of_key(sql, i);
    }
    buf_append_char(sql, ')');
}

static const struct column *join_column(const struct branch *b, size_t join, bool inner)
{
    return inner ? b->joins[join].inner : b->joins[join].outer;
}

/* VALUES of the keys, whose parts are of the joins' inner or outer columns. */
static void append_list_values(struct buf *sql, const struct query_keys *k, bool inner)
{
    const char *row = k->flavor == FLAVOR_MYSQL ? "ROW(" : "(";

    buf_append(sql, STR("VALUES "));
    for (size_t i = 0; i < k->n; i++) {
        struct str rest = k->keys[i], part;

        buf_printf(sql, "%s%s%zu", i > 0 ? "," : "", row, i);
        for (size_t j = 0; key_next(&rest, &part) && j < k->branch->n_joins; j++) {
            buf_append_char(sql, ',');
            key_append_literal(sql, join_column(k->branch, j, inner), part);
        }
        buf_append_char(sql, ')');
    }
}

void query_part_with(struct buf *sql, const struct query_keys *k, bool inner)
{
    if (k->flavor != FLAVOR_MARIADB)
        return;
    buf_append(sql, STR("WITH "));
    append_list_columns(sql, k->branch->n_joins);
    buf_append(sql, STR(" AS ("));
    append_list_values(sql, k, inner);
    buf_append(sql, STR(") "));
}

void query_part_list(struct buf *sql, const struct query_keys *k, bool inner)
{
    if (k->flavor == FLAVOR_MARIADB) {
        buf_append(sql, STR(LIST));
        return;
    }
    buf_append_char(sql, '(');
    append_list_values(sql, k, inner);
    buf_append(sql, STR(") AS "));
    append_list_columns(sql, k->branch->n_joins);
}

/* One column against a part of the cursor, as the column sorts. */
static void append_compare(struct buf *sql, struct str alias, const struct column *c,
                           const char *operator, struct str part)
{
    struct buf literal = {0};

    query_part_column(sql, alias, c->name);
    if (key_sorts_by_number(c)) {
        buf_printf(sql, "+0 %s ", operator);
        key_append_sort_number(sql, c, part);
        return;
    }
    buf_printf(sql, " %s ", operator);
    key_append_literal(&literal, c, part);
    comparison_append_as(sql, c, c, buf_str(&literal));
    buf_free(&literal);
}

void query_part_after(struct buf *sql, struct str alias, const struct branch *root,
                      struct str after)
{
    size_t open = 0;
    struct str part;

    for (size_t i = 0; i < root->n_joins && key_next(&after, &part); i++) {
        const struct column *c = root->joins[i].inner;

        buf_append_char(sql, '(');
        append_compare(sql, alias, c, ">", part);
        open++;
        if (i + 1 == root->n_joins)
            break;
        buf_append(sql, STR(" OR ("));
        append_compare(sql, alias, c, "=", part);
        buf_append(sql, STR(" AND "));
        open++;
    }
    while (open-- > 0)
        buf_append_char(sql, ')');
}

const char *query_part_and(bool *first)
{
    const char *word = *first ? " WHERE " : " AND ";

    *first = false;
    return word;
}

static void append_has_value(struct buf *sql, struct str alias, const struct column *c,
                             bool *first)
{
    if (!c->nullable)
        return;
    buf_append(sql, str_from(query_part_and(first)));
    query_part_column(sql, alias, c->name);
    buf_append(sql, STR(" IS NOT NULL"));
}

void query_part_has_key(struct buf *sql, struct str alias, const struct branch *root,
                        bool *first)
{
    const struct membership *m = root->membership;

    for (size_t i = 0; i < root->n_joins; i++)
        append_has_value(sql, alias, root->joins[i].inner, first);
    for (size_t i = 0; m != NULL && i < m->parent.n; i++)
        append_has_value(sql, alias, m->parent.columns[i], first);
    for (size_t i = 0; m != NULL && m->root.columns != m->parent.columns && i < m->root.n; i++)
        append_has_value(sql, alias, m->root.columns[i], first);
}

void query_part_order(struct buf *sql, struct str alias, const struct branch *root)
{
    buf_append(sql, STR(" ORDER BY "));
    for (size_t i = 0; i < root->n_joins; i++) {
        if (i > 0)
            buf_append_char(sql, ',');
        query_part_column(sql, alias, root->joins[i].inner->name);
    }
}
