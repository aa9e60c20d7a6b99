#include "config.h"

#include "sync/document/bucket/borders.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/table_indexes.h"
#include "sync/document/bucket/range_ask.h"
#include "sync/document/bucket/scale.h"
#include "sync/document/bucket/sections.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

/* The largest section is this part of a bucket. */
#define FINENESS 8

/* Splits for a bucket, and for any table. */
#define SPLITS      16
#define SPLITS_MORE 64

/* ---- the index ---- */

static bool fail_without_index(const struct query_order *o, struct err *err)
{
    return err_set(err, ERR_REJECT,
                   "%" STR_FMT " has no index that has its rows in the order of `%" STR_FMT
                   "` and then of the key, so each bucket would read all of them: create one, "
                   "leave `bucket_column` out, or make buckets by mod",
                   STR_ARG(o->root->from), STR_ARG(o->by->name));
}

/* Set the index of the order; an empty one if there is none. */
static bool load_index(struct range_ask *ask, struct err *err)
{
    const struct query_order *o = &ask->order;
    const struct schema *s = o->root->schema;
    const struct catalog_name name = {s->database, s->table};
    const struct catalog_index *index = NULL;
    struct table_facts facts;
    struct str *columns;
    size_t n = 0;

    if (!catalog_load_facts(ask->conn, &name, 1, ask->arena, &facts, err))
        return err_wrap(err, "%" STR_FMT, STR_ARG(o->root->from));
    while (query_order_column(o, n) != NULL)
        n++;
    columns = arena_alloc(ask->arena, n, sizeof(*columns));
    for (size_t i = 0; i < n; i++)
        columns[i] = query_order_column(o, i)->name;
    if (facts.schema != NULL)
        index = table_indexes_in_order(&facts, columns, n);
    ask->index = index != NULL ? index->name : STR("");
    table_facts_fini(&facts, 1);
    return true;
}

static bool find_index(struct range_ask *ask, struct err *err)
{
    bool in_order = false;

    if (!load_index(ask, err) ||
        (ask->index.len > 0 && !range_ask_is_in_order(ask, &in_order, err)))
        return false;
    if (!in_order)
        ask->index = STR("");
    return in_order || ask->order.by == NULL || fail_without_index(&ask->order, err);
}

/* ---- the places ---- */

/*
 * Make places between two rows' places, rising: the first row's value of the first column that
 * differs, and what lies beyond it.  Returns how many.
 */
static size_t places_between(const struct range_ask *ask, struct str first, struct str last,
                             struct str out[SCALE_VALUES + 1])
{
    const struct column *c;
    struct str low, high, values[SCALE_VALUES];
    struct buf place = {0};
    size_t n = 0, n_values = 0, begin;

    for (size_t i = 0; (c = query_order_column(&ask->order, i)) != NULL; i++) {
        if (!key_next(&first, &low) || !key_next(&last, &high))
            break;
        begin = place.len;
        key_append_part(&place, low);
        if (scale_is_same(c, low, high))
            continue;
        if (key_sorts_by_number(c) && key_listed_max(c) == 0)
            break; /* no range of an index finds its values */
        out[n++] = arena_copy(ask->arena, buf_str(&place));
        if (c != ask->order.by || low.len > 0) /* not NULL */
            n_values = scale_between(c, low, high, ask->arena, values);
        for (size_t k = 0; k < n_values; k++) {
            place.len = begin;
            key_append_part(&place, values[k]);
            out[n++] = arena_copy(ask->arena, buf_str(&place));
        }
        break;
    }
    buf_free(&place);
    return n;
}

/* Split a section, or find that it is whole. */
static bool split(struct range_ask *ask, struct sections *s, size_t at, struct err *err)
{
    const struct row_range whole = {sections_after(s, at), s->list[at].until};
    struct row_section parts[SCALE_VALUES + 2];
    struct row_range ranges[SCALE_VALUES + 2];
    struct str places[SCALE_VALUES + 2], first, last;
    uint64_t rows[SCALE_VALUES + 2];
    size_t n;

    if (!range_ask_ends(ask, &whole, &first, &last, err))
        return false;
    n = first.len == 0 ? 0 : places_between(ask, first, last, places);
    if (!range_ask_between(ask, places, &n, last, err) || !range_ask_rise(ask, places, &n, err))
        return false;
    if (n == 0) {
        s->list[at] = (struct row_section){.until = whole.until, .is_whole = true};
        return first.len == 0 || range_ask_rows(ask, &whole, 1, &s->list[at].rows, err);
    }
    places[n++] = whole.until;
    for (size_t i = 0; i < n; i++)
        ranges[i] = (struct row_range){i == 0 ? whole.after : places[i - 1], places[i]};
    if (!range_ask_rows(ask, ranges, n, rows, err))
        return false;
    for (size_t i = 0; i < n; i++)
        parts[i] = (struct row_section){.until = places[i], .rows = rows[i]};
    sections_split(s, at, parts, n);
    return true;
}

static size_t buckets_of(const struct borders_wish *wish, uint64_t rows)
{
    const uint64_t most = rows / (wish->rows_min > 0 ? wish->rows_min : 1);

    return most < wish->n ? (most > 0 ? (size_t)most : 1) : wish->n;
}

static bool split_all(struct range_ask *ask, struct sections *s,
                      const struct borders_wish *wish, struct err *err)
{
    for (size_t i = 0; i < wish->n * SPLITS + SPLITS_MORE; i++) {
        const uint64_t rows = sections_rows(s);
        const size_t n = buckets_of(wish, rows);
        const size_t at = sections_largest(s, rows / n / FINENESS);

        if (i > 0 && (at == SIZE_MAX || n == 1))
            break;
        if (!split(ask, s, at, err))
            return false;
    }
    return true;
}

/*
 * Let buckets end at rows if the column may be NULL: of rows after a NULL and its key, up to a
 * value alone, MySQL 8 reads those before them, too.
 */
static bool end_at_rows(struct range_ask *ask, struct borders *b, struct err *err)
{
    if (ask->order.by == NULL || !ask->order.by->nullable)
        return true;
    for (size_t i = 0; i < b->n; i++) {
        const struct row_range bucket = {i > 0 ? b->places[i - 1] : STR(""), b->places[i]};
        struct str first, last;

        if (!range_ask_ends(ask, &bucket, &first, &last, err))
            return false;
        if (last.len > 0)
            b->places[i] = last;
    }
    return true;
}

static bool cut(struct range_ask *ask, const struct sections *s,
                const struct borders_wish *wish, struct borders *out, struct err *err)
{
    const size_t n = buckets_of(wish, sections_rows(s));

    out->rows = sections_rows(s);
    out->places = arena_alloc(ask->arena, n, sizeof(*out->places));
    out->n = sections_cut(s, n, out->places);
    if (!range_ask_rise(ask, out->places, &out->n, err))
        return false;
    out->sizes = arena_alloc(ask->arena, out->n + 1, sizeof(*out->sizes));
    sections_sum(s, out->places, out->n, out->sizes);
    if (!end_at_rows(ask, out, err))
        return false;
    if (n < wish->n)
        out->why_not = "the table has few rows";
    else if (out->n + 1 < wish->n)
        out->why_not = "many of the rows cannot be told apart by the order's columns";
    return true;
}

bool borders_find(struct mysql_conn *c, const struct plan *p, const struct borders_wish *wish,
                  struct arena *a, struct borders *out, struct err *err)
{
    struct range_ask ask = {.conn = c, .arena = a};
    struct sections s;
    bool fine;

    *out = (struct borders){.rows = 0};
    if (!query_order_find(&ask.order, p->nodes[0], wish->by, err))
        return false;
    if (ask.order.root->schema->is_view) {
        out->why_not = "a view has no index";
        return true;
    }
    if (!find_index(&ask, err))
        return false;
    out->index = ask.index;
    if (ask.index.len == 0) {
        out->why_not = "no index has the rows in the order of the key";
        return true;
    }
    sections_init(&s);
    fine = split_all(&ask, &s, wish, err) && cut(&ask, &s, wish, out, err);
    sections_fini(&s);
    buf_free(&ask.sql);
    return fine;
}
