#include "config.h"

#include "src/config/values.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/file/whole_file.h"
#include "src/format/variable.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <errno.h>
#include <string.h>

static void append_variables(struct buf *names, const struct yaml_node *node)
{
    if (node->variables.len > 0)
        buf_printf(names, "%s%" STR_FMT, names->len > 0 ? ", " : "", STR_ARG(node->variables));
}

/* Where a value is written, and which variables gave it or a part of it. */
static void append_origin(struct configuration *c, const struct yaml_node *node,
                          struct buf *where)
{
    struct buf names = {0};

    append_variables(&names, node);
    for (size_t i = 0; i < node->n; i++)
        append_variables(&names, node->items[i]);
    buf_printf(where, "%s:%u", node->place.file, node->place.line);
    if (names.len > 0) {
        buf_printf(where, ", environment %s", names.ptr);
        buf_printf(&c->used, ", %s,", names.ptr);
    }
    buf_free(&names);
}

/* True if a command needs the setting to find the daemon. */
static bool leads_to_daemon(size_t i)
{
    return strcmp(settings[i].name, "data") == 0 || strcmp(settings[i].name, "socket") == 0;
}

/*
 * Fill in variables.  False: one is missing, and the setting stays at its default; that is no
 * problem for a command that needs other settings alone.
 */
static bool fill(struct configuration *c, size_t i, struct yaml_node *node,
                 struct problems *problems)
{
    const bool is_needed = !c->to_connect || leads_to_daemon(i);
    struct problems *unsaid = problems_new();
    const bool ok =
        variables_fill(&c->variables, c->arena, node, is_needed ? problems : unsaid);

    c->lacks_variables = c->lacks_variables || !ok;
    problems_free(unsaid);
    return ok;
}

static void take_node(struct configuration *c, size_t i, struct yaml_node *node,
                      struct problems *problems)
{
    struct buf where = {0};
    struct str texts[64];
    size_t n = 0;

    if (!fill(c, i, node, problems))
        return;
    if (node->kind == YAML_SCALAR && yaml_scalar_kind(node) != YAML_NULL) {
        texts[n++] = node->text;
    } else if (node->kind == YAML_LIST && settings[i].kind == SETTING_LIST && node->n > 0 &&
               node->n <= ARRAY_LEN(texts)) {
        for (; n < node->n && node->items[n]->kind == YAML_SCALAR; n++)
            texts[n] = node->items[n]->text;
        if (n < node->n)
            n = 0;
    }
    if (n == 0) {
        problems_add(problems, SEVERITY_ERROR, node->place, "%s: expected %s, got %s",
                     settings[i].name,
                     settings[i].kind == SETTING_LIST ? "a text or a list of at most 64 texts"
                                                      : "one value",
                     yaml_kind_name(node));
        return;
    }
    if (settings[i].secret && c->exposed && node->variables.len == 0)
        problems_add(problems, SEVERITY_ERROR, node->place,
                     "%s is written here and others may read this file", settings[i].name),
            problems_fix(problems, "chmod 600 %s, or better %s_file", c->file,
                         settings[i].name);
    append_origin(c, node, &where);
    configuration_put(c, i, texts, n, &(struct origin){node->place, where.ptr}, problems);
    buf_free(&where);
}

static void take_map(struct configuration *c, const char *prefix, const struct yaml_node *map,
                     struct problems *problems)
{
    for (size_t k = 0; k < map->n; k++) {
        struct buf name = {0};

        buf_printf(&name, "%s%" STR_FMT, prefix, STR_ARG(map->names[k]->text));

        const size_t i = setting_find(buf_str(&name));

        if (i < n_settings) {
            take_node(c, i, map->items[k], problems);
        } else if (setting_is_section(buf_str(&name)) && map->items[k]->kind == YAML_MAP) {
            buf_append_char(&name, '.');
            take_map(c, name.ptr, map->items[k], problems);
        } else if (setting_is_section(buf_str(&name))) {
            problems_add(problems, SEVERITY_ERROR, map->items[k]->place,
                         "%s: expected settings in a map, got %s", name.ptr,
                         yaml_kind_name(map->items[k]));
        } else {
            configuration_report_unknown(problems, SEVERITY_ERROR, map->names[k]->place,
                                         buf_str(&name));
        }
        buf_free(&name);
    }
}

static void set_file(struct configuration *c, const char *path)
{
    const char *slash = strrchr(path, '/');

    c->file = mem_copy(path);
    if (slash != NULL)
        c->folder = arena_copy(c->arena,
                               (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

void configuration_take_file(struct configuration *c, const char *path, bool required,
                             struct problems *problems)
{
    struct buf text = {0};
    const struct place nowhere = {.file = path};

    if (!whole_file_read(path, &text, &c->exposed)) {
        if (required || errno != ENOENT) {
            problems_add(problems, SEVERITY_ERROR, nowhere, "cannot be read: %s",
                         strerror(errno));
            problems_fix(problems, "write it, for a start: `search: {url: "
                                   "http://127.0.0.1:9200}`, or name another with --config");
        }
        buf_free(&text);
        return;
    }
    set_file(c, path);
    problems_add_source(problems, path, buf_str(&text));

    const struct yaml_node *root = yaml_read(c->arena, c->file, buf_str(&text), problems);

    if (root != NULL && root->kind == YAML_MAP)
        take_map(c, "", root, problems);
    else if (root != NULL)
        problems_add(problems, SEVERITY_ERROR, root->place, "expected settings, `name: value`");
    buf_free(&text);
}
