/*
 * struct stream_pause: stops the builder where it is, for a caller who compares documents with
 * rows.
 *
 * The builder waits until the caller ends the pause, or until it has waited too long: a stream
 * must not stand still forever.
 *
 * @thread one asker at a time; begin to end: the asker; here: the builder
 */
#ifndef SYNC_PIPELINE_STREAM_PAUSE_H
#define SYNC_PIPELINE_STREAM_PAUSE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_pause;

/* wait_ms: the longest that the builder waits. */
struct stream_pause *stream_pause_new(int64_t wait_ms) RETURNS_NONNULL MUST_CHECK;
void stream_pause_free(struct stream_pause *s); /* NULL is allowed */
/* Release the builder, for good. */
void stream_pause_close(struct stream_pause *s);

/*
 * Returns false if the pause is taken, or closed.  The caller then has the builder call
 * stream_pause_here().
 */
bool stream_pause_begin(struct stream_pause *s) MUST_CHECK;
/* Tell whether the builder waits. */
bool stream_pause_is_there(struct stream_pause *s);
/* Tell whether the builder waited too long and went on. */
bool stream_pause_is_lost(struct stream_pause *s);
/* End the pause: the builder goes on. */
void stream_pause_end(struct stream_pause *s);

/* Wait in the pause, if one is requested.  Called on the builder. */
void stream_pause_here(struct stream_pause *s);

#endif
