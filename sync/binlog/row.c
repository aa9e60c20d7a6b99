#include "config.h"

#include "sync/binlog/row.h"

#include "src/base/mem.h"
#include "sync/binlog/cell.h"
#include "sync/binlog/cursor.h"
#include "sync/binlog/json_diff.h"
#include "sync/binlog/unpack.h"
#include "sync/binlog/wire.h"

#include <stdlib.h>
#include <string.h>

/* What a compressed event may become. */
#define UNPACKED_MAX ((size_t)1 << 30)

/* One of the two images of a row: which columns it has. */
struct image {
    const uint8_t *present; /* a bit for each column, lowest first */
    size_t n_present;
    struct value *own; /* values when the caller gives no arena */
    size_t own_cap;
};

struct row_reader {
    struct cell_reader cells;
    struct arena *own_arena;

    const struct table_map *map;
    enum row_op op;
    const uint8_t *p, *end;
    size_t n_rows;  /* read so far */
    bool has_diffs; /* PARTIAL_UPDATE_ROWS */
    bool unsolved;  /* a change to a JSON value that the image before does not have */
    struct image images[2];
};

enum { BEFORE = 0, AFTER = 1 };

/* Value options of PARTIAL_UPDATE_ROWS. */
#define OPTION_PARTIAL_JSON 1u

/* Which JSON cells of an image are changes to the image before. */
struct diffs {
    const uint8_t *bits; /* one for each JSON column of the table; NULL: none */
    const struct value *before;
};

struct row_reader *row_reader_new(void)
{
    struct row_reader *r = mem_alloc(1, sizeof(*r));

    cell_reader_init(&r->cells);
    r->own_arena = arena_new();
    return r;
}

void row_reader_free(struct row_reader *r)
{
    if (r == NULL)
        return;
    cell_reader_fini(&r->cells);
    arena_free(r->own_arena);
    free(r->images[BEFORE].own);
    free(r->images[AFTER].own);
    free(r);
}

static bool wrap_table(const struct table_map *m, struct err *err)
{
    return err_wrap(err, "table %" STR_FMT ".%" STR_FMT, STR_ARG(m->database),
                    STR_ARG(m->table));
}

static bool has_bit(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

/* The bitmap of the columns that an image has. */
static bool take_image(struct cursor *c, const struct table_map *m, struct image *image,
                       struct err *err)
{
    image->n_present = 0;
    image->present = cursor_take(c, (m->n_columns + 7) / 8);
    if (image->present == NULL)
        return err_set(err, ERR_REJECT, "damaged rows event: no column bitmap");
    for (size_t i = 0; i < m->n_columns; i++) {
        if (!has_bit(image->present, i))
            continue;
        image->n_present++;
        if (m->columns[i].code == CELL_UNKNOWN)
            return err_set(err, ERR_REJECT, "column %zu has a type that cannot be read", i + 1);
    }
    return true;
}

/* The images that this kind of change has. */
static bool take_images(struct row_reader *r, struct cursor *c, struct err *err)
{
    if (r->op != ROW_INSERT && !take_image(c, r->map, &r->images[BEFORE], err))
        return false;
    return r->op == ROW_DELETE || take_image(c, r->map, &r->images[AFTER], err);
}

bool row_reader_open(struct row_reader *r, const struct event_rows *rows,
                     const struct table_map *map, struct err *err)
{
    struct cursor c = cursor_of(rows->rest);
    const uint64_t n_columns = cursor_lenenc(&c);
    struct str data;

    r->map = map;
    r->op = rows->op;
    r->n_rows = 0;
    r->has_diffs = rows->partial;
    r->p = r->end = NULL;
    if (map->broken.kind != ERR_NONE) {
        *err = map->broken;
        return false;
    }
    if (rows->pre_ga) {
        err_set(err, ERR_REJECT, "rows of MySQL 5.1 before its release are not supported");
        return wrap_table(map, err);
    }
    if (c.failed || n_columns != map->n_columns) {
        err_set(err, ERR_REJECT, "damaged rows event: %zu columns, the table map has %zu",
                (size_t)n_columns, map->n_columns);
        return wrap_table(map, err);
    }
    if (!take_images(r, &c, err))
        return wrap_table(map, err);
    data = cursor_rest(&c);
    if (rows->compressed && !unpack_event(r->cells.unpacker, data, UNPACKED_MAX, &data, err))
        return wrap_table(map, err);
    r->p = (const uint8_t *)data.ptr;
    r->end = r->p + data.len;
    return true;
}

/* Room for an image's values. */
static struct value *need_values(struct row_reader *r, struct arena *a, struct image *image)
{
    const size_t n = r->map->n_columns;

    if (a != NULL)
        return arena_alloc(a, n, sizeof(struct value));
    if (image->own_cap < n) {
        free(image->own);
        image->own = mem_alloc(n, sizeof(struct value));
        image->own_cap = n;
    }
    return image->own;
}

static bool cut(const struct row_reader *r, size_t column, struct err *err)
{
    const struct str name = r->map->schema->columns[column].name;

    err_set(err, ERR_REJECT, "damaged rows event: row %zu, column '%" STR_FMT "'",
            r->n_rows + 1, STR_ARG(name));
    return wrap_table(r->map, err);
}

/* PARTIAL_UPDATE_ROWS: between the images, for each JSON column whether its cell has changes.
 */
static bool read_options(struct row_reader *r, struct diffs *out, struct err *err)
{
    struct cursor c = {.p = r->p, .end = r->end};
    size_t n_json = 0;

    for (size_t i = 0; i < r->map->n_columns; i++)
        n_json += r->map->columns[i].code == CELL_JSONB;
    out->bits = NULL;
    if ((cursor_lenenc(&c) & OPTION_PARTIAL_JSON) != 0)
        out->bits = cursor_take(&c, (n_json + 7) / 8);
    if (c.failed)
        return cut(r, 0, err);
    r->p = c.p;
    return true;
}

/* A cell of changes: length as usual, then what json_diff_apply() takes. */
static const uint8_t *read_diff(struct row_reader *r, const struct column_plan *plan,
                                const uint8_t *p, const struct value *before, struct value *out)
{
    if ((size_t)(r->end - p) < plan->size)
        return NULL;

    const uint64_t len = load_le(p, plan->size);

    p += plan->size;
    if (len > (size_t)(r->end - p))
        return NULL;
    if (before->kind == VALUE_ABSENT) {
        *out = *before;
        r->unsolved = true;
        return p + len;
    }
    buf_clear(&r->cells.scratch);
    if (before->kind != VALUE_JSON ||
        !json_diff_apply(&r->cells.scratch, before->s, (struct str){(const char *)p, len}))
        return NULL;
    out->kind = VALUE_JSON;
    out->s = arena_copy(r->cells.arena, buf_str(&r->cells.scratch));
    return p + len;
}

static bool read_image(struct row_reader *r, const struct image *image, struct diffs diffs,
                       struct value *out, struct err *err)
{
    const struct column_plan *plans = r->map->columns;
    const size_t n = r->map->n_columns, null_size = (image->n_present + 7) / 8;
    const uint8_t *const nulls = r->p;
    const uint8_t *p = r->p + null_size;
    size_t json = 0; /* JSON columns passed */

    if ((size_t)(r->end - r->p) < null_size)
        return cut(r, 0, err);
    for (size_t i = 0, k = 0; i < n; i++) {
        const bool has_diff =
            diffs.bits != NULL && plans[i].code == CELL_JSONB && has_bit(diffs.bits, json++);

        if (image->n_present != n && !has_bit(image->present, i)) {
            out[i] = (struct value){.kind = VALUE_ABSENT};
            continue;
        }
        if (has_bit(nulls, k++)) {
            out[i] = (struct value){.kind = VALUE_NULL};
            continue;
        }
        p = has_diff ? read_diff(r, &plans[i], p, &diffs.before[i], &out[i])
                     : cell_read(&r->cells, &plans[i], p, r->end, &out[i]);
        if (p == NULL)
            return cut(r, i, err);
    }
    r->p = p;
    return true;
}

int row_reader_next(struct row_reader *r, struct arena *a, struct row_change *out,
                    struct err *err)
{
    struct value *values[2] = {NULL, NULL};

    if (r->p == r->end)
        return 0;
    r->unsolved = false;
    if (a == NULL)
        arena_reset(r->own_arena);
    for (int i = BEFORE; i <= AFTER; i++) {
        if (r->op == (i == BEFORE ? ROW_INSERT : ROW_DELETE))
            continue;
        values[i] = need_values(r, a, &r->images[i]);
        cell_reader_use(&r->cells, a != NULL ? a : r->own_arena, r->map->text_max);

        const uint8_t *start = r->p;
        struct diffs diffs = {.before = values[BEFORE]};

        if (i == AFTER && r->has_diffs && !read_options(r, &diffs, err))
            return -1;
        if (!read_image(r, &r->images[i], diffs, values[i], err))
            return -1;
        /* An image without bytes would never end. */
        if (r->p == start) {
            err_set(err, ERR_REJECT, "damaged rows event: no columns");
            wrap_table(r->map, err);
            return -1;
        }
    }
    r->n_rows++;
    out->op = r->op;
    out->before = values[BEFORE];
    out->after = values[AFTER];
    out->partial =
        r->images[r->op == ROW_DELETE ? BEFORE : AFTER].n_present != r->map->n_columns ||
        r->unsolved;
    out->unsolved = r->unsolved;
    return 1;
}
