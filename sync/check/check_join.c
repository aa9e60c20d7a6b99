#include "config.h"

#include "sync/check/check_join.h"

#include "src/base/buf.h"
#include "sync/catalog/table_indexes.h"
#include "sync/check/checked_table.h"

#include <inttypes.h>

/* Types that the server compares natively. */
enum join_class { JOIN_NUMBER = 0, JOIN_TEXT, JOIN_TIME, JOIN_NEVER };

static enum join_class join_class(const struct column *c)
{
    switch (c->type) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_DECIMAL:
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
    case COLUMN_BIT:
    case COLUMN_YEAR: return JOIN_NUMBER;
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_TEXT:
    case COLUMN_BLOB:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6: return JOIN_TEXT;
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return JOIN_TIME;
    case COLUMN_UNKNOWN:
    case COLUMN_JSON:
    case COLUMN_POINT:
    case COLUMN_GEOMETRY:
    case COLUMN_VECTOR: break;
    }
    return JOIN_NEVER;
}

static bool has_collation(const struct column *col)
{
    return col->charset.len > 0 && !str_equal(col->charset, STR("binary"));
}

static void check_pair(struct checker *c, const struct column *from, const struct column *to,
                       struct place place)
{
    enum join_class a = join_class(from), b = join_class(to);

    if (a != b || a == JOIN_NEVER)
        problems_add(c->problems, SEVERITY_ERROR, place,
                     "`%" STR_FMT "` (%" STR_FMT ") and `%" STR_FMT "` (%" STR_FMT
                     ") cannot be joined: their types differ",
                     STR_ARG(from->name), STR_ARG(from->type_text), STR_ARG(to->name),
                     STR_ARG(to->type_text));
    else if (has_collation(from) && has_collation(to) &&
             !str_equal(from->collation, to->collation))
        problems_add(c->problems, SEVERITY_WARNING, place,
                     "`%" STR_FMT "` has collation %" STR_FMT
                     " and the related table's `%" STR_FMT "` has %" STR_FMT
                     ": Millrace joins rows whose texts are equal in both",
                     STR_ARG(from->name), STR_ARG(from->collation), STR_ARG(to->name),
                     STR_ARG(to->collation));
}

/* Each server compares by its own column alone: both must agree. */
static void check_pair_across(struct checker *c, const struct column *from,
                              const struct column *to, struct place place)
{
    if (str_equal(from->charset, to->charset) && str_equal(from->collation, to->collation)) {
        check_pair(c, from, to, place);
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, place,
                 "`%" STR_FMT "` is compared by `%" STR_FMT "` and `%" STR_FMT "` by `%" STR_FMT
                 "`: across two servers Millrace can only join columns of the same collation",
                 STR_ARG(from->name),
                 STR_ARG(from->collation.len > 0 ? from->collation : from->type_text),
                 STR_ARG(to->name),
                 STR_ARG(to->collation.len > 0 ? to->collation : to->type_text));
    problems_fix(c->problems,
                 "give one of them the other's character set and collation, or join "
                 "by a number");
}

/* How many documents hold one row of the table that s joins by these columns. */
static struct reach reach_of(struct checker *c, const struct checked_table *s,
                             const struct str *columns, size_t n)
{
    const struct shares_wanted wanted = {
        .name = {s->at.schema, s->at.name},
        .columns = columns,
        .n_columns = n,
        .n_rows = s->facts->n_rows,
        .has_index = table_indexes_begin_with(s->facts, columns, n),
    };
    struct catalog_shares shares;

    if (table_indexes_single_out(s->facts, columns, n))
        return s->reach;
    if (s->reach.largest == 0 || s->facts->schema->is_view || c->source->count_shares == NULL ||
        !c->source->count_shares(c->source->ctx, s->at.topic, &wanted, &shares))
        return reach_below(s->reach, NULL);
    return reach_below(s->reach, &shares);
}

void definition_fix_index(struct checker *c, const struct checked_table *s,
                          const struct str *columns, size_t n)
{
    struct buf names = {0}, index = {0};

    table_indexes_append(&names, columns, n, true);
    buf_append(&index, s->at.name);
    for (size_t i = 0; i < n; i++) {
        buf_append_char(&index, '_');
        buf_append(&index, columns[i]);
    }
    problems_fix(c->problems,
                 "CREATE INDEX `%.*s` ON `%" STR_FMT "`.`%" STR_FMT "` (%" STR_FMT ");",
                 index.len < 60 ? (int)index.len : 60, index.ptr, STR_ARG(s->at.schema),
                 STR_ARG(s->at.name), STR_ARG(buf_str(&names)));
    buf_free(&names);
    buf_free(&index);
}

void definition_check_index(struct checker *c, const struct checked_table *s,
                            const struct str *columns, size_t n, struct place place,
                            const char *what_for)
{
    struct buf names = {0};

    if (s->facts->schema->is_view || table_indexes_begin_with(s->facts, columns, n))
        return;
    table_indexes_append(&names, columns, n, false);
    problems_add(c->problems, SEVERITY_WARNING, place,
                 "%" STR_FMT " has no index on (%" STR_FMT "), by which %s: each time the "
                 "server reads all of its %" PRIu64 " rows",
                 STR_ARG(s->table), STR_ARG(buf_str(&names)), what_for, s->facts->n_rows);
    definition_fix_index(c, s, columns, n);
    buf_free(&names);
}

/* Check the way up, from a row of `below` to the documents that hold it. */
static void check_way_up(struct checker *c, const struct checked_table *outer,
                         const struct checked_table *below, const struct str *columns, size_t n,
                         struct place place)
{
    struct buf why = {0};

    buf_append(&why, STR("Millrace finds the documents of a changed related row"));
    if (below->reach.largest > 0) {
        buf_append(&why, STR(" (one row is in "));
        reach_append(&why, below->reach);
        buf_append_char(&why, ')');
    }
    definition_check_index(c, outer, columns, n, place, why.ptr);
    if (below->reach.largest >= REACH_MANY && outer->reach.largest < REACH_MANY) {
        buf_clear(&why);
        reach_append(&why, below->reach);
        problems_add(c->problems, SEVERITY_WARNING, place,
                     "a change of one row of %" STR_FMT " can rebuild %" STR_FMT,
                     STR_ARG(below->table), STR_ARG(buf_str(&why)));
        problems_fix(c->problems, "fine where such changes are rare; otherwise show none of "
                                  "its columns that change often, or write `refresh: none`");
    }
    buf_free(&why);
}

void definition_check_join(struct checker *c, const struct checked_table *outer,
                           struct checked_table *s, const struct joined_columns *p)
{
    size_t n = p->n_from < p->n_to ? p->n_from : p->n_to;
    bool complete = n > 0;

    for (size_t i = 0; i < n; i++) {
        const struct column *from = checked_table_column(c, outer, p->from[i], p->place);
        const struct column *to = checked_table_column(c, s, p->to[i], p->place);

        complete = complete && from != NULL && to != NULL;
        if (from != NULL && to != NULL)
            (str_equal(outer->at.topic, s->at.topic) ? check_pair : check_pair_across)(
                c, from, to, checked_table_place(c, p->to[i], p->place));
    }
    if (!complete)
        return;
    definition_check_index(c, s, p->to, p->n_to, checked_table_place(c, p->to[0], p->place),
                           "Millrace finds its rows");
    if (p->refresh == REFRESH_NONE)
        return;
    s->reach = reach_of(c, outer, p->from, p->n_from);
    check_way_up(c, outer, s, p->from, p->n_from, checked_table_place(c, p->from[0], p->place));
}
