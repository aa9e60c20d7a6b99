/*
 * struct spill: bytes that wait on disk because there may be too many for memory.
 *
 * One file without a name: it is gone with the process, however that ends, and nothing in it is
 * needed after a restart, as the log is read again.  Bytes are appended, read by their place,
 * and given up; the file becomes short again when nothing in it is needed.
 *
 * @thread one at a time; spill_used: any.  Blocks on the disk
 */
#ifndef SYNC_SPILL_H
#define SYNC_SPILL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

/* The folder is made when it is needed first; max: bytes that may be in use. */
struct spill *spill_new(const char *folder, uint64_t max) RETURNS_NONNULL MUST_CHECK;
void spill_free(struct spill *s);

bool spill_has_room(const struct spill *s, uint64_t n);
/* Where the next bytes will be. */
uint64_t spill_end(const struct spill *s);
/* ERR_RETRY: the disk is full, or fails; nothing was appended then. */
bool spill_append(struct spill *s, struct str bytes, struct err *err) MUST_CHECK;
bool spill_read(struct spill *s, uint64_t at, void *to, size_t n, struct err *err) MUST_CHECK;
/* What was read is not what was written: ERR_RETRY says so, and what to do. */
bool spill_damaged(const struct spill *s, struct err *err);
/* These bytes are not needed any more. */
void spill_release(struct spill *s, uint64_t at, uint64_t n);

uint64_t spill_used(const struct spill *s);

#endif
