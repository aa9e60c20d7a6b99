/*
 * Stop tables that the log no longer describes: after statements that change rows without row
 * events, and for rows that cannot be read any more.  A table stopped by DDL may be rebuilt
 * automatically.  What shows a delayed table, which such a statement
 * changed, waits for a run instead.
 *
 * @thread the builder's
 */
#ifndef SYNC_CHANGE_TABLE_STOPS_H
#define SYNC_CHANGE_TABLE_STOPS_H

#include "src/base/base.h"
#include "sync/routing/compile.h"

#include <stdint.h>

struct change_writer;
struct ddl;
struct routing;
struct watched;

/*
 * The table that a tool has renamed away, to put its copy in place next
 * (sync/decode/ddl_swap.h).
 */
struct table_away {
    char database[256], table[256]; /* "" if none */
};

/* The place in the log; all borrowed. */
struct table_stops {
    const struct routing *routing; /* NULL: nothing is followed yet */
    struct change_writer *writer;
    const char *file;
    uint64_t version;
    struct table_away *away;
    table_put_off_fn put_off;
    void *ctx; /* of put_off */
};

/* Handle a statement outside transactions that is not temporary. */
void table_stops_by_ddl(const struct table_stops *s, const struct ddl *ddl);
void table_stops_one(const struct table_stops *s, const struct watched *w, const char *reason);
void table_stops_all(const struct table_stops *s, const char *reason);

#endif
