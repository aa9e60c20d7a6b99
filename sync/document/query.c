#include "config.h"

#include "sync/document/query.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/binlog/schema.h"
#include "sync/document/branch.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* The list of keys as a table: its name, the keys' numbers, the keys' parts. */
#define LIST   "_millrace_k"
#define NUMBER "_millrace_n"

/* A link table's columns as a table of their own, so that conditions on the related table
 * cannot mean one of them. */
#define LINK      "_millrace_l"
#define LINK_FROM "_millrace_f"
#define LINK_TO   "_millrace_t"

static bool is_numeric(enum key_class class)
{
    return class == KEY_NUMBER || class == KEY_REAL;
}

/* Its values can be compared with texts; a BIT is a string of bytes there. */
static bool is_like_text(const struct column *c)
{
    enum key_class class = key_class_of(c);

    return (class == KEY_NUMBER && c->type != COLUMN_BIT) || class == KEY_UUID ||
           class == KEY_INET4 || class == KEY_INET6;
}

bool query_can_join(const struct column *outer, const struct column *inner)
{
    enum key_class a = key_class_of(outer), b = key_class_of(inner);

    if (a == KEY_NONE || b == KEY_NONE)
        return false;
    return a == b || (is_numeric(a) && is_numeric(b)) ||
           (a == KEY_TEXT && is_like_text(inner)) || (b == KEY_TEXT && is_like_text(outer));
}

bool query_can_join_across(const struct column *outer, const struct column *inner)
{
    enum key_class a = key_class_of(outer), b = key_class_of(inner);

    if (is_numeric(a) && is_numeric(b))
        return true;
    return a != KEY_NONE && a == b &&
           (a != KEY_TEXT || (str_equal(outer->charset, inner->charset) &&
                              str_equal(outer->collation, inner->collation)));
}

/* Both compare a value in the same way, so that one comparison says all. */
static bool compare_alike(const struct column *a, const struct column *b)
{
    enum key_class class = key_class_of(a);

    if (class != key_class_of(b))
        return is_numeric(class) && is_numeric(key_class_of(b));
    if (class == KEY_TEXT)
        return str_equal(a->charset, b->charset) && str_equal(a->collation, b->collation);
    return a->fsp == b->fsp;
}

/* A number is its digits, also where ZEROFILL would print more. */
static void append_convert(struct buf *sql, const struct column *c, const struct column *source,
                           struct str expression)
{
    const char *digits = key_class_of(source) == KEY_NUMBER ? "+0" : "";

    buf_printf(sql, "CONVERT(%" STR_FMT "%s USING %" STR_FMT ") COLLATE %" STR_FMT,
               STR_ARG(expression), digits, STR_ARG(c->charset), STR_ARG(c->collation));
}

static void append_cast(struct buf *sql, struct str expression, const char *type)
{
    buf_printf(sql, "CAST(%" STR_FMT " AS %s)", STR_ARG(expression), type);
}

/* The text behind a text column's number: a DECIMAL keeps its scale. */
static void append_number(struct buf *sql, const struct column *c, struct str expression)
{
    if (c->type == COLUMN_DECIMAL)
        buf_printf(sql, "CAST(%" STR_FMT " AS DECIMAL(65,%u))", STR_ARG(expression),
                   (unsigned)c->scale);
    else
        append_cast(sql, expression, c->is_unsigned ? "UNSIGNED" : "SIGNED");
}

/* expression, which is of column source, in the type and collation of c. */
static void append_as(struct buf *sql, const struct column *c, const struct column *source,
                      struct str expression)
{
    switch (key_class_of(c)) {
    case KEY_NUMBER:
        if (key_class_of(source) == KEY_TEXT)
            append_number(sql, c, expression);
        else
            buf_append(sql, expression);
        return;
    case KEY_TEXT: append_convert(sql, c, source, expression); return;
    case KEY_DATE: append_cast(sql, expression, "DATE"); return;
    case KEY_DATETIME:
        buf_printf(sql, "CAST(%" STR_FMT " AS DATETIME(%u))", STR_ARG(expression),
                   (unsigned)c->fsp);
        return;
    case KEY_TIME:
        buf_printf(sql, "CAST(%" STR_FMT " AS TIME(%u))", STR_ARG(expression),
                   (unsigned)c->fsp);
        return;
    case KEY_UUID: append_cast(sql, expression, "UUID"); return;
    case KEY_INET4: append_cast(sql, expression, "INET4"); return;
    case KEY_INET6: append_cast(sql, expression, "INET6"); return;
    case KEY_REAL:
    case KEY_YEAR:
    case KEY_BYTES: buf_append(sql, expression); return;
    case KEY_NONE: break;
    }
    assert(!"a column that cannot be joined");
}

static void append_name(struct buf *sql, struct str alias, struct str column)
{
    mysql_quote_name(sql, alias);
    buf_append_char(sql, '.');
    mysql_quote_name(sql, column);
}

/* name = expression, as c, which name stands for, compares: an index on c serves. */
static void append_equal(struct buf *sql, struct str name, const struct column *c,
                         const struct column *source, struct str expression)
{
    buf_append(sql, name);
    buf_append(sql, STR(" = "));
    append_as(sql, c, source, expression);
}

static void append_part_name(struct buf *b, size_t part)
{
    buf_printf(b, "_millrace_%zu", part);
}

/* The list's head: for MariaDB in front of the SELECT, for MySQL in its FROM. */
static void append_list_columns(struct buf *sql, size_t n_parts)
{
    buf_append(sql, STR(LIST "(" NUMBER));
    for (size_t i = 0; i < n_parts; i++) {
        buf_append_char(sql, ',');
        append_part_name(sql, i);
    }
    buf_append_char(sql, ')');
}

static const struct column *join_column(const struct branch *b, size_t join, bool inner)
{
    return inner ? b->joins[join].inner : b->joins[join].outer;
}

/* VALUES of the keys, whose parts are of the joins' inner or outer columns. */
static void append_list_values(struct buf *sql, const struct query_roots *q, bool inner)
{
    const char *row = q->flavor == FLAVOR_MYSQL ? "ROW(" : "(";

    buf_append(sql, STR("VALUES "));
    for (size_t i = 0; i < q->n; i++) {
        struct str rest = q->keys[i], part;

        buf_printf(sql, "%s%s%zu", i > 0 ? "," : "", row, i);
        for (size_t j = 0; key_next(&rest, &part) && j < q->branch->n_joins; j++) {
            buf_append_char(sql, ',');
            key_append_literal(sql, join_column(q->branch, j, inner), part);
        }
        buf_append_char(sql, ')');
    }
}

/* WITH the list, where the server wants it in front. */
static void append_with(struct buf *sql, const struct query_roots *q, bool inner)
{
    if (q->flavor != FLAVOR_MARIADB)
        return;
    buf_append(sql, STR("WITH "));
    append_list_columns(sql, q->branch->n_joins);
    buf_append(sql, STR(" AS ("));
    append_list_values(sql, q, inner);
    buf_append(sql, STR(") "));
}

static void append_list(struct buf *sql, const struct query_roots *q, bool inner)
{
    if (q->flavor == FLAVOR_MARIADB) {
        buf_append(sql, STR(LIST));
        return;
    }
    buf_append_char(sql, '(');
    append_list_values(sql, q, inner);
    buf_append(sql, STR(") AS "));
    append_list_columns(sql, q->branch->n_joins);
}

void query_prepare(struct branch *b, struct arena *a)
{
    struct buf sql = {0};

    for (size_t i = 0; i < b->n_read; i++) {
        if (i > 0)
            buf_append_char(&sql, ',');
        cell_append_select(&sql, b->schema->table, b->read[i]);
    }
    b->select = arena_copy(a, buf_str(&sql));
    buf_clear(&sql);
    append_name(&sql, b->schema->database, b->schema->table);
    b->from = arena_copy(a, buf_str(&sql));
    buf_free(&sql);
}

static bool is_needed(const struct branch *b, const struct branch *below, size_t at)
{
    for (size_t i = 0; i < b->n_joins; i++)
        if (b->joins[i].inner_at == at)
            return true;
    for (size_t i = 0; i < below->n_joins; i++)
        if (below->joins[i].outer_at == at)
            return true;
    return false;
}

void query_prepare_joins(struct branch *b, const struct branch *below, struct arena *a)
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

/* The user's own condition; the line end stops what it may leave open. */
static void append_where(struct buf *sql, const struct branch *b, const char *before)
{
    if (b->where.len > 0)
        buf_printf(sql, "%s(%" STR_FMT "\n)", before, STR_ARG(b->where));
}

/* The user's own order; the line end is as for a condition. */
static void append_order(struct buf *sql, const struct branch *b, const struct column *first)
{
    if (b->unique)
        return;
    const char *before = " ORDER BY ";

    if (first != NULL) {
        buf_append(sql, str_from(before));
        append_name(sql, b->schema->table, first->name);
        before = ",";
    }
    if (b->order_by.len > 0) {
        buf_printf(sql, "%s%" STR_FMT "\n", before, STR_ARG(b->order_by));
        before = ",";
    }
    for (size_t i = 0; i < b->n_order; i++) {
        buf_append(sql, str_from(before));
        append_name(sql, b->schema->table, b->order[i]->name);
        before = ",";
    }
}

void query_by_integers(struct buf *sql, const struct branch *b, const struct str *keys,
                       size_t n)
{
    buf_printf(sql, "SELECT %" STR_FMT " FROM %" STR_FMT " WHERE ", STR_ARG(b->select),
               STR_ARG(b->from));
    append_name(sql, b->schema->table, b->joins[0].inner->name);
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

/* ON: the joins of b, whose table is the link's or not, to the list or the link. */
static void append_on(struct buf *sql, const struct branch *b, bool is_link)
{
    struct buf outer = {0}, inner = {0};

    for (size_t i = 0; i < b->n_joins; i++) {
        const struct branch_join *j = &b->joins[i];

        buf_clear(&outer);
        buf_clear(&inner);
        if (b->link != NULL)
            buf_printf(&outer, LINK "." LINK_TO "%zu", i);
        else
            append_part_name(&outer, i);
        if (is_link)
            buf_printf(&inner, LINK "." LINK_FROM "%zu", i);
        else
            append_name(&inner, b->schema->table, j->inner->name);
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" ON "));
        append_equal(sql, buf_str(&inner), j->inner, j->outer, buf_str(&outer));
        if (compare_alike(j->outer, j->inner))
            continue;
        buf_append(sql, STR(" AND "));
        append_as(sql, j->outer, j->inner, buf_str(&inner));
        buf_append(sql, STR(" = "));
        append_as(sql, j->outer, j->outer, buf_str(&outer));
    }
    buf_free(&outer);
    buf_free(&inner);
}

/* Labels are texts: as it is, their column would also be the number of its label. */
static void append_link_to(struct buf *sql, struct str table, const struct column *c)
{
    struct buf name = {0};

    append_name(&name, table, c->name);
    if (c->type == COLUMN_ENUM || c->type == COLUMN_SET)
        append_convert(sql, c, c, buf_str(&name));
    else
        buf_append(sql, buf_str(&name));
    buf_free(&name);
}

/* The link's columns, joined to the list by those on its outer side. */
static void append_link(struct buf *sql, const struct branch *b)
{
    const struct branch *link = b->link;

    buf_append(sql, STR(" STRAIGHT_JOIN (SELECT "));
    for (size_t i = 0; i < link->n_joins; i++) {
        append_name(sql, link->schema->table, link->joins[i].inner->name);
        buf_printf(sql, " AS " LINK_FROM "%zu,", i);
    }
    for (size_t i = 0; i < b->n_joins; i++) {
        append_link_to(sql, link->schema->table, b->joins[i].outer);
        buf_printf(sql, " AS " LINK_TO "%zu%s", i, i + 1 < b->n_joins ? "," : "");
    }
    buf_printf(sql, " FROM %" STR_FMT ") AS " LINK, STR_ARG(link->from));
    append_on(sql, link, true);
}

void query_by_list(struct buf *sql, enum mysql_flavor flavor, const struct branch *b,
                   const struct str *keys, size_t n)
{
    const struct query_roots q = {
        .flavor = flavor, .branch = branch_entry(b), .keys = keys, .n = n};

    append_with(sql, &q, false);
    buf_printf(sql, "SELECT " NUMBER ",%" STR_FMT " FROM ", STR_ARG(b->select));
    append_list(sql, &q, false);
    if (b->link != NULL)
        append_link(sql, b);
    buf_printf(sql, " STRAIGHT_JOIN %" STR_FMT, STR_ARG(b->from));
    append_on(sql, b, false);
    append_where(sql, b, " WHERE ");
    append_order(sql, b, NULL);
}

/* One column against a part of the cursor, as the column sorts. */
static void append_compare(struct buf *sql, struct str alias, const struct column *c,
                           const char *operator, struct str part)
{
    struct buf literal = {0};

    append_name(sql, alias, c->name);
    if (key_sorts_by_number(c)) {
        buf_printf(sql, "+0 %s ", operator);
        key_append_sort_number(sql, c, part);
        return;
    }
    buf_printf(sql, " %s ", operator);
    key_append_literal(&literal, c, part);
    append_as(sql, c, c, buf_str(&literal));
    buf_free(&literal);
}

/*
 * Behind the key `after`: (a > x OR (a = x AND (b > y OR …))), which the optimizers make ranges
 * of the key; of a row comparison they do not.
 */
static void append_after(struct buf *sql, struct str alias, const struct branch *root,
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

/* " WHERE " once, then " AND ". */
static const char *conjunction(bool *first)
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
    buf_append(sql, str_from(conjunction(first)));
    append_name(sql, alias, c->name);
    buf_append(sql, STR(" IS NOT NULL"));
}

/* The rows of the root that have a key, and in a join a parent and a root. */
static void append_has_key(struct buf *sql, struct str alias, const struct branch *root,
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

/* The rows of the root that count: those that have a key, and that the filter lets through. */
static void append_root_conditions(struct buf *sql, const struct branch *root, bool *first)
{
    append_has_key(sql, root->schema->table, root, first);
    if (root->where.len > 0)
        append_where(sql, root, conjunction(first));
}

static void append_root_order(struct buf *sql, struct str alias, const struct branch *root)
{
    buf_append(sql, STR(" ORDER BY "));
    for (size_t i = 0; i < root->n_joins; i++) {
        if (i > 0)
            buf_append_char(sql, ',');
        append_name(sql, alias, root->joins[i].inner->name);
    }
}

void query_range(struct buf *sql, const struct branch *root, struct str after, size_t limit)
{
    bool first = true;

    buf_printf(sql, "SELECT %" STR_FMT " FROM %" STR_FMT, STR_ARG(root->select),
               STR_ARG(root->from));
    append_root_conditions(sql, root, &first);
    if (after.len > 0) {
        buf_append(sql, str_from(conjunction(&first)));
        append_after(sql, root->schema->table, root, after);
    }
    append_root_order(sql, root->schema->table, root);
    buf_printf(sql, " LIMIT %zu", limit);
}

/* check > at, or the same with a key behind `after`. */
static void append_behind(struct buf *sql, const struct query_changed *q)
{
    const struct str table = q->root->schema->table;

    buf_append_char(sql, '(');
    append_name(sql, table, q->check->name);
    buf_append(sql, STR(" > "));
    mysql_quote_text(sql, q->at);
    buf_append(sql, STR(" OR ("));
    append_name(sql, table, q->check->name);
    buf_append(sql, STR(" = "));
    mysql_quote_text(sql, q->at);
    buf_append(sql, STR(" AND "));
    append_after(sql, table, q->root, q->after);
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
    append_name(sql, table, q->check->name);
    buf_printf(sql, " AS CHAR) FROM %" STR_FMT, STR_ARG(q->root->from));
    append_has_key(sql, table, q->root, &first);
    buf_append(sql, str_from(conjunction(&first)));
    append_name(sql, table, q->check->name);
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
        buf_append(sql, str_from(conjunction(&first)));
        append_behind(sql, q);
    }
    buf_append(sql, STR(" ORDER BY "));
    append_name(sql, table, q->check->name);
    for (size_t i = 0; i < q->root->n_joins; i++) {
        buf_append_char(sql, ',');
        append_name(sql, table, q->root->joins[i].inner->name);
    }
    buf_printf(sql, " LIMIT %zu", q->limit);
}

void query_count(struct buf *sql, const struct branch *root)
{
    bool first = true;

    buf_printf(sql, "SELECT COUNT(*) FROM %" STR_FMT, STR_ARG(root->from));
    append_root_conditions(sql, root, &first);
}

#define ALIAS_SIZE 40

/* A table's name on the way up, by its branch. */
static struct str path_alias(char out[ALIAS_SIZE], const struct branch *b)
{
    snprintf(out, ALIAS_SIZE, "_millrace_p%zu", b->number);
    return str_from(out);
}

/* The table of b's parent, joined by what the list or the table of b says. */
static void append_step_up(struct buf *sql, const struct branch *b, bool from_list)
{
    char below_text[ALIAS_SIZE], above_text[ALIAS_SIZE];
    struct str below = path_alias(below_text, b), above = path_alias(above_text, b->parent);
    struct buf source = {0}, name = {0};

    buf_printf(sql, " STRAIGHT_JOIN %" STR_FMT " AS %" STR_FMT, STR_ARG(b->parent->from),
               STR_ARG(above));
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct branch_join *j = &b->joins[i];

        buf_clear(&source);
        if (from_list)
            append_part_name(&source, i);
        else
            append_name(&source, below, j->inner->name);
        buf_clear(&name);
        append_name(&name, above, j->outer->name);
        buf_append(sql, i > 0 ? STR(" AND ") : STR(" ON "));
        append_equal(sql, buf_str(&name), j->outer, j->inner, buf_str(&source));
    }
    buf_free(&source);
    buf_free(&name);
}

const struct branch *query_top(const struct branch *b)
{
    const struct branch *top = b->parent;

    while (top->parent != NULL && top->parent->topic == top->topic)
        top = top->parent;
    return top;
}

/* The columns that say where the root's document lies. */
static void append_routing(struct buf *sql, struct str alias, const struct membership *m)
{
    for (size_t i = 0; m != NULL && i < m->root.n; i++) {
        buf_append_char(sql, ',');
        cell_append_select(sql, alias, m->root.columns[i]);
    }
}

/* The branch of the way up that stands right below b. */
static const struct branch *below(const struct query_roots *q, const struct branch *b)
{
    const struct branch *at = q->branch;

    while (at->parent != b)
        at = at->parent;
    return at;
}

static bool names_again(const struct branch *b, size_t join)
{
    for (size_t i = 0; i < join; i++)
        if (b->joins[i].inner == b->joins[join].inner)
            return true;
    return false;
}

/* Each text as it is, as others that it is equal to may lead elsewhere. */
static void append_met_columns(struct buf *sql, const struct branch *b, struct str alias)
{
    buf_append(sql, STR("SELECT DISTINCT " NUMBER));
    for (size_t i = 0; i < b->n_joins; i++) {
        const struct column *c = b->joins[i].inner;

        if (names_again(b, i))
            continue;
        buf_append_char(sql, ',');
        append_link_to(sql, alias, c);
        buf_append(sql, STR(" AS "));
        mysql_quote_name(sql, c->name);
        if (key_class_of(c) != KEY_TEXT)
            continue;
        buf_append(sql, STR(",HEX("));
        append_name(sql, alias, c->name);
        buf_printf(sql, ") AS _millrace_h%zu", i);
    }
}

/*
 * The tables from the list up to b's.  Rows that lead on by the same values are one from the
 * second table on: the ways to a row may be more than the rows of all tables, by far.
 */
static void append_way_up(struct buf *sql, const struct query_roots *q, const struct branch *b)
{
    char alias_text[ALIAS_SIZE];
    const struct branch *from = below(q, b);
    const struct str alias = path_alias(alias_text, from);
    const bool meet = from != q->branch && from != q->branch->parent;

    if (meet) {
        buf_append_char(sql, '(');
        append_met_columns(sql, from, alias);
        buf_append(sql, STR(" FROM "));
    }
    if (from == q->branch)
        append_list(sql, q, true);
    else
        append_way_up(sql, q, from);
    if (meet)
        buf_printf(sql, ") AS %" STR_FMT, STR_ARG(alias));
    append_step_up(sql, from, from == q->branch);
}

void query_roots(struct buf *sql, const struct query_roots *q)
{
    const struct branch *root = query_top(q->branch);
    char alias_text[ALIAS_SIZE];
    bool first = true;
    struct str alias = path_alias(alias_text, root);

    append_with(sql, q, true);
    buf_append(sql, q->in_order ? STR("SELECT DISTINCT NULL") : STR("SELECT DISTINCT " NUMBER));
    for (size_t i = 0; i < root->n_joins; i++) {
        buf_append_char(sql, ',');
        cell_append_select(sql, alias, root->joins[i].inner);
    }
    append_routing(sql, alias, root->membership);
    buf_append(sql, STR(" FROM "));
    append_way_up(sql, q, root);
    append_has_key(sql, alias, root, &first);
    if (q->after.len > 0) {
        buf_append(sql, str_from(conjunction(&first)));
        append_after(sql, alias, root, q->after);
    }
    if (q->in_order)
        append_root_order(sql, alias, root);
    buf_printf(sql, " LIMIT %zu", q->limit);
}
