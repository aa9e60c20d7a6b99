/*
 * Convert cells to JSON text in one step: the same text as cell_read() and then
 * value_append_json(), without a value in between.
 *
 * Writes text into the free part of a buffer, from `to` up to `limit`.  The buffer's length is
 * wrong until cell_writer_end().
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_CELL_JSON_H
#define SYNC_DECODE_CELL_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "sync/decode/cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The most that a short cell writes, and more than its text needs.  Reserve it before each
 * cell.
 */
#define CELL_JSON_ROOM 160

struct cell_writer {
    struct buf *out;
    char *to, *limit;
    struct cell_reader cells; /* for cells that need a value on the way */
    struct arena *arena;
};

struct cell_json;

/*
 * Write the complete cell at p to out, which has CELL_JSON_ROOM.  Returns the length of the
 * text, or 0 if the cell is damaged.
 */
typedef size_t (*cell_short_fn)(const struct cell_json *c, const uint8_t *p, char *out);

/*
 * Write the cell at p; only its first column_plan.size bytes are known to be there.  Returns
 * the place after it, or NULL if it is damaged or runs past end.
 */
typedef const uint8_t *(*cell_long_fn)(const struct cell_json *c, const uint8_t *p,
                                       const uint8_t *end, struct cell_writer *w);

/* How to write the cells of one column. */
struct cell_json {
    uint32_t size;             /* from the plan */
    cell_short_fn write_short; /* NULL: use write_long */
    cell_long_fn write_long;
    const struct column_plan *plan;
    const struct str *labels; /* ENUM: as JSON strings, none longer than CELL_JSON_ROOM */
};

/* Borrows the plan.  Allocates the labels of an ENUM in a. */
void cell_json_init(struct cell_json *c, const struct column_plan *plan, struct arena *a);

/* Copy a short text for cell_json_put_piece(), which reads and writes a little past its end. */
struct str cell_json_piece(struct arena *a, struct str s);

enum { CELL_JSON_SPARE = 16 };

static inline size_t cell_json_put_piece(char *out, struct str piece)
{
    memcpy(out, piece.ptr, CELL_JSON_SPARE);
    if (piece.len > CELL_JSON_SPARE)
        memcpy(out + CELL_JSON_SPARE, piece.ptr + CELL_JSON_SPARE, piece.len - CELL_JSON_SPARE);
    return piece.len;
}

void cell_writer_init(struct cell_writer *w);
void cell_writer_fini(struct cell_writer *w);

/* Append to out from now on.  The writer owns out until cell_writer_end(). */
void cell_writer_begin(struct cell_writer *w, struct buf *out);
void cell_writer_end(struct cell_writer *w);

/* The slow path of cell_writer_need(). */
void cell_writer_grow(struct cell_writer *w, size_t n) COLD;

/* Reserve n more bytes. */
static inline void cell_writer_need(struct cell_writer *w, size_t n)
{
    if (UNLIKELY((size_t)(w->limit - w->to) < n))
        cell_writer_grow(w, n);
}

/*
 * Write a cell; requires CELL_JSON_ROOM.  Returns the place after it, or NULL if it is damaged
 * or runs past end.
 */
static inline const uint8_t *cell_json_write(const struct cell_json *c, const uint8_t *p,
                                             const uint8_t *end, struct cell_writer *w)
{
    if ((size_t)(end - p) < c->size)
        return NULL;
    if (c->write_short == NULL)
        return c->write_long(c, p, end, w);

    const size_t n = c->write_short(c, p, w->to);

    w->to += n;
    return n > 0 ? p + c->size : NULL;
}

#endif
