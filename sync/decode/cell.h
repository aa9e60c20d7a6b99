/*
 * struct cell_reader: turns cells into values, by the plan of their column.
 *
 * cell_read() turns one cell into a struct value.  The value borrows from the cell if the cell
 * holds its bytes as they are, else from the cell reader's arena.
 */
#ifndef SYNC_DECODE_CELL_H
#define SYNC_DECODE_CELL_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "sync/decode/cell_plan.h"
#include "sync/value/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct charset_converter;
struct unpacker;

/*
 * Make the plan for a column that the schema knows.  Returns false if no cell of it can be
 * read: its type is unknown, or its parameters are impossible.
 */
bool cell_plan(const struct wire_column *wire, const struct column *column,
               struct column_plan *out) MUST_CHECK;

struct cell_reader {
    struct arena *arena;
    char *text; /* the text of the next cell goes here */
    struct charset_converter *converter;
    struct unpacker *unpacker;
    struct buf scratch;
};

void cell_reader_init(struct cell_reader *r);
void cell_reader_fini(struct cell_reader *r);

/*
 * Write the text of the cells read from now on to text, which has room for the text_max of all
 * of them, and allocate what else they need in a.
 */
static inline void cell_reader_use(struct cell_reader *r, struct arena *a, char *text)
{
    r->arena = a;
    r->text = text;
}

/*
 * Read the cell at p.  Returns the place after it, or NULL if it is damaged or runs past end.
 */
static inline MUST_CHECK const uint8_t *cell_read(struct cell_reader *r,
                                                  const struct column_plan *plan,
                                                  const uint8_t *p, const uint8_t *end,
                                                  struct value *out)
{
    return (size_t)(end - p) < plan->size ? NULL : plan->read(r, plan, p, end, out);
}

#endif
