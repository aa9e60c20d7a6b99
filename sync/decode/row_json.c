#include "config.h"

#include "sync/decode/row_json.h"

#include "src/base/mem.h"
#include "sync/decode/cell_json.h"
#include "sync/decode/row.h"
#include "sync/decode/row_images.h"
#include "sync/value/value_json.h"

#include <stdlib.h>

/* Table maps to cache. */
enum { N_TABLES = 64 };

struct json_column {
    struct cell_json cell;
    struct str key; /* ,"name": */
};

/* How to write the rows of a table map. */
struct json_table {
    struct table_map *map; /* a reference; NULL if the slot is free */
    struct json_column *columns;
    struct arena *arena; /* owns the columns */
};

struct row_json {
    struct json_table tables[N_TABLES];
    const struct json_table *table;
    struct row_images images;
    struct cell_writer writer;
    struct row_reader *reader; /* for events with changes to JSON values */
};

struct row_json *row_json_new(void)
{
    struct row_json *r = mem_alloc(1, sizeof(*r));

    cell_writer_init(&r->writer);
    r->reader = row_reader_new();
    return r;
}

static void drop_table(struct json_table *t)
{
    table_map_unref(t->map);
    arena_free(t->arena);
    *t = (struct json_table){0};
}

void row_json_free(struct row_json *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < N_TABLES; i++)
        drop_table(&r->tables[i]);
    cell_writer_fini(&r->writer);
    row_reader_free(r->reader);
    free(r);
}

static struct str make_key(struct str name, struct arena *a)
{
    struct buf b = {0};

    buf_append_char(&b, ',');
    buf_append_json(&b, name);
    buf_append_char(&b, ':');

    const struct str key = cell_json_piece(a, buf_str(&b));

    buf_free(&b);
    return key;
}

/* The key, without its comma if first. */
static struct str key_of(const struct json_column *c, bool first)
{
    return (struct str){c->key.ptr + first, c->key.len - first};
}

static void make_table(struct json_table *t, struct table_map *map)
{
    t->map = table_map_ref(map);
    t->arena = arena_new();
    t->columns = arena_alloc(t->arena, map->n_columns, sizeof(*t->columns));
    for (size_t i = 0; i < map->n_columns; i++) {
        struct json_column *c = &t->columns[i];

        cell_json_init(&c->cell, &map->columns[i], t->arena);
        c->key = make_key(map->schema->columns[i].name, t->arena);
    }
}

static const struct json_table *need_table(struct row_json *r, struct table_map *map)
{
    struct json_table *t = &r->tables[((uintptr_t)map >> 6) % N_TABLES];

    if (t->map != map) {
        drop_table(t);
        make_table(t, map);
    }
    return t;
}

bool row_json_open(struct row_json *r, const struct event_rows *rows, struct table_map *map,
                   struct err *err)
{
    if (!row_images_open(&r->images, rows, map, r->writer.cells.unpacker, err))
        return false;
    r->table = need_table(r, map);
    return !rows->partial || row_reader_open(r->reader, rows, map, err);
}

static void put(struct cell_writer *w, struct str s)
{
    memcpy(w->to, s.ptr, s.len);
    w->to += s.len;
}

/* From bytes */

/* Read an integer of the first column. */
static uint64_t read_id(struct row_json *r, const uint8_t *p)
{
    const struct column_plan *plan = &r->images.map->columns[0];
    struct value v;

    if (plan->code < CELL_I8 || plan->code > CELL_U64 ||
        cell_read(&r->writer.cells, plan, p, r->images.end, &v) == NULL)
        return 0;
    return v.u;
}

/* Write the columns of an image with commas between. */
static bool write_columns(struct row_json *r, const struct row_image *image,
                          struct row_json_counts *counts, struct err *err)
{
    struct cell_writer *w = &r->writer;
    const size_t n = r->images.map->n_columns, null_size = (image->n_present + 7) / 8;
    const uint8_t *const nulls = r->images.p, *const end = r->images.end;
    const uint8_t *p = nulls + null_size;

    if ((size_t)(end - nulls) < null_size)
        return row_images_cut(&r->images, 0, err);
    for (size_t i = 0, k = 0; i < n; i++) {
        const struct json_column *c = &r->table->columns[i];

        if (image->n_present != n && !row_image_bit(image->present, i))
            continue;
        cell_writer_need(w, c->key.len + CELL_JSON_ROOM);
        w->to += cell_json_put_piece(w->to, key_of(c, k == 0));
        if (row_image_bit(nulls, k++)) {
            put(w, STR("null"));
            counts->nulls++;
            continue;
        }
        if (i == 0)
            counts->idsum += read_id(r, p);
        p = cell_json_write(&c->cell, p, end, w);
        if (p == NULL)
            return row_images_cut(&r->images, i, err);
    }
    counts->cells += image->n_present;
    r->images.p = p;
    return true;
}

static const struct str names[] = {
    [IMAGE_BEFORE] = STR(",\"before\":{"),
    [IMAGE_AFTER] = STR(",\"after\":{"),
};

static bool write_image(struct row_json *r, int which, struct row_json_counts *counts,
                        struct err *err)
{
    struct cell_writer *w = &r->writer;
    const uint8_t *const start = r->images.p;

    cell_writer_need(w, CELL_JSON_ROOM);
    put(w, names[which]);
    if (!write_columns(r, &r->images.of[which], counts, err))
        return false;
    /* Reading images without bytes would never end. */
    if (r->images.p == start)
        return row_images_empty(&r->images, err);
    cell_writer_need(w, 1);
    *w->to++ = '}';
    return true;
}

static int write_row(struct row_json *r, struct buf *out, struct row_json_counts *counts,
                     struct err *err)
{
    bool ok = true;

    if (r->images.p == r->images.end)
        return 0;
    cell_writer_begin(&r->writer, out);
    for (int i = 0; i < N_IMAGES && ok; i++)
        if (row_images_have(&r->images, i))
            ok = write_image(r, i, counts, err);
    cell_writer_end(&r->writer);
    r->images.n_rows++;
    return ok ? 1 : -1;
}

/* From values */

static void append_values(struct row_json *r, struct buf *out, int which,
                          const struct value *values, struct row_json_counts *counts)
{
    bool first = true;

    buf_append(out, names[which]);
    for (size_t i = 0; i < r->images.map->n_columns; i++) {
        if (values[i].kind == VALUE_ABSENT)
            continue;
        counts->cells++;
        counts->nulls += values[i].kind == VALUE_NULL;
        buf_append(out, key_of(&r->table->columns[i], first));
        first = false;
        value_append_json(out, &values[i]);
    }
    buf_append_char(out, '}');
    if (values[0].kind == VALUE_INT || values[0].kind == VALUE_UINT)
        counts->idsum += values[0].u;
}

static int append_change(struct row_json *r, struct buf *out, struct row_json_counts *counts,
                         struct err *err)
{
    struct row_change change;
    const int got = row_reader_next(r->reader, NULL, &change, err);

    if (got != 1)
        return got;
    append_values(r, out, IMAGE_BEFORE, change.before, counts);
    append_values(r, out, IMAGE_AFTER, change.after, counts);
    return 1;
}

int row_json_next(struct row_json *r, struct buf *out, struct row_json_counts *counts,
                  struct err *err)
{
    const size_t len = out->len;
    struct row_json_counts sum = *counts;
    const int got =
        r->images.has_diffs ? append_change(r, out, &sum, err) : write_row(r, out, &sum, err);

    if (got == 1)
        *counts = sum;
    else
        out->len = len;
    return got;
}
