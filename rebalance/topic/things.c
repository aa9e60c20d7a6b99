#include "config.h"

#include "rebalance/topic/things.h"

#include "rebalance/state/catalogue.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/members.h"

#include <stdint.h>

/* Topics by their number; each leads to one of its set, the first of the set to itself. */
struct sets {
    const struct definitions *d;
    size_t *to;
    size_t with; /* what is visited now goes into this one's set; SIZE_MAX: none was visited */
};

static size_t first_of(const struct sets *s, size_t i)
{
    while (s->to[i] != i)
        i = s->to[i];
    return i;
}

static void join(struct sets *s, size_t a, size_t b)
{
    a = first_of(s, a);
    b = first_of(s, b);
    s->to[a > b ? a : b] = a < b ? a : b;
}

static void note(struct sets *s, const struct topic_definition *topic)
{
    if (topic == NULL)
        return;

    const size_t i = (size_t)(topic - s->d->topics);

    if (s->with != SIZE_MAX)
        join(s, s->with, i);
    s->with = i;
}

static void visit_table(void *ctx, struct str table)
{
    struct sets *s = ctx;

    note(s, definitions_topic_of(s->d, table));
}

static void visit_database(void *ctx, const struct database_definition *db)
{
    struct sets *s = ctx;

    note(s, definitions_topic(s->d, db->topic));
}

/* All topics that the index of this table has rows of. */
static void join_table(struct sets *s, const struct table_definition *t)
{
    const struct table_definition *lead = definition_lead(s->d, t);

    s->with = SIZE_MAX;
    table_visit(t, visit_table, s);
    if (t->pattern.len > 0)
        definition_pattern_databases(s->d, t, visit_database, s);
    if (lead != t)
        table_visit(lead, visit_table, s);
}

static void join_group(struct sets *s, size_t i)
{
    const struct topic_definition *topics = s->d->topics;

    for (size_t k = 0; topics[i].group.len > 0 && k < i; k++)
        if (str_equal(topics[k].group, topics[i].group))
            join(s, k, i);
}

static bool is_alone(const struct sets *s, size_t i)
{
    for (size_t k = 0; k < s->d->n_topics; k++)
        if (k != i && first_of(s, k) == first_of(s, i))
            return false;
    return true;
}

static struct str name_of(struct arena *a, struct str topic)
{
    struct buf name = {0};
    struct str copy;

    buf_printf(&name, "topic/%" STR_FMT, STR_ARG(topic));
    copy = arena_copy(a, buf_str(&name));
    buf_free(&name);
    return copy;
}

static bool is_among(const struct barrier_thing *things, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(things[i].name, name))
            return true;
    return false;
}

static size_t add_deleted(const struct definitions *d, const struct catalogue *c,
                          struct arena *a, struct barrier_thing *things, size_t n)
{
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct str topic = c->versions[i].topic;
        const bool is_defined = topic.len == 0 || definitions_topic(d, topic) != NULL;
        const struct str name = is_defined ? topic : name_of(a, topic);

        if (!is_defined && !is_among(things + d->n_topics, n - d->n_topics, name))
            things[n++].name = name;
    }
    return n;
}

size_t things_of(const struct definitions *d, const struct catalogue *c, struct arena *a,
                 struct barrier_thing **out)
{
    struct sets s = {.d = d, .to = arena_alloc(a, d->n_topics + 1, sizeof(*s.to))};

    for (size_t i = 0; i < d->n_topics; i++)
        s.to[i] = i;
    for (size_t i = 0; i < d->n_topics; i++)
        join_group(&s, i);
    for (size_t i = 0; i < d->n_tables; i++)
        join_table(&s, &d->tables[i]);
    *out = arena_alloc(a, d->n_topics + c->n_versions + 1, sizeof(**out));
    for (size_t i = 0; i < d->n_topics; i++)
        (*out)[i] = (struct barrier_thing){
            .name = name_of(a, d->topics[i].name),
            .group =
                is_alone(&s, i) ? STR("") : arena_copy(a, d->topics[first_of(&s, i)].name)};
    return add_deleted(d, c, a, *out, d->n_topics);
}
