/*
 * What a checkpoint remembers of the log it was made from, to tell another log at the next
 * connect (design part 7, rule 3).
 *
 * Text form: "server=IDENTITY;gtid_start=N;gtid_event=HEX".  Pure.
 */
#ifndef SYNC_FINGERPRINT_H
#define SYNC_FINGERPRINT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/progress.h"

#include <stdbool.h>

struct buf;

void fingerprint_format(struct buf *b, const char *identity, const struct mark *last);

/* Fills identity (cut at cap) and the mark's GTID event; missing parts stay empty. */
void fingerprint_parse(struct str text, char *identity, size_t cap, struct mark *last);

#endif
