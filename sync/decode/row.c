#include "config.h"

#include "sync/decode/row.h"

#include "src/base/cursor.h"
#include "src/base/mem.h"
#include "sync/decode/cell.h"
#include "sync/decode/row_images.h"
#include "sync/value/json_diff.h"

#include <stdlib.h>

/* Holds the values and their text if the caller gives no arena. */
struct own_values {
    struct value *values;
    size_t cap;
    char *text;
    size_t text_cap;
};

struct row_reader {
    struct cell_reader cells;
    struct arena *own_arena;
    struct own_values own[N_IMAGES];
    struct row_images images;
    size_t n_cells, n_nulls; /* of the row */
    bool unsolved; /* the cell is a change to a JSON value missing from the old image */
};

/* The value options of PARTIAL_UPDATE_ROWS. */
#define OPTION_PARTIAL_JSON 1u

/* The JSON cells of an image that hold changes to the old image. */
struct diffs {
    const uint8_t *bits; /* one per JSON column of the table; NULL for none */
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
    for (int i = 0; i < N_IMAGES; i++) {
        free(r->own[i].values);
        free(r->own[i].text);
    }
    free(r);
}

bool row_reader_open(struct row_reader *r, const struct event_rows *rows,
                     const struct table_map *map, struct err *err)
{
    return row_images_open(&r->images, rows, map, r->cells.unpacker, err);
}

static struct value *need_own(struct own_values *own, const struct table_map *map)
{
    if (own->cap < map->n_columns) {
        free(own->values);
        own->values = mem_alloc(map->n_columns, sizeof(struct value));
        own->cap = map->n_columns;
    }
    if (own->text_cap <= map->text_max) {
        own->text_cap = map->text_max + 1;
        free(own->text);
        own->text = mem_alloc(own->text_cap, 1);
    }
    return own->values;
}

/* Reserve room for an image's values and their text. */
static struct value *need_values(struct row_reader *r, struct arena *a, struct own_values *own)
{
    const struct table_map *map = r->images.map;
    struct value *values;

    if (a == NULL) {
        values = need_own(own, map);
        cell_reader_use(&r->cells, r->own_arena, own->text);
    } else {
        values = arena_alloc(a, map->n_columns, sizeof(*values));
        cell_reader_use(&r->cells, a, arena_bytes(a, map->text_max));
    }
    return values;
}

/*
 * PARTIAL_UPDATE_ROWS has, between the images, one bit per JSON column: the cell holds changes.
 */
static bool read_options(struct row_reader *r, struct diffs *out, struct err *err)
{
    const struct table_map *map = r->images.map;
    struct cursor c = {.p = r->images.p, .end = r->images.end};
    size_t n_json = 0;

    for (size_t i = 0; i < map->n_columns; i++)
        n_json += map->columns[i].code == CELL_JSONB;
    out->bits = NULL;
    if ((cursor_lenenc(&c) & OPTION_PARTIAL_JSON) != 0)
        out->bits = cursor_take(&c, (n_json + 7) / 8);
    if (c.failed)
        return row_images_cut(&r->images, 0, err);
    r->images.p = c.p;
    return true;
}

/* Read a cell of changes: the usual length, then the input of json_diff_apply(). */
static const uint8_t *read_diff(struct row_reader *r, const struct column_plan *plan,
                                const uint8_t *p, const struct value *before, struct value *out)
{
    const uint8_t *const end = r->images.end;

    if ((size_t)(end - p) < plan->size)
        return NULL;

    const uint64_t len = load_le(p, plan->size);

    p += plan->size;
    if (len > (size_t)(end - p))
        return NULL;
    if (before->kind == VALUE_ABSENT) {
        *out = *before;
        r->n_cells--; /* read_image() counts it as present */
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

/* Read an image that has all columns, and no changes to JSON values. */
static bool read_full(struct row_reader *r, struct value *out, struct err *err)
{
    const struct column_plan *plans = r->images.map->columns;
    const size_t n = r->images.map->n_columns;
    const uint8_t *const nulls = r->images.p, *const end = r->images.end;
    const uint8_t *p = nulls + (n + 7) / 8;

    for (size_t i = 0; i < n; i++) {
        if (row_image_bit(nulls, i)) {
            out[i] = (struct value){.kind = VALUE_NULL};
            r->n_nulls++;
            continue;
        }
        p = cell_read(&r->cells, &plans[i], p, end, &out[i]);
        if (p == NULL)
            return row_images_cut(&r->images, i, err);
    }
    r->images.p = p;
    return true;
}

static bool read_some(struct row_reader *r, const struct row_image *image, struct diffs diffs,
                      struct value *out, struct err *err)
{
    const struct column_plan *plans = r->images.map->columns;
    const size_t n = r->images.map->n_columns, null_size = (image->n_present + 7) / 8;
    const uint8_t *const nulls = r->images.p, *const end = r->images.end;
    const uint8_t *p = nulls + null_size;
    size_t json = 0; /* JSON columns so far */

    for (size_t i = 0, k = 0; i < n; i++) {
        const bool has_diff = diffs.bits != NULL && plans[i].code == CELL_JSONB &&
                              row_image_bit(diffs.bits, json++);

        if (!row_image_bit(image->present, i)) {
            out[i] = (struct value){.kind = VALUE_ABSENT};
            continue;
        }
        if (row_image_bit(nulls, k++)) {
            out[i] = (struct value){.kind = VALUE_NULL};
            r->n_nulls++;
            continue;
        }
        p = has_diff ? read_diff(r, &plans[i], p, &diffs.before[i], &out[i])
                     : cell_read(&r->cells, &plans[i], p, end, &out[i]);
        if (p == NULL)
            return row_images_cut(&r->images, i, err);
    }
    r->images.p = p;
    return true;
}

static bool read_image(struct row_reader *r, const struct row_image *image, struct diffs diffs,
                       struct value *out, struct err *err)
{
    const size_t null_size = (image->n_present + 7) / 8;
    const bool full = image->n_present == r->images.map->n_columns && diffs.bits == NULL;

    if ((size_t)(r->images.end - r->images.p) < null_size)
        return row_images_cut(&r->images, 0, err);
    r->n_cells += image->n_present;
    return full ? read_full(r, out, err) : read_some(r, image, diffs, out, err);
}

/*
 * Read the values of the next image.  Borrows before, those of the image before it.  Returns
 * NULL on damage.
 */
static const struct value *next_image(struct row_reader *r, struct arena *a, int which,
                                      const struct value *before, struct err *err)
{
    struct row_images *images = &r->images;
    const uint8_t *const start = images->p;
    struct value *values = need_values(r, a, &r->own[which]);
    struct diffs diffs = {.before = before};

    if (which == IMAGE_AFTER && images->has_diffs && !read_options(r, &diffs, err))
        return NULL;
    if (!read_image(r, &images->of[which], diffs, values, err))
        return NULL;
    if (images->p != start)
        return values;
    /* Reading images without bytes would never end. */
    row_images_empty(images, err);
    return NULL;
}

int row_reader_next(struct row_reader *r, struct arena *a, struct row_change *out,
                    struct err *err)
{
    struct row_images *images = &r->images;
    const struct row_image *last =
        &images->of[images->op == ROW_DELETE ? IMAGE_BEFORE : IMAGE_AFTER];

    if (images->p == images->end)
        return 0;
    r->unsolved = false;
    r->n_cells = r->n_nulls = 0;
    if (a == NULL)
        arena_reset(r->own_arena);
    out->before = out->after = NULL;
    if (images->op != ROW_INSERT &&
        (out->before = next_image(r, a, IMAGE_BEFORE, NULL, err)) == NULL)
        return -1;
    if (images->op != ROW_DELETE &&
        (out->after = next_image(r, a, IMAGE_AFTER, out->before, err)) == NULL)
        return -1;
    images->n_rows++;
    out->op = images->op;
    out->n_cells = r->n_cells;
    out->n_nulls = r->n_nulls;
    out->partial = last->n_present != images->map->n_columns || r->unsolved;
    out->unsolved = r->unsolved;
    return 1;
}
