/*
 * A line of text with values in it, where each part goes with its value: "311 queued, 20 being
 * read again", and nothing of what is not known.
 *
 * @thread any (no state)
 */
#ifndef SRC_RENDER_LINE_H
#define SRC_RENDER_LINE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/render.h"

#include <stddef.h>

struct render_part {
    const char *before;
    const char *pointer; /* RFC 6901, from the item */
    enum render_kind kind;
    const char *after; /* NULL: nothing */
};

/* The parts that have a value, and the end of the line; nothing at all where none has. */
void render_line(struct buf *out, struct str item, const struct render_part *parts, size_t n);

#endif
