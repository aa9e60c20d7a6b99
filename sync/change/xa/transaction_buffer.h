/*
 * struct transaction_buffer: keep the raw events of one transaction, to read them again.
 *
 * In memory up to a limit, the rest in a spill.  If there is no spill or it is full, the
 * transaction is cut: nothing is kept except the fact.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHANGE_XA_TRANSACTION_BUFFER_H
#define SYNC_CHANGE_XA_TRANSACTION_BUFFER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/decode/event.h"
#include "sync/decode/transaction.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spill;

struct transaction_buffer {
    struct event_format format; /* of its log */
    struct buf file;
    uint64_t start;      /* of its first event in that file */
    struct spill *spill; /* borrowed; NULL for memory only */
    struct buf memory;
    uint64_t spilled_at, spilled;
    bool any; /* it has an event, or is cut */
    bool cut;
};

/*
 * Start over; zero-initialise before the first call.  Forgets the events but keeps the memory.
 */
void transaction_buffer_begin(struct transaction_buffer *h, struct spill *spill);
void transaction_buffer_fini(struct transaction_buffer *h);

/*
 * Keep the next event, which begins at `at`. memory_max limits all its events together.
 * ERR_RETRY if the disk fails.
 */
bool transaction_buffer_keep(struct transaction_buffer *h, const struct event_format *format,
                             const struct event *at, struct str raw, size_t memory_max,
                             struct err *err) MUST_CHECK;

struct transaction_cursor { /* zero-initialise; release with transaction_cursor_fini() */
    size_t at;
    uint64_t spilled_at;
    struct buf raw;
};
/*
 * Get the next kept event.  Returns 1, 0 at the end, -1 on error. raw is valid until the next
 * call.
 */
int transaction_buffer_next(const struct transaction_buffer *h, struct transaction_cursor *c,
                            struct str *raw, struct err *err) MUST_CHECK;
void transaction_cursor_fini(struct transaction_cursor *c);

/*
 * Read the kept events of a transaction (struct transaction_buffer) once more.
 *
 * Calls on_rows for each step with rows of a wanted table, in order; it returns false with err
 * to end the replay.
 */
struct replay_options {
    table_map_want_fn want;
    uint64_t event_max;
    void *ctx;
    bool (*on_rows)(void *ctx, const struct step *step, struct err *err);
};

bool replay_rows(const struct transaction_buffer *h, const struct replay_options *opt,
                 struct err *err) MUST_CHECK;

#endif
