#include "config.h"

#include "rebalance/shared/others.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"

bool coordinator_is_others(struct coordinator *co, struct str topic)
{
    if (!coordinator_is_shared(co) || coordinator_owns(co, topic))
        return false;

    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);
    bool is_known = definitions_topic(d, topic) != NULL;

    for (size_t i = 0; i < c->n_versions && !is_known; i++)
        is_known = str_equal(c->versions[i].topic, topic);
    catalogue_unref(c);
    definitions_unref(d);
    return is_known;
}

bool coordinator_is_others_version(struct coordinator *co, struct str index, uint64_t number)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = catalogue_number(c, index, number);
    const bool is = v != NULL && coordinator_is_others(co, v->topic);

    catalogue_unref(c);
    return is;
}

static bool find_retired(struct coordinator *co, struct str name, struct buf *topic)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++) {
        const struct stored_version *v = &c->versions[i];

        found = str_equal(v->state, STR("retired")) &&
                (str_equal(v->index, name) || coordinator_version_is_of(v, name));
        if (found)
            buf_append(topic, v->topic);
    }
    catalogue_unref(c);
    return found;
}

bool coordinator_topic_of(struct coordinator *co, struct str table, struct buf *topic)
{
    struct definitions *d = coordinator_definitions(co);
    struct err ignored = {0};
    const struct table_definition *t = coordinator_find_table(d, table, &ignored);
    const struct topic_definition *of =
        t == NULL ? NULL : definition_topic(d, definition_lead(d, t));

    if (of != NULL)
        buf_append(topic, of->name);
    definitions_unref(d);
    return of != NULL || (t == NULL && find_retired(co, table, topic));
}

bool coordinator_topics_of_letters(struct coordinator *co, const struct dead_letter_filter *f,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    bool ok = true;

    *topics = arena_alloc(a, d->n_topics + 1, sizeof(**topics));
    *n = 0;
    for (size_t i = 0; ok && i < d->n_topics; i++) {
        struct dead_letter_filter one = *f;
        struct stored_dead_letter *list;
        size_t n_list = 0;

        if (f->topic.len > 0 && !str_equal(f->topic, d->topics[i].name))
            continue;
        one.topic = d->topics[i].name;
        one.limit = 1;
        ok = store_load_dead_letters(co->opt.store, a, &one, &list, &n_list, err);
        if (n_list > 0)
            (*topics)[(*n)++] = arena_copy(a, one.topic);
    }
    definitions_unref(d);
    return ok;
}
