/*
 * A statement that ends when a row's last change is committed (design part 7, rule 4).
 *
 * MySQL without GTIDs cannot be asked which transactions are committed.  But whoever changed a
 * row holds its lock until its commit is visible, so a locking read of the row waits for that,
 * and, as commits become visible in the log's order, for all transactions before it.  Nor can
 * any server be asked whether an XA COMMIT that its log has is visible already.  The row may be
 * gone or changed again meanwhile: that the read comes back at all is the answer.
 *
 * @thread any (pure)
 */
#ifndef SYNC_WITNESS_H
#define SYNC_WITNESS_H

#include "src/base/base.h"
#include "src/base/str.h"

struct buf;
struct schema;
struct table_map;
struct value;

/*
 * The statement for a row of the log, whose columns are those of map; known: the table as
 * information_schema has it.  Nothing where such a read would lock more than the row (no
 * primary key, a key that the log or SQL cannot name) or nothing at all (not InnoDB).
 */
void witness_format(struct buf *sql, const struct schema *known, const struct table_map *map,
                    const struct value *row);

/*
 * The same for DDL of a table, which holds its name until it is committed: a read of the table,
 * of no row.
 */
void witness_format_table(struct buf *sql, struct str database, struct str table);

#endif
