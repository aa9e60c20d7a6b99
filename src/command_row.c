#include "config.h"

#include "src/commands.h"

#include "src/json.h"
#include "src/session.h"

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

static void view_explain(struct buf *out, struct render_style style, struct str json)
{
    struct str part;
    bool found = true;

    buf_append(out, STR("Table "));
    render_value(out, style, json, "/table", RENDER_TEXT);
    buf_append(out, STR(", index "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    if (json_find(json, "/sql", &part)) {
        buf_append(out, STR("\n\nSQL\n"));
        add_lines(out, part);
    }
    json_find_bool(json, "/found", &found);
    if (!found)
        buf_append(out, STR("\nNo such row: its document is deleted\n"));
    else if (json_find(json, "/document", &part)) {
        buf_append(out, STR("\nDocument\n"));
        render_json(out, part);
    }
    if (json_find(json, "/bulk", &part)) {
        buf_append(out, STR("\nBulk\n"));
        add_lines(out, part);
    }
}

static void table_path(struct call *call, const char *table, const char *what)
{
    call_path(call, "/api/v1/tables");
    call_segment(call, table);
    call_segment(call, what);
}

int command_explain(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

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

    table_path(&call, inv->args[0], "mapping");
    return session_run(inv, &call, view_mapping);
}
