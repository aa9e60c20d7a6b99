#include "config.h"

#include "sync/document/query_roots.h"

#include "src/base/buf.h"
#include "sync/document/cell.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_part.h"
#include "sync/value/schema.h"

#include <stdio.h>

#define ALIAS_SIZE 40

/* The alias of a node's table on the way up. */
static struct str path_alias(char out[ALIAS_SIZE], const struct plan_node *b)
{
    snprintf(out, ALIAS_SIZE, "_millrace_p%zu", b->number);
    return str_from(out);
}

/* Append the table of b's parent, joined to the list or to b's table. */
static void append_step_up(struct buf *sql, const struct plan_node *b, bool from_list)
{
    char below_text[ALIAS_SIZE], above_text[ALIAS_SIZE];
    struct str below = path_alias(below_text, b), above = path_alias(above_text, b->parent);
    struct buf source = {0}, name = {0};

    buf_printf(sql, " STRAIGHT_JOIN %" STR_FMT " AS %" STR_FMT, STR_ARG(b->parent->from),
               STR_ARG(above));
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct plan_join *j = &b->joins[i];

        buf_clear(&source);
        if (from_list)
            query_part_of_key(&source, i);
        else
            query_part_column(&source, below, j->inner->name);
        buf_clear(&name);
        query_part_column(&name, above, j->outer->name);
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" ON "));
        comparison_append_equal(sql, buf_str(&name), j->outer, j->inner, buf_str(&source));
    }
    buf_free(&source);
    buf_free(&name);
}

const struct plan_node *query_roots_top(const struct plan_node *b)
{
    const struct plan_node *top = b->parent;

    while (top->parent != NULL && top->parent->topic == top->topic)
        top = top->parent;
    return top;
}

/* Append the columns that tell the root's routing. */
static void append_routing(struct buf *sql, struct str alias, const struct membership *m)
{
    for (size_t i = 0; m != NULL && i < m->root.n; i++) {
        buf_append_char(sql, ',');
        if (m->n_ancestors > 0)
            query_part_root(sql, alias, m, i);
        else
            cell_append_select(sql, alias, m->root.columns[i]);
    }
}

/* The node right below b on the way up. */
static const struct plan_node *below(const struct query_keys *k, const struct plan_node *b)
{
    const struct plan_node *at = k->node;

    while (at->parent != b)
        at = at->parent;
    return at;
}

static bool names_again(const struct plan_node *b, size_t join)
{
    for (size_t i = 0; i < join; i++)
        if (b->joins[i].inner == b->joins[join].inner)
            return true;
    return false;
}

/* Keep each text as it is: texts that are equal by collation may lead elsewhere. */
static void append_met_columns(struct buf *sql, const struct plan_node *b, struct str alias)
{
    buf_append(sql, STR("SELECT DISTINCT " QUERY_NUMBER));
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct column *c = b->joins[i].inner;

        if (names_again(b, i))
            continue;
        buf_append_char(sql, ',');
        comparison_append_value(sql, alias, c);
        buf_append(sql, STR(" AS "));
        mysql_quote_name(sql, c->name);
        if (key_class_of(c) != KEY_TEXT)
            continue;
        buf_append(sql, STR(",HEX("));
        query_part_column(sql, alias, c->name);
        buf_printf(sql, ") AS _millrace_h%zu", i);
    }
}

/*
 * Append the tables from the list up to b's.  From the second table on, merge rows with the
 * same join values: there may be far more ways to a row than rows in all tables.
 */
static void append_way_up(struct buf *sql, const struct query_keys *k,
                          const struct plan_node *b)
{
    char alias_text[ALIAS_SIZE];
    const struct plan_node *from = below(k, b);
    const struct str alias = path_alias(alias_text, from);
    const bool meet = from != k->node && from != k->node->parent;

    if (meet) {
        buf_append_char(sql, '(');
        append_met_columns(sql, from, alias);
        buf_append(sql, STR(" FROM "));
    }
    if (from == k->node)
        query_part_list(sql, k, true);
    else
        append_way_up(sql, k, from);
    if (meet)
        buf_printf(sql, ") AS %" STR_FMT, STR_ARG(alias));
    append_step_up(sql, from, from == k->node);
}

void query_roots(struct buf *sql, const struct query_roots *q)
{
    const struct plan_node *root = query_roots_top(q->node);
    const struct query_order order = {.root = root};
    char alias_text[ALIAS_SIZE];
    bool first = true;
    struct str alias = path_alias(alias_text, root);
    const struct query_keys k = {q->flavor, q->node, q->keys, q->n};

    query_part_with(sql, &k, true);
    buf_append(sql, q->in_order ? STR("SELECT DISTINCT NULL")
                                : STR("SELECT DISTINCT " QUERY_NUMBER));
    for (size_t i = 0; i < root->n_joins; i++) {
        buf_append_char(sql, ',');
        cell_append_select(sql, alias, root->joins[i].inner);
    }
    append_routing(sql, alias, root->membership);
    buf_append(sql, STR(" FROM "));
    append_way_up(sql, &k, root);
    query_part_has_key(sql, alias, root, &first);
    if (q->after.len > 0) {
        buf_append(sql, str_from(query_part_and(&first)));
        query_part_after(sql, alias, &order, q->after);
    }
    if (q->until.len > 0) {
        buf_append(sql, str_from(query_part_and(&first)));
        query_part_until(sql, alias, &order, q->until);
    }
    if (q->in_order)
        query_part_order(sql, alias, &order, false);
    buf_printf(sql, " LIMIT %zu", q->limit);
}
