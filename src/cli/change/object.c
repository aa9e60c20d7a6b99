#include "config.h"

#include "src/cli/change/object.h"

#include "src/base/arena.h"
#include "src/cli/apply.h"
#include "src/cli/change/edit.h"
#include "src/cli/commands.h"
#include "src/cli/session.h"
#include "src/format/json.h"
#include "src/format/variable.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * `add`, `set` and `delete` of topics, databases, tables and of their parts: one object is
 * read, changed, and applied as a file with nothing else, if nobody has changed definitions
 * meanwhile.
 */

static const struct kind {
    const char *noun;   /* of the commands */
    const char *object; /* of the definition that is stored */
    const char *list;   /* of such definitions, in files and in the API */
    const char *name;   /* the field that names one */
} kinds[] = {
    {"topic", "topic", "topics", "name"},   {"database", "database", "databases", "name"},
    {"table", "table", "tables", "table"},  {"relation", "table", "tables", "table"},
    {"column", "table", "tables", "table"},
};

struct object_change {
    const struct invocation *inv;
    const struct kind *kind;
    struct arena *arena;
    struct yaml_node *object;
    bool is_new;
    uint64_t revision;
};

typedef bool (*edit_fn)(struct object_change *c, struct err *err);

static const struct kind *find_kind(const char *noun)
{
    size_t i = 0;

    while (strcmp(kinds[i].noun, noun) != 0)
        i++;
    return &kinds[i];
}

static struct str arg(const struct object_change *c, size_t i)
{
    return str_from(c->inv->args[i]);
}

/* ---- reading ---- */

/* Take the object of the list's answer apart. */
static bool take_object(struct stored_object *o, struct str answer, struct err *err)
{
    struct problems *problems = problems_new();
    const struct yaml_node *tree =
        yaml_read(o->arena, "", arena_copy(o->arena, answer), problems);
    const struct yaml_node *items = tree != NULL ? yaml_find(tree, STR("items")) : NULL;
    const bool ok = items != NULL && items->kind == YAML_LIST && items->n == 1 &&
                    json_find_u64(answer, "/revision", &o->revision);

    problems_free(problems);
    if (!ok)
        return err_set(err, ERR_FATAL,
                       "the daemon's answer has no definition; fix: use a "
                       "daemon of this version");
    o->tree = items->items[0];
    return true;
}

int object_load(struct session *s, const char *list, const char *name,
                struct stored_object *out)
{
    struct call call = {.method = METHOD_GET};
    struct buf answer = {0}, path = {0};
    struct err err = {0};

    buf_printf(&path, "/api/v1/%s", list);
    call_path(&call, path.ptr);
    call_segment(&call, name);
    buf_free(&path);

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE && !take_object(out, buf_str(&answer), &err))
        code = command_fail(&err);
    buf_free(&answer);
    return code;
}

static int load(struct session *s, struct object_change *c)
{
    struct stored_object o = {.arena = c->arena};
    const int code = object_load(s, c->kind->list, c->inv->args[0], &o);

    c->object = o.tree;
    c->revision = o.revision;
    return code;
}

/* ---- storing ---- */

/* As a file would have it: ${NAME} in what is stored, or on the command line, stays a text. */
static void write_file(struct buf *text, struct object_change *c)
{
    struct yaml_node *list = yaml_new(c->arena, YAML_LIST),
                     *file = yaml_new(c->arena, YAML_MAP);

    yaml_push(c->arena, list, c->object);
    yaml_put(c->arena, file, str_from(c->kind->list), list);
    variables_escape(c->arena, file);
    yaml_append_yaml(text, file);
}

static void write_body(struct buf *body, struct object_change *c)
{
    struct json_writer w = {.out = body};
    struct buf text = {0}, name = {0};
    char *folder = getcwd(NULL, 0);

    write_file(&text, c);
    buf_printf(&name, "%s %s", c->kind->object, c->inv->args[0]);
    json_open_object(&w);
    json_write_key(&w, STR("files"));
    json_open_array(&w);
    json_open_object(&w);
    json_put_string(&w, STR("name"), buf_str(&name));
    json_put_string(&w, STR("text"), buf_str(&text));
    json_put_cstr(&w, STR("folder"), folder != NULL ? folder : "/");
    json_close_object(&w);
    json_close_array(&w);
    json_put_bool(&w, STR("dry_run"), invocation_has(c->inv, "dry-run"));
    json_put_bool(&w, STR("new"), c->is_new);
    json_put_bool(&w, STR("take_alias"), invocation_has(c->inv, "take-alias"));
    json_close_object(&w);
    free(folder);
    buf_free(&text);
    buf_free(&name);
}

static int store(struct session *s, struct object_change *c)
{
    struct call call = {.method = METHOD_POST};

    if (!c->is_new)
        session_require(s, c->revision);
    write_body(&call.body, c);
    call_path(&call, "/api/v1/apply");
    return apply_send(s, c->inv, &call);
}

static int change(const struct invocation *inv, bool is_new, edit_fn edit)
{
    struct object_change c = {
        .inv = inv, .kind = find_kind(inv->command->noun), .is_new = is_new};
    struct session *s = NULL;
    struct err err = {0};
    int code = EXIT_DONE;

    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    c.arena = arena_new();
    if (is_new) {
        c.object = yaml_new(c.arena, YAML_MAP);
        yaml_put(c.arena, c.object, str_from(c.kind->name), yaml_new_text(c.arena, arg(&c, 0)));
    } else {
        code = load(s, &c);
    }
    if (code == EXIT_DONE && !edit(&c, &err))
        code = command_fail(&err);
    if (code == EXIT_DONE)
        code = store(s, &c);
    arena_free(c.arena);
    session_close(s);
    return code;
}

/* ---- whole definitions ---- */

static bool set_fields(struct object_change *c, struct err *err)
{
    return edit_set(c->arena, c->object, &c->inv->args[1], c->inv->n_args - 1, err);
}

int command_definition_add(const struct invocation *inv)
{
    return change(inv, true, set_fields);
}

int command_definition_set(const struct invocation *inv)
{
    return change(inv, false, set_fields);
}

/* ---- parts of a table ---- */

/* The rest of the arguments, after the table's name and the part's. */
static bool set_rest(struct object_change *c, struct yaml_node *part, struct err *err)
{
    return part != NULL && edit_set(c->arena, part, &c->inv->args[2], c->inv->n_args - 2, err);
}

static bool add_relation(struct object_change *c, struct err *err)
{
    return set_rest(c, edit_add_relation(c->arena, c->object, arg(c, 1), err), err);
}

static bool set_relation(struct object_change *c, struct err *err)
{
    return set_rest(c, edit_find_relation(c->object, arg(c, 1), err), err);
}

static bool delete_relation(struct object_change *c, struct err *err)
{
    return edit_delete_relation(c->object, arg(c, 1), err);
}

int command_relation_add(const struct invocation *inv)
{
    return change(inv, false, add_relation);
}

int command_relation_set(const struct invocation *inv)
{
    return change(inv, false, set_relation);
}

int command_relation_delete(const struct invocation *inv)
{
    return change(inv, false, delete_relation);
}

/* The table, or the relation that --relation names. */
static struct yaml_node *owner_of(struct object_change *c, struct err *err)
{
    const char *path = invocation_value(c->inv, "relation");

    return path == NULL ? c->object : edit_find_relation(c->object, str_from(path), err);
}

static bool add_column(struct object_change *c, struct err *err)
{
    struct yaml_node *owner = owner_of(c, err);

    return owner != NULL && set_rest(c, edit_add_column(c->arena, owner, arg(c, 1), err), err);
}

static bool set_column(struct object_change *c, struct err *err)
{
    struct yaml_node *owner = owner_of(c, err);

    return owner != NULL && set_rest(c, edit_column(c->arena, owner, arg(c, 1), err), err);
}

static bool delete_column(struct object_change *c, struct err *err)
{
    struct yaml_node *owner = owner_of(c, err);

    return owner != NULL && edit_delete_column(c->arena, owner, arg(c, 1), err);
}

int command_column_add(const struct invocation *inv)
{
    return change(inv, false, add_column);
}

int command_column_set(const struct invocation *inv)
{
    return change(inv, false, set_column);
}

int command_column_delete(const struct invocation *inv)
{
    return change(inv, false, delete_column);
}
