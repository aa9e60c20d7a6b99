#include "config.h"

#include "sync/document/query_part.h"

#include "src/base/buf.h"
#include "sync/document/cell.h"
#include "sync/document/comparison.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <inttypes.h>
#include <stdio.h>

/* The list's table name. */
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

/* Append the list's head: MariaDB wants it before the SELECT, MySQL in FROM. */
static void append_list_columns(struct buf *sql, size_t n_parts)
{
    buf_append(sql, STR(LIST "(" QUERY_NUMBER));
    for (size_t i = 0; i < n_parts; i++) {
        buf_append_char(sql, ',');
        query_part_of_key(sql, i);
    }
    buf_append_char(sql, ')');
}

static const struct column *join_column(const struct plan_node *b, size_t join, bool inner)
{
    return inner ? b->joins[join].inner : b->joins[join].outer;
}

/* Append the VALUES of the keys, with parts of the joins' inner or outer columns. */
static void append_list_values(struct buf *sql, const struct query_keys *k, bool inner)
{
    const char *row = k->flavor == FLAVOR_MYSQL ? "ROW(" : "(";

    buf_append(sql, STR("VALUES "));
    for (size_t i = 0; i < k->n; i++) {
        struct str rest = k->keys[i], part;

        buf_printf(sql, "%s%s%zu", i > 0 ? "," : "", row, i);
        for (size_t j = 0; key_next(&rest, &part) && j < k->node->n_joins; j++) {
            buf_append_char(sql, ',');
            key_append_literal(sql, join_column(k->node, j, inner), part);
        }
        buf_append_char(sql, ')');
    }
}

void query_part_with(struct buf *sql, const struct query_keys *k, bool inner)
{
    if (k->flavor != FLAVOR_MARIADB)
        return;
    buf_append(sql, STR("WITH "));
    append_list_columns(sql, k->node->n_joins);
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
    append_list_columns(sql, k->node->n_joins);
}

/* An ENUM's largest number is less. */
#define NO_NUMBER "65535)"

/*
 * Append a list of the numbers that compare so. With a number that none has, servers do not
 * take a list of one for a constant, for which they would sort the rest of the order.
 */
static void append_numbers(struct buf *sql, const struct column *c, const char *operator,
                           uint64_t number)
{
    const bool after = operator[0] == '>';
    const uint64_t from = after ? number + 1 : 0;
    const uint64_t until = after ? key_listed_max(c) + 1 : number + (operator[1] == '=');

    buf_append(sql, STR(" IN ("));
    for (uint64_t i = from; i < until; i++)
        buf_printf(sql, "%" PRIu64 ",", i);
    buf_append(sql, STR(NO_NUMBER));
}

/* Compare a column that sorts by number; operator: `=`, `<`, `<=` or `>`. */
static void append_compare_number(struct buf *sql, const struct column *c, const char *operator,
                                  struct str part)
{
    const uint64_t number = key_sort_number(c, part);

    if (key_listed_max(c) == 0)
        buf_printf(sql, "+0 %s %" PRIu64, operator, number);
    else if (operator[0] == '=')
        buf_printf(sql, " = %" PRIu64, number);
    else
        append_numbers(sql, c, operator, number);
}

/* Compare one column with a part of the cursor, in the column's sort order. */
static void append_compare(struct buf *sql, struct str alias, const struct column *c,
                           const char *operator, struct str part)
{
    struct buf literal = {0};

    query_part_column(sql, alias, c->name);
    if (key_sorts_by_number(c)) {
        append_compare_number(sql, c, operator, part);
        return;
    }
    buf_printf(sql, " %s ", operator);
    key_append_literal(&literal, c, part);
    comparison_append_as(sql, c, c, buf_str(&literal));
    buf_free(&literal);
}

bool query_order_find(struct query_order *o, const struct plan_node *root, struct str by,
                      struct err *err)
{
    const struct schema *s = root->schema;
    const size_t at = by.len > 0 ? schema_find(s, by) : 0;

    *o = (struct query_order){.root = root};
    if (by.len == 0)
        return true;
    if (at == SIZE_MAX)
        return err_set(err, ERR_REJECT, "%" STR_FMT " has no column `%" STR_FMT "`",
                       STR_ARG(root->from), STR_ARG(by));
    o->by = &s->columns[at];
    return column_is_scalar(o->by) ||
           err_set(err, ERR_REJECT,
                   "%" STR_FMT ": `%" STR_FMT "` is %" STR_FMT
                   ", and buckets need numbers or times",
                   STR_ARG(root->from), STR_ARG(by), STR_ARG(o->by->type_text));
}

const struct column *query_order_column(const struct query_order *o, size_t i)
{
    if (o->by == NULL)
        return i < o->root->n_joins ? o->root->joins[i].inner : NULL;
    if (i-- == 0)
        return o->by;
    for (size_t k = 0; k < o->root->n_joins; k++)
        if (!str_equal(o->root->joins[k].inner->name, o->by->name) && i-- == 0)
            return o->root->joins[k].inner;
    return NULL;
}

bool query_order_append(struct buf *place, const struct query_order *o, const struct value *by,
                        struct str key, struct err *err)
{
    struct str part;

    if (o->by != NULL && by->kind == VALUE_NULL)
        key_append_part(place, STR(""));
    else if (o->by != NULL && !key_append(place, o->by, by, err))
        return false;
    for (size_t i = 0; i < o->root->n_joins && key_next(&key, &part); i++)
        if (o->by == NULL || !str_equal(o->root->joins[i].inner->name, o->by->name))
            key_append_part(place, part);
    return true;
}

/* Is the part a NULL of the column that comes before the key? */
static bool is_null(const struct query_order *o, const struct column *c, struct str part)
{
    return c == o->by && part.len == 0;
}

bool query_order_has(const struct query_order *o, struct str place)
{
    const struct column *c;
    struct str part;

    for (size_t i = 0; (c = query_order_column(o, i)) != NULL; i++) {
        if (!key_next(&place, &part) || !(is_null(o, c, part) || key_part_fits(c, part)))
            return false;
        if (place.len == 0)
            return true;
    }
    return false;
}

/*
 * Servers sort all rows with a NULL, rather than use the index, if the column IS NULL ends the
 * range; and MySQL loses where the range begins if it begins with this.
 */
#define UNTIL_NULL " <=> NULL"

/* One column's part of a place. */
struct part_at {
    const struct column *column;
    struct str value;
    bool is_null;
    bool is_last; /* no other part follows */
};

static bool next_part(const struct query_order *o, size_t i, struct str *place,
                      struct part_at *p)
{
    p->column = query_order_column(o, i);
    if (p->column == NULL || !key_next(place, &p->value))
        return false;
    p->is_null = is_null(o, p->column, p->value);
    p->is_last = place->len == 0 || query_order_column(o, i + 1) == NULL;
    return true;
}

static void append_null(struct buf *sql, struct str alias, const struct column *c,
                        const char *how)
{
    query_part_column(sql, alias, c->name);
    buf_append(sql, str_from(how));
}

static void append_after(struct buf *sql, struct str alias, const struct part_at *p)
{
    if (p->is_null)
        append_null(sql, alias, p->column, " IS NOT NULL");
    else
        append_compare(sql, alias, p->column, ">", p->value);
}

/* Append that the column's value comes before the part's, or is the same in the last part. */
static void append_before(struct buf *sql, struct str alias, const struct query_order *o,
                          const struct part_at *p)
{
    if (p->column == o->by && p->column->nullable)
        append_null(sql, alias, p->column, p->is_null ? UNTIL_NULL : " IS NULL OR ");
    if (!p->is_null)
        append_compare(sql, alias, p->column, p->is_last ? "<=" : "<", p->value);
}

static void append_same(struct buf *sql, struct str alias, const struct part_at *p, bool until)
{
    if (p->is_null)
        append_null(sql, alias, p->column, until ? UNTIL_NULL : " IS NULL");
    else
        append_compare(sql, alias, p->column, "=", p->value);
}

static void append_side(struct buf *sql, struct str alias, const struct query_order *o,
                        struct str place, bool until)
{
    struct part_at p;
    size_t open = 0;

    for (size_t i = 0; next_part(o, i, &place, &p); i++) {
        const bool alone = until && p.is_null && !p.is_last; /* nothing comes before a NULL */

        buf_append_char(sql, '(');
        open++;
        if (!until)
            append_after(sql, alias, &p);
        else if (!alone)
            append_before(sql, alias, o, &p);
        if (p.is_last)
            break;
        if (!alone) {
            buf_append(sql, STR(" OR ("));
            open++;
        }
        append_same(sql, alias, &p, until);
        buf_append(sql, STR(" AND "));
    }
    while (open-- > 0)
        buf_append_char(sql, ')');
}

void query_part_after(struct buf *sql, struct str alias, const struct query_order *o,
                      struct str after)
{
    append_side(sql, alias, o, after, false);
}

void query_part_until(struct buf *sql, struct str alias, const struct query_order *o,
                      struct str until)
{
    append_side(sql, alias, o, until, true);
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

/* ---- the way to the root ---- */

#define ALIAS_SIZE 40

/* Texts equal only by collation make different ids. */
static void append_same_text(struct buf *sql, struct str a, struct str b)
{
    buf_printf(sql,
               " AND CAST(CONVERT(%" STR_FMT " USING utf8mb4) AS BINARY) = "
               "CAST(CONVERT(%" STR_FMT " USING utf8mb4) AS BINARY)",
               STR_ARG(a), STR_ARG(b));
}

/* Append the condition for the parent's row of the row called alias. */
static void append_is_parent(struct buf *sql, struct str alias, struct str above,
                             const struct plan_node *b)
{
    struct buf inner = {0}, outer = {0};

    for (size_t i = 0; i < b->n_joins; i++) {
        const struct plan_join *j = &b->joins[i];

        buf_clear(&inner);
        buf_clear(&outer);
        query_part_column(&inner, above, j->inner->name);
        query_part_column(&outer, alias, j->outer->name);
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" WHERE "));
        comparison_append_equal(sql, buf_str(&inner), j->inner, j->outer, buf_str(&outer));
        if (key_class_of(j->inner) == KEY_TEXT)
            append_same_text(sql, buf_str(&inner), buf_str(&outer));
    }
    buf_free(&inner);
    buf_free(&outer);
}

/* Servers disagree whether the first of several BITs is a number or bytes. */
static void append_root_column(struct buf *sql, struct str alias, const struct column *c)
{
    cell_append_select(sql, alias, c);
    if (c->type == COLUMN_BIT)
        buf_append(sql, STR("+0"));
}

/* Append one of several columns, or NULL if any of them is: half a key names no root. */
static void append_whole_root(struct buf *sql, struct str alias,
                              const struct column *const *own, size_t n, size_t part)
{
    bool open = false;

    for (size_t i = 0; i < n; i++) {
        if (i == part || !own[i]->nullable)
            continue;
        buf_append(sql, open ? STR(" AND ") : STR("CASE WHEN "));
        query_part_column(sql, alias, own[i]->name);
        buf_append(sql, STR(" IS NOT NULL"));
        open = true;
    }
    buf_append(sql, open ? STR(" THEN ") : STR(""));
    append_root_column(sql, alias, own[part]);
    buf_append(sql, open ? STR(" END") : STR(""));
}

/* Append the root of a row at this level: from its parent first, then from its own columns. */
static void append_root_of(struct buf *sql, struct str alias, const struct membership *m,
                           size_t level, size_t part)
{
    const struct column *const *own =
        level == 0 ? m->root.columns : m->ancestors[level - 1].root;
    char above_text[ALIAS_SIZE];
    struct str above;

    if (level == m->n_ancestors) {
        append_whole_root(sql, alias, own, m->root.n, part);
        return;
    }
    snprintf(above_text, sizeof(above_text), "_millrace_a%zu", level);
    above = str_from(above_text);
    buf_append(sql, STR("COALESCE((SELECT "));
    append_root_of(sql, above, m, level + 1, part);
    buf_printf(sql, " FROM %" STR_FMT " AS %" STR_FMT, STR_ARG(m->ancestors[level].node->from),
               STR_ARG(above));
    append_is_parent(sql, alias, above, m->ancestors[level].node);
    buf_append(sql, STR(" LIMIT 1),"));
    append_whole_root(sql, alias, own, m->root.n, part);
    buf_append_char(sql, ')');
}

void query_part_root(struct buf *sql, struct str alias, const struct membership *m, size_t part)
{
    const bool bits = m->root.columns[part]->type == COLUMN_BIT;

    buf_append(sql, bits ? STR("UNHEX(LPAD(HEX(") : STR(""));
    append_root_of(sql, alias, m, 0, part);
    buf_append(sql, bits ? STR("),16,'0'))") : STR(""));
}

void query_part_has_key(struct buf *sql, struct str alias, const struct plan_node *root,
                        bool *first)
{
    const struct membership *m = root->membership;

    for (size_t i = 0; i < root->n_joins; i++)
        append_has_value(sql, alias, root->joins[i].inner, first);
    for (size_t i = 0; m != NULL && i < m->parent.n; i++)
        append_has_value(sql, alias, m->parent.columns[i], first);
}

static bool may_lack_root(const struct membership_link *root)
{
    for (size_t i = 0; i < root->n; i++)
        if (root->columns[i]->nullable)
            return true;
    return false;
}

void query_part_has_root(struct buf *sql, struct str alias, const struct plan_node *root,
                         bool *first)
{
    const struct membership *m = root->membership;

    if (m == NULL || m->n_ancestors == 0 || !may_lack_root(&m->root))
        return;
    buf_append(sql, str_from(query_part_and(first)));
    query_part_root(sql, alias, m, 0); /* if this one is NULL, the others are, too */
    buf_append(sql, STR(" IS NOT NULL"));
}

void query_part_order(struct buf *sql, struct str alias, const struct query_order *o,
                      bool backwards)
{
    const struct column *c;

    buf_append(sql, STR(" ORDER BY "));
    for (size_t i = 0; (c = query_order_column(o, i)) != NULL; i++) {
        if (i > 0)
            buf_append_char(sql, ',');
        query_part_column(sql, alias, c->name);
        buf_append(sql, backwards ? STR(" DESC") : STR(""));
    }
}
