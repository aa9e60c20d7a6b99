#include "config.h"

#include "sync/model/definition_check.h"

#include "src/base/buf.h"
#include "src/base/nearest.h"
#include "src/mysql.h"
#include "sync/model/catalog.h"
#include "sync/model/definition_rule.h"
#include "sync/model/mapping.h"
#include "sync/model/reach.h"
#include "sync/model/table_key.h"
#include "sync/model/transform.h"

#include <inttypes.h>

struct checker {
    const struct definitions *d;
    const struct check_source *source;
    struct problems *problems;
    bool incomplete; /* a table is not there: the mapping cannot be made */
};

/* A table of the definition and what the server says of it. */
struct subject {
    struct str table;        /* as the definition calls it */
    struct table_location at;
    struct place place;
    const struct table_facts *facts; /* NULL: reported */
    struct reach reach;              /* documents that one row of it is in */
};

static struct place place_of(const struct checker *c, struct str text, struct place otherwise)
{
    return definitions_place(c->d, text, otherwise);
}

/* ---- tables ---- */

static void offer(void *to, struct str name)
{
    nearest_offer(to, name);
}

static void report_missing(struct checker *c, const struct subject *s)
{
    struct nearest near = nearest_to(s->at.name);

    c->incomplete = true;
    if (!c->source->each_table(c->source->ctx, s->at.topic, s->at.schema, offer, &near)) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "there is no schema `%" STR_FMT
                     "` on the server, or its tables may not be "
                     "seen",
                     STR_ARG(s->at.schema));
        problems_fix(c->problems, "GRANT SELECT ON `%" STR_FMT "`.* TO the user of the topic",
                     STR_ARG(s->at.schema));
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, s->place,
                 "there is no table `%" STR_FMT "` in `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->at.name), STR_ARG(s->at.schema),
                 near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
                 near.best.len > 0 ? "`?" : "");
}

static struct subject find_subject(struct checker *c, struct str table, struct place place)
{
    struct subject s = {.table = table, .place = place_of(c, table, place)};

    if (!definitions_locate(c->d, table, &s.at))
        return s;
    s.facts = c->source->find(c->source->ctx, s.at.topic, s.at.schema, s.at.name);
    if (s.facts != NULL && s.facts->schema == NULL)
        s.facts = NULL;
    if (s.facts == NULL)
        report_missing(c, &s);
    return s;
}

/* ---- columns ---- */

/* The column of that name, or NULL after a report. */
static const struct column *find_column(struct checker *c, const struct subject *s,
                                        struct str name, struct place otherwise)
{
    const struct schema *schema = s->facts->schema;
    struct nearest near = nearest_to(name);
    size_t at = schema_find(schema, name);

    if (at != SIZE_MAX)
        return &schema->columns[at];
    for (size_t i = 0; i < schema->n_columns; i++)
        nearest_offer(&near, schema->columns[i].name);
    problems_add(c->problems, SEVERITY_ERROR, place_of(c, name, otherwise),
                 "table `%" STR_FMT "` has no column `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->table), STR_ARG(name), near.best.len > 0 ? "; did you mean `" : "",
                 STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
    return NULL;
}

static bool takes_name(const struct relation_definition *relations, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(relation_as(&relations[i]), name))
            return true;
    return false;
}

/* Columns that are shown without being named must have names that a field can have. */
static void check_unlisted(struct checker *c, const struct subject *s,
                           const struct column_definition *columns, size_t n_columns,
                           const struct relation_definition *relations, size_t n_relations)
{
    const struct schema *schema = s->facts->schema;

    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct column *col = &schema->columns[i];
        const char *wrong = rule_field(col->name);

        if (col->invisible || columns_mention(columns, n_columns, col->name))
            continue;
        if (wrong == NULL && takes_name(relations, n_relations, col->name))
            wrong = "is also the name of a relation";
        if (wrong == NULL)
            continue;
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "column `%" STR_FMT "` of %" STR_FMT ": the name %s", STR_ARG(col->name),
                     STR_ARG(s->table), wrong);
        problems_fix(c->problems,
                     "columns: ['*', {name: '%" STR_FMT "', as: another_name}], or skip: true",
                     STR_ARG(col->name));
    }
}

/* The column, or those that its first step joins. */
static void check_column(struct checker *c, const struct subject *s,
                         const struct column_definition *d)
{
    struct transforms steps;
    struct err err = {0};

    if (!transforms_parse(c->d->arena, d->transform_json, &steps, &err))
        return; /* told before */
    if (transforms_read_column(&steps))
        (void)find_column(c, s, d->name, d->place);
    for (size_t i = 0; steps.n > 0 && i < steps.steps[0].n_columns; i++)
        (void)find_column(c, s, steps.steps[0].columns[i], d->place);
}

static void check_shown(struct checker *c, const struct subject *s, bool all,
                        const struct column_definition *columns, size_t n_columns,
                        const struct relation_definition *relations, size_t n_relations)
{
    bool rest = all;

    for (size_t i = 0; i < n_columns; i++)
        if (column_is_rest(&columns[i]))
            rest = true;
        else if (!columns[i].has_value)
            check_column(c, s, &columns[i]);
    if (rest)
        check_unlisted(c, s, columns, n_columns, relations, n_relations);
}

/* ---- the key ---- */

static bool lists(const struct str *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal_any_case(columns[i], name))
            return true;
    return false;
}

static bool is_nullable(const struct schema *s, struct str column)
{
    size_t at = schema_find(s, column);

    return at == SIZE_MAX || s->columns[at].nullable;
}

/* A unique index without NULLs, all of whose columns are among those given. */
static bool is_unique_key(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        bool inside = index->is_unique;

        for (size_t k = 0; inside && k < index->n_columns; k++)
            inside = lists(columns, n, index->columns[k]) &&
                     !is_nullable(f->schema, index->columns[k]);
        if (inside)
            return true;
    }
    return false;
}

static void append_names(struct buf *b, const struct str *names, size_t n, bool quoted)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append(b, STR(", "));
        if (quoted)
            mysql_quote_name(b, names[i]);
        else
            buf_append(b, names[i]);
    }
}

/* What would do as a key, in the words of the definition. */
static void fix_key(struct checker *c, const struct subject *s)
{
    struct buf names = {0};

    for (size_t i = 0; i < s->facts->n_indexes; i++) {
        const struct catalog_index *index = &s->facts->indexes[i];

        if (!is_unique_key(s->facts, index->columns, index->n_columns))
            continue;
        append_names(&names, index->columns, index->n_columns, false);
        problems_fix(c->problems, "key: [%" STR_FMT "], which is unique and never NULL",
                     STR_ARG(buf_str(&names)));
        buf_free(&names);
        return;
    }
    problems_fix(c->problems, "ALTER TABLE `%" STR_FMT "`.`%" STR_FMT "` ADD PRIMARY KEY (...)",
                 STR_ARG(s->at.schema), STR_ARG(s->at.name));
}

/* False after a report: one of them is not there, or may be NULL. */
static bool check_key_columns(struct checker *c, const struct subject *s,
                              const struct table_key *key, struct place place)
{
    bool complete = true;

    for (size_t i = 0; i < key->n; i++) {
        const struct column *col = find_column(c, s, key->columns[i], place);

        complete = complete && col != NULL;
        if (col == NULL || !col->nullable)
            continue;
        complete = false;
        problems_add(c->problems, SEVERITY_ERROR, place_of(c, key->columns[i], place),
                     "key column `%" STR_FMT "` may be NULL", STR_ARG(key->columns[i]));
        fix_key(c, s);
    }
    return complete;
}

static void check_key(struct checker *c, const struct subject *s,
                      const struct table_definition *t)
{
    const struct table_key key = table_key_named(t, s->facts->schema);

    if (key.n == 0) {
        if (s->facts->schema->n_key > 0)
            return;
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "table `%" STR_FMT "` has no primary key", STR_ARG(s->table));
        fix_key(c, s);
        return;
    }
    if (!check_key_columns(c, s, &key, t->place) ||
        is_unique_key(s->facts, key.columns, key.n))
        return;
    problems_add(c->problems, SEVERITY_ERROR, place_of(c, key.columns[0], t->place),
                 "the key is not unique: no unique index of `%" STR_FMT "` lies within it",
                 STR_ARG(s->table));
    fix_key(c, s);
}

/* A unique index of just these columns, in whatever order. */
static bool has_unique_key(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (index->is_unique && k == index->n_columns && k == n)
            return true;
    }
    return false;
}

static void check_unique_keys(struct checker *c, const struct subject *s,
                              const struct table_definition *t)
{
    for (size_t i = 0; i < t->n_unique_keys; i++) {
        const struct str *columns = t->unique_keys[i];
        const size_t n = unique_key_length(columns);
        struct buf names = {0};
        bool complete = true;

        for (size_t k = 0; k < n; k++)
            complete = find_column(c, s, columns[k], t->place) != NULL && complete;
        if (!complete || has_unique_key(s->facts, columns, n))
            continue;
        append_names(&names, columns, n, true);
        problems_add(c->problems, SEVERITY_ERROR, place_of(c, columns[0], t->place),
                     "`%" STR_FMT "` has no unique index of just these columns",
                     STR_ARG(s->table));
        problems_fix(c->problems,
                     "ALTER TABLE `%" STR_FMT "`.`%" STR_FMT "` ADD UNIQUE KEY (%" STR_FMT ");",
                     STR_ARG(s->at.schema), STR_ARG(s->at.name), STR_ARG(buf_str(&names)));
        buf_free(&names);
    }
}

/* ---- joins ---- */

/* Types that the server compares as what they are. */
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
    else if (from->charset.len > 0 && str_equal(from->charset, to->charset) &&
             !str_equal(from->collation, to->collation) &&
             !str_equal(from->charset, STR("binary")))
        problems_add(c->problems, SEVERITY_WARNING, place,
                     "`%" STR_FMT "` is compared by %" STR_FMT " and `%" STR_FMT
                     "` by %" STR_FMT ": the server may refuse to join them",
                     STR_ARG(from->name), STR_ARG(from->collation), STR_ARG(to->name),
                     STR_ARG(to->collation));
}

/* Each server compares by its own column alone: both must come to the same. */
static void check_pair_across(struct checker *c, const struct column *from,
                              const struct column *to, struct place place)
{
    if (str_equal(from->charset, to->charset) && str_equal(from->collation, to->collation)) {
        check_pair(c, from, to, place);
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, place,
                 "`%" STR_FMT "` is compared by `%" STR_FMT "` and `%" STR_FMT "` by `%" STR_FMT
                 "`: on two servers only columns of one collation can be joined",
                 STR_ARG(from->name),
                 STR_ARG(from->collation.len > 0 ? from->collation : from->type_text),
                 STR_ARG(to->name),
                 STR_ARG(to->collation.len > 0 ? to->collation : to->type_text));
    problems_fix(c->problems, "give one of them the other's character set and collation, or join "
                              "by a number");
}

/* Whether an index begins with these columns, in whatever order. */
static bool has_index(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < n && k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* Whether these columns have a value at most once. */
static bool has_unique_index(const struct table_facts *f, const struct str *columns, size_t n)
{
    for (size_t i = 0; i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        size_t k = 0;

        while (k < index->n_columns && lists(columns, n, index->columns[k]))
            k++;
        if (index->is_unique && !index->has_prefix && k == index->n_columns)
            return true;
    }
    return false;
}

/* How many documents one row is in that s is joined to by columns of its own. */
static struct reach reach_of(struct checker *c, const struct subject *s,
                             const struct str *columns, size_t n)
{
    const struct shares_wanted wanted = {
        .name = {s->at.schema, s->at.name},
        .columns = columns,
        .n_columns = n,
        .n_rows = s->facts->n_rows,
        .has_index = has_index(s->facts, columns, n),
    };
    struct catalog_shares shares;

    if (has_unique_index(s->facts, columns, n))
        return s->reach;
    if (s->reach.largest == 0 || s->facts->schema->is_view || c->source->count_shares == NULL ||
        !c->source->count_shares(c->source->ctx, s->at.topic, &wanted, &shares))
        return reach_below(s->reach, NULL);
    return reach_below(s->reach, &shares);
}

static void fix_index(struct checker *c, const struct subject *s, const struct str *columns,
                      size_t n)
{
    struct buf names = {0}, index = {0};

    append_names(&names, columns, n, true);
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

/* A view has no indexes of its own; the server uses those of its tables. */
static void check_index(struct checker *c, const struct subject *s, const struct str *columns,
                        size_t n, struct place place, const char *what_for)
{
    struct buf names = {0};

    if (s->facts->schema->is_view || has_index(s->facts, columns, n))
        return;
    append_names(&names, columns, n, false);
    problems_add(c->problems, SEVERITY_WARNING, place,
                 "%" STR_FMT " has no index on (%" STR_FMT
                 "), by which %s: each time all of its %" PRIu64 " rows are read",
                 STR_ARG(s->table), STR_ARG(buf_str(&names)), what_for, s->facts->n_rows);
    fix_index(c, s, columns, n);
    buf_free(&names);
}

/* The way up, of a row of `below` to the documents that it is in. */
static void check_way_up(struct checker *c, const struct subject *outer,
                         const struct subject *below, const struct str *columns, size_t n,
                         struct place place)
{
    struct buf why = {0};

    buf_append(&why, STR("the documents of a changed related row are found"));
    if (below->reach.largest > 0) {
        buf_append(&why, STR(" (one row is in "));
        reach_append(&why, below->reach);
        buf_append_char(&why, ')');
    }
    check_index(c, outer, columns, n, place, why.ptr);
    if (below->reach.largest >= REACH_MANY && outer->reach.largest < REACH_MANY) {
        buf_clear(&why);
        reach_append(&why, below->reach);
        problems_add(c->problems, SEVERITY_WARNING, place,
                     "a change of one row of %" STR_FMT " can build %" STR_FMT ", again",
                     STR_ARG(below->table), STR_ARG(buf_str(&why)));
        problems_fix(c->problems, "fine where such changes are rare; else show none of its "
                                  "columns that change often, or say `refresh: none`");
    }
    buf_free(&why);
}

static void check_clause(struct checker *c, const struct subject *s, enum catalog_clause clause,
                         struct str text, struct place place)
{
    const struct catalog_name name = {s->at.schema, s->at.name};
    struct err err = {0};

    if (text.len == 0 ||
        c->source->try_clause(c->source->ctx, s->at.topic, &name, clause, text, &err))
        return;
    problems_add(c->problems, SEVERITY_ERROR, place_of(c, text, place),
                 "the server does not take this %s: %s",
                 clause == CLAUSE_WHERE ? "condition" : "order", err.msg);
}

/* ---- relations ---- */

static void check_related_view(struct checker *c, const struct subject *s,
                               const struct relation_definition *r)
{
    if (!s->facts->schema->is_view || r->refresh == REFRESH_NONE)
        return;
    problems_add(c->problems, SEVERITY_ERROR, s->place,
                 "`%" STR_FMT "` is a view: the binlog does not tell when it changes",
                 STR_ARG(s->table));
    problems_fix(c->problems, "name its table, or say `refresh: none`");
}

/* Columns of a table, and columns of another that they are joined with. */
struct pairs {
    const struct str *from, *to;
    size_t n_from, n_to;
    enum refresh refresh;
    struct place place;
};

static void check_join(struct checker *c, const struct subject *outer, struct subject *s,
                       const struct pairs *p)
{
    size_t n = p->n_from < p->n_to ? p->n_from : p->n_to;
    bool complete = n > 0;

    for (size_t i = 0; i < n; i++) {
        const struct column *from = find_column(c, outer, p->from[i], p->place);
        const struct column *to = find_column(c, s, p->to[i], p->place);

        complete = complete && from != NULL && to != NULL;
        if (from != NULL && to != NULL)
            (str_equal(outer->at.topic, s->at.topic) ? check_pair : check_pair_across)(
                c, from, to, place_of(c, p->to[i], p->place));
    }
    if (!complete)
        return;
    check_index(c, s, p->to, p->n_to, place_of(c, p->to[0], p->place), "its rows are found");
    if (p->refresh == REFRESH_NONE)
        return;
    s->reach = reach_of(c, outer, p->from, p->n_from);
    check_way_up(c, outer, s, p->from, p->n_from, place_of(c, p->from[0], p->place));
}

/* From the outer table to the related one, by way of the link table where there is one. */
static void check_way(struct checker *c, const struct subject *outer, struct subject *s,
                      const struct relation_definition *r)
{
    const struct through_definition *t = &r->through;

    if (!t->given) {
        if (s->facts != NULL && outer->facts != NULL)
            check_join(
                c, outer, s,
                &(struct pairs){r->from, r->to, r->n_from, r->n_to, r->refresh, r->place});
        return;
    }

    struct subject link = find_subject(c, t->table, r->place);

    if (link.facts == NULL)
        return;
    check_related_view(c, &link, r);
    if (outer->facts != NULL)
        check_join(
            c, outer, &link,
            &(struct pairs){r->from, t->from, r->n_from, t->n_from, r->refresh, r->place});
    if (s->facts != NULL)
        check_join(c, &link, s,
                   &(struct pairs){t->to, r->to, t->n_to, r->n_to, r->refresh, r->place});
}

static void check_relations(struct checker *c, const struct subject *outer,
                            const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];
        struct subject s = find_subject(c, r->table, r->place);
        struct column_definition room;
        const struct relation_columns shown = relation_columns(r, &room);

        check_way(c, outer, &s, r);
        if (s.facts != NULL) {
            check_related_view(c, &s, r);
            check_shown(c, &s, shown.all, shown.columns, shown.n, r->relations, r->n_relations);
            check_clause(c, &s, CLAUSE_WHERE, r->where, r->place);
            check_clause(c, &s, CLAUSE_ORDER_BY, r->order_by, r->place);
            check_relations(c, &s, r->relations, r->n_relations);
        }
    }
}

/* ---- the whole ---- */

/* The server does not tell what is unique in a view, so that its definition must.  False after a
 * report. */
static bool check_view(struct checker *c, const struct subject *s,
                       const struct table_definition *t)
{
    bool complete = true;

    if (t->sync_every_s == 0) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "`%" STR_FMT "` is a view: the binlog does not tell when it changes",
                     STR_ARG(s->table));
        problems_fix(c->problems, "name the table, with relations for the others; or give the "
                                  "view `key`, `sync_every` and `daily_check_column`");
        return false;
    }
    if (t->n_key == 0) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "the view `%" STR_FMT "` has no key: name columns that are unique with `key`",
                     STR_ARG(s->table));
        return false;
    }
    for (size_t i = 0; i < t->n_key; i++)
        complete = find_column(c, s, t->key[i], t->place) != NULL && complete;
    return complete;
}

/* Of a sync by time it must have a time of day, and wants an index. */
static void check_time_column(struct checker *c, const struct subject *s,
                              const struct table_definition *t)
{
    const struct place place = place_of(c, t->daily_check_column, t->place);
    const struct column *col = t->daily_check_column.len == 0
                                   ? NULL
                                   : find_column(c, s, t->daily_check_column, t->place);

    if (col == NULL || t->sync_every_s == 0)
        return;
    if (col->type != COLUMN_DATETIME && col->type != COLUMN_TIMESTAMP)
        problems_add(c->problems, SEVERITY_ERROR, place,
                     "`sync_every` needs a `daily_check_column` of type DATETIME or TIMESTAMP, "
                     "and `%" STR_FMT "` is %" STR_FMT,
                     STR_ARG(col->name), STR_ARG(col->type_text));
    else
        check_index(c, s, &t->daily_check_column, 1, place, "changed rows are found");
}

static void check_root(struct checker *c, const struct subject *s,
                       const struct table_definition *t)
{
    if (s->facts->schema->is_view) {
        if (!check_view(c, s, t))
            return;
    } else {
        check_key(c, s, t);
        check_unique_keys(c, s, t);
    }
    check_shown(c, s, t->all_columns, t->columns, t->n_columns, t->relations, t->n_relations);
    check_clause(c, s, CLAUSE_WHERE, t->filter, t->place);
    if (t->soft_delete_given)
        (void)find_column(c, s, t->soft_delete_column, t->place);
    if (t->bucket_column.len > 0)
        (void)find_column(c, s, t->bucket_column, t->place);
    check_time_column(c, s, t);
}

static struct schema *find_for_mapping(void *ctx, struct str topic, struct str schema,
                                       struct str table)
{
    const struct checker *c = ctx;
    const struct table_facts *facts = c->source->find(c->source->ctx, topic, schema, table);

    return facts == NULL ? NULL : facts->schema;
}

void definition_check_facts(const struct definitions *d, const struct table_definition *t,
                            const struct check_source *source, struct problems *problems)
{
    struct checker c = {d, source, problems, false};
    size_t before = problems_count(problems, SEVERITY_ERROR);
    struct subject root = find_subject(&c, t->table, t->place);
    const struct mapping_request request = {
        .definitions = d, .table = t, .alone = true, .find = find_for_mapping, .ctx = &c};

    root.reach = reach_root();
    if (root.facts != NULL)
        check_root(&c, &root, t);
    check_relations(&c, &root, t->relations, t->n_relations);
    /* It would say again what is missing. */
    if (!c.incomplete && problems_count(problems, SEVERITY_ERROR) == before)
        mapping_check(&request, problems);
}
