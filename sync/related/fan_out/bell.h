/*
 * struct bell: wakes one thread.
 *
 * Reference-counted: whoever may ring it has a reference, and may outlive the thread.
 *
 * @thread any (locked inside); wait: one
 */
#ifndef SYNC_RELATED_FAN_OUT_BELL_H
#define SYNC_RELATED_FAN_OUT_BELL_H

#include "src/base/base.h"

#include <stdint.h>

struct bell;

struct bell *bell_new(void) RETURNS_NONNULL MUST_CHECK;
struct bell *bell_ref(struct bell *b) RETURNS_NONNULL;
void bell_unref(struct bell *b);

void bell_ring(struct bell *b);
/* Wait until somebody has rung since the last wait, but at most ms. */
void bell_wait(struct bell *b, int64_t ms);

#endif
