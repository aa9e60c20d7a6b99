/*
 * struct dump_watch: whether a dump still yields what the server logs.  Pure.
 *
 * A dump that waits at a position before the end of the log is stuck if it stays there: the
 * server may have been reset under it.  A single look shows nothing, since an event that was
 * just logged is still on its way.  So the time counts from the first look that shows a dump
 * behind, however long ago the look before was, and such a dump must be looked at again soon.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHECKPOINT_DUMP_WATCH_H
#define SYNC_CHECKPOINT_DUMP_WATCH_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct log_backlog;

struct dump_watch {
    uint64_t read;    /* the position at the last look */
    int64_t since_ms; /* monotonic: the first look that showed the dump behind there */
    bool is_doubted;  /* it was behind at the last look */
};

/*
 * read: the position of the dump; waits: everything read is processed.  Returns why the dump is
 * stuck, a literal, or NULL.
 */
const char *dump_watch_look(struct dump_watch *w, const struct log_backlog *backlog,
                            uint64_t read, bool waits, int64_t now_ms) MUST_CHECK;

#endif
