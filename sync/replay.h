/*
 * Reads the events of a transaction that were kept (struct held) once more.
 *
 * For each of its steps with rows of a wanted table on_rows is called, in their order; it gives
 * false (err) to end.
 *
 * @thread one at a time for each held; may block on the disk
 */
#ifndef SYNC_REPLAY_H
#define SYNC_REPLAY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/binlog/transaction.h"
#include "sync/held.h"

#include <stdbool.h>
#include <stdint.h>

struct replay_options {
    table_map_want_fn want;
    uint64_t event_max;
    void *ctx;
    bool (*on_rows)(void *ctx, const struct step *step, struct err *err);
};

bool replay_rows(const struct held *h, const struct replay_options *opt,
                 struct err *err) MUST_CHECK;

#endif
