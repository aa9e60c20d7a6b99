#include "config.h"

#include "src/cli/view/trace_view.h"

#include "src/base/buf.h"
#include "src/cli/view/screen.h"
#include "src/cli/view/verify_view.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>

#define VERSION_OF(before)                                                            \
    {before, "/version", RENDER_TEXT, NULL}, {" (file ", "/file", RENDER_TEXT, NULL}, \
        {", position ", "/position", RENDER_TEXT, NULL},                              \
    {                                                                                 \
        ", epoch ", "/epoch", RENDER_TEXT, ")"                                        \
    }

static bool is_text(struct str json, const char *pointer, const char *text)
{
    struct buf found = {0};
    const bool is =
        json_find_text(json, pointer, &found) && str_equal(buf_str(&found), str_from(text));

    buf_free(&found);
    return is;
}

/* Only members that say something are shown. */
static void add_text(struct buf *out, struct str json, const char *title, const char *pointer)
{
    struct buf text = {0};

    if (json_find_text(json, pointer, &text) && text.len > 0) {
        buf_append(out, str_from(title));
        screen_safe(out, buf_str(&text));
        buf_append_char(out, '\n');
    }
    buf_free(&text);
}

static void add_copy(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {
        VERSION_OF("    document, version "),
        {", lineage ", "/lineage", RENDER_TEXT, NULL},
    };

    (void)style;
    render_line(out, one, parts, ARRAY_LEN(parts));
    add_text(out, one, "      routing ", "/routing");
}

static void add_tombstone(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {VERSION_OF("    tombstone, version ")};

    (void)style;
    render_line(out, one, parts, ARRAY_LEN(parts));
}

static void add_version(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {
        {"  ", "/index", RENDER_TEXT, NULL},
        {", ", "/state", RENDER_TEXT, NULL},
        {": ", "/found", RENDER_TEXT, NULL},
        {", made by ", "/owner", RENDER_TEXT, NULL},
    };
    struct str copies;

    render_line(out, one, parts, ARRAY_LEN(parts));
    add_text(out, one, "    ", "/why");
    if (is_text(one, "/found", "open") && json_find(one, "/copies", &copies) &&
        json_count_elements(copies) == 0)
        buf_append(out, STR("    no document\n"));
    view_each(out, style, one, "/copies", add_copy);
    view_each(out, style, one, "/tombstones", add_tombstone);
}

static void add_letter(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {
        {"  dead letter ", "/id", RENDER_TEXT, NULL},
        {": ", "/reason", RENDER_TEXT, NULL},
    };

    (void)style;
    render_line(out, one, parts, ARRAY_LEN(parts));
}

static void add_purged(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {
        {"  purged ", "/times", RENDER_COUNT, " times"},
        VERSION_OF(", version "),
    };

    (void)style;
    render_line(out, one, parts, ARRAY_LEN(parts));
}

static void add_way(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_part parts[] = {
        {"  delivery: ", "/stage", RENDER_TEXT, NULL},
        VERSION_OF(", version "),
        {", changed ", "/changed", RENDER_TEXT, NULL},
        {", in flight for ", "/in_flight_seconds", RENDER_SECONDS, NULL},
        {", attempts ", "/attempts", RENDER_COUNT, NULL},
    };
    static const struct render_part fan_out[] = {
        {"  fan-out jobs of the index: ", "/fan_out_jobs", RENDER_COUNT, NULL}};
    struct str delivery;
    uint64_t n = 0;

    if (json_find(json, "/delivery", &delivery) && !is_text(delivery, "/stage", "none"))
        render_line(out, delivery, parts, ARRAY_LEN(parts));
    view_each(out, style, json, "/dead_letters", add_letter);
    view_each(out, style, json, "/purged", add_purged);
    if (json_find_u64(json, "/fan_out_jobs", &n) && n > 0)
        render_line(out, json, fan_out, ARRAY_LEN(fan_out));
}

static void add_shown(struct buf *out, struct render_style style, struct str one)
{
    static const struct render_part parts[] = {
        {"  shown by ", "/index", RENDER_TEXT, NULL},
        {", document ", "/id", RENDER_TEXT, NULL},
        {" of ", "/table", RENDER_TEXT, NULL},
        {": ", "/verdict", RENDER_TEXT, NULL},
    };

    (void)style;
    render_line(out, one, parts, ARRAY_LEN(parts));
}

static void add_word(struct buf *out, struct render_style style, struct str one)
{
    buf_append_char(out, ' ');
    render_value(out, style, one, "", RENDER_TEXT);
}

static void add_pending(struct buf *out, struct render_style style, struct str one)
{
    buf_append(out, STR("    "));
    render_value(out, style, one, "", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static void add_change(struct buf *out, struct render_style style, struct str one)
{
    buf_append(out, STR("    "));
    render_value(out, style, one, "/position", RENDER_TEXT);
    buf_append(out, STR("  "));
    render_value(out, style, one, "/time", RENDER_TEXT);
    buf_append(out, STR("  "));
    render_value(out, style, one, "/op", RENDER_TEXT);
    view_each(out, style, one, "/columns", add_word);
    buf_append_char(out, '\n');
}

static void add_log(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_part parts[] = {
        {"  log, ", "/end", RENDER_TEXT, NULL},
        {" at ", "/to", RENDER_TEXT, NULL},
        {": ", "/why", RENDER_TEXT, NULL},
    };
    static const struct render_part unread[] = {
        {"    events in another shape of the table: ", "/unread", RENDER_COUNT, NULL}};
    struct str log;
    uint64_t n = 0;

    if (!json_find(json, "/log", &log) || str_equal(log, STR("null")))
        return;
    render_line(out, log, parts, ARRAY_LEN(parts));
    view_each(out, style, log, "/changes", add_change);
    if (json_find_u64(log, "/unread", &n) && n > 0)
        render_line(out, log, unread, ARRAY_LEN(unread));
}

void view_trace(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_part row[] = {
        {"  row: ", "/row/state", RENDER_TEXT, NULL},
    };
    bool is = false;

    add_text(out, json, "", "/sentence");
    add_text(out, json, "next: ", "/next");
    buf_append(out, STR("  facts:"));
    view_each(out, style, json, "/facts", add_word);
    buf_append_char(out, '\n');
    render_line(out, json, row, ARRAY_LEN(row));
    add_text(out, json, "    ", "/row/reason");
    if (json_find_bool(json, "/definition/pending", &is) && is) {
        buf_append(out, STR("  its definition takes effect with the next index create\n"));
        view_each(out, style, json, "/definition/changes", add_pending);
    }
    view_differences(out, style, json);
    view_each(out, style, json, "/versions", add_version);
    add_way(out, style, json);
    view_each(out, style, json, "/shown_in", add_shown);
    if (json_find_bool(json, "/more", &is) && is)
        buf_append(out, STR("  more documents show it; these are the first\n"));
    add_log(out, style, json);
}
