#include "config.h"

#include "src/cli/commands.h"

#include "src/base/arena.h"
#include "src/cli/change/edit.h"
#include "src/cli/change/object.h"
#include "src/cli/session.h"
#include "src/format/json.h"
#include "src/format/yaml.h"

/* `list` and `get` of parts of a table: the definition is read, and the part is shown. */

struct part_view {
    const struct invocation *inv;
    struct stored_object table;
    struct json_writer *w;
};

/* Write the items of an answer. */
typedef bool (*items_fn)(struct part_view *v, struct err *err);

struct part_form {
    const char *schema;
    bool names_owner; /* the answer says of which table or relation the items are */
    items_fn items;
    view_fn view;
};

static void write_node(struct json_writer *w, const struct yaml_node *node)
{
    struct buf text = {0};

    yaml_append_json(&text, node, false);
    json_write_raw(w, buf_str(&text));
    buf_free(&text);
}

static bool write_answer(struct part_view *v, const struct part_form *form, struct err *err)
{
    const char *relation = invocation_value(v->inv, "relation");

    json_open_object(v->w);
    json_put_cstr(v->w, STR("schema"), form->schema);
    if (form->names_owner) {
        json_put_cstr(v->w, STR("table"), v->inv->args[0]);
        json_put_cstr(v->w, STR("relation"), relation != NULL ? relation : "");
    }
    json_write_key(v->w, STR("items"));
    json_open_array(v->w);

    const bool ok = form->items(v, err);

    json_close_array(v->w);
    json_put_u64(v->w, STR("revision"), v->table.revision);
    json_put_null(v->w, STR("next"));
    json_close_object(v->w);
    return ok;
}

static int show(const struct invocation *inv, const struct part_form *form)
{
    struct buf text = {0};
    struct json_writer w = {.out = &text};
    struct part_view v = {.inv = inv, .w = &w};
    struct session *s = NULL;
    struct err err = {0};

    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    v.table.arena = arena_new();

    int code = object_load(s, "tables", inv->args[0], &v.table);

    if (code == EXIT_DONE && !write_answer(&v, form, &err))
        code = command_fail(&err);
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&text), form->view);
    arena_free(v.table.arena);
    session_close(s);
    buf_free(&text);
    return code;
}

/* ---- columns ---- */

static struct yaml_node *owner_of(const struct part_view *v, struct err *err)
{
    const char *path = invocation_value(v->inv, "relation");

    return path == NULL ? v->table.tree
                        : edit_find_relation(v->table.tree, str_from(path), err);
}

static bool write_columns(struct part_view *v, struct err *err)
{
    struct yaml_node *owner = owner_of(v, err);
    const struct yaml_node *list =
        owner != NULL ? edit_columns(v->table.arena, owner, err) : NULL;

    for (size_t i = 0; list != NULL && i < list->n; i++)
        write_node(v->w, edit_column_map(v->table.arena, list->items[i]));
    return list != NULL;
}

static bool write_column(struct part_view *v, struct err *err)
{
    struct yaml_node *owner = owner_of(v, err);
    const struct yaml_node *column =
        owner != NULL
            ? edit_listed_column(v->table.arena, owner, str_from(v->inv->args[1]), err)
            : NULL;

    if (column != NULL)
        write_node(v->w, column);
    return column != NULL;
}

static void view_columns(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"COLUMN", "/name", RENDER_TEXT}, {"AS", "/as", RENDER_TEXT},
        {"TYPE", "/type", RENDER_TEXT},   {"KEYWORD", "/keyword", RENDER_YES},
        {"SKIP", "/skip", RENDER_YES},
    };
    struct str items;

    if (json_find(json, "/items", &items))
        render_table(out, style, items, columns, ARRAY_LEN(columns));
}

static void view_column(struct buf *out, struct render_style style, struct str json)
{
    struct str item;

    (void)style;
    if (json_find(json, "/items/0", &item))
        render_yaml(out, item);
}

int command_column_list(const struct invocation *inv)
{
    return show(inv,
                &(struct part_form){"millrace/column/1", true, write_columns, view_columns});
}

int command_column_get(const struct invocation *inv)
{
    return show(inv, &(struct part_form){"millrace/column/1", true, write_column, view_column});
}

/* ---- relations ---- */

static bool is_set(const struct yaml_node *map, struct str name)
{
    const struct yaml_node *value = yaml_find(map, name);

    return value != NULL && value->kind == YAML_SCALAR && str_equal(value->text, STR("true"));
}

/* As in the list of relations, with its definition. */
static bool write_relation(struct part_view *v, struct err *err)
{
    const struct yaml_node *r =
        edit_find_relation(v->table.tree, str_from(v->inv->args[1]), err);

    if (r == NULL)
        return false;
    json_open_object(v->w);
    json_put_cstr(v->w, STR("in"), v->inv->args[0]);
    json_put_string(v->w, STR("as"), edit_relation_name(r));
    json_write_key(v->w, STR("table"));
    write_node(v->w, yaml_find(r, STR("table")));
    json_put_bool(v->w, STR("many"), is_set(r, STR("many")));
    json_put_bool(v->w, STR("nested"), is_set(r, STR("nested")));
    json_write_key(v->w, STR("definition"));
    write_node(v->w, r);
    json_close_object(v->w);
    return true;
}

static void view_relation(struct buf *out, struct render_style style, struct str json)
{
    struct str definition;

    (void)style;
    if (json_find(json, "/items/0/definition", &definition))
        render_yaml(out, definition);
}

int command_relation_get(const struct invocation *inv)
{
    return show(
        inv, &(struct part_form){"millrace/relation/1", false, write_relation, view_relation});
}
