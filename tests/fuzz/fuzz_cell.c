/*
 * One cell: its type and metadata, what the schema says of the column, and its bytes.  Whatever
 * is read must print as JSON, and the text written straight from the bytes must be the same.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/cursor.h"
#include "src/format/json.h"
#include "sync/decode/cell.h"
#include "sync/decode/cell_json.h"
#include "sync/decode/wire.h"
#include "sync/value/schema.h"
#include "sync/value/value_json.h"

#include <stdlib.h>

static const struct str charsets[] = {
    STR(""),      STR("binary"),  STR("utf8mb4"), STR("latin1"), STR("gbk"),     STR("gb18030"),
    STR("sjis"),  STR("ujis"),    STR("big5"),    STR("euckr"),  STR("ucs2"),    STR("utf16"),
    STR("utf32"), STR("utf16le"), STR("swe7"),    STR("cp932"),  STR("eucjpms"), STR("gb2312"),
};

static const struct str labels[] = {STR("a"), STR("bé"), STR("")};

/* expected.ptr NULL: the cell cannot be read. */
static void check_straight(const struct column_plan *plan, struct arena *a, const uint8_t *p,
                           const uint8_t *end, struct str expected)
{
    struct cell_writer w;
    struct cell_json c;
    struct buf text = {0};

    cell_writer_init(&w);
    cell_json_init(&c, plan, a);
    cell_writer_begin(&w, &text);
    cell_writer_need(&w, CELL_JSON_ROOM);

    const bool ok = cell_json_write(&c, p, end, &w) != NULL;

    cell_writer_end(&w);
    if (ok != (expected.ptr != NULL) || (ok && !str_equal(buf_str(&text), expected)))
        abort();
    cell_writer_fini(&w);
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct column column = {.labels = (struct str *)(uintptr_t)labels};
    struct cell_reader reader;
    struct wire_column wire;
    struct column_plan plan;
    struct cursor meta;
    struct value v;

    if (len < 9)
        return 0;
    column.type = (enum column_type)(bytes[1] % (COLUMN_VECTOR + 1));
    column.charset = charsets[bytes[2] % ARRAY_LEN(charsets)];
    column.fsp = bytes[3] % 8;
    column.is_unsigned = (bytes[3] & 8) != 0;
    column.n_labels = bytes[3] >> 4 & 3;
    meta = (struct cursor){.p = bytes + 4, .end = bytes + 9};
    if (!wire_column_parse(bytes[0], &meta, &wire) || meta.failed ||
        !cell_plan(&wire, &column, &plan))
        return 0;

    struct arena *a = arena_new();
    struct buf text = {0};
    struct err err;

    cell_reader_init(&reader);
    cell_reader_use(&reader, a, arena_bytes(a, plan.text_max));
    if (cell_read(&reader, &plan, bytes + 9, bytes + len, &v) != NULL) {
        value_append_json(&text, &v);
        if (!json_valid(buf_str(&text), &err))
            abort();
    }
    check_straight(&plan, a, bytes + 9, bytes + len, buf_str(&text));
    cell_reader_fini(&reader);
    arena_free(a);
    buf_free(&text);
    return 0;
}
