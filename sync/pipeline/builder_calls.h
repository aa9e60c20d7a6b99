/*
 * struct builder_calls: questions of the reader thread to the builder.  The builder answers
 * each at its place in the stream, when everything handed over before is worked off.
 *
 * The asker waits.  If it no longer does, the answer is thrown away.
 *
 * @thread ask: the reader's; answers run on the builder's; close: any
 */
#ifndef SYNC_PIPELINE_BUILDER_CALLS_H
#define SYNC_PIPELINE_BUILDER_CALLS_H

#include "src/base/base.h"
#include "sync/source/source.h"

#include <stdbool.h>

struct handoff;
struct builder_calls;

struct builder_calls *builder_calls_new(struct handoff *handoff) RETURNS_NONNULL MUST_CHECK;
/* The builder must have ended. */
void builder_calls_free(struct builder_calls *qs); /* NULL is allowed */

/*
 * Have the builder run answer on a copy of *start, and copy the result back.  Returns false if
 * closed; *start is then unchanged.
 */
bool builder_calls_ask(struct builder_calls *qs,
                       void (*answer)(void *ctx, struct source_start *start), void *ctx,
                       struct source_start *start) MUST_CHECK;

/* Release the asker; later questions fail at once. */
void builder_calls_close(struct builder_calls *qs);

#endif
