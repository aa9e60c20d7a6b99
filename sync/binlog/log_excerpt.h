/*
 * struct log_excerpt: what of a log is to be printed: the file or the place in a dump, and what
 * within it.
 *
 * @thread any (no state but what it borrows)
 */
#ifndef SYNC_BINLOG_LOG_EXCERPT_H
#define SYNC_BINLOG_LOG_EXCERPT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/binlog/log_filter.h"
#include "sync/binlog/position.h"

#include <stdbool.h>
#include <stdint.h>

struct log_reader;

struct log_excerpt {
    struct str file;       /* the name of the file that is read; empty: a dump ... */
    struct position start; /* ... that starts here; of a file the offset, 0: its beginning */
    struct log_filter filter;
    uint64_t event_max; /* bytes; 0: 1 GiB */
};

/* It borrows *e, and prints rather than refuses what no follower could read. */
struct log_reader *log_excerpt_reader(const struct log_excerpt *e) RETURNS_NONNULL MUST_CHECK;

#endif
