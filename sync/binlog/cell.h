/*
 * struct column_plan: how the cells of one column are read; made once per table map.
 *
 * cell_read() turns one cell into a struct value.  Bytes of the value are a slice of the cell
 * where the cell holds them as they are, else they are in the cell reader's arena.
 */
#ifndef SYNC_BINLOG_CELL_H
#define SYNC_BINLOG_CELL_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "sync/binlog/schema.h"
#include "sync/binlog/value.h"
#include "sync/binlog/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct charset;
struct charset_converter;
struct unpacker;

/* How bytes become a value. */
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
    /* From here on a length of prefix bytes, then the bytes. */
    CELL_TEXT, /* of a character set that is not UTF-8 */
    CELL_UTF8,
    CELL_BYTES,     /* binary */
    CELL_GUESS,     /* text if it is UTF-8: the log does not say */
    CELL_BINARY,    /* BINARY(n): padded again */
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
    uint8_t size; /* of the cell; from CELL_TEXT on of its length */
    uint8_t fsp;
    uint8_t precision;
    uint8_t scale;
    bool compressed;               /* MariaDB: bytes are packed */
    uint32_t length;               /* BINARY, UUID, INET: the whole length */
    const struct charset *charset; /* CELL_TEXT */
    const struct str *labels;      /* ENUM, SET: UTF-8; NULL: not known */
    size_t n_labels;
};

/*
 * The plan of a column that the schema knows.  False: no cell of it can be read (the type is
 * not known, or its parameters are impossible).
 */
bool cell_plan(const struct wire_column *wire, const struct column *column,
               struct column_plan *out) MUST_CHECK;

struct cell_reader {
    struct arena *arena;
    char *text, *text_end; /* room for the text of the cells of one image, from arena */
    struct charset_converter *converter;
    struct unpacker *unpacker;
    struct buf scratch;
};

void cell_reader_init(struct cell_reader *r);
void cell_reader_fini(struct cell_reader *r);

/* Room that a cell may take for its text, besides what it takes of the arena as it needs. */
size_t cell_text_max(const struct column_plan *plan);

/* Bytes of the values read from now on go to a; of cells whose text takes at most text_max. */
void cell_reader_use(struct cell_reader *r, struct arena *a, size_t text_max);

/* Read the cell at p; the place behind it, or NULL: damaged, or cut at end. */
const uint8_t *cell_read(struct cell_reader *r, const struct column_plan *plan,
                         const uint8_t *p, const uint8_t *end, struct value *out) MUST_CHECK;

#endif
