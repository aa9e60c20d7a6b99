#include "config.h"

#include "rebalance/state/catalogue.h"

#include "rebalance/state/pauses.h"
#include "src/base/arena.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct catalogue *catalogue_ref(struct catalogue *c)
{
    if (c != NULL)
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
    return c;
}

void catalogue_unref(struct catalogue *c)
{
    if (c == NULL || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    arena_free(c->arena);
    free(c);
}

struct catalogue *catalogue_load(struct store *store, struct err *err)
{
    struct catalogue *c = mem_alloc(1, sizeof(*c));
    struct stored_version *versions = NULL;
    struct stored_stop *stops = NULL;
    struct stored_rebuild *rebuilds = NULL;
    struct stored_wait *waits = NULL;
    struct pause *pauses = NULL;

    c->refs = 1;
    c->arena = arena_new();

    const bool ok =
        store_load_versions(store, c->arena, STR(""), &versions, &c->n_versions, err) &&
        store_load_stops(store, c->arena, &stops, &c->n_stops, err) &&
        store_load_rebuilds(store, c->arena, &rebuilds, &c->n_rebuilds, err) &&
        store_load_waits(store, c->arena, &waits, &c->n_waits, err) &&
        pauses_load(store, c->arena, &pauses, &c->n_pauses, err) &&
        accounts_load(store, c->arena, &c->accounts, err);

    c->versions = versions;
    c->stops = stops;
    c->rebuilds = rebuilds;
    c->waits = waits;
    c->pauses = pauses;
    if (ok)
        return c;
    catalogue_unref(c);
    err_wrap(err, "reading the index versions");
    return NULL;
}

bool catalogue_is_coming(const struct stored_version *v)
{
    return str_equal(v->state, STR("changing")) || str_equal(v->state, STR("waiting"));
}

const struct stored_version *catalogue_coming(const struct catalogue *c, struct str index)
{
    for (size_t i = c->n_versions; i-- > 0;)
        if (str_equal(c->versions[i].index, index) && catalogue_is_coming(&c->versions[i]))
            return &c->versions[i];
    return NULL;
}

const struct stored_wait *catalogue_wait(const struct catalogue *c,
                                         const struct stored_version *v)
{
    for (size_t i = 0; str_equal(v->state, STR("waiting")) && i < c->n_waits; i++)
        if (str_equal(c->waits[i].index, v->index) && c->waits[i].number == v->number)
            return &c->waits[i];
    return NULL;
}

bool catalogue_is_kept(const struct stored_version *v)
{
    return str_equal(v->state, STR("kept")) || str_equal(v->state, STR("returning"));
}

bool catalogue_is_live(const struct stored_version *v)
{
    return catalogue_is_coming(v) || catalogue_is_kept(v) ||
           str_equal(v->state, STR("available"));
}

const struct stored_version *catalogue_version(const struct catalogue *c, struct str index,
                                               struct str state)
{
    for (size_t i = c->n_versions; i-- > 0;)
        if (str_equal(c->versions[i].index, index) && str_equal(c->versions[i].state, state))
            return &c->versions[i];
    return NULL;
}

const struct stored_version *catalogue_number(const struct catalogue *c, struct str index,
                                              uint64_t number)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, index) && c->versions[i].number == number)
            return &c->versions[i];
    return NULL;
}

const struct stored_rebuild *catalogue_rebuild(const struct catalogue *c, struct str table)
{
    for (size_t i = 0; i < c->n_rebuilds; i++)
        if (str_equal(c->rebuilds[i].table, table))
            return &c->rebuilds[i];
    return NULL;
}

const struct stored_stop *catalogue_stop(const struct catalogue *c, struct str table)
{
    for (size_t i = 0; i < c->n_stops; i++)
        if (str_equal(c->stops[i].table, table))
            return &c->stops[i];
    return NULL;
}

const struct pause *catalogue_pause(const struct catalogue *c, const char *kind,
                                    struct str name)
{
    return pauses_find(c->pauses, c->n_pauses, kind, name);
}
