/*
 * A statement that returns once a row's last change is committed (docs/rules.md, rule 4).
 *
 * MySQL without GTIDs cannot say which transactions are committed.  But the transaction that
 * changed a row holds its lock until the commit is visible, so a locking read of the row waits
 * for that; and as commits become visible in log order, for all earlier transactions, too.
 * Likewise no server can say whether an XA COMMIT in its log is visible yet.  The row may be
 * gone or changed again by then: only that the read returns matters.
 *
 * @thread any (pure)
 */
#ifndef SYNC_READ_COMMIT_WAIT_H
#define SYNC_READ_COMMIT_WAIT_H

#include "src/base/base.h"
#include "src/base/str.h"

struct buf;
struct schema;
struct table_map;
struct value;

/*
 * Format the statement for a logged row with the columns of map. known is the table from
 * information_schema.  Appends nothing if such a read would lock more than the row (no primary
 * key, or a key that the log or SQL cannot name) or nothing (not InnoDB).
 */
void commit_wait_format(struct buf *sql, const struct schema *known,
                        const struct table_map *map, const struct value *row);

/*
 * Format it for DDL of a table, which holds the table's name until it is committed: reads the
 * table, but no row.
 */
void commit_wait_format_table(struct buf *sql, struct str database, struct str table);

#endif
