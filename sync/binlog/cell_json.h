/*
 * Cells to JSON text in one step: what value_append_json() makes of what cell_read() gives,
 * without a value between.
 *
 * Text goes into the free part of a buffer, from `to` up to `limit`; the buffer's length counts
 * again after cell_writer_end().
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_CELL_JSON_H
#define SYNC_BINLOG_CELL_JSON_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "sync/binlog/cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a short cell may take, and more than its text: room is made before each cell. */
#define CELL_JSON_ROOM 160

struct cell_writer {
    struct buf *out;
    char *to, *limit;
    struct cell_reader cells; /* for what goes by way of a value */
    struct arena *arena;
};

struct cell_json;

/*
 * Write at out, where there is CELL_JSON_ROOM, the cell at p, whose bytes are all there; the
 * length of the text, 0: damaged.
 */
typedef size_t (*cell_short_fn)(const struct cell_json *c, const uint8_t *p, char *out);

/*
 * Write the cell at p, of which the first column_plan.size bytes are there; the place behind
 * it, or NULL: damaged, or cut at end.
 */
typedef const uint8_t *(*cell_long_fn)(const struct cell_json *c, const uint8_t *p,
                                       const uint8_t *end, struct cell_writer *w);

/* How the cells of one column are written. */
struct cell_json {
    uint32_t size;             /* the plan's */
    cell_short_fn write_short; /* if not NULL, else: */
    cell_long_fn write_long;
    const struct column_plan *plan;
    const struct str *labels; /* ENUM: as JSON strings, none longer than CELL_JSON_ROOM */
};

/* The plan is borrowed; labels of an ENUM are made in a. */
void cell_json_init(struct cell_json *c, const struct column_plan *plan, struct arena *a);

/* A copy of a short text for cell_json_put_piece(), which reads and writes a little more. */
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

/* Start at the end of out, which is the writer's own until the end. */
void cell_writer_begin(struct cell_writer *w, struct buf *out);
void cell_writer_end(struct cell_writer *w);

/* What cell_writer_need() does when there is no room. */
void cell_writer_grow(struct cell_writer *w, size_t n) COLD;

/* Make room for n more bytes. */
static inline void cell_writer_need(struct cell_writer *w, size_t n)
{
    if (UNLIKELY((size_t)(w->limit - w->to) < n))
        cell_writer_grow(w, n);
}

/*
 * Write a cell; there is CELL_JSON_ROOM.  The place behind it, or NULL: damaged, or cut at end.
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
