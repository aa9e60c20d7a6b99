#include "config.h"

#include "sync/definition/definition.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct definitions *definitions_new(void)
{
    struct definitions *d = mem_alloc(1, sizeof(*d));

    d->arena = arena_new();
    d->refs = 1;
    return d;
}

struct definitions *definitions_ref(struct definitions *d)
{
    __atomic_add_fetch(&d->refs, 1, __ATOMIC_RELAXED);
    return d;
}

void definitions_unref(struct definitions *d)
{
    if (d == NULL || __atomic_sub_fetch(&d->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    map_free(d->tables_by_name, NULL);
    arena_free(d->arena);
    free(d);
}

struct str topic_day_zone(const struct topic_definition *t)
{
    return t->day_zone.len > 0 ? t->day_zone : t->time_zone.len > 0 ? t->time_zone : STR("UTC");
}

const struct topic_definition *definitions_topic(const struct definitions *d, struct str name)
{
    for (size_t i = 0; i < d->n_topics; i++)
        if (str_equal(d->topics[i].name, name))
            return &d->topics[i];
    return NULL;
}

const struct database_definition *definitions_database(const struct definitions *d,
                                                       struct str name)
{
    for (size_t i = 0; i < d->n_databases; i++)
        if (str_equal(d->databases[i].name, name))
            return &d->databases[i];
    return NULL;
}

void definitions_index_tables(struct definitions *d)
{
    assert(d->tables_by_name == NULL);
    d->tables_by_name = map_new();
    for (size_t i = d->n_tables;
         i-- > 0;) /* backwards, so that the first of two with one name wins, as in the list */
        map_put(d->tables_by_name, table_name(&d->tables[i]), &d->tables[i]);
}

const struct table_definition *definitions_table(const struct definitions *d, struct str table)
{
    if (d->tables_by_name != NULL)
        return map_find(d->tables_by_name, table);
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_name(&d->tables[i]), table))
            return &d->tables[i];
    return NULL;
}

const struct topic_definition *definitions_topic_of(const struct definitions *d,
                                                    struct str table)
{
    struct str database, name;

    if (!definition_split_table(table, &database, &name))
        return NULL;

    const struct database_definition *db = definitions_database(d, database);

    return db == NULL ? NULL : definitions_topic(d, db->topic);
}

bool definition_split_table(struct str table, struct str *database, struct str *name)
{
    const char *dot = table.len == 0 ? NULL : memchr(table.ptr, '.', table.len);

    if (dot == NULL)
        return false;

    size_t at = (size_t)(dot - table.ptr);

    *database = (struct str){table.ptr, at};
    *name = (struct str){dot + 1, table.len - at - 1};
    return true;
}

bool definitions_locate(const struct definitions *d, struct str table,
                        struct table_location *out)
{
    struct str database;
    const struct database_definition *db = definition_split_table(table, &database, &out->name)
                                               ? definitions_database(d, database)
                                               : NULL;

    if (db == NULL)
        return false;
    out->topic = db->topic;
    out->schema = database_schema(db);
    return true;
}

static struct str name_of(struct str table)
{
    struct str database, name;

    return definition_split_table(table, &database, &name) ? name : table;
}

struct str table_name(const struct table_definition *t)
{
    return t->table.len > 0 ? t->table : t->pattern;
}

struct str table_index(const struct table_definition *t)
{
    return t->index.len > 0 ? t->index : name_of(t->table);
}

struct str column_as(const struct column_definition *c)
{
    return c->as.len > 0 ? c->as : c->name;
}

struct str relation_as(const struct relation_definition *r)
{
    return r->as.len > 0 ? r->as : name_of(r->table);
}

struct relation_columns relation_columns(const struct relation_definition *r,
                                         struct column_definition *room)
{
    if (r->values.len == 0 || r->n_columns > 0)
        return (struct relation_columns){r->all_columns, r->columns, r->n_columns};
    *room = (struct column_definition){.place = r->place, .name = r->values};
    return (struct relation_columns){false, room, 1};
}

struct str database_schema(const struct database_definition *d)
{
    return d->schema.len > 0 ? d->schema : d->name;
}

bool column_is_rest(const struct column_definition *c)
{
    return str_equal(c->name, STR("*"));
}

bool columns_mention(const struct column_definition *columns, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (!column_is_rest(&columns[i]) && str_equal_any_case(columns[i].name, name))
            return true;
    return false;
}

static void visit_relations(const struct relation_definition *relations, size_t n,
                            definition_table_fn visit, void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        if (relations[i].through.given)
            visit(ctx, relations[i].through.table);
        visit(ctx, relations[i].table);
        visit_relations(relations[i].relations, relations[i].n_relations, visit, ctx);
    }
}

void table_visit(const struct table_definition *t, definition_table_fn visit, void *ctx)
{
    if (t->table.len > 0)
        visit(ctx, t->table);
    visit_relations(t->relations, t->n_relations, visit, ctx);
}

static bool is_piped(const struct table_definition *t)
{
    static const struct str pipeline = STR("_pipeline\"");
    const struct str set = t->settings_json;

    return t->pipeline.len > 0 ||
           (set.len > 0 && memmem(set.ptr, set.len, pipeline.ptr, pipeline.len) != NULL);
}

bool definitions_index_is_piped(const struct definitions *d, struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (is_piped(&d->tables[i]) && str_equal(table_index(&d->tables[i]), index))
            return true;
    return false;
}

struct topic_search {
    const struct definitions *d;
    struct str topic;
    bool has_other;
};

static void look_for_other_topic(void *ctx, struct str table)
{
    struct topic_search *s = ctx;
    const struct topic_definition *t = definitions_topic_of(s->d, table);

    s->has_other = s->has_other || (t != NULL && !str_equal(t->name, s->topic));
}

bool table_is_cross_topic(const struct definitions *d, const struct table_definition *t,
                          struct str topic)
{
    struct topic_search s = {d, topic, false};

    table_visit(t, look_for_other_topic, &s);
    return s.has_other;
}

bool relations_want_areas(const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (relations[i].refresh == REFRESH_AREA ||
            relations_want_areas(relations[i].relations, relations[i].n_relations))
            return true;
    return false;
}

/* ---- places ---- */

void definitions_add_place(struct definitions *d, struct str text, struct place place)
{
    /* The array doubles at powers of two; the arena keeps the old one. */
    if (d->n_places == 0 || (d->n_places >= 64 && (d->n_places & (d->n_places - 1)) == 0)) {
        size_t cap = d->n_places == 0 ? 64 : d->n_places * 2;
        struct text_place *wider = arena_alloc(d->arena, cap, sizeof(*wider));

        if (d->n_places > 0)
            memcpy(wider, d->places, d->n_places * sizeof(*wider));
        d->places = wider;
    }
    d->places[d->n_places++] = (struct text_place){text.ptr, place};
}

static int compare_places(const void *a, const void *b)
{
    const char *x = ((const struct text_place *)a)->text;
    const char *y = ((const struct text_place *)b)->text;

    return (x > y) - (x < y);
}

void definitions_sort_places(struct definitions *d)
{
    if (d->n_places > 0)
        qsort(d->places, d->n_places, sizeof(*d->places), compare_places);
}

struct place definitions_place(const struct definitions *d, struct str text,
                               struct place otherwise)
{
    const struct text_place wanted = {.text = text.ptr};
    const struct text_place *found = d->n_places == 0 ? NULL
                                                      : bsearch(&wanted, d->places, d->n_places,
                                                                sizeof(wanted), compare_places);

    return found == NULL ? otherwise : found->place;
}
