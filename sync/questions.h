/*
 * struct questions: what the reader thread asks the builder, answered in its place in the
 * stream: when everything that was handed over before is worked off.
 *
 * Who asks waits for the answer.  An answer for which nobody waits any more is thrown away.
 *
 * @thread ask: the reader's; answers run on the builder's; close: any
 */
#ifndef SYNC_QUESTIONS_H
#define SYNC_QUESTIONS_H

#include "src/base/base.h"
#include "sync/source.h"

#include <stdbool.h>

struct handoff;
struct questions;

struct questions *questions_new(struct handoff *handoff) RETURNS_NONNULL MUST_CHECK;
/* The builder must have ended. */
void questions_free(struct questions *qs); /* NULL is fine */

/* What answer makes of a copy of *start is filled into it.  False: closed, *start is as it was.
 */
bool questions_ask(struct questions *qs, void (*answer)(void *ctx, struct source_start *start),
                   void *ctx, struct source_start *start) MUST_CHECK;

/* Nobody waits any more. */
void questions_close(struct questions *qs);

#endif
