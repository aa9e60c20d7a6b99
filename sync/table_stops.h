/*
 * Stops the tables that the log leaves behind: by statements that change rows without events
 * for them, and by rows that cannot be had any more.  Those that DDL stopped may be built again by
 * themselves.
 *
 * @thread the builder's
 */
#ifndef SYNC_TABLE_STOPS_H
#define SYNC_TABLE_STOPS_H

#include "src/base/base.h"

#include <stdint.h>

struct change_writer;
struct ddl;
struct routing;
struct watched;

/* The table that a tool has put away, to put its copy there next (sync/binlog/ddl_swap.h). */
struct table_away {
    char database[256], table[256]; /* "": none */
};

/* Where in the log; all borrowed. */
struct table_stops {
    const struct routing *routing; /* NULL: nothing is followed yet */
    struct change_writer *writer;
    const char *file;
    uint64_t version;
    struct table_away *away;
};

/* A statement by itself that is not temporary. */
void table_stops_by_ddl(const struct table_stops *s, const struct ddl *ddl);
void table_stops_one(const struct table_stops *s, const struct watched *w, const char *reason);
void table_stops_all(const struct table_stops *s, const char *reason);

#endif
