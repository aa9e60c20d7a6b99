#include "config.h"

#include "sync/decode/row_images.h"

#include "src/base/cursor.h"
#include "sync/decode/cell.h"
#include "sync/decode/unpack.h"

#include <inttypes.h>

/* The most that a compressed event may expand to. */
#define UNPACKED_MAX ((size_t)1 << 30)

static bool wrap_table(const struct table_map *m, struct err *err)
{
    return err_wrap(err, "table %" STR_FMT ".%" STR_FMT, STR_ARG(m->database),
                    STR_ARG(m->table));
}

static size_t count_bits(const uint8_t *bits, size_t n)
{
    size_t count = 0, i = 0;

    for (; i + 64 <= n; i += 64)
        count += (size_t)__builtin_popcountll(load_le64(bits + i / 8));
    for (; i < n; i++)
        count += row_image_bit(bits, i);
    return count;
}

/* Read the bitmap of present columns. */
static bool take_image(struct cursor *c, const struct table_map *m, struct row_image *image,
                       struct err *err)
{
    image->present = cursor_take(c, (m->n_columns + 7) / 8);
    if (image->present == NULL)
        return err_set(err, ERR_REJECT, "damaged rows event: no column bitmap");
    image->n_present = count_bits(image->present, m->n_columns);
    if (m->readable)
        return true;
    for (size_t i = 0; i < m->n_columns; i++)
        if (row_image_bit(image->present, i) && m->columns[i].code == CELL_UNKNOWN)
            return err_set(err, ERR_REJECT, "column %zu has a type that cannot be read", i + 1);
    return true;
}

bool row_images_open(struct row_images *out, const struct event_rows *rows,
                     const struct table_map *map, struct unpacker *u, struct err *err)
{
    struct cursor c = cursor_of(rows->rest);
    const uint64_t n_columns = cursor_lenenc(&c);
    struct str data;

    *out = (struct row_images){.map = map, .op = rows->op, .has_diffs = rows->partial};
    if (map->broken.kind != ERR_NONE) {
        *err = map->broken;
        return false;
    }
    if (rows->cut != 0) {
        err_set(err, ERR_REJECT,
                "a rows event has %" PRIu32 " bytes, more than source.event_max", rows->cut);
        return wrap_table(map, err);
    }
    if (rows->pre_ga) {
        err_set(err, ERR_REJECT, "rows of MySQL 5.1 pre-releases are not supported");
        return wrap_table(map, err);
    }
    if (c.failed || n_columns != map->n_columns) {
        err_set(err, ERR_REJECT, "damaged rows event: %zu columns, the table map has %zu",
                (size_t)n_columns, map->n_columns);
        return wrap_table(map, err);
    }
    for (int i = 0; i < N_IMAGES; i++)
        if (row_images_have(out, i) && !take_image(&c, map, &out->of[i], err))
            return wrap_table(map, err);
    data = cursor_rest(&c);
    if (rows->compressed && !unpack_event(u, data, UNPACKED_MAX, &data, err))
        return wrap_table(map, err);
    out->p = (const uint8_t *)data.ptr;
    out->end = out->p + data.len;
    return true;
}

/*
 * Find a column whose fraction digits, and so its size, only the table itself knows.  Returns
 * NULL if there is none.
 */
static const struct column *find_old_temporal(const struct table_map *m)
{
    const bool is_known = m->has_names && !m->full_metadata;

    for (size_t i = 0; i < m->n_columns && !is_known; i++) {
        const uint8_t code = m->columns[i].code;

        if (code == CELL_OLD_TIME || code == CELL_OLD_DATETIME || code == CELL_OLD_TIMESTAMP)
            return &m->schema->columns[i];
    }
    return NULL;
}

bool row_images_cut(const struct row_images *r, size_t column, struct err *err)
{
    const struct str name = r->map->schema->columns[column].name;
    const struct column *old = find_old_temporal(r->map);

    if (old == NULL)
        err_set(err, ERR_REJECT, "damaged rows event: row %zu, column '%" STR_FMT "'",
                r->n_rows + 1, STR_ARG(name));
    else
        err_set(
            err, ERR_REJECT,
            "row %zu cannot be read at column '%" STR_FMT
            "': the event is damaged, or '%" STR_FMT
            "' has fraction digits in MariaDB's old form, which the log does not mark; fix: "
            "ALTER TABLE ... FORCE with mysql56_temporal_format=ON, for rows from then on",
            r->n_rows + 1, STR_ARG(name), STR_ARG(old->name));
    return wrap_table(r->map, err);
}

bool row_images_empty(const struct row_images *r, struct err *err)
{
    err_set(err, ERR_REJECT, "damaged rows event: no columns");
    return wrap_table(r->map, err);
}
