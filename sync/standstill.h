/*
 * struct standstill: stops the builder at a place in the stream, for whoever must see
 * everything up to there and nothing after it.
 *
 * The builder first waits where it is, while a snapshot of the source is opened that shows
 * everything up to `low` and nothing beyond `high`.  Then it goes on to `high` and waits there,
 * until it is told to go, or has waited too long: a stream must not stand still for ever.
 *
 * @thread one asks at a time; begin to end: the asker; here, pass, reaches, stand: the builder
 */
#ifndef SYNC_STANDSTILL_H
#define SYNC_STANDSTILL_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct standstill;

/* changes: atomic, of row changes read (borrowed).  wait_ms: the builder waits no longer. */
struct standstill *standstill_new(const uint64_t *changes,
                                  int64_t wait_ms) RETURNS_NONNULL MUST_CHECK;
void standstill_free(struct standstill *s); /* NULL is fine */
/* Nobody stands any more. */
void standstill_close(struct standstill *s);

/* False: somebody else has it, or it is closed.  Have the builder call standstill_here(). */
bool standstill_begin(struct standstill *s) MUST_CHECK;
/* The builder waits where it is. */
bool standstill_is_frozen(struct standstill *s);
/* Go on to high; low, high: document versions at ends of transactions. */
void standstill_go_to(struct standstill *s, uint64_t low, uint64_t high);
/* The builder has come to high, and waits. */
bool standstill_is_there(struct standstill *s);
/* It has gone on by itself. */
bool standstill_is_lost(struct standstill *s);
/* Go on.  False: it had gone on by itself; else *between row changes came from low to high. */
bool standstill_end(struct standstill *s, uint64_t *between);

/* The builder, which has read up to version, waits here. */
void standstill_here(struct standstill *s, uint64_t version);
/* An event that ends at version comes next. */
void standstill_pass(struct standstill *s, uint64_t version);
/* The event at version was worked off: is it the place?  Then hand over what gathers, and
 * stand. */
bool standstill_reaches(const struct standstill *s, uint64_t version);
void standstill_stand(struct standstill *s);

#endif
