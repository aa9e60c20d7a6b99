/*
 * struct row_images: an opened rows event: which columns its images have, and their bytes,
 * decompressed.
 *
 * A row has one image or two, before and after.  An image starts with one bit per present
 * column, set if the value is NULL; then come the cells of the other columns.
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_ROW_IMAGES_H
#define SYNC_DECODE_ROW_IMAGES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/decode/event.h"
#include "sync/decode/table_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpacker;

enum { IMAGE_BEFORE = 0, IMAGE_AFTER = 1, N_IMAGES };

/* The columns that an image has. */
struct row_image {
    const uint8_t *present; /* one bit per column of the table, lowest first */
    size_t n_present;
};

/* Borrows everything from the event, the table map and the unpacker. */
struct row_images {
    const struct table_map *map;
    enum row_op op;
    bool has_diffs; /* PARTIAL_UPDATE_ROWS */
    struct row_image of[N_IMAGES];
    const uint8_t *p, *end; /* the unread rows; the reader moves p */
    size_t n_rows;          /* rows read so far; the reader counts them */
};

/* Like row_reader_open(); u decompresses rows. */
bool row_images_open(struct row_images *out, const struct event_rows *rows,
                     const struct table_map *map, struct unpacker *u,
                     struct err *err) MUST_CHECK;

/* Tell whether rows of this kind have an image before, or after. */
static inline bool row_images_have(const struct row_images *r, int which)
{
    return r->op != (which == IMAGE_BEFORE ? ROW_INSERT : ROW_DELETE);
}

static inline bool row_image_bit(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

/* Set err and return false: the next row is damaged in that column, or has no columns. */
bool row_images_cut(const struct row_images *r, size_t column, struct err *err);
bool row_images_empty(const struct row_images *r, struct err *err);

#endif
