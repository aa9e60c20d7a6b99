#include "config.h"

#include "sync/routing/compile.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "sync/definition/definition.h"
#include "sync/server/schemas.h"

#include <stdint.h>
#include <stdlib.h>

void version_spec_free(struct version_spec *v)
{
    if (v == NULL)
        return;
    definitions_unref(v->definitions);
    definitions_unref(v->now);
    server_access_unref(v->server);
    for (size_t i = 0; i < v->n_own; i++) {
        server_access_unref(v->own[i].server);
        free(v->own[i].database);
    }
    free(v->own);
    free(v->index);
    free(v->topic);
    free(v->alias);
    free(v->write_alias);
    free(v->shards);
    free(v);
}

/* Copies strings, takes references. */
static struct version_spec *copy_spec(const struct version_spec *v)
{
    struct version_spec *copy = mem_alloc(1, sizeof(*copy));

    *copy = *v;
    definitions_ref(copy->definitions);
    if (copy->now != NULL)
        definitions_ref(copy->now);
    server_access_ref(copy->server);
    copy->own = mem_alloc(v->n_own + 1, sizeof(*copy->own));
    for (size_t i = 0; i < v->n_own; i++)
        copy->own[i] = (struct database_server){mem_copy(v->own[i].database),
                                                server_access_ref(v->own[i].server)};
    copy->index = mem_copy(v->index);
    copy->topic = mem_copy(v->topic);
    copy->alias = mem_copy(v->alias);
    copy->write_alias = mem_copy(v->write_alias);
    copy->shards = mem_copy_any(v->shards);
    return copy;
}

struct server_access *version_spec_server(const struct version_spec *v, struct str table)
{
    struct str database, name;

    if (definition_split_table(table, &database, &name))
        for (size_t i = 0; i < v->n_own; i++)
            if (str_equal(str_from(v->own[i].database), database))
                return v->own[i].server;
    return v->server;
}

void version_specs_free(struct version_spec **specs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        version_spec_free(specs[i]);
    free(specs);
}

struct version_spec **version_specs_copy(const struct version_spec *const *specs, size_t n)
{
    struct version_spec **copy = mem_alloc(n == 0 ? 1 : n, sizeof(struct version_spec *));

    for (size_t i = 0; i < n; i++)
        copy[i] = copy_spec(specs[i]);
    return copy;
}

static void set_shards(struct target *target, struct reading *reading, const char *text)
{
    struct str rest = str_from(text), *list;

    reading->shards = arena_new();
    list = arena_alloc(reading->shards, rest.len / 2 + 1, sizeof(*list));
    rest = arena_copy(reading->shards, rest);
    for (size_t at = 0; at < rest.len;) {
        size_t end = at;

        while (end < rest.len && rest.ptr[end] != ' ')
            end++;
        list[target->n_shards++] = (struct str){rest.ptr + at, end - at};
        at = end + 1;
    }
    target->shards = list;
}

bool routing_is_place_of(const struct plan *plan, size_t place, const struct table_location *at)
{
    const struct schema *s = plan_place_schema(plan, place);
    bool (*same)(struct str a, struct str b) = s->any_case ? str_equal_any_case : str_equal;

    return str_equal(plan_topic(plan, plan_place_topic(plan, place)), at->topic) &&
           same(s->database, at->schema) && same(s->table, at->name);
}

/* The root's own documents follow at once. */
static void set_delayed(struct reading *r, const struct definitions *d)
{
    const size_t n = plan_n_places(r->plan);

    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct table_location at;

        if (!t->delayed || !definitions_locate(d, t->table, &at))
            continue;
        for (size_t place = 1; place < n; place++) {
            if (!routing_is_place_of(r->plan, place, &at))
                continue;
            if (r->delayed == NULL) {
                r->names = arena_new();
                r->delayed = arena_alloc(r->names, n, sizeof(*r->delayed));
            }
            r->delayed[place] = arena_copy(r->names, t->table);
        }
    }
}

static struct target *new_target(const struct version_spec *v, const struct table_definition *t,
                                 struct plan *plan)
{
    struct target *target = target_new(str_from(v->index), str_from(v->write_alias),
                                       table_name(t), str_from(v->topic));
    struct reading *reading = mem_alloc(1, sizeof(*reading));

    reading->plan = plan;
    reading->alias = mem_copy(v->alias);
    reading->number = v->number;
    reading->server = server_access_ref(version_spec_server(v, table_name(t)));
    reading->stopped = plan == NULL;
    reading->filling = v->filling;
    reading->moves = v->filling && t->bucket_column.len > 0;
    target_set_pipeline(target, t->pipeline);
    target->plan = reading;
    target->plan_free = reading_free;
    target->version_min = v->version_min;
    target->cross_topic = plan != NULL && plan_n_topics(plan) > 1;
    if (plan != NULL && v->now != NULL)
        set_delayed(reading, v->now);
    if (plan != NULL && v->shards != NULL && plan_is_routed_by_path(plan))
        set_shards(target, reading, v->shards);
    /* A replica may show an older state than the followed server did before. */
    if (plan != NULL && !reading->server->replica)
        target->areas = plan_areas(plan, &target->n_areas, NULL);
    return target;
}

struct targets {
    struct target **list;
    size_t n, cap;
};

static void add_target(struct targets *to, struct target *t)
{
    if (to->n == to->cap) {
        to->cap = to->cap * 2 + 16;
        to->list = mem_resize(to->list, to->cap, sizeof(struct target *));
    }
    to->list[to->n++] = t;
}

static void drop_targets(struct targets *t, size_t from)
{
    while (t->n > from)
        target_unref(t->list[--t->n]);
}

static struct plan *compile_plan(const struct version_spec *v, const struct table_definition *t,
                                 const struct tables_now *now,
                                 const struct routing_hooks *hooks, struct err *why)
{
    struct schemas *schemas = now->ctx;
    struct schema_list kept = {0};
    struct plan *plan = NULL;

    if (!table_is_cross_topic(v->definitions, t, now->topic))
        return plan_compile(v->definitions, t, now->find, now->ctx, why);
    schemas_set_others(schemas, schema_list_find, &kept);
    if (hooks->kept(hooks->ctx, v, &kept, why))
        plan = plan_compile(v->definitions, t, now->find, now->ctx, why);
    schemas_set_others(schemas, NULL, NULL);
    schema_list_fini(&kept);
    return plan;
}

/* Find the tables of a version.  The topic of a pattern's tables lists them. */
static bool find_members(const struct version_spec *v, const struct tables_now *now,
                         const struct routing_hooks *hooks, struct arena *a,
                         const struct table_definition ***members, size_t *n, struct err *err)
{
    struct schema_list kept = {0};
    bool fine;

    if (v->table->pattern.len == 0 || str_equal(str_from(v->topic), now->topic))
        return definition_members(v->definitions, v->table, now->list, now->ctx, a, members, n);
    fine =
        hooks->kept(hooks->ctx, v, &kept, err) &&
        definition_members(v->definitions, v->table, schema_list_tables, &kept, a, members, n);
    schema_list_fini(&kept);
    return fine;
}

/* Add a target for each table of the index; none if one of them has no plan. */
static bool add_members(const struct version_spec *v, const struct tables_now *now,
                        const struct routing_hooks *hooks, struct targets *to, struct err *err)
{
    const size_t before = to->n;
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;
    bool fine = find_members(v, now, hooks, a, &members, &n, err);

    for (size_t i = 0; fine && i < n; i++) {
        struct plan *plan = compile_plan(v, members[i], now, hooks, err);

        fine = plan != NULL;
        if (fine)
            add_target(to, new_target(v, members[i], plan));
    }
    if (!fine)
        drop_targets(to, before);
    arena_free(a);
    return fine;
}

bool version_kept_targets(const struct version_spec *v, const struct schema_list *tables,
                          struct target ***out, size_t *n, struct err *err)
{
    void *ctx = (void *)(uintptr_t)tables; /* is only looked into */
    const struct table_definition **members;
    struct targets to = {0};
    struct arena *a = arena_new();
    size_t n_members = 0;
    bool fine = definition_members(v->definitions, v->table, schema_list_tables, ctx, a,
                                   &members, &n_members);

    for (size_t i = 0; fine && i < n_members; i++) {
        struct plan *plan =
            plan_compile(v->definitions, members[i], schema_list_find, ctx, err);

        fine = plan != NULL;
        if (fine)
            add_target(&to, new_target(v, members[i], plan));
    }
    if (!fine)
        drop_targets(&to, 0);
    arena_free(a);
    *out = to.list;
    *n = to.n;
    return fine;
}

/*
 * If the server refuses to show a table, use its shape from when the version was last brought
 * in line.
 */
static bool fit_and_add(const struct version_spec *v, const struct tables_now *now,
                        const struct routing_hooks *hooks, struct targets *to, struct err *why)
{
    struct schemas *schemas = now->ctx;
    struct schema_list before = {0};
    struct err unknown = {0};
    const bool known = hooks->kept(hooks->ctx, v, &before, &unknown);

    schemas_remember(schemas, known ? &before : NULL, now->ddl);

    const bool fine =
        hooks->fit(hooks->ctx, v, now, why) && add_members(v, now, hooks, to, why);
    const struct err denied = *schemas_denied(schemas);

    schemas_remember(schemas, NULL, NULL);
    schema_list_fini(&before);
    if (denied.kind != ERR_NONE && !fine)
        *why = denied;
    hooks->denied(hooks->ctx, v->index, fine && denied.kind != ERR_NONE ? &denied : NULL);
    return fine;
}

/*
 * Add the version's targets; none if it does not take part (stopped now or before).  Returns
 * false with err.
 */
static bool compile(const char *topic, const struct version_spec *v,
                    const struct tables_now *now, const struct routing_hooks *hooks,
                    struct targets *to, struct err *err)
{
    const struct schemas *schemas = now->ctx;
    struct err why = {0};

    if (fit_and_add(v, now, hooks, to, &why))
        return true;
    if (schemas_failed(schemas)->kind != ERR_NONE) {
        *err = *schemas_failed(schemas);
        return err_wrap(err, "reading the schemas of topic %s", topic);
    }
    if (why.kind != ERR_REJECT) {
        *err = why;
        return false;
    }

    struct target *t = new_target(v, v->table, NULL);

    hooks->stop(hooks->ctx, t, why.msg, NULL);
    target_unref(t);
    return true;
}

/* Returns false if the foreign keys could not be read. */
static bool add_cascades(struct routing *r, struct schemas *schemas, struct err *err)
{
    struct plan **plans = mem_alloc(r->n_targets + 1, sizeof(struct plan *));

    for (size_t i = 0; i < r->n_targets; i++)
        plans[i] = ((struct reading *)r->targets[i]->plan)->plan;

    struct cascade_plan *cascades =
        cascade_plan_compile(plans, r->n_targets, schemas_foreign_keys, schemas, err);

    free(plans);
    if (cascades == NULL)
        return err_wrap(err, "reading the foreign keys of the tables");
    routing_set_cascades(r, cascades, schemas_find, schemas);
    if (schemas_failed(schemas)->kind == ERR_NONE)
        return true;
    *err = *schemas_failed(schemas);
    return err_wrap(err, "reading the schemas of the tables that foreign keys refer to");
}

/* ---- read ahead ---- */

struct expecting {
    const struct definitions *definitions;
    struct str topic;
    struct schemas *schemas;
};

static void expect(void *ctx, struct str table)
{
    const struct expecting *e = ctx;
    struct table_location at;

    if (definitions_locate(e->definitions, table, &at) && str_equal(at.topic, e->topic))
        schemas_expect(e->schemas, at.schema, at.name);
}

/* Announce all tables of the topic that the versions' documents show. */
static void expect_tables(struct version_spec *const *specs, size_t n, struct str topic,
                          struct schemas *schemas)
{
    for (size_t i = 0; i < n; i++)
        if (!specs[i]->stopped)
            table_visit(specs[i]->table, expect,
                        &(struct expecting){specs[i]->definitions, topic, schemas});
}

struct routing *routing_compile(const char *topic, struct version_spec *const *specs, size_t n,
                                struct schemas *schemas, const struct tables_now *now,
                                const struct routing_hooks *hooks, struct err *err)
{
    struct targets targets = {0};
    struct routing *routing = NULL;
    bool fine = true;

    expect_tables(specs, n, now->topic, schemas);
    for (size_t i = 0; fine && i < n; i++)
        fine = specs[i]->stopped
                   ? now->ddl == NULL || hooks->fit(hooks->ctx, specs[i], now, err)
                   : compile(topic, specs[i], now, hooks, &targets, err);
    if (fine)
        routing = routing_new(str_from(topic), targets.list, targets.n);
    if (routing != NULL && !add_cascades(routing, schemas, err)) {
        routing_unref(routing);
        routing = NULL;
    }
    drop_targets(&targets, 0);
    free(targets.list);
    return routing;
}
