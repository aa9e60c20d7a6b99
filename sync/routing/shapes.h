/*
 * struct shapes: which shape each table of a topic had, by position in the log.
 *
 * If the log has rows without column names (binlog_row_metadata is not FULL), Millrace needs
 * the shape that the table had when they were written, and the server tells only the present
 * one. So Millrace keeps a shape from the position where it learned it until DDL in the stream
 * changes it, also across restarts.
 *
 * When Millrace asks the server for a shape, the log may already have reached a later position,
 * `doubt_to`, and the answer may belong there.  For rows up to `doubt_to`, Millrace therefore
 * trusts only the key.  If DDL for the table follows before `doubt_to`, it does not trust the
 * key either.
 *
 * @thread the builder's; a shape's count of references is atomic
 */
#ifndef SYNC_ROUTING_SHAPES_H
#define SYNC_ROUTING_SHAPES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct ddl;
struct schema;

struct shape {
    struct schema *schema; /* a reference */
    uint64_t from;         /* version of the position from which it is known */
    uint64_t doubt_to;     /* rows up to this version may have another shape */
    bool used;             /* rows were decoded with it, or may have been */
    bool refuted;          /* rows of another shape appeared: learn it again */
    struct altered
        *altered; /* columns that DDL altered while earlier shapes were in doubt, by name */
    size_t n_altered;
    bool altered_unclear; /* other columns may have been altered, too */
    unsigned refs;
};
struct shape *shape_ref(struct shape *s) RETURNS_NONNULL;
void shape_unref(struct shape *s); /* NULL is allowed */

/* Record that ddl, at version `at`, turned `before` (NULL if unknown) into s. */
void shape_note_ddl(struct shape *s, const struct shape *before, const struct ddl *ddl,
                    uint64_t at);
/*
 * Tell whether ddl, at version `at`, may be the second of two ALTERs that together changed
 * values, while the shapes before and after both look the same.  This is so if s is still in
 * doubt and ddl alters a column that DDL altered on the way to s, unless both add that column.
 * If either statement may alter columns that it does not name, the answer is yes.
 */
bool shape_hides(const struct shape *s, const struct ddl *ddl, uint64_t at);

struct shapes;
struct shapes *shapes_new(void) RETURNS_NONNULL MUST_CHECK;
void shapes_free(struct shapes *s); /* NULL is allowed */

/* Get the table's latest shape that is known from `at` or before.  Borrowed; NULL if none. */
struct shape *shapes_find(const struct shapes *s, struct str database, struct str table,
                          uint64_t at);

/*
 * Record the table's shape from `at` on.  Takes its own reference to schema; returns the shape
 * borrowed.  The shape is in doubt everywhere until shapes_settle().
 */
struct shape *shapes_learn(struct shapes *s, struct schema *schema, uint64_t at);
/* Tell whether some learned shape was neither settled nor abandoned. */
bool shapes_are_new(const struct shapes *s);
/* Accept the new shapes.  The log had reached log_end after the server gave them. */
void shapes_settle(struct shapes *s, uint64_t log_end);
/* Drop the new shapes, because a later step failed. */
void shapes_abandon(struct shapes *s);

/*
 * Forget the tables that nothing follows: nobody notices DDL for them.  New shapes stay.
 * Returns true if it forgot some.
 */
bool shapes_retain(struct shapes *s, bool (*is_wanted)(void *ctx, const struct schema *schema),
                   void *ctx);

void shapes_format(const struct shapes *s, struct buf *json);
/*
 * Add the stored shapes that are known from `at` or before, in the epoch of `at`.  After a move
 * to another server's log, before is the place in the old log, as a version, that `at` stands
 * for; otherwise 0.  Of the old log's shapes, those without doubt at before hold from `at` on;
 * the others are left out.  ERR_REJECT if the text is damaged.
 */
bool shapes_parse(struct shapes *s, struct str json, uint64_t at, uint64_t before,
                  struct err *err) MUST_CHECK;

#endif
