#include "config.h"

#include "sync/routing/routing.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/delivery/document/target.h"
#include "sync/document/plan.h"
#include "sync/value/schema.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 255 /* as in the log; servers allow 64 characters */

void reading_free(void *r)
{
    struct reading *reading = r;

    plan_free(reading->plan);
    server_access_unref(reading->server);
    grace_period_unref(reading->grace_period);
    free(reading->alias);
    if (reading->shards != NULL)
        arena_free(reading->shards);
    if (reading->names != NULL)
        arena_free(reading->names);
    free(reading);
}

static struct str table_key(struct buf *b, struct str database, struct str table)
{
    buf_clear(b);
    buf_append(b, database);
    buf_append_char(b, '\0');
    buf_append(b, table);
    return buf_str(b);
}

static char *copy(struct str s)
{
    char *p = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(p, s.ptr, s.len);
    return p;
}

bool routing_same_name(const struct routing *r, struct str a, struct str b)
{
    return r->any_case ? str_equal_any_case(a, b) : str_equal(a, b);
}

static struct watched *find_any_case(const struct routing *r, struct str database,
                                     struct str table)
{
    struct str key;
    void *value;

    for (size_t i = 0; r->any_case && map_next(r->by_name, &i, &key, &value);) {
        struct watched *w = value;

        if (routing_same_name(r, w->database, database) &&
            routing_same_name(r, w->table, table))
            return w;
    }
    return NULL;
}

/* s: the table's shape; NULL if unknown. */
static struct watched *watch(struct routing *r, struct str database, struct str table,
                             struct schema *s)
{
    struct buf key = {0};
    struct watched *w = map_find(r->by_name, table_key(&key, database, table));

    r->any_case = r->any_case || (s != NULL && s->any_case);
    if (w == NULL)
        w = find_any_case(r, database, table);
    if (w == NULL) {
        w = mem_alloc(1, sizeof(*w));
        w->database = (struct str){copy(database), database.len};
        w->table = (struct str){copy(table), table.len};
        w->schema = s == NULL ? NULL : schema_ref(s);
        map_put(r->by_name, table_key(&key, database, table), w);
    }
    buf_free(&key);
    return w;
}

static void add_use(struct watched *w, const struct use *use)
{
    w->uses = mem_resize(w->uses, w->n_uses + 1, sizeof(*w->uses));
    w->uses[w->n_uses++] = *use;
}

static bool is_own(const struct routing *r, const struct target *t)
{
    return strcmp(t->topic, r->topic) == 0;
}

static void add_target(struct routing *r, struct target *t)
{
    const struct reading *reading = t->plan;
    struct plan *plan = reading->plan;

    for (size_t place = 0; place < plan_n_places(plan); place++) {
        const struct use use = {.target = t,
                                .plan = plan,
                                .place = place,
                                .guest = !is_own(r, t),
                                .delayed = reading->delayed != NULL ? reading->delayed[place]
                                                                    : STR("")};
        struct str database, table;
        bool refresh;

        plan_place(plan, place, &database, &table, &refresh);
        if (!str_equal(plan_topic(plan, plan_place_topic(plan, place)), str_from(r->topic)))
            continue;
        if (place == 0 || refresh)
            add_use(watch(r, database, table, plan_place_schema(plan, place)), &use);
    }
}

struct routing *routing_new(struct str topic, struct target *const *targets, size_t n)
{
    struct routing *r = mem_alloc(1, sizeof(*r));

    r->topic = strndup(topic.ptr, topic.len);
    r->refs = 1;
    r->by_name = map_new();
    r->targets = mem_alloc(n == 0 ? 1 : n, sizeof(struct target *));
    r->guests = mem_alloc(n == 0 ? 1 : n, sizeof(struct target *));
    for (size_t i = 0; i < n; i++) {
        if (is_own(r, targets[i]))
            r->targets[r->n_targets++] = target_ref(targets[i]);
        else
            r->guests[r->n_guests++] = target_ref(targets[i]);
        add_target(r, targets[i]);
    }
    return r;
}

void routing_set_cascades(struct routing *r, struct cascade_plan *cascades, plan_schema_fn find,
                          void *ctx)
{
    r->cascades = cascades;
    for (size_t i = 0; i < cascades->n_tables; i++) {
        const struct cascade_table *t = cascades->tables[i];

        if (cascade_table_matters(t))
            watch(r, t->schema, t->table, find(ctx, str_from(r->topic), t->schema, t->table))
                ->cascade = t;
    }
}

/* n_targets: it has none, or not yet. */
static size_t find_target(const struct routing *r, const struct target *t)
{
    size_t i = 0;

    while (i < r->n_targets && (strcmp(r->targets[i]->index, t->index) != 0 ||
                                strcmp(r->targets[i]->table, t->table) != 0))
        i++;
    return i;
}

static bool effect_concerns(const struct cascade_effect *e, size_t target)
{
    bool does = false;

    for (size_t i = 0; i < e->n_steps; i++)
        does = does || e->steps[i].target == target;
    for (size_t i = 0; i < e->n_blind; i++)
        does = does || e->blind[i].target == target;
    return does;
}

bool routing_has_cascades(const struct routing *r, const struct target *t)
{
    const size_t target = find_target(r, t);
    bool has = r->cascades == NULL || target == r->n_targets;

    for (size_t i = 0; !has && i < r->cascades->n_tables; i++)
        for (size_t k = 0; k < N_CASCADE_CAUSES; k++)
            has = has || effect_concerns(&r->cascades->tables[i]->on[k], target);
    return has;
}

struct routing *routing_ref(struct routing *r)
{
    __atomic_add_fetch(&r->refs, 1, __ATOMIC_RELAXED);
    return r;
}

static void drop_watched(void *value)
{
    struct watched *w = value;

    schema_unref(w->schema);
    shape_unref(w->shape);
    mem_free_const(w->database.ptr);
    mem_free_const(w->table.ptr);
    free(w->uses);
    free(w);
}

void routing_unref(struct routing *r)
{
    if (r == NULL || __atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    map_free(r->by_name, drop_watched);
    for (size_t i = 0; i < r->n_targets; i++)
        target_unref(r->targets[i]);
    for (size_t i = 0; i < r->n_guests; i++)
        target_unref(r->guests[i]);
    free(r->targets);
    free(r->guests);
    cascade_plan_free(r->cascades);
    free(r->topic);
    free(r);
}

void watched_set_shape(struct watched *w, struct shape *shape)
{
    shape_ref(shape);
    shape_unref(w->shape);
    w->shape = shape;
    schema_ref(shape->schema);
    schema_unref(w->schema);
    w->schema = shape->schema;
}

const struct watched *routing_find(const struct routing *r, struct str database,
                                   struct str table)
{
    char small[2 * NAME_BYTES_MAX + 1];
    const size_t n = database.len + table.len + 1;

    if (n > sizeof(small))
        return NULL;
    memcpy(small, database.ptr, database.len);
    small[database.len] = '\0';
    memcpy(small + database.len + 1, table.ptr, table.len);

    const struct watched *w = map_find(r->by_name, (struct str){small, n});

    return w != NULL ? w : find_any_case(r, database, table);
}

struct seek seek_from(const struct target *t, size_t place)
{
    const struct plan *p = ((const struct reading *)t->plan)->plan;

    return (struct seek){.shards = t->shards,
                         .n_shards = plan_place_leads(p, place) ? t->n_shards : 0,
                         .by_path = plan_is_routed_by_path(p)};
}

static bool is_told(const struct seek *s, struct str told)
{
    return !s->by_path || told.len > 0;
}

size_t seek_count(const struct seek *s, struct str told)
{
    return s->n_shards + is_told(s, told);
}

struct str seek_at(const struct seek *s, struct str told, size_t i)
{
    return i < s->n_shards ? s->shards[i] : told;
}
