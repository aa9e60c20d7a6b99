#include "config.h"

#include "sync/mapping/shared.h"

#include "src/base/buf.h"
#include "sync/definition/members.h"

static void report_clash(const struct mapping_shared *s, const struct table_definition *t,
                         struct str name, const struct yaml_node *has,
                         const struct yaml_node *other)
{
    struct buf x = {0}, y = {0};

    yaml_append_json(&x, has, false);
    yaml_append_json(&y, other, false);
    problems_add(s->problems, SEVERITY_ERROR, t->place,
                 "field `%" STR_FMT "` of %" STR_FMT " is %" STR_FMT ", but another table of "
                 "index `%" STR_FMT "` makes it %" STR_FMT,
                 STR_ARG(name), STR_ARG(t->table), STR_ARG(buf_str(&y)),
                 STR_ARG(table_index(t)), STR_ARG(buf_str(&x)));
    problems_fix(s->problems, "give it the same `type` in both, or rename it with `as`");
    buf_free(&x);
    buf_free(&y);
}

static struct str text_of(const struct yaml_node *map, struct str name)
{
    const struct yaml_node *value = yaml_find(map, name);

    return value == NULL || value->kind != YAML_SCALAR ? STR("") : value->text;
}

/* Each type holds every value of the types before it. */
static size_t width_of(const struct yaml_node *field)
{
    static const char *const widths[] = {"byte", "short", "integer", "long"};

    for (size_t i = 0; field->kind == YAML_MAP && field->n == 1 && i < ARRAY_LEN(widths); i++)
        if (str_equal(text_of(field, STR("type")), str_from(widths[i])))
            return i + 1;
    return 0;
}

void mapping_shared_add(const struct mapping_shared *s, const struct table_definition *t,
                        const struct yaml_node *properties)
{
    for (size_t i = 0; i < properties->n; i++) {
        const struct str name = properties->names[i]->text;
        const struct yaml_node *has = yaml_find(s->all, name);

        const size_t width = width_of(properties->items[i]);

        if (has == NULL || (width_of(has) > 0 && width > width_of(has)))
            yaml_put(s->arena, s->all, name, properties->items[i]);
        else if (width > 0 && width_of(has) > 0)
            continue;
        else if (!yaml_equal(has, properties->items[i]))
            report_clash(s, t, name, has, properties->items[i]);
    }
}

static void add_own_field(const struct mapping_shared *s, const struct table_definition *t,
                          struct str name, struct yaml_node *field, const char *what)
{
    if (yaml_find(s->all, name) != NULL) {
        problems_add(s->problems, SEVERITY_ERROR, t->place,
                     "`%" STR_FMT "` is the name of both %s and a field of the documents",
                     STR_ARG(name), what);
        problems_fix(s->problems, "give one of them another name");
        return;
    }
    yaml_put(s->arena, s->all, name, field);
}

/* {"question": "answer"}, or a list if it has several children. */
static struct yaml_node *join_relations(struct arena *a, const struct definitions *d,
                                        const struct table_definition *lead)
{
    struct yaml_node *relations = yaml_new(a, YAML_MAP);

    yaml_put(a, relations, lead->join.name, yaml_new(a, YAML_LIST)); /* even without children */
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *child = &d->tables[i];
        const struct table_definition *parent =
            !child->join.given || definition_lead(d, child) != lead || child == lead
                ? NULL
                : definitions_table(d, child->join.parent);
        struct yaml_node *children;

        if (parent == NULL)
            continue;
        children = yaml_find(relations, parent->join.name);
        if (children == NULL) {
            children = yaml_new(a, YAML_LIST);
            yaml_put(a, relations, parent->join.name, children);
        }
        yaml_push(a, children, yaml_new_text(a, child->join.name));
    }
    return relations;
}

void mapping_shared_mark(const struct mapping_shared *s, const struct definitions *d,
                         const struct table_definition *lead)
{
    struct arena *a = s->arena;
    struct yaml_node *field = yaml_new(a, YAML_MAP);

    if (lead->join.given) {
        yaml_put(a, field, STR("type"), yaml_new_text(a, STR("join")));
        yaml_put(a, field, STR("relations"), join_relations(a, d, lead));
        add_own_field(s, lead, join_field(&lead->join), field, "the join field");
    } else if (lead->source_field.len > 0) {
        yaml_put(a, field, STR("type"), yaml_new_text(a, STR("keyword")));
        add_own_field(s, lead, lead->source_field, field, "`source_field`");
    }
}
