/*
 * The rows of one event, and their place in the stream.
 */
#ifndef SYNC_ROUTING_ROWS_AT_H
#define SYNC_ROUTING_ROWS_AT_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct event_rows;
struct routing;
struct table_map;
struct watched;

struct rows_at {             /* all borrowed */
    struct routing *routing; /* the routing that watches the table */
    const struct watched *watched;
    const struct event_rows *rows;
    const struct table_map *map;
    uint64_t version; /* the event's end */
    int64_t commit_ms;
    bool doubtful;            /* trust only the keys in the images */
    bool packed;              /* all events of the transaction have the same version */
    struct buf *wait_sql;     /* gets the statement that waits for the first row
                                 (sync/read/commit_wait.h); may be NULL */
    void (*begin)(void *ctx); /* called after that, before the first row is processed */
    void *ctx;
};

#endif
