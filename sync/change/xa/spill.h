/*
 * struct spill: bytes that wait on disk because memory may not hold them.
 *
 * One unnamed file that vanishes with the process.  A restart needs nothing of it, since the
 * log is read again.  Bytes are appended, read by position and released; the file shrinks once
 * nothing in it is needed.
 *
 * @thread one at a time; spill_used: any.  Blocks on the disk
 */
#ifndef SYNC_CHANGE_XA_SPILL_H
#define SYNC_CHANGE_XA_SPILL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

/* Creates the folder on demand. max limits the bytes in use. */
struct spill *spill_new(const char *folder, uint64_t max) RETURNS_NONNULL MUST_CHECK;
void spill_free(struct spill *s);

bool spill_has_room(const struct spill *s, uint64_t n);
/* Where the next bytes will be. */
uint64_t spill_end(const struct spill *s);
/* ERR_RETRY if the disk is full or fails; nothing was appended then. */
bool spill_append(struct spill *s, struct str bytes, struct err *err) MUST_CHECK;
bool spill_read(struct spill *s, uint64_t at, void *to, size_t n, struct err *err) MUST_CHECK;
/* Report that the bytes read differ from those written: ERR_RETRY with a remedy. */
bool spill_damaged(const struct spill *s, struct err *err);
/* Release bytes that are no longer needed. */
void spill_release(struct spill *s, uint64_t at, uint64_t n);

uint64_t spill_used(const struct spill *s);

#endif
