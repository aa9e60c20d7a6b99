#include "config.h"

#include "rebalance/topic/things.h"

#include "rebalance/state/parts.h"

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

static void join_set(struct sets *s, const struct topic_set *set)
{
    s->with = SIZE_MAX;
    for (size_t i = 0; i < set->n; i++)
        note(s, definitions_topic(s->d, set->topics[i]));
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

size_t things_of(const struct definitions *d, const struct things_stored *stored,
                 struct arena *a, struct barrier_thing **out)
{
    const struct catalogue *c = stored->versions;
    struct sets s = {.d = d, .to = arena_alloc(a, d->n_topics + 1, sizeof(*s.to))};

    for (size_t i = 0; i < d->n_topics; i++)
        s.to[i] = i;
    for (size_t i = 0; i < d->n_topics; i++)
        join_group(&s, i);
    for (size_t i = 0; i < d->n_tables; i++)
        join_table(&s, &d->tables[i]);
    for (size_t i = 0; i < stored->n_sets; i++)
        join_set(&s, &stored->sets[i]);
    *out = arena_alloc(a, d->n_topics + c->n_versions + 1, sizeof(**out));
    for (size_t i = 0; i < d->n_topics; i++)
        (*out)[i] = (struct barrier_thing){
            .name = name_of(a, d->topics[i].name),
            .group =
                is_alone(&s, i) ? STR("") : arena_copy(a, d->topics[first_of(&s, i)].name)};
    return add_deleted(d, c, a, *out, d->n_topics);
}

/* ---- of what is stored ---- */

struct set_of_version {
    const struct definitions *d; /* those that the version was built of */
    struct arena *arena;
    struct topic_set *set;
};

static void add_topic(void *ctx, struct str table)
{
    struct set_of_version *v = ctx;
    const struct topic_definition *t = definitions_topic_of(v->d, table);

    for (size_t i = 0; t != NULL && i < v->set->n; i++)
        if (str_equal(v->set->topics[i], t->name))
            return;
    if (t != NULL)
        v->set->topics[v->set->n++] = arena_copy(v->arena, t->name);
}

/* Of a version that cannot be read nobody knows more than its own topic. */
static void read_set(struct coordinator *co, const struct stored_version *version,
                     struct arena *a, struct topic_set *set)
{
    struct definitions *d;
    const struct table_definition *table;
    struct err err = {0};

    if (!coordinator_version_definitions(co, version, &d, &table, &err))
        return;

    struct set_of_version v = {d, a, set};

    set->topics = arena_alloc(a, d->n_topics + 2, sizeof(*set->topics));
    set->topics[set->n++] = arena_copy(a, version->topic);
    table_visit(table, add_topic, &v);
    definitions_unref(d);
}

size_t coordinator_things(struct coordinator *co, struct arena *a, struct barrier_thing **out)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);
    struct topic_set *sets = arena_alloc(a, c->n_versions + 1, sizeof(*sets));
    size_t n;

    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]))
            read_set(co, &c->versions[i], a, &sets[i]);
    n = things_of(d, &(struct things_stored){c, sets, c->n_versions}, a, out);
    catalogue_unref(c);
    definitions_unref(d);
    return n;
}
