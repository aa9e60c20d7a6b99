/*
 * struct verify_changed: what a check has seen so far. Only changed.c and the job's own files
 * include this.
 *
 * It is a part of the job's cursor.
 */
#ifndef REBALANCE_VERIFY_PART_CHANGED_STATE_H
#define REBALANCE_VERIFY_PART_CHANGED_STATE_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "sync/document/poll_query.h"

#include <stdbool.h>

struct verify_changed {
    struct buf wished;   /* where to begin, as a person says */
    struct buf tables;   /* what each table was asked, a JSON list; empty: not begun */
    struct arena *arena; /* owns the last row */
    struct poll_row last;
    bool has_last;
};

/*
 * Whether a person may give the text as a time: "2026-11-25", "2026-11-25 13:00", or with
 * seconds and up to 6 digits behind them. The server takes every such text as that time.
 */
bool verify_changed_is_time(struct str text) MUST_CHECK;

/* since: where to begin; empty: at the last good check. */
struct verify_changed *verify_changed_new(struct str since) RETURNS_NONNULL MUST_CHECK;
void verify_changed_free(struct verify_changed *c); /* NULL is fine */
/* Forget how far it has come. NULL is fine. */
void verify_changed_clear(struct verify_changed *c);
/* The next page begins behind the row, which is copied. */
void verify_changed_keep_last(struct verify_changed *c, const struct poll_row *row);

#endif
