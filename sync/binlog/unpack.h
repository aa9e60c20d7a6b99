/*
 * struct unpacker: what servers compress inside events: MariaDB's compressed events and columns
 * (zlib).  The decompressor and its buffer are kept from one use to the next.
 *
 * @thread one at a time
 */
#ifndef SYNC_BINLOG_UNPACK_H
#define SYNC_BINLOG_UNPACK_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct unpacker;

struct unpacker *unpacker_new(void) RETURNS_NONNULL MUST_CHECK;
void unpacker_free(struct unpacker *u); /* NULL is fine */

/*
 * The compressed part of a MariaDB event (log_bin_compress): at most max bytes, borrowed from u
 * until the next unpack_event().
 */
bool unpack_event(struct unpacker *u, struct str packed, size_t max, struct str *out,
                  struct err *err) MUST_CHECK;

/*
 * A cell of a MariaDB COMPRESSED column, at most max bytes: a slice of it when it is stored plain,
 * else in a.  False: damaged.
 */
bool unpack_column(struct unpacker *u, struct str cell, size_t max, struct arena *a,
                   struct str *out) MUST_CHECK;

#endif
