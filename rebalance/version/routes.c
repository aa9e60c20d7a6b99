#include "config.h"

#include "rebalance/version/routes.h"

#include "rebalance/state/parts.h"
#include "rebalance/version/shape.h"
#include "rebalance/version/shards.h"
#include "rebalance/version/table_stop.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 5000 /* before routing is retried */

struct route_retry {
    bool due;         /* atomic: one topic's changes concern documents of another */
    int64_t again_ms; /* monotonic: earliest next routing, if due */
};

struct route_retry *route_retry_new(void)
{
    return mem_alloc(1, sizeof(struct route_retry));
}

void route_retry_free(struct route_retry *r)
{
    free(r);
}

void coordinator_route_soon(struct coordinator *co)
{
    __atomic_store_n(&co->route_retry->due, true, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
}

bool coordinator_is_route_due(const struct coordinator *co)
{
    return __atomic_load_n(&co->route_retry->due, __ATOMIC_ACQUIRE);
}

struct leading {
    const struct definitions *d;
    struct str topic;
    bool found;
};

static void note_topic(void *ctx, struct str table)
{
    struct leading *l = ctx;
    const struct topic_definition *t = definitions_topic_of(l->d, table);

    l->found = l->found || (t != NULL && str_equal(t->name, l->topic));
}

/* Whether any table of the index does. */
static bool index_leads_to(const struct definitions *d, const struct table_definition *lead,
                           struct str topic)
{
    struct leading l = {d, topic, false};
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;

    if (lead->pattern.len > 0 || !definition_members(d, lead, NULL, NULL, a, &members, &n))
        table_visit(lead, note_topic, &l);
    else
        for (size_t i = 0; i < n; i++)
            table_visit(members[i], note_topic, &l);
    arena_free(a);
    return l.found;
}

bool coordinator_shows_topic(const struct definitions *d, const struct table_definition *lead,
                             struct str topic)
{
    const struct topic_definition *of = definition_topic(d, lead);

    return (of != NULL && str_equal(of->name, topic)) || index_leads_to(d, lead, topic);
}

struct specs {
    struct version_spec **list;
    size_t n;
};

static void free_specs(struct specs *s)
{
    for (size_t i = 0; i < s->n; i++)
        version_spec_free(s->list[i]);
    free(s->list);
}

static bool is_live(const struct catalogue *c, struct str index)
{
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++) {
        struct buf name = {0};

        coordinator_index_name(&name, c->versions[i].index, c->versions[i].number);
        found = catalogue_is_live(&c->versions[i]) && str_equal(buf_str(&name), index);
        buf_free(&name);
    }
    return found;
}

void coordinator_forget_gone(struct coordinator *co)
{
    struct arena *a = arena_new();
    struct hold *list;
    const size_t n = holds_all(co->holds, a, &list);

    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < n; i++)
        if (!is_live(c, list[i].index))
            delivery_drop(co->delivery, list[i].index);
    catalogue_unref(c);
    arena_free(a);
}

/* Whether tables of an index are in a database. */
struct housing {
    struct str database;
    bool found;
};

static void note_database(void *ctx, const struct database_definition *db)
{
    struct housing *h = ctx;

    h->found = h->found || str_equal(db->name, h->database);
}

static bool houses(const struct definitions *d, const struct table_definition *lead,
                   struct str database)
{
    struct housing h = {database, false};
    const struct table_definition **members;
    struct arena *a = arena_new();
    struct str of, table;
    size_t n = 0;

    if (lead->pattern.len > 0)
        definition_pattern_databases(d, lead, note_database, &h);
    else if (definition_members(d, lead, NULL, NULL, a, &members, &n))
        for (size_t i = 0; i < n; i++)
            h.found = h.found || (definition_split_table(members[i]->table, &of, &table) &&
                                  str_equal(of, database));
    arena_free(a);
    return h.found;
}

static bool add_own_servers(struct version_spec *spec, const struct definitions *d,
                            const struct topic_definition *topic, const char *folder,
                            struct err *err)
{
    for (size_t i = 0; i < d->n_databases; i++) {
        const struct database_definition *db = &d->databases[i];
        struct server_access *server;

        if (!db->own_server || !str_equal(db->topic, topic->name) ||
            !houses(spec->definitions, spec->table, db->name))
            continue;
        if (!server_access_new(&server, topic, db, folder, err))
            return false;
        spec->own = mem_resize(spec->own, spec->n_own + 1, sizeof(*spec->own));
        spec->own[spec->n_own++] =
            (struct database_server){strndup(db->name.ptr, db->name.len), server};
    }
    return true;
}

static struct version_spec *new_spec(const struct stored_version *v)
{
    struct version_spec *spec = mem_alloc(1, sizeof(*spec));
    struct buf name = {0}, write_alias = {0}, alias = {0};

    coordinator_index_name(&name, v->index, v->number);
    coordinator_write_alias(&write_alias, v->index, v->number);
    buf_append(&alias, v->index);
    spec->index = name.ptr;
    spec->write_alias = write_alias.ptr;
    spec->alias = alias.ptr;
    spec->number = v->number;
    spec->topic = strndup(v->topic.ptr, v->topic.len);
    spec->version_min = v->epoch << 53;
    return spec;
}

/* Whether the topic writes to the version, as far as it can be read. */
static bool shows_topic(struct coordinator *co, const struct stored_version *v,
                        struct str topic)
{
    struct definitions *d;
    const struct table_definition *table;
    struct err err = {0};

    if (str_equal(topic, v->topic))
        return true;
    if (!coordinator_version_definitions(co, v, &d, &table, &err))
        return true; /* unknown: whoever reads it next fails for the same reason */

    const bool shows = index_leads_to(d, table, topic);

    definitions_unref(d);
    return shows;
}

/* Fill in what may be unavailable now but available later. */
static bool fill_spec(struct coordinator *co, struct version_spec *spec,
                      const struct topic_definition *topic, const struct definitions *now,
                      struct err *err)
{
    return server_access_new(&spec->server, topic, NULL, co->opt.data_dir, err) &&
           add_own_servers(spec, now, topic, co->opt.data_dir, err);
}

/*
 * Read the version as it was built, and its shards in the engine.  ERR_REJECT: these are gone
 * for good.
 */
static bool read_version(struct coordinator *co, struct version_spec *spec,
                         const struct stored_version *v, struct err *err)
{
    return coordinator_version_in_effect(co, v, &spec->definitions, &spec->table, err) &&
           coordinator_shards(co, v, spec->definitions, spec->table, &spec->shards, err);
}

/*
 * Stop the table of a version that can no longer be followed, or end its build: its documents
 * go stale.
 */
static bool stop_version(struct coordinator *co, const struct version_spec *spec,
                         const struct stored_version *v, const struct err *why, struct err *err)
{
    struct target *t =
        target_new(str_from(spec->index), str_from(spec->write_alias), v->index, v->topic);
    struct catalogue *c = coordinator_catalogue(co);
    struct buf lead = {0}, fix = {0};

    coordinator_lead_name(co, t, &lead);
    buf_append(&fix, STR("millrace index create "));
    buf_append_word(&fix, buf_str(&lead));

    const struct table_stop stop = {why->msg, fix.ptr, false};
    const bool known = str_equal(v->state, STR("available"))
                           ? catalogue_stop(c, buf_str(&lead)) != NULL
                           : v->error.len > 0;
    const bool ok = known || coordinator_stop_target(co, t, &stop, err);

    catalogue_unref(c);
    target_unref(t);
    buf_free(&lead);
    buf_free(&fix);
    return ok;
}

bool coordinator_spec_of(struct coordinator *co, const struct stored_version *v,
                         struct version_spec **out, struct err *err)
{
    struct version_spec *spec = new_spec(v);
    struct definitions *now = coordinator_definitions(co);
    const struct topic_definition *topic = definitions_topic(now, v->topic);
    const bool ok =
        read_version(co, spec, v, err) &&
        (topic != NULL || err_set(err, ERR_RETRY, "topic %s is not defined", spec->topic)) &&
        fill_spec(co, spec, topic, now, err);

    spec->filling = true;
    *out = ok ? spec : NULL;
    if (!ok)
        version_spec_free(spec);
    definitions_unref(now);
    return ok;
}

/* *out NULL: the version is not followed. */
static bool make_spec(struct coordinator *co, const struct stored_version *v,
                      struct version_spec **out, struct err *err)
{
    struct version_spec *spec = new_spec(v);
    struct definitions *now = coordinator_definitions(co);
    const struct topic_definition *topic = definitions_topic(now, v->topic);
    struct err why = {0};
    const bool known = read_version(co, spec, v, &why);
    bool ok;

    *out = NULL;
    if (!known && why.kind != ERR_REJECT) {
        *err = why;
        ok = false;
    } else if (!known) {
        ok = stop_version(co, spec, v, &why, err);
    } else if (topic == NULL) {
        err_set(&why, ERR_REJECT, "topic %s, which has some of its tables, is not defined",
                spec->topic);
        ok = stop_version(co, spec, v, &why, err);
    } else {
        spec->now = definitions_ref(now);
        ok = fill_spec(co, spec, topic, now, err);
        *out = ok ? spec : NULL;
    }
    if (!ok)
        err_wrap(err, "cannot follow the tables of index %s", spec->index);
    if (*out == NULL)
        version_spec_free(spec);
    definitions_unref(now);
    return ok;
}

static void add_spec(struct specs *s, struct version_spec *spec, const struct stored_version *v,
                     const struct catalogue *c)
{
    spec->filling = str_equal(v->state, STR("changing"));
    spec->aside = catalogue_is_coming(v) || catalogue_is_kept(v);
    spec->stopped = str_equal(v->state, STR("available"))
                        ? catalogue_stop(c, table_name(spec->table)) != NULL
                        : v->error.len > 0; /* its build ends */
    s->list = mem_resize(s->list, s->n + 1, sizeof(struct version_spec *));
    s->list[s->n++] = spec;
}

/*
 * Make all specs or fail: the topic would skip the changes of a version that is left out.  What
 * only the owner of a version's own topic may do is waited for by the others.
 */
static bool make_specs(struct coordinator *co, struct str topic, struct specs *s,
                       struct err *err)
{
    struct catalogue *c = coordinator_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct version_spec *spec = NULL;
        struct err why = {0};

        if (!catalogue_is_live(v) || !shows_topic(co, v, topic))
            continue;
        ok = make_spec(co, v, &spec, &why);
        if (why.kind == ERR_STOP && !str_equal(v->topic, topic))
            why.kind = ERR_RETRY;
        if (!ok)
            *err = why;
        if (spec != NULL)
            add_spec(s, spec, v, c);
    }
    catalogue_unref(c);
    return ok;
}

bool coordinator_route(struct coordinator *co, struct str name, int64_t timeout_ms,
                       uint64_t *from, struct err *err)
{
    struct topic *t = topics_find(co->topics, name);
    struct specs s = {0};
    uint64_t at = 0;

    if (t == NULL || t->pipeline == NULL)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " is not running", STR_ARG(name));

    const bool made = make_specs(co, name, &s, err);
    const bool ok =
        made && pipeline_set_versions(t->pipeline, (const struct version_spec *const *)s.list,
                                      s.n, timeout_ms, &at, err);

    free_specs(&s);
    if (!made) {
        coordinator_route_soon(co);
        co->route_retry->again_ms = clock_mono_ms() + AGAIN_MS;
    }
    if (made && from != NULL)
        *from = at;
    return ok;
}

static bool has_version(struct coordinator *co, struct str topic,
                        const struct stored_version *v, uint64_t *from)
{
    const struct topic *t = topics_find(co->topics, topic);
    struct buf index = {0};

    coordinator_index_name(&index, v->index, v->number);

    const bool has = t != NULL && t->pipeline != NULL &&
                     pipeline_has_version(t->pipeline, buf_str(&index), from);

    buf_free(&index);
    return has;
}

/* The other topics whose tables the version shows. */
static bool route_guests(struct coordinator *co, const struct stored_version *v,
                         int64_t timeout_ms, struct err *err)
{
    struct definitions *d;
    uint64_t from;
    const struct table_definition *table;
    bool ok = coordinator_version_definitions(co, v, &d, &table, err);

    for (struct topic *t = co->topics->first; ok && t != NULL; t = t->next) {
        const struct str name = str_from(t->name);

        if (str_equal(name, v->topic) || !index_leads_to(d, table, name))
            continue;
        ok = has_version(co, name, v, &from) ||
             coordinator_route(co, name, timeout_ms, NULL, err) ||
             err_wrap(err, "topic %s, which has tables of these documents", t->name);
    }
    if (d != NULL)
        definitions_unref(d);
    return ok;
}

bool coordinator_route_build(struct coordinator *co, const struct stored_version *v,
                             int64_t timeout_ms, uint64_t *from, struct err *err)
{
    return route_guests(co, v, timeout_ms, err) &&
           (has_version(co, v->topic, v, from) ||
            coordinator_route(co, v->topic, timeout_ms, from, err));
}

void coordinator_route_published(struct coordinator *co,
                                 const struct stored_version *const *list, size_t n)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        const struct str name = str_from(t->name);
        struct err err = {0};
        bool any = false;

        for (size_t i = 0; i < n && !any; i++)
            any = shows_topic(co, list[i], name);
        if (!any || coordinator_route(co, name, ROUTE_AWAY_MS, NULL, &err))
            continue;
        log_failure(LOG_WARN, &err, "Millrace still writes to the previous versions",
                    KV("topic", (const char *)t->name));
        coordinator_route_soon(co);
    }
}

void coordinator_route_again(struct coordinator *co)
{
    if (clock_mono_ms() < co->route_retry->again_ms ||
        !__atomic_exchange_n(&co->route_retry->due, false, __ATOMIC_ACQ_REL))
        return;
    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        struct err err = {0};

        if (t->pipeline == NULL || coordinator_route(co, str_from(t->name), 0, NULL, &err))
            continue;
        if (clock_mono_ms() < co->route_retry->again_ms)
            log_failure(LOG_WARN, &err,
                        "a topic keeps its present index versions, trying again",
                        KV("topic", (const char *)t->name));
        else
            log_debug("a topic will take its index versions soon");
    }
}
