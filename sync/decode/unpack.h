/*
 * struct unpacker: decompress MariaDB's compressed events and columns (zlib).  Reuses the
 * decompressor and its buffer.
 *
 * @thread one at a time
 */
#ifndef SYNC_DECODE_UNPACK_H
#define SYNC_DECODE_UNPACK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct unpacker;

struct unpacker *unpacker_new(void) RETURNS_NONNULL MUST_CHECK;
void unpacker_free(struct unpacker *u); /* NULL is allowed */

/*
 * Decompress the packed part of a MariaDB event (log_bin_compress) to at most max bytes,
 * borrowed from u until the next unpack_event().
 */
bool unpack_event(struct unpacker *u, struct str packed, size_t max, struct str *out,
                  struct err *err) MUST_CHECK;

/*
 * Decompress a cell of a MariaDB COMPRESSED column to at most max bytes.  *out is a slice of
 * the cell if stored plain, else in a.  Returns false if damaged.
 */
bool unpack_column(struct unpacker *u, struct str cell, size_t max, struct arena *a,
                   struct str *out) MUST_CHECK;

#endif
