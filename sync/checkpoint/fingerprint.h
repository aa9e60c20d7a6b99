/*
 * What a checkpoint remembers of its log, to recognise another log at the next connect (design
 * part 7, rule 3).  Pure.
 *
 * As text: "server=IDENTITY;gtid_start=N;gtid_event=HEX", or, if another server is to be
 * followed by GTIDs, "server=IDENTITY;after=VERSION".
 */
#ifndef SYNC_CHECKPOINT_FINGERPRINT_H
#define SYNC_CHECKPOINT_FINGERPRINT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/checkpoint/progress.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

void fingerprint_format(struct buf *b, const char *identity,
                        const struct commit_position *last);

/* Parse into identity (cut at cap) and the mark's GTID event.  Missing parts stay empty. */
void fingerprint_parse(struct str text, char *identity, size_t cap,
                       struct commit_position *last);

/*
 * Format for a server of which nothing was read yet.  The log of the server before was read up
 * to `after`.
 */
void fingerprint_format_after(struct buf *b, const char *identity, uint64_t after);
/* That version; 0 if none. */
uint64_t fingerprint_after(struct str text);

#endif
