#include "config.h"

#include "src/cli/commands.h"
#include "src/cli/definition_files.h"

#include "src/base/buf.h"
#include "src/cli/session.h"
#include "src/cli/view/screen.h"
#include "src/format/json.h"

static void add_lines(struct buf *out, struct str list)
{
    struct json_reader r;

    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r)) {
        json_read_text(&r, out);
        buf_append_char(out, '\n');
    }
}

/* Append each statement with a line "-- rows: 3, ms: 0.41" below it. */
static void add_statements(struct buf *out, struct render_style style, struct str list)
{
    struct json_reader r;
    struct str one;

    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &one)) {
        render_value(out, style, one, "/statement", RENDER_TEXT);
        buf_append(out, STR(";\n  -- rows: "));
        render_value(out, style, one, "/rows", RENDER_COUNT);
        buf_append(out, STR(", ms: "));
        render_value(out, style, one, "/ms", RENDER_TEXT);
        buf_append_char(out, '\n');
    }
}

/* People see at most this many names of a list; programs ask for JSON. */
#define NAMES_MAX 20

static void add_names(struct buf *out, struct str object, const char *pointer)
{
    struct json_reader r;
    struct str list;
    size_t n = 0;

    if (!json_find(object, pointer, &list))
        return;
    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    for (struct buf name = {0}; json_next_element(&r); buf_free(&name), n++) {
        if (n >= NAMES_MAX || !json_read_text(&r, &name))
            continue;
        buf_append(out, n == 0 ? STR("") : STR(", "));
        screen_safe(out, buf_str(&name));
    }
    if (n == 0)
        buf_append(out, STR("none"));
    if (n > NAMES_MAX)
        buf_printf(out, " and %zu more", n - NAMES_MAX);
}

static bool is_text(struct str object, const char *pointer, const char *text)
{
    struct buf found = {0};
    const bool is =
        json_find_text(object, pointer, &found) && str_equal(buf_str(&found), str_from(text));

    buf_free(&found);
    return is;
}

static const struct {
    const char *way, *text;
} ways[] = {
    {"row", "it is the row itself"},
    {"key", "these columns hold the document's key, which the binlog contains"},
    {"sql", "documents are looked up by SQL"},
    {"none", "not followed: `refresh: none`"},
};

static void add_origin(struct buf *out, struct render_style style, struct str o)
{
    bool link = false, any = false;
    struct str sql;

    json_find_bool(o, "/link", &link);
    json_find_bool(o, "/any_column", &any);
    buf_append(out, STR("  "));
    render_value(out, style, o, "/table", RENDER_TEXT);
    if (!is_text(o, "/path", "")) {
        buf_append(out, link ? STR(", which links ") : STR(", shown as "));
        render_value(out, style, o, "/path", RENDER_TEXT);
    }
    buf_append(out, STR("\n    columns  "));
    if (any)
        buf_append(out, STR("every column (a condition or order in SQL may use any); reads "));
    add_names(out, o, "/columns");
    buf_append(out, STR("\n    by       "));
    add_names(out, o, "/by");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (is_text(o, "/way", ways[i].way))
            buf_printf(out, ": %s", ways[i].text);
    if (json_find(o, "/sql", &sql) && !str_equal(sql, STR("null"))) {
        buf_append(out, STR("\n             "));
        render_value(out, style, o, "/sql", RENDER_TEXT);
    }
    buf_append(out, STR("\n    rows     "));
    add_names(out, o, "/rows");
    buf_append_char(out, '\n');
}

static void add_origins(struct buf *out, struct render_style style, struct str list)
{
    struct json_reader r;
    struct str one;

    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &one))
        add_origin(out, style, one);
}

static const struct {
    const char *row, *text;
} missing_rows[] = {
    {"absent", "There is no such row: its document is deleted"},
    {"filtered", "The row is there, and `filter` leaves it out: its document is deleted"},
    {"unrooted", "The row is there, and its parent or root is NULL: it has no document"},
    {"soft_deleted", "The row is there, marked as deleted: its document is deleted"},
};

static void add_document(struct buf *out, struct str json)
{
    struct buf reason = {0};
    struct str part;
    bool found = true;

    json_find_bool(json, "/found", &found);
    for (size_t i = 0; i < ARRAY_LEN(missing_rows); i++)
        if (is_text(json, "/row", missing_rows[i].row))
            buf_printf(out, "\n%s\n", missing_rows[i].text);
    if (json_find_text(json, "/reason", &reason) && reason.len > 0) {
        buf_append(out, STR("\nIts document cannot be built, it becomes a dead letter: "));
        screen_safe(out, buf_str(&reason));
        buf_append_char(out, '\n');
    }
    buf_free(&reason);
    if (found && json_find(json, "/document", &part)) {
        buf_append(out, STR("\nDocument\n"));
        render_json(out, part);
    }
}

static void view_explain(struct buf *out, struct render_style style, struct str json)
{
    struct str part;

    buf_append(out, STR("Table "));
    render_value(out, style, json, "/table", RENDER_TEXT);
    buf_append(out, STR(", index "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    if (json_find(json, "/sql", &part)) {
        buf_append(out, STR("\n\nSQL\n"));
        add_statements(out, style, part);
    }
    add_document(out, json);
    if (json_find(json, "/bulk", &part)) {
        buf_append(out, STR("\nBulk\n"));
        add_lines(out, part);
    }
    if (json_find(json, "/origins", &part)) {
        buf_append(out, STR("\nBuilt again by a change of\n"));
        add_origins(out, style, part);
    }
}

static void table_path(struct call *call, const char *table, const char *what)
{
    call_path(call, "/api/v1/tables");
    call_segment(call, table);
    call_segment(call, what);
}

/* Ask about definitions that are in files, and not stored. */
static int ask_of_draft(const struct invocation *inv, const char *what, const char *key,
                        size_t first, view_fn view)
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};
    struct err err = {0};
    bool ok;

    table_path(&call, inv->args[0], what);
    json_open_object(&w);
    if (key != NULL)
        json_put_cstr(&w, STR("key"), key);
    ok = definition_files_add(&w, inv, first, &err);
    json_close_object(&w);
    if (ok)
        return session_run(inv, &call, view);
    buf_free(&call.target);
    buf_free(&call.body);
    return command_fail(&err);
}

int command_explain(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    if (inv->n_args > 2)
        return ask_of_draft(inv, "explain", inv->args[1], 2, view_explain);
    table_path(&call, inv->args[0], "explain");
    call_param(&call, "key", inv->args[1]);
    return session_run(inv, &call, view_explain);
}

static void view_mapping(struct buf *out, struct render_style style, struct str json)
{
    struct str body;

    (void)style;
    if (json_find(json, "/body", &body))
        render_yaml(out, body);
}

int command_mapping(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    if (inv->n_args > 1)
        return ask_of_draft(inv, "mapping", NULL, 1, view_mapping);
    table_path(&call, inv->args[0], "mapping");
    return session_run(inv, &call, view_mapping);
}

static void view_columns(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    json_find_text(json, "/definition", out);
}

int command_columns(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    table_path(&call, inv->args[0], "columns");
    return session_run(inv, &call, view_columns);
}
