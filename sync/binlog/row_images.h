/*
 * struct row_images: a rows event opened: which columns the images of its rows have, and their
 * bytes, unpacked.
 *
 * A row is one image or two, before and after.  An image is a bit for each column that it has,
 * set where the value is NULL, and then the cells of the others.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_ROW_IMAGES_H
#define SYNC_BINLOG_ROW_IMAGES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/binlog/event.h"
#include "sync/binlog/table_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpacker;

enum { IMAGE_BEFORE = 0, IMAGE_AFTER = 1, N_IMAGES };

/* Which columns an image has. */
struct row_image {
    const uint8_t *present; /* a bit for each column of the table, lowest first */
    size_t n_present;
};

/* Everything is borrowed from the event, the table map and the unpacker. */
struct row_images {
    const struct table_map *map;
    enum row_op op;
    bool has_diffs; /* PARTIAL_UPDATE_ROWS */
    struct row_image of[N_IMAGES];
    const uint8_t *p, *end; /* the rows to come; whoever reads them moves p */
    size_t n_rows;          /* read so far; counted by whoever reads them */
};

/* As row_reader_open(); compressed rows are unpacked by u. */
bool row_images_open(struct row_images *out, const struct event_rows *rows,
                     const struct table_map *map, struct unpacker *u,
                     struct err *err) MUST_CHECK;

/* Rows of this kind have an image before, or after. */
static inline bool row_images_have(const struct row_images *r, int which)
{
    return r->op != (which == IMAGE_BEFORE ? ROW_INSERT : ROW_DELETE);
}

static inline bool row_image_bit(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

/* The next row is damaged in that column, or has no columns: sets err, is false. */
bool row_images_cut(const struct row_images *r, size_t column, struct err *err);
bool row_images_empty(const struct row_images *r, struct err *err);

#endif
