/*
 * struct position: a file name and a 64-bit offset in a server's binlog.
 *
 * Positions compare by file number, then by offset.  They are comparable only within one epoch:
 * one lineage of one server (docs/rules.md, rule 3).
 */
#ifndef SYNC_POSITION_POSITION_H
#define SYNC_POSITION_POSITION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define POSITION_EPOCH_MAX  ((UINT64_C(1) << 10) - 1)
#define POSITION_FILE_MAX   ((UINT64_C(1) << 20) - 1)
#define POSITION_OFFSET_MAX ((UINT64_C(1) << 33) - 1)

struct position {
    struct str file; /* borrowed */
    uint64_t offset;
};

/* Parse "mysql-bin.000042:1234". out borrows from text. */
bool position_parse(struct str text, struct position *out, struct err *err) MUST_CHECK;
void position_format(struct buf *b, struct position p);

/* Parse the number after the last dot, here 42.  Returns false if the name has none. */
bool position_file_number(struct str file, uint64_t *number) MUST_CHECK;

/* The name without its number: "mysql-bin". */
struct str position_file_base(struct str file);

/* Compare as strcmp() does.  Names without a number compare as bytes. */
int position_compare(struct position a, struct position b);

/*
 * version = epoch << 53 | file number << 33 | offset.
 *
 * Never wraps.  ERR_REJECT if a field does not fit; the remedy is a new index version.
 */
bool position_version(struct position p, uint64_t epoch, uint64_t *version,
                      struct err *err) MUST_CHECK;

struct position_fields {
    uint64_t epoch, file, offset;
};
struct position_fields position_fields(uint64_t version);

#endif
