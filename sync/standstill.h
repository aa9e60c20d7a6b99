/*
 * struct standstill: stops the builder where it is, for whoever compares documents with rows.
 *
 * It waits until it is told to go on, or has waited too long: a stream must not stand still for
 * ever.
 *
 * @thread one asks at a time; begin to end: the asker; here: the builder
 */
#ifndef SYNC_STANDSTILL_H
#define SYNC_STANDSTILL_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct standstill;

/* wait_ms: the builder waits no longer. */
struct standstill *standstill_new(int64_t wait_ms) RETURNS_NONNULL MUST_CHECK;
void standstill_free(struct standstill *s); /* NULL is fine */
/* Nobody stands any more. */
void standstill_close(struct standstill *s);

/* False: somebody else has it, or it is closed.  Have the builder call standstill_here(). */
bool standstill_begin(struct standstill *s) MUST_CHECK;
/* The builder waits. */
bool standstill_is_there(struct standstill *s);
/* It has gone on by itself. */
bool standstill_is_lost(struct standstill *s);
/* Go on. */
void standstill_end(struct standstill *s);

/* The builder waits here. */
void standstill_here(struct standstill *s);

#endif
