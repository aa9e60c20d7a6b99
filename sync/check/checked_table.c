#include "config.h"

#include "sync/check/checked_table.h"

#include "src/base/buf.h"
#include "src/base/human.h"
#include "src/base/nearest.h"
#include "src/mysql/mysql.h"
#include "sync/catalog/catalog.h"

struct place checked_table_place(const struct checker *c, struct str text,
                                 struct place otherwise)
{
    return definitions_place(c->d, text, otherwise);
}

static void offer(void *to, struct str name)
{
    nearest_offer(to, name);
}

/* table is empty: on all tables of the schema. */
static void fix_by_grant(struct checker *c, const struct checked_table *s, struct str table)
{
    struct buf on = {0};

    mysql_quote_name(&on, s->at.schema);
    buf_append(&on, STR("."));
    if (table.len > 0)
        mysql_quote_name(&on, table);
    else
        buf_append(&on, STR("*"));
    buf_append(&on, STR(" TO "));
    c->source->append_account(c->source->ctx, s->at.topic, &on);
    problems_fix(c->problems, "GRANT SELECT ON %s", on.ptr);
    buf_free(&on);
}

static void report_missing(struct checker *c, const struct checked_table *s)
{
    struct nearest near = nearest_to(s->at.name);

    c->incomplete = true;
    if (s->facts != NULL && s->facts->denied.kind != ERR_NONE) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "the topic's user may not read table `%" STR_FMT "`.`%" STR_FMT "`, if "
                     "it exists: %s",
                     STR_ARG(s->at.schema), STR_ARG(s->at.name), s->facts->denied.msg);
        fix_by_grant(c, s, s->at.name);
        return;
    }
    if (!c->source->each_table(c->source->ctx, s->at.topic, s->at.schema, offer, &near)) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "the server has no schema `%" STR_FMT "`, or the topic's user may not "
                     "see its tables",
                     STR_ARG(s->at.schema));
        fix_by_grant(c, s, STR(""));
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, s->place,
                 "there is no table `%" STR_FMT "` in `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->at.name), STR_ARG(s->at.schema),
                 near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
                 near.best.len > 0 ? "`?" : "");
}

struct checked_table checked_table_find(struct checker *c, struct str table, struct place place)
{
    struct checked_table s = {.table = table, .place = checked_table_place(c, table, place)};

    if (!definitions_locate(c->d, table, &s.at))
        return s;
    s.facts = c->source->find(c->source->ctx, s.at.topic, s.at.schema, s.at.name);
    if (s.facts == NULL || s.facts->schema == NULL) {
        report_missing(c, &s);
        s.facts = NULL;
    }
    return s;
}

const struct column *checked_table_column(struct checker *c, const struct checked_table *s,
                                          struct str name, struct place otherwise)
{
    const struct schema *schema = s->facts->schema;
    struct nearest near = nearest_to(name);
    size_t at = schema_find(schema, name);

    if (at != SIZE_MAX)
        return &schema->columns[at];
    for (size_t i = 0; i < schema->n_columns; i++)
        nearest_offer(&near, schema->columns[i].name);
    problems_add(c->problems, SEVERITY_ERROR, checked_table_place(c, name, otherwise),
                 "table `%" STR_FMT "` has no column `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->table), STR_ARG(name), near.best.len > 0 ? "; did you mean `" : "",
                 STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
    return NULL;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* max is 0: no limit. */
static uint64_t at_most(uint64_t n, uint64_t max)
{
    return max != 0 && n > max ? max : n;
}

struct reach reach_below(struct reach outer, const struct catalog_shares *shares)
{
    if (shares == NULL || outer.largest == 0)
        return (struct reach){0};
    if (shares->n_values == 0) /* no row joins yet */
        return outer;

    const uint64_t usual = (shares->n_rows + shares->n_values - 1) / shares->n_values;

    /* The server's estimate may be older than what was counted of the document's own table. */
    const uint64_t counted =
        shares->n_rows > shares->largest ? shares->n_rows : shares->largest;
    const uint64_t all =
        outer.all != 0 && outer.largest == 1 && counted > outer.all ? counted : outer.all;

    return (struct reach){.largest = at_most(times(outer.largest, shares->largest), all),
                          .usual = at_most(times(outer.usual, usual), all),
                          .at_least = outer.at_least || !shares->complete,
                          .all = all};
}

void reach_append(struct buf *text, struct reach r)
{
    buf_append(text, r.at_least ? STR("at least ") : STR(""));
    human_count(text, r.largest);
    buf_append(text, r.largest == 1 ? STR(" document") : STR(" documents"));
    if (r.largest == 1)
        return;
    buf_append(text, STR(", "));
    human_count(text, r.usual);
    buf_append(text, STR(" on average"));
}
