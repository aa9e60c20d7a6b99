/*
 * What a checkpoint remembers of the log it was made from, to tell another log at the next
 * connect (design part 7, rule 3).
 *
 * Text form: "server=IDENTITY;gtid_start=N;gtid_event=HEX", or, where another server is to be
 * followed on by GTIDs, "server=IDENTITY;after=VERSION".  Pure.
 */
#ifndef SYNC_FINGERPRINT_H
#define SYNC_FINGERPRINT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/progress.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

void fingerprint_format(struct buf *b, const char *identity, const struct mark *last);

/* Fills identity (cut at cap) and the mark's GTID event; missing parts stay empty. */
void fingerprint_parse(struct str text, char *identity, size_t cap, struct mark *last);

/* Nothing was read of this server yet; the log of the one before was read up to this version. */
void fingerprint_format_after(struct buf *b, const char *identity, uint64_t after);
/* That version, 0: none. */
uint64_t fingerprint_after(struct str text);

#endif
