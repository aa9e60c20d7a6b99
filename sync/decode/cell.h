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

struct cell_reader;
struct column_plan;

/*
 * Read the cell at p; only its first column_plan.size bytes are known to be there.  Returns the
 * place after it, or NULL if it is damaged or runs past end.
 */
typedef const uint8_t *(*cell_read_fn)(struct cell_reader *r, const struct column_plan *plan,
                                       const uint8_t *p, const uint8_t *end, struct value *out);

struct column_plan {
    cell_read_fn read;
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
    size_t text_max; /* the room that a cell may need for its text, beside the arena's */
};

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
