#include "config.h"

#include "src/cli/view/verify_view.h"

#include "src/base/buf.h"
#include "src/cli/view/screen.h"
#include "src/format/json.h"

#include <inttypes.h>

void view_each(struct buf *out, struct render_style style, struct str json, const char *pointer,
               void (*add)(struct buf *out, struct render_style style, struct str one))
{
    struct json_reader r;
    struct str list, one;

    if (!json_find(json, pointer, &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &one))
            add(out, style, one);
}

static void add_value(struct buf *out, struct str path, const char *title, const char *pointer)
{
    struct str value;

    if (!json_find(path, pointer, &value))
        return;
    buf_printf(out, "\n      %s", title);
    screen_safe(out, value);
}

static void add_path(struct buf *out, struct render_style style, struct str path)
{
    buf_append(out, STR("    "));
    render_value(out, style, path, "/path", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, style, path, "/kind", RENDER_TEXT);
    add_value(out, path, "row       ", "/wanted");
    add_value(out, path, "document  ", "/found");
    buf_append_char(out, '\n');
}

static void add_difference(struct buf *out, struct render_style style, struct str d)
{
    bool repaired = false;

    json_find_bool(d, "/repaired", &repaired);
    buf_append(out, STR("  "));
    render_value(out, style, d, "/id", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, style, d, "/kind", RENDER_TEXT);
    buf_append(out, repaired ? STR(", repaired\n") : STR("\n"));
    view_each(out, style, d, "/paths", add_path);
}

void view_differences(struct buf *out, struct render_style style, struct str json)
{
    view_each(out, style, json, "/differences", add_difference);
}

static void add_apart(struct buf *out, struct render_style style, struct str one)
{
    buf_append(out, STR("  "));
    render_value(out, style, one, "/id", RENDER_TEXT);
    buf_append(out, STR(": not judged ("));
    render_value(out, style, one, "/reason", RENDER_TEXT);
    buf_append(out, STR(")\n"));
}

/* What is listed may be less than what was counted. */
static void say_more(struct buf *out, struct str json)
{
    bool is_cut = false;
    uint64_t all = 0, equal = 0, differing = 0, repaired = 0, orphans = 0;

    if (!json_find_bool(json, "/cut", &is_cut) || !is_cut)
        return;
    (void)json_find_u64(json, "/documents", &all);
    (void)json_find_u64(json, "/equal", &equal);
    (void)json_find_u64(json, "/differing", &differing);
    (void)json_find_u64(json, "/repaired", &repaired);
    (void)json_find_u64(json, "/counts/orphan", &orphans);
    buf_printf(out,
               "  not all are listed: %" PRIu64
               " documents differ, were repaired or lack a parent, and %" PRIu64
               " were not judged\n",
               differing + repaired + orphans, all - equal - differing);
}

static void say_orphans(struct buf *out, struct str json)
{
    uint64_t n = 0;

    if (json_find_u64(json, "/counts/orphan", &n) && n > 0)
        buf_printf(out,
                   "  %" PRIu64 " children without parent (orphan): no row has the key that "
                   "they name, so the index is as the tables are\n",
                   n);
}

static void add_why(struct buf *out, struct str json)
{
    struct buf why = {0};

    if (json_find_text(json, "/why", &why) && why.len > 0) {
        buf_append(out, STR("  "));
        screen_safe(out, buf_str(&why));
        buf_append_char(out, '\n');
    }
    buf_free(&why);
}

static void add_progress(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("job "));
    render_value(out, style, json, "/job", RENDER_TEXT);
    buf_append(out, STR(" still runs: "));
    render_value(out, style, json, "/rows_done", RENDER_COUNT);
    buf_append(out, STR(" of about "));
    render_value(out, style, json, "/rows_total", RENDER_COUNT);
    buf_append(out, STR(" rows and documents\n"));
}

/* What a check has asked a table, and what it cannot see. */
static void add_checked(struct buf *out, struct render_style style, struct str one)
{
    struct buf since = {0};

    (void)json_find_text(one, "/since", &since);
    buf_append(out, STR("rows of "));
    render_value(out, style, one, "/table", RENDER_TEXT);
    buf_append(out,
               since.len > 0 ? STR(" that changed since ") : STR(" that have a value in "));
    render_value(out, style, one, since.len > 0 ? "/since" : "/column", RENDER_TEXT);
    buf_append(out, STR(", without deleted rows, rows where "));
    render_value(out, style, one, "/column", RENDER_TEXT);
    buf_append(out, STR(" is NULL, and changes of related rows\n"));
    buf_free(&since);
}

static void say_rewritten(struct buf *out, struct str json)
{
    uint64_t equal = 0, repaired = 0;

    if (json_find_u64(json, "/rewritten", &equal) && equal > 0) {
        (void)json_find_u64(json, "/repaired", &repaired);
        buf_printf(out,
                   "  %" PRIu64 " were read again and written; %" PRIu64
                   " of them differed before\n",
                   equal + repaired, repaired);
    }
}

static void add_replay(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/written", RENDER_COUNT);
    buf_append(out, STR(" of "));
    render_value(out, style, json, "/documents", RENDER_COUNT);
    buf_append(out, STR(" documents of "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" that "));
    render_value(out, style, json, "/day", RENDER_TEXT);
    buf_append(out, STR(" may have changed were read and written again\n"));
    add_why(out, json);
}

void view_drain(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/detail", RENDER_TEXT);
    buf_append(out, STR(", "));
    render_value(out, style, json, "/queued", RENDER_COUNT);
    buf_append(out, STR(" documents are queued now\n"));
}

void view_verify(struct buf *out, struct render_style style, struct str json)
{
    bool compared = true;
    struct str verdict, where, day;
    uint64_t sample = 0;

    if (!json_find(json, "/verdict", &verdict)) {
        add_progress(out, style, json);
        return;
    }
    if (json_find(json, "/day", &day)) {
        add_replay(out, style, json);
        return;
    }
    if (json_find_u64(json, "/sample", &sample) && sample > 0)
        buf_append(out, STR("a sample: "));
    view_each(out, style, json, "/checked", add_checked);
    if (json_find(json, "/where", &where) && where.len > 2)
        buf_append(out, STR("of the rows that meet the condition: "));
    render_value(out, style, json, "/equal", RENDER_COUNT);
    buf_append(out, STR(" of "));
    render_value(out, style, json, "/documents", RENDER_COUNT);
    buf_append(out, STR(" documents of "));
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" (version "));
    render_value(out, style, json, "/version", RENDER_COUNT);
    buf_append(out, STR(") are equal to their rows\n"));
    json_find_bool(json, "/values_compared", &compared);
    if (!compared)
        buf_append(out, STR("  values are not compared: `mapping` changes _source\n"));
    say_rewritten(out, json);
    view_differences(out, style, json);
    view_each(out, style, json, "/apart", add_apart);
    say_more(out, json);
    say_orphans(out, json);
    add_why(out, json);
}
