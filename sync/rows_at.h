/*
 * The rows of one event, and where in the stream they are.
 */
#ifndef SYNC_ROWS_AT_H
#define SYNC_ROWS_AT_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct event_rows;
struct routing;
struct table_map;
struct watched;

struct rows_at { /* all borrowed */
    struct routing *routing; /* that the table is watched by */
    const struct watched *watched;
    const struct event_rows *rows;
    const struct table_map *map;
    uint64_t version; /* the event's end */
    int64_t commit_ms;
    bool doubtful; /* of the images only the keys are believed */
    bool packed;   /* other events have the same version: all of their transaction's */
    struct buf *witness; /* gets the statement that waits for the first row (sync/witness.h);
                            NULL: not wanted */
    void (*begin)(void *ctx); /* called when it has, before the first row is followed */
    void *ctx;
};

#endif
