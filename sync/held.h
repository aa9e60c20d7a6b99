/*
 * struct held: the raw events of one transaction, kept to be read again.
 *
 * In memory up to a limit, the rest in a spill; where there is none, or it is full, the
 * transaction is cut: nothing of it is kept, and only that is known.
 *
 * @thread one at a time
 */
#ifndef SYNC_HELD_H
#define SYNC_HELD_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/event.h"
#include "sync/binlog/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

struct held {
    struct event_format format; /* of the log it was in */
    struct buf file;
    uint64_t start; /* of its first event in that file */
    struct spill *spill; /* borrowed; NULL: memory only */
    struct buf memory;
    uint64_t spilled_at, spilled;
    bool any; /* an event is kept, or it is cut */
    bool cut;
};

/* Zero-initialised before.  Forgets what was kept; the memory stays. */
void held_begin(struct held *h, struct spill *spill);
void held_fini(struct held *h);

/* The next event of the transaction, which begins at `at`; memory_max for all of its events.
 * ERR_RETRY: the disk fails. */
bool held_keep(struct held *h, const struct event_format *format, const struct event *at,
               struct str raw, size_t memory_max, struct err *err) MUST_CHECK;

struct held_cursor { /* zero-initialised; held_cursor_fini() */
    size_t at;
    uint64_t spilled_at;
    struct buf raw;
};
/* The events again: 1, no more: 0, err: -1.  raw is valid until the next call. */
int held_next(const struct held *h, struct held_cursor *c, struct str *raw,
              struct err *err) MUST_CHECK;
void held_cursor_fini(struct held_cursor *c);

#endif
