/* Automatic rebuilds of tables, with a growing wait after each that fails. */
#ifndef REBALANCE_VERSION_REBUILD_H
#define REBALANCE_VERSION_REBUILD_H

#include "rebalance/state/parts.h"

/* Begin the rebuilds that are due and that need no person. */
void coordinator_rebuild_tables(struct coordinator *co) NEEDS(co->admin_lock);
/*
 * An operator cancelled the build: back off before the next automatic one.
 */
void coordinator_delay_rebuild(struct coordinator *co, struct str table) NEEDS(co->admin_lock);
/* A build of the table ended without an index. */
void coordinator_note_build_failed(struct coordinator *co, struct str table,
                                   const struct err *why);
/* A table may have appeared: retry rebuilds that could not begin.  @thread any */
void coordinator_on_tables_changed(void *ctx);
/* Append what will happen to a table that needs a rebuild, or what to do.  @thread any */
void coordinator_append_rebuild_fix(const struct coordinator *co, const struct definitions *d,
                                    const struct catalogue *c, const struct table_definition *t,
                                    struct buf *b);
/* The attempts to rebuild each table.  Locked inside. */
struct rebuilds *rebuilds_new(void) RETURNS_NONNULL MUST_CHECK;
void rebuilds_free(struct rebuilds *all); /* NULL is fine */

#endif
