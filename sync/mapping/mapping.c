#include "config.h"

#include "sync/mapping/mapping.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"
#include "sync/definition/constant.h"
#include "sync/definition/field_type.h"
#include "sync/definition/members.h"
#include "sync/definition/transform.h"
#include "sync/mapping/settings.h"
#include "sync/mapping/shared.h"
#include "sync/value/schema.h"

struct mapping_maker {
    struct arena *a;
    const struct mapping_request *r;
    struct engine engine;
    struct problems *problems;
    struct yaml_node *root; /* properties of the document itself, for copy_to */
    bool has_knn;           /* has a knn_vector, which must be enabled */
};

/* One object of a document: the root's, or a relation's. */
struct object {
    struct str table;
    struct place place;
    bool all_columns;
    const struct column_definition *columns;
    size_t n_columns;
};

static struct yaml_node *read_json(struct arena *a, struct str json, struct problems *problems)
{
    struct yaml_node *tree =
        json.len == 0 ? yaml_new(a, YAML_MAP) : yaml_read(a, "json", json, problems);

    return tree != NULL && tree->kind == YAML_MAP ? tree : yaml_new(a, YAML_MAP);
}

static void put(struct mapping_maker *m, struct yaml_node *map, const char *name,
                struct yaml_node *value)
{
    yaml_put(m->a, map, str_from(name), value);
}

static struct yaml_node *text(struct mapping_maker *m, const char *value)
{
    return yaml_new_text(m->a, str_from(value));
}

/* ---- columns ---- */

static bool zero_dates_are_text(const struct mapping_maker *m, struct str table)
{
    const struct topic_definition *topic = definitions_topic_of(m->r->definitions, table);

    return topic != NULL && topic->zero_date == ZERO_DATE_TEXT;
}

static bool has_type(const struct yaml_node *field, struct str type)
{
    const struct yaml_node *given = yaml_find(field, STR("type"));

    return given != NULL && given->kind == YAML_SCALAR && str_equal(given->text, type);
}

static void add_column(struct mapping_maker *m, const struct object *o, const struct column *c,
                       const struct column_definition *d, struct yaml_node *properties)
{
    struct str name = d == NULL ? c->name : column_as(d);
    struct place place = d == NULL ? o->place : d->place;
    struct yaml_node *field;
    struct err err = {0};

    if (field_mapping(m->a, c, d, &m->engine, zero_dates_are_text(m, o->table), &field, &err)) {
        m->has_knn = m->has_knn || has_type(field, STR("knn_vector"));
        yaml_put(m->a, properties, name, field);
        return;
    }
    if (d != NULL)
        place = definitions_place(m->r->definitions, d->type, place);
    problems_add(m->problems, SEVERITY_ERROR, place, "%s", err.msg);
}

/* The field must also accept the value that replaces NULL. */
static void check_default(struct mapping_maker *m, const struct column_definition *d,
                          const struct yaml_node *properties)
{
    const struct yaml_node *field = yaml_find(properties, column_as(d));
    const struct yaml_node *type = field == NULL ? NULL : yaml_find(field, STR("type"));

    if (d->has_default && type != NULL &&
        (!constant_fits(d->default_json, type->text) ||
         !constant_is_readable(d->default_json, type->text, d->format.len > 0)))
        problems_add(m->problems, SEVERITY_ERROR,
                     definitions_place(m->r->definitions, d->default_json, d->place),
                     "a field of type %" STR_FMT " cannot take the default %" STR_FMT,
                     STR_ARG(type->text), STR_ARG(d->default_json));
}

static void check_value(struct mapping_maker *m, const struct column_definition *d,
                        const struct yaml_node *properties)
{
    const struct yaml_node *field = yaml_find(properties, column_as(d));
    const struct yaml_node *type = field == NULL ? NULL : yaml_find(field, STR("type"));

    if (type != NULL && !constant_is_readable(d->value_json, type->text, d->format.len > 0))
        problems_add(m->problems, SEVERITY_ERROR,
                     definitions_place(m->r->definitions, d->value_json, d->place),
                     "a field of type %" STR_FMT " cannot take the value %" STR_FMT,
                     STR_ARG(type->text), STR_ARG(d->value_json));
}

/* Add the field of a constant. */
static void add_constant(struct mapping_maker *m, const struct object *o,
                         const struct column_definition *d, struct yaml_node *properties)
{
    struct column_definition typed = *d;
    struct column c;

    if (constant_is_bool(d->value_json) && d->type.len == 0)
        typed.type = STR("boolean");
    if (constant_column(d->value_json, d->name, &c)) {
        add_column(m, o, &c, &typed, properties);
        check_value(m, d, properties);
    } else
        problems_add(m->problems, SEVERITY_ERROR,
                     definitions_place(m->r->definitions, d->value_json, d->place),
                     "`value` of `%" STR_FMT "` has no type: leave the column out",
                     STR_ARG(d->name));
}

/* Add the field of a transform's result. */
static void add_transformed(struct mapping_maker *m, const struct object *o,
                            const struct column_definition *d, struct yaml_node *properties)
{
    struct column_definition typed = *d;
    struct transforms steps;
    struct err err = {0};

    if (!transforms_parse(m->a, d->transform_json, &steps, &err))
        return; /* the definition's check reports this */

    const struct column c = transforms_column(&steps, d->name);

    if (transforms_type(&steps) != NULL && d->type.len == 0)
        typed.type = str_from(transforms_type(&steps));
    add_column(m, o, &c, &typed, properties);
    check_default(m, d, properties);
}

/* Add every visible column not listed. */
static void add_rest(struct mapping_maker *m, const struct object *o, const struct schema *s,
                     struct yaml_node *properties)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (!s->columns[i].invisible &&
            !columns_mention(o->columns, o->n_columns, s->columns[i].name))
            add_column(m, o, &s->columns[i], NULL, properties);
}

static void add_columns(struct mapping_maker *m, const struct object *o, const struct schema *s,
                        struct yaml_node *properties)
{
    if (o->all_columns)
        add_rest(m, o, s, properties);
    for (size_t i = 0; i < o->n_columns; i++) {
        const struct column_definition *d = &o->columns[i];
        size_t at = column_is_rest(d) ? SIZE_MAX : schema_find(s, d->name);

        if (column_is_rest(d))
            add_rest(m, o, s, properties);
        else if (d->has_value)
            add_constant(m, o, d, properties);
        else if (d->transform_json.len > 0 && !d->skip)
            add_transformed(m, o, d, properties);
        else if (at == SIZE_MAX)
            problems_add(m->problems, SEVERITY_ERROR,
                         definitions_place(m->r->definitions, d->name, d->place),
                         "table `%" STR_FMT "` has no column `%" STR_FMT "`", STR_ARG(o->table),
                         STR_ARG(d->name));
        else if (!d->skip) {
            add_column(m, o, &s->columns[at], d, properties);
            check_default(m, d, properties);
        }
    }
}

/* ---- objects ---- */

static const struct schema *find_schema(const struct mapping_maker *m, struct str table)
{
    struct table_location at;

    return definitions_locate(m->r->definitions, table, &at)
               ? m->r->find(m->r->ctx, at.topic, at.schema, at.name)
               : NULL;
}

static void add_object(struct mapping_maker *m, const struct object *o,
                       struct yaml_node *properties)
{
    const struct schema *s = find_schema(m, o->table);

    if (s == NULL)
        problems_add(m->problems, SEVERITY_ERROR,
                     definitions_place(m->r->definitions, o->table, o->place),
                     "there is no table `%" STR_FMT "` on its server", STR_ARG(o->table));
    else
        add_columns(m, o, s, properties);
}

static void add_relations(struct mapping_maker *m, const struct relation_definition *relations,
                          size_t n, struct yaml_node *properties);

static void add_relation(struct mapping_maker *m, const struct relation_definition *r,
                         uint32_t depth, struct yaml_node *properties)
{
    struct yaml_node *field = yaml_new(m->a, YAML_MAP), *inner = yaml_new(m->a, YAML_MAP);
    struct column_definition room;
    const struct relation_columns shown = relation_columns(r, &room);
    const struct object o = {r->table, r->place, shown.all, shown.columns, shown.n};

    if (r->nested)
        put(m, field, "type", text(m, "nested"));
    add_object(m, &o, inner);
    add_relations(m, r->relations, r->n_relations, inner);
    if (depth > 1)
        add_relation(m, r, depth - 1, inner);
    if (r->flattened) { /* like a JSON column */
        const struct column whole = {.name = relation_as(r), .type = COLUMN_JSON};

        add_column(m, &o, &whole, NULL, properties);
        return;
    }
    if (r->values.len > 0 && inner->n == 1)
        field = inner->items[0];
    else
        put(m, field, "properties", inner);
    yaml_put(m->a, properties, relation_as(r), field);
}

static void add_relations(struct mapping_maker *m, const struct relation_definition *relations,
                          size_t n, struct yaml_node *properties)
{
    for (size_t i = 0; i < n; i++)
        add_relation(m, &relations[i], relations[i].max_depth, properties);
}

/* ---- copy_to ---- */

static void add_copy_target(struct mapping_maker *m, struct str name, struct str analyzer,
                            struct str search_analyzer)
{
    struct yaml_node *field = yaml_new(m->a, YAML_MAP);

    if (yaml_find(m->root, name) != NULL)
        return;
    put(m, field, "type", text(m, "text"));
    if (analyzer.len > 0)
        put(m, field, "analyzer", yaml_new_text(m->a, analyzer));
    if (search_analyzer.len > 0)
        put(m, field, "search_analyzer", yaml_new_text(m->a, search_analyzer));
    yaml_put(m->a, m->root, name, field);
}

/* Create missing targets of copy_to, analysed like the first field copied to them. */
static void add_copy_targets(struct mapping_maker *m, const struct column_definition *columns,
                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < columns[i].n_copy_to && !columns[i].skip; k++)
            add_copy_target(m, columns[i].copy_to[k], columns[i].analyzer,
                            columns[i].search_analyzer);
}

static void add_copy_targets_of(struct mapping_maker *m,
                                const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add_copy_targets(m, relations[i].columns, relations[i].n_columns);
        add_copy_targets_of(m, relations[i].relations, relations[i].n_relations);
    }
}

static void copy_field(struct mapping_maker *m, struct yaml_node *field, struct str to)
{
    struct yaml_node *list = yaml_find(field, STR("copy_to"));

    if (list == NULL) {
        list = yaml_new(m->a, YAML_LIST);
        put(m, field, "copy_to", list);
    }
    for (size_t i = 0; i < list->n; i++)
        if (str_equal(list->items[i]->text, to))
            return;
    yaml_push(m->a, list, yaml_new_text(m->a, to));
}

/* Copy the table's own text and keyword columns, which are all that the root has so far. */
static void copy_columns(struct mapping_maker *m, const struct table_definition *t)
{
    for (size_t i = 0; i < m->root->n; i++) {
        struct yaml_node *field = m->root->items[i];

        if (!has_type(field, STR("text")) && !has_type(field, STR("keyword")))
            continue;
        for (size_t k = 0; k < t->n_copy_to; k++)
            if (!str_equal(m->root->names[i]->text, t->copy_to[k]))
                copy_field(m, field, t->copy_to[k]);
    }
}

static struct str text_at(const struct yaml_node *map, struct str name)
{
    const struct yaml_node *found = map == NULL ? NULL : yaml_find(map, name);

    return found != NULL && found->kind == YAML_SCALAR ? found->text : STR("");
}

/* The targets of a table's copy_to are analysed like its first text. */
static void add_targets_of_table(struct mapping_maker *m, const struct table_definition *t)
{
    const struct yaml_node *first = NULL;

    for (size_t i = 0; i < m->root->n && first == NULL; i++)
        if (has_type(m->root->items[i], STR("text")))
            first = m->root->items[i];
    for (size_t k = 0; k < t->n_copy_to; k++)
        add_copy_target(m, t->copy_to[k], text_at(first, STR("analyzer")),
                        text_at(first, STR("search_analyzer")));
}

/* Merge maps recursively, but replace a field that gets another type. */
static void merge_over(struct arena *a, struct yaml_node *into, const struct yaml_node *from)
{
    for (size_t i = 0; i < from->n; i++) {
        struct yaml_node *old = yaml_find(into, from->names[i]->text);
        struct yaml_node *new = from->items[i];
        const struct yaml_node *type =
            new->kind == YAML_MAP ? yaml_find(new, STR("type")) : NULL;
        bool both = old != NULL && old->kind == YAML_MAP && new->kind == YAML_MAP;
        bool other =
            type != NULL && type->kind == YAML_SCALAR && both && !has_type(old, type->text);

        if (both && !other)
            merge_over(a, old, new);
        else
            yaml_put(a, into, from->names[i]->text, new);
    }
}

/* A field that is stored in the document only. */
static struct yaml_node *kept_only(struct mapping_maker *m)
{
    struct yaml_node *field = yaml_new(m->a, YAML_MAP);

    put(m, field, "type", text(m, "object"));
    put(m, field, "enabled", yaml_new_plain(m->a, STR("false")));
    return field;
}

/* The properties for one table, as if it had its index alone. */
static struct yaml_node *make_properties(struct mapping_maker *m,
                                         const struct table_definition *t)
{
    const struct object o = {t->table, t->place, t->all_columns, t->columns, t->n_columns};

    m->root = yaml_new(m->a, YAML_MAP);
    add_object(m, &o, m->root);
    copy_columns(m, t);
    add_relations(m, t->relations, t->n_relations, m->root);
    add_copy_targets(m, t->columns, t->n_columns);
    add_copy_targets_of(m, t->relations, t->n_relations);
    add_targets_of_table(m, t);
    if (relations_want_areas(t->relations, t->n_relations))
        put(m, m->root, "_millrace", kept_only(m));
    return m->root;
}

/* ---- tables that share an index ---- */

static void list_tables(struct mapping_maker *m, const struct table_definition *lead,
                        const struct table_definition ***list, size_t *n)
{
    const struct table_definition *t = m->r->table;

    if (m->r->alone || (lead == t && !t->join.given && t->pattern.len == 0)) {
        *list = arena_alloc(m->a, 1, sizeof(**list));
        (*list)[0] = t;
        *n = 1;
    } else if (!definition_members(m->r->definitions, lead, m->r->list, m->r->ctx, m->a, list,
                                   n) ||
               *n == 0) {
        *n = 0;
        problems_add(m->problems, SEVERITY_ERROR, lead->place,
                     "no table has a name that matches `%" STR_FMT "`",
                     STR_ARG(table_name(lead)));
    }
}

static struct yaml_node *make_mappings(struct mapping_maker *m)
{
    const struct table_definition *lead = definition_lead(m->r->definitions, m->r->table);
    struct yaml_node *mappings = yaml_new(m->a, YAML_MAP), *meta = yaml_new(m->a, YAML_MAP);
    const struct mapping_shared shared = {m->a, m->problems, yaml_new(m->a, YAML_MAP)};
    const struct table_definition **tables;
    size_t n;

    list_tables(m, lead, &tables, &n);
    for (size_t i = 0; i < n; i++)
        mapping_shared_add(&shared, tables[i], make_properties(m, tables[i]));
    mapping_shared_mark(&shared, m->r->definitions, lead);
    put(m, mappings, "dynamic", text(m, "strict"));
    put(m, mappings, "properties", shared.all);
    for (size_t i = 0; i < n; i++)
        merge_over(m->a, mappings, read_json(m->a, tables[i]->mapping_json, m->problems));
    if (m->r->meta.len > 0) {
        /* Merge last: the recorded lineage must be true. */
        put(m, meta, "_meta", read_json(m->a, m->r->meta, m->problems));
        merge_over(m->a, mappings, meta);
    }
    return mappings;
}

/* ---- bodies ---- */

static struct mapping_maker make(const struct mapping_request *r, struct problems *problems)
{
    return (struct mapping_maker){
        .a = arena_new(), .r = r, .engine = r->engine, .problems = problems};
}

/* Return the first error found. */
static bool first_error(const struct problems *problems, struct err *err)
{
    for (size_t i = 0; i < problems_n(problems); i++) {
        const struct problem *p = problems_get(problems, i);

        if (p->severity == SEVERITY_ERROR)
            return err_set(err, ERR_REJECT, "%" STR_FMT, STR_ARG(p->message));
    }
    return true;
}

bool mapping_body(const struct mapping_request *r, struct buf *json, struct err *err)
{
    struct problems *problems = problems_new();
    struct mapping_maker m = make(r, problems);
    struct yaml_node *mappings = make_mappings(&m);
    bool fine = first_error(problems, err);

    if (fine)
        yaml_append_json(json, mappings, false);
    arena_free(m.a);
    problems_free(problems);
    return fine;
}

bool mapping_index_body(const struct mapping_request *r, struct buf *json, struct err *err)
{
    struct problems *problems = problems_new();
    struct mapping_maker m = make(r, problems);
    struct yaml_node *body = yaml_new(m.a, YAML_MAP), *mappings;
    bool fine;

    mappings = make_mappings(&m);
    put(&m, body, "settings",
        mapping_settings_new(m.a, definition_settings(r->definitions, r->table), m.has_knn,
                             r->filling));
    put(&m, body, "mappings", mappings);
    if (r->alias.len > 0) {
        struct yaml_node *aliases = yaml_new(m.a, YAML_MAP);

        yaml_put(m.a, aliases, r->alias, yaml_new(m.a, YAML_MAP));
        put(&m, body, "aliases", aliases);
    }
    fine = first_error(problems, err);
    if (fine)
        yaml_append_json(json, body, false);
    arena_free(m.a);
    problems_free(problems);
    return fine;
}

void mapping_check(const struct mapping_request *r, struct problems *problems)
{
    struct mapping_maker m = make(r, problems);

    (void)make_mappings(&m);
    mapping_settings_check(r->definitions, r->table, problems);
    arena_free(m.a);
}
