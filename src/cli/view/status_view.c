#include "config.h"

#include "src/cli/view/status_view.h"

#include "src/base/human.h"
#include "src/cli/view/doctor_view.h"
#include "src/cli/view/screen.h"
#include "src/format/json.h"

static bool has_text(struct str object, const char *pointer)
{
    struct buf value = {0};
    bool has = json_find_text(object, pointer, &value) && value.len > 0;

    buf_free(&value);
    return has;
}

static bool has_value(struct str object, const char *pointer)
{
    struct str raw;

    return json_find(object, pointer, &raw) && !str_equal(raw, STR("null"));
}

static void put(struct buf *out, struct str json, const char *pointer, enum render_kind kind)
{
    render_value(out, (struct render_style){0}, json, pointer, kind);
}

/* Append when it last answered. */
static void put_since(struct buf *out, struct str json, const char *as_of)
{
    if (has_value(json, as_of))
        put(out, json, as_of, RENDER_TEXT);
    else
        buf_append(out, STR("the start"));
}

static void view_head(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("Millrace "));
    put(out, json, "/version", RENDER_TEXT);
    buf_append(out, STR(", since "));
    put(out, json, "/started", RENDER_TEXT);
    buf_append(out, STR("\nSearch engine: "));
    render_value(out, style, json, "/search/health", RENDER_STATE);
    if (has_text(json, "/search/reason")) {
        buf_append(out, STR(" since "));
        put_since(out, json, "/search/as_of");
    }
    if (has_text(json, "/search/flavor")) {
        buf_append(out, STR(", "));
        put(out, json, "/search/flavor", RENDER_TEXT);
        buf_append_char(out, ' ');
        put(out, json, "/search/version", RENDER_TEXT);
    }
    buf_append(out, STR(" at "));
    put(out, json, "/search/url", RENDER_TEXT);
    if (has_text(json, "/search/reason")) {
        buf_append(out, STR("\n  "));
        put(out, json, "/search/reason", RENDER_TEXT);
    }
    buf_append_char(out, '\n');
    if (has_text(json, "/store/reason")) {
        buf_append(out, STR("Store: away since "));
        put_since(out, json, "/store/as_of");
        buf_append(out, STR("; this shows its content as of then\n  "));
        put(out, json, "/store/reason", RENDER_TEXT);
        buf_append_char(out, '\n');
    }
}

/* Only of a store that is shared. */
static void view_cluster(struct buf *out, struct str json)
{
    uint64_t n = 0;
    bool is_normal = false;

    if (!json_find_bool(json, "/cluster/normal", &is_normal))
        return;
    json_find_u64(json, "/cluster/nodes", &n);
    buf_append(out, STR("Cluster: "));
    human_count(out, n);
    buf_append(out, n == 1 ? STR(" node, ") : STR(" nodes, "));
    if (has_text(json, "/cluster/waits_for"))
        put(out, json, "/cluster/waits_for", RENDER_TEXT);
    else
        buf_append(out, is_normal ? STR("normal") : STR("not normal yet"));
    buf_append_char(out, '\n');
}

/* List the engine's addresses only if there are several; the head shows a single one. */
static void view_addresses(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ADDRESS", "/address", RENDER_TEXT}, {"STATE", "/state", RENDER_STATE},
        {"SINCE", "/since", RENDER_TEXT},     {"SNIFFED", "/sniffed", RENDER_YES},
        {"REASON", "/reason", RENDER_START},
    };
    struct str addresses;

    if (!has_value(json, "/search/addresses/1") ||
        !json_find(json, "/search/addresses", &addresses))
        return;
    buf_append_char(out, '\n');
    render_table(out, style, addresses, columns, ARRAY_LEN(columns));
}

/* The nodes that share the store. */
static void view_nodes(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"NODE", "/name", RENDER_TEXT},       {"STATE", "/state", RENDER_STATE},
        {"VERSION", "/version", RENDER_TEXT}, {"STARTED", "/started", RENDER_TEXT},
        {"PAGE", "/address", RENDER_SPARE},   {"TOLD", "/told_ms", RENDER_AGE},
    };
    struct str nodes;

    if (!json_find(json, "/nodes", &nodes) || nodes.len <= 2)
        return;
    buf_append_char(out, '\n');
    render_table(out, style, nodes, columns, ARRAY_LEN(columns));
}

static void view_topics(struct buf *out, struct render_style style, struct str topics)
{
    static const struct render_column columns[] = {
        {"TOPIC", "/name", RENDER_TEXT},      {"STATE", "/state", RENDER_STATE},
        {"LAG", "/lag_seconds", RENDER_LAG},  {"BEHIND", "/lag_bytes", RENDER_BYTES},
        {"CHANGES/S", "/rate", RENDER_COUNT}, {"SERVER", "/server", RENDER_TEXT},
        {"OWNER", "/owner", RENDER_TEXT},     {"TOLD", "/told_ms", RENDER_AGE},
    };
    struct str owner;
    const size_t left_out = json_find(topics, "/0/owner", &owner) ? 0 : 2;

    if (topics.len <= 2)
        buf_append(out, STR("\nNo topics yet: millrace apply FILE\n"));
    else {
        buf_append_char(out, '\n');
        render_table(out, style, topics, columns, ARRAY_LEN(columns) - left_out);
    }
}

static void view_tables(struct buf *out, struct render_style style, struct str tables)
{
    static const struct render_column columns[] = {
        {"TABLE", "/table", RENDER_TEXT},    {"STATE", "/state", RENDER_STATE},
        {"INDEX", "/index", RENDER_SPARE},   {"VERSION", "/version", RENDER_COUNT},
        {"LAG", "/lag_seconds", RENDER_LAG}, {"DOCUMENTS", "/documents", RENDER_KNOWN},
        {"DOCS/S", "/rate", RENDER_COUNT},   {"DEAD", "/dead_letters", RENDER_COUNT},
    };

    if (tables.len <= 2)
        buf_append(out, STR("\nNo tables yet\n"));
    else {
        buf_append_char(out, '\n');
        render_table(out, style, tables, columns, ARRAY_LEN(columns));
    }
}

static void view_delivery(struct buf *out, struct str json)
{
    static const struct render_part delivery[] = {
        {"Delivery: ", "/delivery/queued", RENDER_COUNT, " queued"},
        {", ", "/delivery/loading", RENDER_COUNT, " being read again"},
        {", ", "/delivery/in_flight", RENDER_COUNT, " in flight"},
        {", ", "/delivery/bytes_held", RENDER_BYTES, " held"},
        {", ", "/delivery/requests", RENDER_COUNT, " requests"},
        {", ", "/delivery/retries", RENDER_COUNT, " retries"},
    };
    static const struct render_part changes[] = {
        {"Changes: ", "/changes/read", RENDER_COUNT, " read"},
        {", ", "/changes/delivered", RENDER_COUNT, " delivered"},
        {", ", "/changes/superseded", RENDER_COUNT, " superseded"},
        {", ", "/changes/filtered", RENDER_COUNT, " filtered"},
        {", ", "/changes/deferred", RENDER_COUNT, " deferred"},
        {", ", "/changes/purged", RENDER_COUNT, " purged"},
        {", ", "/changes/dead", RENDER_COUNT, " dead letters"},
        {", ", "/changes/in_flight", RENDER_COUNT, " in flight"},
    };

    buf_append_char(out, '\n');
    render_line(out, json, delivery, ARRAY_LEN(delivery));
    render_line(out, json, changes, ARRAY_LEN(changes));
}

static void add_note(struct buf *out, struct str item, const char *name)
{
    buf_append_char(out, '\n');
    put(out, item, name, RENDER_TEXT);
    buf_append(out, STR(": "));
}

static bool is_finishing(struct str table)
{
    struct buf phase = {0};
    const bool is = json_find_text(table, "/build/phase", &phase) &&
                    str_equal(buf_str(&phase), STR("finishing"));

    buf_free(&phase);
    return is;
}

/* Adds nothing unless a build runs. */
static void note_rows(struct buf *out, struct str table)
{
    uint64_t done = 0, total = 0;

    if (!json_find_u64(table, "/build/rows_done", &done))
        return;
    json_find_u64(table, "/build/rows_total", &total);
    if (is_finishing(table)) {
        buf_append(out, STR(": all rows are written, "));
        human_count(out, done);
        return;
    }
    buf_printf(out, ": %.1f %%, ", human_percent(done, total));
    human_count(out, done);
    buf_append(out, STR(" of about "));
    human_count(out, total > done ? total : done);
    buf_append(out, STR(" rows, "));
    put(out, table, "/build/rate", RENDER_COUNT);
    buf_append(out, STR("/s"));
    if (has_value(table, "/build/remaining_seconds")) {
        buf_append(out, STR(", "));
        put(out, table, "/build/remaining_seconds", RENDER_SECONDS);
        buf_append(out, STR(" left"));
    }
}

static void note_build(struct buf *out, struct str table)
{
    if (!has_value(table, "/build/version"))
        return;
    add_note(out, table, "/table");
    buf_append(out, STR("builds version "));
    put(out, table, "/build/version", RENDER_COUNT);
    note_rows(out, table);
    if (has_text(table, "/build/waits_for")) {
        bool slow = false;

        (void)json_find_bool(table, "/build/slow", &slow);
        buf_append(out, slow ? STR("\n  but ") : STR("\n  waits: "));
        put(out, table, "/build/waits_for", RENDER_TEXT);
    }
}

static void note_fan_out(struct buf *out, struct str table)
{
    uint64_t rows;

    if (!json_find_u64(table, "/fan_out/rows", &rows))
        return;
    add_note(out, table, "/table");
    buf_append(out, STR("reads documents of "));
    human_count(out, rows);
    buf_append(out, STR(" changed rows that lead to very many again: "));
    put(out, table, "/fan_out/documents_done", RENDER_COUNT);
    buf_append(out, STR(" done"));
    if (!has_value(table, "/fan_out/remaining"))
        return;
    buf_append(out, STR(", "));
    put(out, table, "/fan_out/remaining", RENDER_COUNT);
    buf_append(out, STR(" left"));
}

static void note_cascades(struct buf *out, struct str table)
{
    uint64_t documents;

    if (!json_find_u64(table, "/cascades/documents", &documents))
        return;
    add_note(out, table, "/table");
    buf_append(out, STR("keeps documents of deleted rows until it has found what foreign keys "
                        "changed with them: "));
    human_count(out, documents);
}

static void note_dropped(struct buf *out, struct str table)
{
    uint64_t dropped;

    if (!json_find_u64(table, "/dropped", &dropped) || dropped == 0)
        return;
    add_note(out, table, "/table");
    buf_append(out, STR("since the start its ingest pipeline has dropped documents: "));
    human_count(out, dropped);
}

/* A version that is kept costs its space, and each write once more. */
static void note_version(struct buf *out, struct str table, struct str kept)
{
    add_note(out, table, "/table");
    buf_append(out, STR("also writes version "));
    put(out, kept, "/version", RENDER_COUNT);
    if (has_value(kept, "/documents")) {
        buf_append(out, STR(" ("));
        put(out, kept, "/documents", RENDER_COUNT);
        buf_append(out, STR(" documents)"));
    }
    buf_append(out, STR(" until "));
    put(out, kept, "/until", RENDER_TEXT);
    buf_append(out, STR(", so that millrace index rollback can return to it"));
    if (has_text(kept, "/reason")) {
        buf_append(out, STR("\n  not current: "));
        put(out, kept, "/reason", RENDER_TEXT);
    }
}

static void note_kept(struct buf *out, struct str table)
{
    struct json_reader r;
    struct str list, item;

    if (!json_find(table, "/kept", &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item))
            note_version(out, table, item);
}

/* When what cron starts was last well. */
static void note_runs(struct buf *out, struct str table)
{
    static const struct {
        const char *path, *words;
    } runs[] = {
        {"/runs/delayed/last_success", "delayed run "},
        {"/runs/replay/last_success", "replay "},
        {"/runs/check/last_success", "check "},
    };
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        if (!has_text(table, runs[i].path))
            continue;
        if (!any)
            add_note(out, table, "/table");
        buf_append(out, any ? STR(", ") : STR("last good "));
        buf_append(out, str_from(runs[i].words));
        put(out, table, runs[i].path, RENDER_TEXT);
        any = true;
    }
}

static void note_table(struct buf *out, struct str table)
{
    bool is_pending = false;

    note_build(out, table);
    note_fan_out(out, table);
    note_cascades(out, table);
    note_dropped(out, table);
    note_kept(out, table);
    note_runs(out, table);
    if (json_find_bool(table, "/pending", &is_pending) && is_pending) {
        add_note(out, table, "/table");
        buf_append(out, STR("its definition has changed: the next millrace index create "
                            "applies it"));
    }
}

/* The oldest undelivered change has left the log but is not in the index yet. */
static void note_lag(struct buf *out, struct str topic)
{
    if (!has_text(topic, "/lag_of"))
        return;
    add_note(out, topic, "/name");
    buf_append(out, STR("its oldest undelivered change belongs to "));
    put(out, topic, "/lag_of", RENDER_TEXT);
}

static void note_position(struct buf *out, struct str topic)
{
    if (!has_text(topic, "/file"))
        return;
    add_note(out, topic, "/name");
    buf_append(out, STR("is done up to "));
    put(out, topic, "/file", RENDER_TEXT);
    buf_append_char(out, ':');
    put(out, topic, "/position", RENDER_TEXT);
    if (has_text(topic, "/gtid")) {
        buf_append(out, STR(", GTID "));
        put(out, topic, "/gtid", RENDER_TEXT);
    }
}

static void view_notes(struct buf *out, struct str list, bool tables)
{
    struct json_reader r;
    struct str item;

    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &item)) {
        if (tables) {
            note_table(out, item);
            continue;
        }
        note_position(out, item);
        note_lag(out, item);
    }
}

static void view_all(struct buf *out, struct render_style style, struct str json)
{
    struct str topics = STR("[]"), tables = STR("[]");
    struct buf checks = {0}, notes = {0};
    const bool warned = doctor_view_checks(&checks, style, json, "/checks", false);

    json_find(json, "/topics", &topics);
    json_find(json, "/tables", &tables);
    view_head(out, style, json);
    view_cluster(out, json);
    doctor_view_verdict(out, json, warned);
    view_addresses(out, style, json);
    view_nodes(out, style, json);
    view_topics(out, style, topics);
    view_tables(out, style, tables);
    view_delivery(out, json);
    view_notes(&notes, topics, false);
    view_notes(&notes, tables, true);
    if (notes.len > 0)
        buf_append_char(&notes, '\n');
    buf_append(out, buf_str(&notes));
    if (checks.len > 0)
        buf_append_char(out, '\n');
    buf_append(out, buf_str(&checks));
    buf_free(&notes);
    buf_free(&checks);
}

void status_view(struct buf *out, struct render_style style, struct str json)
{
    struct buf text = {0};

    view_all(&text, style, json);
    if (style.width > 0)
        screen_wrap(out, buf_str(&text), style.width);
    else
        buf_append(out, buf_str(&text));
    buf_free(&text);
}
