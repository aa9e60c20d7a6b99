/*
 * struct column_plan: how to read the cells of one column; made once per table map, by
 * cell_plan() in sync/decode/cell.h.
 */
#ifndef SYNC_DECODE_CELL_PLAN_H
#define SYNC_DECODE_CELL_PLAN_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct charset;
struct column;
struct value;
struct wire_column;

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

/* Everything but `read`.  Returns false if no cell of the column can be read. */
bool cell_plan_type(const struct wire_column *wire, const struct column *column,
                    struct column_plan *out) MUST_CHECK;

#endif
