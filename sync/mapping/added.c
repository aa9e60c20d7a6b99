#include "config.h"

#include "sync/mapping/added.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/problem.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

static const struct yaml_node *properties_of(const struct yaml_node *map)
{
    const struct yaml_node *p =
        map == NULL || map->kind != YAML_MAP ? NULL : yaml_find(map, STR("properties"));

    return p == NULL || p->kind != YAML_MAP ? NULL : p;
}

static struct yaml_node *added(struct arena *a, const struct yaml_node *before,
                               const struct yaml_node *after);

/* The new members of an object that existed; NULL if it has none. */
static struct yaml_node *added_inside(struct arena *a, const struct yaml_node *before,
                                      const struct yaml_node *after)
{
    struct yaml_node *type = yaml_find(after, STR("type"));
    struct yaml_node *inner = added(a, properties_of(before), properties_of(after));

    if (inner->n == 0)
        return NULL;

    struct yaml_node *field = yaml_new(a, YAML_MAP);

    if (type != NULL)
        yaml_put(a, field, STR("type"), type);
    yaml_put(a, field, STR("properties"), inner);
    return field;
}

static struct yaml_node *added(struct arena *a, const struct yaml_node *before,
                               const struct yaml_node *after)
{
    struct yaml_node *out = yaml_new(a, YAML_MAP);

    for (size_t i = 0; after != NULL && i < after->n; i++) {
        const struct str name = after->names[i]->text;
        const struct yaml_node *was = before == NULL ? NULL : yaml_find(before, name);
        struct yaml_node *field = after->items[i];

        if (was != NULL)
            field = properties_of(field) == NULL ? NULL : added_inside(a, was, field);
        if (field != NULL)
            yaml_put(a, out, name, field);
    }
    return out;
}

static struct yaml_node *read(struct arena *a, struct str json, struct problems *problems)
{
    return json.len == 0 ? NULL : yaml_read(a, "json", json, problems);
}

bool mapping_added(struct str before, struct str after, struct buf *json)
{
    struct arena *a = arena_new();
    struct problems *problems = problems_new();
    struct yaml_node *fields = added(a, properties_of(read(a, before, problems)),
                                     properties_of(read(a, after, problems)));
    const bool any = fields->n > 0;

    if (any) {
        struct yaml_node *body = yaml_new(a, YAML_MAP);

        yaml_put(a, body, STR("properties"), fields);
        yaml_append_json(json, body, false);
    }
    problems_free(problems);
    arena_free(a);
    return any;
}
