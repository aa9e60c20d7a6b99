#include "config.h"

#include "sync/mapping/settings.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"
#include "sync/definition/definition.h"
#include "sync/definition/index_settings.h"

#define GC_DELETES "1h"

static struct yaml_node *settings_of(struct arena *a, const struct table_definition *t)
{
    struct problems *problems = problems_new();
    struct yaml_node *tree =
        t->settings_json.len == 0 ? NULL : yaml_read(a, "json", t->settings_json, problems);

    problems_free(problems);
    return index_settings_flatten(
        a, tree != NULL && tree->kind == YAML_MAP ? tree : yaml_new(a, YAML_MAP));
}

static void put_setting(struct arena *a, struct yaml_node *into, const char *name,
                        struct yaml_node *value)
{
    struct buf full = {0};

    buf_printf(&full, "index.%s", name);
    yaml_put(a, into, buf_str(&full), value);
    buf_free(&full);
}

/* Put all settings of `from` under their full names. */
static void put_settings(struct arena *a, struct yaml_node *into, const struct yaml_node *from)
{
    for (size_t i = 0; i < from->n; i++)
        put_setting(a, into, from->names[i]->text.ptr, from->items[i]);
}

/*
 * The settings while filling, and what replaces them when a version is full.  Refresh every
 * second even if nobody searches: without refresh the engine keeps every new id in memory and
 * writes everything on one core at the end, which took a fifth longer (docs/performance.md).
 */
static const struct {
    const char *name;
    const char *filling;
    bool if_given; /* skip if the definition does not set it */
} filling_settings[] = {
    {"refresh_interval", "1s", false},
    {"number_of_replicas", "0", false},
    {"auto_expand_replicas", "false", true},
};

struct yaml_node *mapping_settings_new(struct arena *a, const struct table_definition *t,
                                       bool has_knn, bool filling)
{
    struct yaml_node *settings = yaml_new(a, YAML_MAP), *given = settings_of(a, t);

    if (has_knn)
        put_setting(a, settings, "knn", yaml_new_plain(a, STR("true")));
    put_settings(a, settings, given);
    put_setting(a, settings, "gc_deletes", yaml_new_text(a, STR(GC_DELETES)));
    for (size_t i = 0; filling && i < ARRAY_LEN(filling_settings); i++)
        if (!filling_settings[i].if_given ||
            yaml_find(given, str_from(filling_settings[i].name)) != NULL)
            put_setting(a, settings, filling_settings[i].name,
                        yaml_new_text(a, str_from(filling_settings[i].filling)));
    return settings;
}

void mapping_settings_final(const struct table_definition *t, struct buf *json)
{
    struct arena *a = arena_new();
    struct yaml_node *settings = yaml_new(a, YAML_MAP), *given = settings_of(a, t);

    for (size_t i = 0; i < ARRAY_LEN(filling_settings); i++) {
        struct yaml_node *value = yaml_find(given, str_from(filling_settings[i].name));

        /* null restores the engine's default */
        if (value != NULL || !filling_settings[i].if_given)
            put_setting(a, settings, filling_settings[i].name,
                        value != NULL ? value : yaml_new_plain(a, STR("null")));
    }
    yaml_append_json(json, settings, false);
    arena_free(a);
}

bool mapping_settings_changed(const struct table_definition *from,
                              const struct table_definition *to, struct buf *json,
                              struct buf *then)
{
    struct arena *a = arena_new();
    struct yaml_node *before = settings_of(a, from), *after = settings_of(a, to);
    struct yaml_node *put = yaml_new(a, YAML_MAP), *kept = yaml_new(a, YAML_MAP);

    for (size_t i = 0; i < before->n; i++) {
        const struct str name = before->names[i]->text;

        if (!index_setting_is_live(name))
            yaml_put(a, kept, name, before->items[i]);
        else if (yaml_find(after, name) == NULL)
            put_setting(a, put, name.ptr, yaml_new_plain(a, STR("null")));
    }
    for (size_t i = 0; i < after->n; i++) {
        const struct str name = after->names[i]->text;
        const struct yaml_node *was = yaml_find(before, name);

        if (!index_setting_is_live(name))
            continue;
        yaml_put(a, kept, name, after->items[i]);
        if (was == NULL || !yaml_equal(was, after->items[i]))
            put_setting(a, put, name.ptr, after->items[i]);
    }

    const bool any = put->n > 0;

    yaml_append_json(json, put, false);
    yaml_append_json(then, kept, false);
    arena_free(a);
    return any;
}

static void check_setting(struct place place, struct str name, struct problems *problems)
{
    const char *why = index_setting_is_ours(name);

    if (why != NULL)
        problems_add(problems, SEVERITY_ERROR, place, "`%" STR_FMT "` cannot be set: %s",
                     STR_ARG(name), why);
    if (index_setting_names_pipeline(name)) {
        problems_add(problems, SEVERITY_WARNING, place,
                     "`%" STR_FMT "` names an ingest pipeline that Millrace does not check",
                     STR_ARG(name));
        problems_fix(problems, "name it as `pipeline` of the table instead");
    }
}

void mapping_settings_check(const struct definitions *d, const struct table_definition *t,
                            struct problems *problems)
{
    struct arena *a = arena_new();
    const struct yaml_node *flat = settings_of(a, t);

    for (size_t i = 0; i < flat->n; i++)
        check_setting(definitions_place(d, t->settings_json, t->place), flat->names[i]->text,
                      problems);
    arena_free(a);
}
