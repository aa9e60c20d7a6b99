#include "config.h"

#include "src/format/json.h"
#include "src/store/later/snapshot.h"
#include "sync/change/parts.h"
#include "sync/value/value_json.h"

#include <string.h>
#include <xxhash.h>

static const struct schema *schema_of(const struct change_unit *u)
{
    return u->at->map->schema;
}

/* Text of a JSON value, without the quotes of a string. */
static void append_plain(struct buf *out, const struct value *v)
{
    const size_t start = out->len;

    value_append_json(out, v);
    if (out->len < start + 2 || out->ptr[start] != '"')
        return;
    memmove(out->ptr + start, out->ptr + start + 1, out->len - start - 2);
    out->len -= 2;
}

/* Longer ones are told apart by their end, which then is a hash. */
static void shorten(struct buf *id)
{
    uint64_t hash;

    if (id->len <= SNAPSHOT_ID_MAX)
        return;
    hash = XXH64(id->ptr, id->len, 0);
    id->len = SNAPSHOT_ID_MAX - 20;
    buf_printf(id, "...%016llx", (unsigned long long)hash);
}

/* The key as text, its columns separated by commas; of a table without one, all columns. */
static void append_id(struct buf *out, const struct schema *s, const struct value *row)
{
    const size_t n = s->n_key > 0 ? s->n_key : s->n_columns;

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        append_plain(out, &row[s->n_key > 0 ? s->key[i] : i]);
    }
    shorten(out);
}

static void append_row(struct buf *out, const struct schema *s, const struct value *row)
{
    struct json_writer w = {.out = out};
    struct buf cell = {0};

    json_open_object(&w);
    for (size_t i = 0; i < s->n_columns; i++) {
        if (row[i].kind == VALUE_ABSENT)
            continue;
        buf_clear(&cell);
        value_append_json(&cell, &row[i]);
        json_put_raw(&w, s->columns[i].name, buf_str(&cell));
    }
    json_close_object(&w);
    buf_free(&cell);
}

bool change_put_off_keeps_key(struct change_unit *u)
{
    const struct row_change *c = u->change;
    const struct schema *s = schema_of(u);
    struct change_writer *w = u->w;

    if (c->before == NULL || c->after == NULL)
        return false;
    buf_clear(&w->row_id);
    buf_clear(&w->row_json);
    append_id(&w->row_id, s, c->before);
    append_id(&w->row_json, s, c->after);
    return str_equal(buf_str(&w->row_id), buf_str(&w->row_json));
}

struct snapshot_row change_put_off_row(struct change_unit *u, bool was)
{
    struct change_writer *w = u->w;
    const struct row_change *c = u->change;
    const struct schema *s = schema_of(u);
    const struct value *row = was ? c->before : c->after;
    const bool updates = change_put_off_keeps_key(u);

    buf_clear(&w->row_id);
    buf_clear(&w->row_json);
    append_id(&w->row_id, s, row);
    if (was && !updates)
        append_row(&w->row_json, s, row);
    return (struct snapshot_row){.op = updates ? STR("update")
                                       : was   ? STR("delete")
                                               : STR("insert"),
                                 .row_id = buf_str(&w->row_id),
                                 .row_json = buf_str(&w->row_json),
                                 .was = was};
}
