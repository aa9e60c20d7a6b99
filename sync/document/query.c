#include "config.h"

#include "sync/document/query.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/document/cell.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_part.h"
#include "sync/value/schema.h"

#include <inttypes.h>
#include <stdint.h>

/*
 * Wrap a link table's columns in a derived table, so that conditions on the related table
 * cannot refer to them.
 */
#define LINK      "_millrace_l"
#define LINK_FROM "_millrace_f"
#define LINK_TO   "_millrace_t"

/* The part of the root's key, as the parents tell it, to read there; SIZE_MAX if none. */
static size_t root_part_at(const struct plan_node *b, size_t at)
{
    const struct membership *m = b->membership;
    size_t part = 0;

    if (m == NULL || m->n_ancestors == 0)
        return SIZE_MAX;
    while (part < m->root.n && m->root.at[part] != at)
        part++;
    return part < m->root.n ? part : SIZE_MAX;
}

void query_prepare(struct plan_node *b, struct arena *a)
{
    struct buf sql = {0};

    for (size_t i = 0; i < b->n_read; i++) {
        if (i > 0)
            buf_append_char(&sql, ',');
        const size_t part = root_part_at(b, i);

        if (part != SIZE_MAX)
            query_part_root(&sql, b->schema->table, b->membership, part);
        else
            cell_append_select(&sql, b->schema->table, b->read[i]);
    }
    b->select = arena_copy(a, buf_str(&sql));
    buf_clear(&sql);
    query_part_column(&sql, b->schema->database, b->schema->table);
    b->from = arena_copy(a, buf_str(&sql));
    buf_free(&sql);
}

static bool is_needed(const struct plan_node *b, const struct plan_node *below, size_t at)
{
    for (size_t i = 0; i < b->n_joins; i++)
        if (b->joins[i].inner_at == at)
            return true;
    for (size_t i = 0; i < below->n_joins; i++)
        if (below->joins[i].outer_at == at)
            return true;
    return false;
}

void query_prepare_joins(struct plan_node *b, const struct plan_node *below, struct arena *a)
{
    struct buf sql = {0};

    for (size_t i = 0; i < b->n_read; i++) {
        if (i > 0)
            buf_append_char(&sql, ',');
        if (is_needed(b, below, i))
            cell_append_select(&sql, b->schema->table, b->read[i]);
        else
            buf_append(&sql, STR("NULL"));
    }
    b->select = arena_copy(a, buf_str(&sql));
    buf_free(&sql);
}

/* Append a user's condition; the line end closes a comment it may leave open. */
static void append_condition(struct buf *sql, struct str where, const char *before)
{
    buf_printf(sql, "%s(%" STR_FMT "\n)", before, STR_ARG(where));
}

static void append_where(struct buf *sql, const struct plan_node *b, const char *before)
{
    if (b->where.len > 0)
        append_condition(sql, b->where, before);
}

/* Append the user's order; the line end is as for a condition. */
static void append_order(struct buf *sql, const struct plan_node *b, const struct column *first)
{
    if (b->unique)
        return;
    const char *before = " ORDER BY ";

    if (first != NULL) {
        buf_append(sql, str_from(before));
        query_part_column(sql, b->schema->table, first->name);
        before = ",";
    }
    if (b->order_by.len > 0) {
        buf_printf(sql, "%s%" STR_FMT "\n", before, STR_ARG(b->order_by));
        before = ",";
    }
    for (size_t i = 0; i < b->n_order; i++) {
        buf_append(sql, str_from(before));
        query_part_column(sql, b->schema->table, b->order[i]->name);
        before = ",";
    }
}

void query_by_integers(struct buf *sql, const struct plan_node *b, const struct str *keys,
                       size_t n)
{
    buf_printf(sql, "SELECT %" STR_FMT " FROM %" STR_FMT " WHERE ", STR_ARG(b->select),
               STR_ARG(b->from));
    query_part_column(sql, b->schema->table, b->joins[0].inner->name);
    buf_append(sql, STR(" IN ("));
    for (size_t i = 0; i < n; i++) {
        struct str rest = keys[i], part;

        if (i > 0)
            buf_append_char(sql, ',');
        if (key_next(&rest, &part))
            buf_append(sql, part);
    }
    buf_append_char(sql, ')');
    append_where(sql, b, " AND ");
    append_order(sql, b, b->joins[0].inner);
}

/* Append ON with b's joins to the list or the link. is_link: b's table is the link. */
static void append_on(struct buf *sql, const struct plan_node *b, bool is_link)
{
    struct buf outer = {0}, inner = {0};

    for (size_t i = 0; i < b->n_joins; i++) {
        const struct plan_join *j = &b->joins[i];

        buf_clear(&outer);
        buf_clear(&inner);
        if (b->link != NULL)
            buf_printf(&outer, LINK "." LINK_TO "%zu", i);
        else
            query_part_of_key(&outer, i);
        if (is_link)
            buf_printf(&inner, LINK "." LINK_FROM "%zu", i);
        else
            query_part_column(&inner, b->schema->table, j->inner->name);
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" ON "));
        comparison_append_equal(sql, buf_str(&inner), j->inner, j->outer, buf_str(&outer));
        if (comparison_is_alike(j->outer, j->inner))
            continue;
        buf_append(sql, STR(" AND "));
        comparison_append_as(sql, j->outer, j->inner, buf_str(&inner));
        buf_append(sql, STR(" = "));
        comparison_append_as(sql, j->outer, j->outer, buf_str(&outer));
    }
    buf_free(&outer);
    buf_free(&inner);
}

/* Append the link's columns, joined to the list by its outer joins. */
static void append_link(struct buf *sql, const struct plan_node *b)
{
    const struct plan_node *link = b->link;

    buf_append(sql, STR(" STRAIGHT_JOIN (SELECT "));
    for (size_t i = 0; i < link->n_joins; i++) {
        query_part_column(sql, link->schema->table, link->joins[i].inner->name);
        buf_printf(sql, " AS " LINK_FROM "%zu,", i);
    }
    for (size_t i = 0; i < b->n_joins; i++) {
        comparison_append_value(sql, link->schema->table, b->joins[i].outer);
        buf_printf(sql, " AS " LINK_TO "%zu%s", i, i + 1 < b->n_joins ? "," : "");
    }
    buf_printf(sql, " FROM %" STR_FMT ") AS " LINK, STR_ARG(link->from));
    append_on(sql, link, true);
}

void query_by_list(struct buf *sql, enum mysql_flavor flavor, const struct plan_node *b,
                   const struct str *keys, size_t n)
{
    const struct query_keys k = {
        .flavor = flavor, .node = plan_node_entry(b), .keys = keys, .n = n};

    query_part_with(sql, &k, false);
    buf_printf(sql, "SELECT " QUERY_NUMBER ",%" STR_FMT " FROM ", STR_ARG(b->select));
    query_part_list(sql, &k, false);
    if (b->link != NULL)
        append_link(sql, b);
    buf_printf(sql, " STRAIGHT_JOIN %" STR_FMT, STR_ARG(b->from));
    append_on(sql, b, false);
    append_where(sql, b, " WHERE ");
    append_order(sql, b, NULL);
}

/* Append the conditions for the root's rows: they have a key and pass the filter. */
static void append_root_conditions(struct buf *sql, const struct plan_node *root, bool *first)
{
    query_part_has_key(sql, root->schema->table, root, first);
    query_part_has_root(sql, root->schema->table, root, first);
    if (root->where.len > 0)
        append_where(sql, root, query_part_and(first));
}

void query_force_index(struct buf *sql, struct str index)
{
    if (index.len == 0)
        return;
    buf_append(sql, STR(" FORCE INDEX ("));
    mysql_quote_name(sql, index);
    buf_append_char(sql, ')');
}

void query_range(struct buf *sql, const struct query_range *q)
{
    const struct plan_node *root = q->root;
    const struct query_order order = {root, q->by};
    bool first = true;

    buf_printf(sql, "SELECT %" STR_FMT, STR_ARG(root->select));
    if (q->by != NULL) {
        buf_append_char(sql, ',');
        cell_append_select(sql, root->schema->table, q->by);
    }
    buf_printf(sql, " FROM %" STR_FMT, STR_ARG(root->from));
    query_force_index(sql, q->index);
    append_root_conditions(sql, root, &first);
    if (q->where.len > 0)
        append_condition(sql, q->where, query_part_and(&first));
    if (q->after.len > 0) {
        buf_append(sql, str_from(query_part_and(&first)));
        query_part_after(sql, root->schema->table, &order, q->after);
    }
    if (q->until.len > 0) {
        buf_append(sql, str_from(query_part_and(&first)));
        query_part_until(sql, root->schema->table, &order, q->until);
    }
    query_part_order(sql, root->schema->table, &order, q->is_last);
    buf_printf(sql, " LIMIT %zu", q->limit);
}

void query_bounds(struct buf *sql, const struct plan_node *root, const struct column *c)
{
    buf_append(sql, STR("SELECT MIN("));
    query_part_column(sql, root->schema->table, c->name);
    buf_append(sql, STR("),MAX("));
    query_part_column(sql, root->schema->table, c->name);
    buf_printf(sql, ") FROM %" STR_FMT, STR_ARG(root->from));
}

/* Append check > at, or check equal with a key after `after`. */
static void append_behind(struct buf *sql, const struct query_changed *q)
{
    const struct str table = q->root->schema->table;

    buf_append_char(sql, '(');
    query_part_column(sql, table, q->check->name);
    buf_append(sql, STR(" > "));
    mysql_quote_text(sql, q->at);
    buf_append(sql, STR(" OR ("));
    query_part_column(sql, table, q->check->name);
    buf_append(sql, STR(" = "));
    mysql_quote_text(sql, q->at);
    buf_append(sql, STR(" AND "));
    query_part_after(sql, table, &(struct query_order){.root = q->root}, q->after);
    buf_append(sql, STR("))"));
}

void query_changed(struct buf *sql, const struct query_changed *q)
{
    const struct str table = q->root->schema->table;
    bool first = true;

    buf_append(sql, STR("SELECT "));
    for (size_t i = 0; i < q->root->n_joins; i++) {
        cell_append_select(sql, table, q->root->joins[i].inner);
        buf_append_char(sql, ',');
    }
    buf_append(sql, STR("CAST("));
    query_part_column(sql, table, q->check->name);
    buf_printf(sql, " AS CHAR) FROM %" STR_FMT, STR_ARG(q->root->from));
    query_part_has_key(sql, table, q->root, &first);
    buf_append(sql, str_from(query_part_and(&first)));
    query_part_column(sql, table, q->check->name);
    if (q->since.len == 0) {
        buf_append(sql, STR(" IS NOT NULL"));
    } else if (q->overlap_s == 0) {
        buf_append(sql, STR(" > "));
        mysql_quote_text(sql, q->since);
    } else {
        buf_append(sql, STR(" >= CAST("));
        mysql_quote_text(sql, q->since);
        buf_printf(sql, " AS DATETIME(6)) - INTERVAL %" PRIu32 " SECOND", q->overlap_s);
    }
    if (q->at.len > 0) {
        buf_append(sql, str_from(query_part_and(&first)));
        append_behind(sql, q);
    }
    buf_append(sql, STR(" ORDER BY "));
    query_part_column(sql, table, q->check->name);
    for (size_t i = 0; i < q->root->n_joins; i++) {
        buf_append_char(sql, ',');
        query_part_column(sql, table, q->root->joins[i].inner->name);
    }
    buf_printf(sql, " LIMIT %zu", q->limit);
}

void query_count(struct buf *sql, const struct plan_node *root)
{
    bool first = true;

    buf_printf(sql, "SELECT COUNT(*) FROM %" STR_FMT, STR_ARG(root->from));
    append_root_conditions(sql, root, &first);
}
