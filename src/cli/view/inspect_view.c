#include "config.h"

#include "src/cli/view/inspect_view.h"

#include "src/cli/view/render.h"
#include "src/format/json.h"

static const struct render_part file_parts[] = {
    {"", "/file", RENDER_TEXT, NULL},
    {"  ", "/bytes", RENDER_BYTES, NULL},
    {", events ", "/events", RENDER_COUNT, NULL},
    {", ", "/closed", RENDER_TEXT, NULL},
    {", goes on in ", "/next_file", RENDER_TEXT, NULL},
};
static const struct render_part server_parts[] = {
    {"  server        ", "/server", RENDER_TEXT, NULL},
    {", log version ", "/version", RENDER_TEXT, NULL},
    {", checksum ", "/checksum", RENDER_TEXT, NULL},
    {", changes as ", "/format", RENDER_TEXT, NULL},
};
static const struct render_part time_parts[] = {
    {"  time          ", "/first_time", RENDER_TEXT, NULL},
    {" to ", "/last_time", RENDER_TEXT, NULL},
};
static const struct render_part place_parts[] = {
    {"  offsets       ", "/pos", RENDER_TEXT, NULL},
    {" to ", "/end_pos", RENDER_TEXT, NULL},
};
static const struct render_part transaction_parts[] = {
    {"  transactions  ", "/transactions", RENDER_COUNT, NULL},
    {", rolled back ", "/rolled_back", RENDER_COUNT, NULL},
    {", XA prepared ", "/xa_prepared", RENDER_COUNT, NULL},
};
static const struct render_part gtid_parts[] = {
    {"  GTIDs         ", "/gtids/first", RENDER_TEXT, NULL},
    {" to ", "/gtids/last", RENDER_TEXT, NULL},
};
static const struct render_part before_parts[] = {
    {"  GTIDs before  ", "/gtids/before", RENDER_TEXT, NULL}};
static const struct render_part after_parts[] = {
    {"  GTIDs after   ", "/gtids/after", RENDER_TEXT, NULL}};
static const struct render_part largest_parts[] = {
    {"  largest       ", "/largest_transaction/bytes", RENDER_BYTES, NULL},
    {", rows ", "/largest_transaction/rows", RENDER_COUNT, NULL},
    {", at ", "/largest_transaction/pos", RENDER_TEXT, NULL},
    {", ", "/largest_transaction/gtid", RENDER_TEXT, NULL},
};
static const struct render_part unfinished_parts[] = {
    {"  unfinished    the transaction at ", "/unfinished_transaction/pos", RENDER_TEXT, NULL},
    {", rows ", "/unfinished_transaction/rows", RENDER_COUNT, NULL},
};
static const struct render_part damage_parts[] = {
    {"  damage        at ", "/damage/pos", RENDER_TEXT, NULL},
    {": ", "/damage/reason", RENDER_TEXT, NULL},
};

/* The lines shown for a file. */
static const struct line {
    const struct render_part *parts;
    size_t n;
} lines[] = {
    {file_parts, ARRAY_LEN(file_parts)},
    {server_parts, ARRAY_LEN(server_parts)},
    {time_parts, ARRAY_LEN(time_parts)},
    {place_parts, ARRAY_LEN(place_parts)},
    {transaction_parts, ARRAY_LEN(transaction_parts)},
    {gtid_parts, ARRAY_LEN(gtid_parts)},
    {before_parts, ARRAY_LEN(before_parts)},
    {after_parts, ARRAY_LEN(after_parts)},
    {largest_parts, ARRAY_LEN(largest_parts)},
    {unfinished_parts, ARRAY_LEN(unfinished_parts)},
    {damage_parts, ARRAY_LEN(damage_parts)},
};

static const struct render_column type_columns[] = {
    {"EVENT", "/event", RENDER_TEXT},
    {"COUNT", "/count", RENDER_COUNT},
    {"BYTES", "/bytes", RENDER_BYTES},
};
static const struct render_column table_columns[] = {
    {"DATABASE", "/database", RENDER_TEXT}, {"TABLE", "/table", RENDER_TEXT},
    {"INSERTS", "/inserts", RENDER_COUNT},  {"UPDATES", "/updates", RENDER_COUNT},
    {"DELETES", "/deletes", RENDER_COUNT},  {"EVENTS", "/events", RENDER_COUNT},
    {"BYTES", "/bytes", RENDER_BYTES},      {"METADATA", "/metadata", RENDER_TEXT},
    {"FAULT", "/fault", RENDER_TEXT},
};
static const struct render_column statement_columns[] = {
    {"OFFSET", "/pos", RENDER_TEXT},
    {"TIME", "/time", RENDER_TEXT},
    {"DATABASE", "/database", RENDER_TEXT},
    {"STATEMENT", "/sql", RENDER_TEXT},
};

static const struct list {
    const char *pointer;
    const struct render_column *columns;
    size_t n;
} lists[] = {
    {"/types", type_columns, ARRAY_LEN(type_columns)},
    {"/tables", table_columns, ARRAY_LEN(table_columns)},
    {"/statements", statement_columns, ARRAY_LEN(statement_columns)},
};

static void add_lists(struct buf *out, struct render_style style, struct str item)
{
    struct str list;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (!json_find(item, lists[i].pointer, &list) || str_equal(list, STR("[]")))
            continue;
        buf_append_char(out, '\n');
        render_table(out, style, list, lists[i].columns, lists[i].n);
    }
}

void inspect_view(struct buf *out, struct render_style style, struct str json)
{
    struct json_reader r;
    struct str items, item;
    bool any = false;

    if (!json_find(json, "/items", &items))
        return;
    json_reader_init(&r, items);
    json_enter_array(&r);
    for (; json_next_element(&r) && json_read_raw(&r, &item); any = true) {
        if (any)
            buf_append_char(out, '\n');
        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
            render_line(out, item, lines[i].parts, lines[i].n);
        add_lists(out, style, item);
    }
}
