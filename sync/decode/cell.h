/*
 * struct column_plan: how to read the cells of one column; made once per table map.
 *
 * cell_read() turns one cell into a struct value.  The value borrows from the cell if the cell
 * holds its bytes as they are, else from the cell reader's arena.
 */
#ifndef SYNC_DECODE_CELL_H
#define SYNC_DECODE_CELL_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/str.h"
#include "sync/decode/wire.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct charset;
struct charset_converter;
struct unpacker;

/* How to turn bytes into a value. */
enum cell_code {
    CELL_UNKNOWN = 0,
    CELL_I8,
    CELL_U8,
    CELL_I16,
    CELL_U16,
    CELL_I24,
    CELL_U24,
    CELL_I32,
    CELL_U32,
    CELL_I64,
    CELL_U64,
    CELL_FLOAT,
    CELL_DOUBLE,
    CELL_DECIMAL,
    CELL_YEAR,
    CELL_DATE,
    CELL_DATETIME2,
    CELL_TIMESTAMP2,
    CELL_TIME2,
    CELL_OLD_DATETIME,
    CELL_OLD_TIMESTAMP,
    CELL_OLD_TIME,
    CELL_HIRES_DATETIME,
    CELL_HIRES_TIMESTAMP,
    CELL_HIRES_TIME,
    CELL_BIT,
    CELL_ENUM,
    CELL_SET,
    /* All codes below: a length of `prefix` bytes, then the bytes. */
    CELL_TEXT, /* in a character set other than UTF-8 */
    CELL_UTF8,
    CELL_BYTES,     /* binary */
    CELL_GUESS,     /* text if valid UTF-8; the log does not say */
    CELL_BINARY,    /* BINARY(n): restore the padding */
    CELL_JSON_TEXT, /* MariaDB */
    CELL_JSONB,
    CELL_GEOMETRY,
    CELL_VECTOR,
    CELL_UUID,
    CELL_INET4,
    CELL_INET6,
};

struct column_plan {
    uint8_t code; /* enum cell_code */
    uint8_t size; /* bytes of the cell; from CELL_TEXT on, bytes of its length */
    uint8_t fsp;
    uint8_t precision;
    uint8_t scale;
    bool compressed;               /* MariaDB: the bytes are compressed */
    uint32_t length;               /* BINARY, UUID, INET: the full length */
    const struct charset *charset; /* CELL_TEXT */
    const struct str *labels;      /* ENUM, SET: UTF-8; NULL if unknown */
    size_t n_labels;
};

/*
 * Make the plan for a column that the schema knows.  Returns false if no cell of it can be
 * read: its type is unknown, or its parameters are impossible.
 */
bool cell_plan(const struct wire_column *wire, const struct column *column,
               struct column_plan *out) MUST_CHECK;

struct cell_reader {
    struct arena *arena;
    char *text, *text_end; /* from arena: room for the text of all cells of one image */
    struct charset_converter *converter;
    struct unpacker *unpacker;
    struct buf scratch;
};

void cell_reader_init(struct cell_reader *r);
void cell_reader_fini(struct cell_reader *r);

/* The room that a cell may need for its text, not counting what it allocates from the arena. */
size_t cell_text_max(const struct column_plan *plan);

/*
 * Allocate the values read from now on in a. text_max: the text room for the cells of one
 * image.
 */
void cell_reader_use(struct cell_reader *r, struct arena *a, size_t text_max);

/* For cell_read() alone: a cell of fixed size that is no integer, and one of any length. */
bool cell_read_fixed(struct cell_reader *r, const struct column_plan *plan, const uint8_t *p,
                     struct value *out);
bool cell_read_string(struct cell_reader *r, const struct column_plan *plan, struct str s,
                      struct value *out);

/* One way for integers of all sizes: a branch that is predicted wrongly costs more. */
static inline void cell_read_integer(const struct column_plan *plan, const uint8_t *p,
                                     const uint8_t *end, struct value *out)
{
    const unsigned unused = 64 - 8u * plan->size;
    const uint64_t v = (end - p >= 8 ? load_le64(p) : load_le(p, plan->size)) << unused;
    const bool is_signed = (plan->code & 1) == (CELL_I8 & 1);

    out->kind = is_signed ? VALUE_INT : VALUE_UINT;
    out->u = is_signed ? (uint64_t)((int64_t)v >> unused) : v >> unused;
}

/*
 * Read the cell at p.  Returns the place after it, or NULL if it is damaged or runs past end.
 */
static inline MUST_CHECK const uint8_t *cell_read(struct cell_reader *r,
                                                  const struct column_plan *plan,
                                                  const uint8_t *p, const uint8_t *end,
                                                  struct value *out)
{
    if ((size_t)(end - p) < plan->size)
        return NULL;
    if (plan->code >= CELL_I8 && plan->code <= CELL_U64) {
        cell_read_integer(plan, p, end, out);
        return p + plan->size;
    }
    if (plan->code < CELL_TEXT)
        return cell_read_fixed(r, plan, p, out) ? p + plan->size : NULL;

    const uint64_t len = load_le(p, plan->size);

    p += plan->size;
    if (len > (size_t)(end - p))
        return NULL;
    return cell_read_string(r, plan, (struct str){(const char *)p, len}, out) ? p + len : NULL;
}

#endif
