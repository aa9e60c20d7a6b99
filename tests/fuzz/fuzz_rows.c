/*
 * One table and its rows: the server, the type of the event, the length of the table map in two
 * bytes, the map's body, and the body of the rows.  Both are given the table id that they need,
 * so that mutants stay together.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/format/json.h"
#include "sync/decode/event.h"
#include "sync/decode/row.h"
#include "sync/decode/table_map.h"
#include "sync/value/schema.h"
#include "sync/value/value_json.h"

#include <assert.h>
#include <stdlib.h>

static void check_image(struct buf *out, const struct value *values, size_t n)
{
    struct err err;

    for (size_t i = 0; values != NULL && i < n; i++) {
        buf_clear(out);
        if (values[i].kind == VALUE_ABSENT)
            continue;
        value_append_json(out, &values[i]);
        if (out->len < 4096)
            assert(json_valid(buf_str(out), &err));
    }
}

static void read_rows(const struct event_rows *rows, const struct table_map *map, bool in_arena)
{
    struct row_reader *reader = row_reader_new();
    struct arena *a = in_arena ? arena_new() : NULL;
    struct buf out = {0};
    struct row_change change;
    struct err err = {0};
    size_t n = 0;
    int got = -1;

    if (row_reader_open(reader, rows, map, &err))
        while ((got = row_reader_next(reader, a, &change, &err)) == 1 && n++ < 1000) {
            check_image(&out, change.before, map->n_columns);
            check_image(&out, change.after, map->n_columns);
        }
    assert(got >= 0 || err.kind == ERR_REJECT);
    buf_free(&out);
    arena_free(a);
    row_reader_free(reader);
}

static void check_map(const struct table_map *m, struct str body)
{
    assert(m->database.len < body.len && m->table.len < body.len);
    if (!m->wanted || m->broken.kind != ERR_NONE)
        return;
    assert(m->schema->n_columns == m->n_columns && m->n_columns <= 4096);
    for (size_t i = 0; i < m->n_columns; i++)
        assert(m->schema->columns[i].name.len > 0 || m->has_names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 4)
        return 0;

    const size_t left = len - 4, said = load_le16(bytes + 2), n = said < left ? said : left;
    const struct str map_body = {(const char *)bytes + 4, n};
    const struct str rows_body = {map_body.ptr + n, left - n};
    struct event_format f = {
        .version = 4, .mariadb = (bytes[0] & 1) != 0, .header_len = 19, .n_types = 171};
    struct table_maps *maps = table_maps_new(NULL, NULL);
    struct table_map *map;
    struct event_rows rows;
    struct err err;

    for (unsigned type = 1; type <= f.n_types; type++)
        f.post_header_len[type - 1] = (type >= 30 && type <= 32) || type == 39 ? 10 : 8;
    if (table_maps_add(maps, &f, map_body, &map, &err)) {
        check_map(map, map_body);
        if (event_rows_parse(&f, bytes[1], rows_body, &rows, &err))
            read_rows(&rows, map, (bytes[0] & 2) != 0);
    }
    table_maps_free(maps);
    return 0;
}
