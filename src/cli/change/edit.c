#include "config.h"

#include "src/cli/change/edit.h"

#include "src/base/arena.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <string.h>

/* ---- trees ---- */

static void take_out(struct yaml_node *node, size_t at)
{
    const size_t after = node->n - at - 1;

    memmove(&node->items[at], &node->items[at + 1], after * sizeof(struct yaml_node *));
    if (node->kind == YAML_MAP)
        memmove(&node->names[at], &node->names[at + 1], after * sizeof(struct yaml_node *));
    node->n--;
}

static void take_name_out(struct yaml_node *map, struct str name)
{
    for (size_t i = 0; i < map->n; i++)
        if (str_equal(map->names[i]->text, name)) {
            take_out(map, i);
            return;
        }
}

/* The text under a name; empty: none. */
static struct str text_of(const struct yaml_node *map, struct str name)
{
    const struct yaml_node *value = map->kind == YAML_MAP ? yaml_find(map, name) : NULL;

    return value != NULL && value->kind == YAML_SCALAR ? value->text : STR("");
}

/* The list under a name, made if it is missing.  NULL if it is no list. */
static struct yaml_node *list_of(struct arena *a, struct yaml_node *map, struct str name)
{
    struct yaml_node *list = yaml_find(map, name);

    if (list == NULL) {
        list = yaml_new(a, YAML_LIST);
        yaml_put(a, map, name, list);
    }
    return list->kind == YAML_LIST ? list : NULL;
}

/* ---- assignments ---- */

static struct yaml_node *read_yaml(struct arena *a, struct str field, struct str text,
                                   struct err *err)
{
    struct problems *problems = problems_new();
    struct yaml_node *value = yaml_read(a, "", text, problems);

    if (value == NULL)
        err_set(err, ERR_REJECT,
                "the value of %" STR_FMT " is not YAML: %" STR_FMT
                "; fix: a text that begins with [ { \" "
                "or ' needs quotes of its own",
                STR_ARG(field), STR_ARG(problems_get(problems, 0)->message));
    problems_free(problems);
    return value;
}

static struct yaml_node *read_value(struct arena *a, struct str field, struct str text,
                                    struct err *err)
{
    struct yaml_node *plain = yaml_new_plain(a, text);

    if (memchr("[{\"'", text.ptr[0], 4) != NULL)
        return read_yaml(a, field, text, err);
    return yaml_scalar_kind(plain) == YAML_TEXT ? yaml_new_text(a, text) : plain;
}

static bool is_true(const struct yaml_node *n)
{
    return n->kind == YAML_SCALAR && yaml_scalar_kind(n) == YAML_TRUE;
}

/* The map that holds the last name of a path, which *field becomes. */
static struct yaml_node *descend(struct arena *a, struct yaml_node *map, struct str *field,
                                 struct err *err)
{
    const char *dot;

    while ((dot = memchr(field->ptr, '.', field->len)) != NULL) {
        const struct str name = {field->ptr, (size_t)(dot - field->ptr)};
        struct yaml_node *next = yaml_find(map, name);

        if (next == NULL || is_true(next)) { /* tls: true */
            next = yaml_new(a, YAML_MAP);
            yaml_put(a, map, name, next);
        }
        if (next->kind != YAML_MAP) {
            err_set(err, ERR_REJECT, "%" STR_FMT " is %s, so it has no fields of its own",
                    STR_ARG(name), yaml_kind_name(next));
            return NULL;
        }
        map = next;
        *field = (struct str){dot + 1, field->len - name.len - 1};
    }
    return map;
}

static bool assign(struct arena *a, struct yaml_node *map, const char *assignment,
                   struct err *err)
{
    const char *equal = strchr(assignment, '=');
    struct str field, text;

    if (equal == NULL || equal == assignment)
        return err_set(err, ERR_REJECT, "\"%s\" is not FIELD=VALUE", assignment);
    field = (struct str){assignment, (size_t)(equal - assignment)};
    text = str_from(equal + 1);
    map = descend(a, map, &field, err);
    if (map == NULL)
        return false;
    if (text.len == 0) {
        take_name_out(map, field);
        return true;
    }

    struct yaml_node *value = read_value(a, field, text, err);

    if (value != NULL)
        yaml_put(a, map, field, value);
    return value != NULL;
}

bool edit_set(struct arena *a, struct yaml_node *map, const char *const *assignments, size_t n,
              struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!assign(a, map, assignments[i], err))
            return false;
    return true;
}

/* ---- relations ---- */

struct str edit_relation_name(const struct yaml_node *relation)
{
    const struct str as = text_of(relation, STR("as")), table = text_of(relation, STR("table"));
    const char *dot = table.len > 0 ? memchr(table.ptr, '.', table.len) : NULL;

    if (as.len > 0 || dot == NULL)
        return as.len > 0 ? as : table;
    return (struct str){dot + 1, table.len - (size_t)(dot + 1 - table.ptr)};
}

/* Whether the list of relations has it, and where. */
static bool find_named(const struct yaml_node *list, struct str name, size_t *at)
{
    for (*at = 0; list != NULL && list->kind == YAML_LIST && *at < list->n; ++*at)
        if (str_equal(edit_relation_name(list->items[*at]), name))
            return true;
    return false;
}

/* What has the relation at the path: a table or a relation.  *name: the path's last. */
static struct yaml_node *owner_of(struct yaml_node *table, struct str path, struct str *name,
                                  struct err *err)
{
    struct yaml_node *owner = table;
    const char *dot;

    *name = path;
    while ((dot = memchr(name->ptr, '.', name->len)) != NULL) {
        const struct str outer = {name->ptr, (size_t)(dot - name->ptr)};
        const struct yaml_node *list = yaml_find(owner, STR("relations"));
        size_t at;

        if (!find_named(list, outer, &at)) {
            err_set(err, ERR_REJECT,
                    "there is no relation %" STR_FMT " on the way to %" STR_FMT, STR_ARG(outer),
                    STR_ARG(path));
            return NULL;
        }
        owner = list->items[at];
        *name = (struct str){dot + 1, name->len - outer.len - 1};
    }
    return owner;
}

static bool has_none(struct str path, struct err *err)
{
    return err_set(err, ERR_REJECT,
                   "there is no relation %" STR_FMT "; fix: see millrace relation list",
                   STR_ARG(path));
}

struct yaml_node *edit_find_relation(struct yaml_node *table, struct str path, struct err *err)
{
    struct str name;
    struct yaml_node *owner = owner_of(table, path, &name, err);
    const struct yaml_node *list = owner != NULL ? yaml_find(owner, STR("relations")) : NULL;
    size_t at;

    if (owner == NULL || find_named(list, name, &at))
        return owner == NULL ? NULL : list->items[at];
    (void)has_none(path, err);
    return NULL;
}

struct yaml_node *edit_add_relation(struct arena *a, struct yaml_node *table, struct str path,
                                    struct err *err)
{
    struct str name;
    struct yaml_node *owner = owner_of(table, path, &name, err);
    struct yaml_node *list = owner != NULL ? list_of(a, owner, STR("relations")) : NULL;
    struct yaml_node *relation;
    size_t at;

    if (list == NULL)
        return NULL;
    if (find_named(list, name, &at)) {
        err_set(err, ERR_REJECT, "relation %" STR_FMT " exists; fix: millrace relation set",
                STR_ARG(path));
        return NULL;
    }
    relation = yaml_new(a, YAML_MAP);
    yaml_put(a, relation, STR("as"), yaml_new_text(a, name));
    yaml_push(a, list, relation);
    return relation;
}

bool edit_delete_relation(struct yaml_node *table, struct str path, struct err *err)
{
    struct str name;
    struct yaml_node *owner = owner_of(table, path, &name, err);
    struct yaml_node *list = owner != NULL ? yaml_find(owner, STR("relations")) : NULL;
    size_t at;

    if (owner == NULL)
        return false;
    if (!find_named(list, name, &at))
        return has_none(path, err);
    take_out(list, at);
    if (list->n == 0)
        take_name_out(owner, STR("relations"));
    return true;
}

/* ---- columns ---- */

static struct str column_name(const struct yaml_node *column)
{
    return column->kind == YAML_SCALAR ? column->text : text_of(column, STR("name"));
}

static bool find_column(const struct yaml_node *list, struct str name, size_t *at)
{
    for (*at = 0; *at < list->n; ++*at)
        if (str_equal_any_case(column_name(list->items[*at]), name))
            return true;
    return false;
}

/* The columns, and whether those that are not listed are shown, too.  NULL: it is no list. */
static struct yaml_node *columns_of(struct arena *a, struct yaml_node *owner, bool *all,
                                    struct err *err)
{
    const bool is_given = yaml_find(owner, STR("columns")) != NULL;
    struct yaml_node *list = list_of(a, owner, STR("columns"));
    size_t at;

    if (list == NULL) {
        err_set(err, ERR_REJECT, "`columns` is not a list");
        return NULL;
    }
    if (!is_given)
        yaml_push(a, list, yaml_new_text(a, STR("*")));
    *all = find_column(list, STR("*"), &at);
    return list;
}

static struct yaml_node *push_column(struct arena *a, struct yaml_node *list, struct str name)
{
    struct yaml_node *column = yaml_new(a, YAML_MAP);

    yaml_put(a, column, STR("name"), yaml_new_text(a, name));
    yaml_push(a, list, column);
    return column;
}

static bool is_skipped(const struct yaml_node *column)
{
    const struct yaml_node *skip =
        column->kind == YAML_MAP ? yaml_find(column, STR("skip")) : NULL;

    return skip != NULL && is_true(skip);
}

struct yaml_node *edit_column(struct arena *a, struct yaml_node *owner, struct str name,
                              struct err *err)
{
    bool all;
    struct yaml_node *list = columns_of(a, owner, &all, err);
    size_t at;

    if (list == NULL)
        return NULL;
    if (!find_column(list, name, &at)) {
        if (all)
            return push_column(a, list, name);
        err_set(err, ERR_REJECT, "column %" STR_FMT " is not shown; fix: millrace column add",
                STR_ARG(name));
        return NULL;
    }
    if (list->items[at]->kind == YAML_SCALAR) {
        struct yaml_node *column = yaml_new(a, YAML_MAP);

        yaml_put(a, column, STR("name"), list->items[at]);
        list->items[at] = column;
    }
    return list->items[at];
}

struct yaml_node *edit_add_column(struct arena *a, struct yaml_node *owner, struct str name,
                                  struct err *err)
{
    bool all;
    struct yaml_node *list = columns_of(a, owner, &all, err);
    size_t at;

    if (list == NULL)
        return NULL;

    const bool is_listed = find_column(list, name, &at);

    if (is_listed && is_skipped(list->items[at])) {
        take_name_out(list->items[at], STR("skip"));
        return list->items[at];
    }
    if (!is_listed && !all)
        return push_column(a, list, name);
    err_set(err, ERR_REJECT, "column %" STR_FMT " is shown already%s; fix: millrace column set",
            STR_ARG(name), is_listed ? "" : ", as every column is");
    return NULL;
}

bool edit_delete_column(struct arena *a, struct yaml_node *owner, struct str name,
                        struct err *err)
{
    bool all;
    struct yaml_node *list = columns_of(a, owner, &all, err);
    size_t at;

    if (list == NULL)
        return false;

    const bool is_listed = find_column(list, name, &at);

    if ((!is_listed && !all) || (is_listed && is_skipped(list->items[at])))
        return err_set(err, ERR_REJECT, "column %" STR_FMT " is not shown", STR_ARG(name));
    if (is_listed)
        take_out(list, at);
    if (all) {
        struct yaml_node *column = push_column(a, list, name);

        yaml_put(a, column, STR("skip"), yaml_new_plain(a, STR("true")));
    }
    return true;
}

struct yaml_node *edit_columns(struct arena *a, struct yaml_node *owner, struct err *err)
{
    bool all;

    return columns_of(a, owner, &all, err);
}

struct yaml_node *edit_column_map(struct arena *a, struct yaml_node *column)
{
    struct yaml_node *map;

    if (column->kind == YAML_MAP)
        return column;
    map = yaml_new(a, YAML_MAP);
    yaml_put(a, map, STR("name"), yaml_new_text(a, column->text));
    return map;
}

struct yaml_node *edit_listed_column(struct arena *a, struct yaml_node *owner, struct str name,
                                     struct err *err)
{
    bool all;
    struct yaml_node *list = columns_of(a, owner, &all, err);
    size_t at;

    if (list == NULL)
        return NULL;
    if (find_column(list, name, &at))
        return edit_column_map(a, list->items[at]);
    err_set(err, ERR_REJECT,
            all ? "the definition lists no column %" STR_FMT
                  ", and shows each that is not listed as it is; fix: see millrace column list"
                : "column %" STR_FMT " is not shown; fix: see millrace column list",
            STR_ARG(name));
    return NULL;
}
