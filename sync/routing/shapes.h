/*
 * struct shapes: the shapes of a topic's tables at the place where its log is read.
 *
 * Rows logged without column names (binlog_row_metadata is not FULL) can be decoded only with
 * the shape that their table had when they were written, but the server only tells the present
 * one.  So a shape is kept from the position where it was learned until DDL in the stream
 * changes it, across restarts, too.  A shape learned while the log had already reached
 * `doubt_to` may belong to a later change: up to there, only the keys of rows are trusted; if
 * DDL for the table does follow before, not even these.
 *
 * @thread the builder's; a shape's count is atomic
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
    bool used;             /* decoded such rows */
    bool refuted;          /* rows of another shape appeared: learn it again */
    struct altered
        *altered; /* columns altered on the way to it, by name; since the doubt began */
    size_t n_altered;
    bool altered_unclear; /* other columns may have been altered, too */
    unsigned refs;
};
struct shape *shape_ref(struct shape *s) RETURNS_NONNULL;
void shape_unref(struct shape *s); /* NULL is allowed */

/* Record that this statement at version `at` made s from `before` (NULL if unknown). */
void shape_note_ddl(struct shape *s, const struct shape *before, const struct ddl *ddl,
                    uint64_t at);
/*
 * Tell whether ddl, at version `at`, may be the second of two ALTERs that together changed
 * values without any shape showing it, because nobody looked in between: it alters a column
 * other than one just added.
 */
bool shape_hides(const struct shape *s, const struct ddl *ddl, uint64_t at);

struct shapes;
struct shapes *shapes_new(void) RETURNS_NONNULL MUST_CHECK;
void shapes_free(struct shapes *s); /* NULL is allowed */

/* The latest shape of the table known from `at` or before; borrowed; NULL if none. */
struct shape *shapes_find(const struct shapes *s, struct str database, struct str table,
                          uint64_t at);

/* The table has this shape from `at` on; takes a reference.  Returns it borrowed. */
struct shape *shapes_learn(struct shapes *s, struct schema *schema, uint64_t at);
/* Tell whether something was learned that was neither settled nor abandoned. */
bool shapes_are_new(const struct shapes *s);
/* Accept what was learned: it was learned before the log reached log_end. */
void shapes_settle(struct shapes *s, uint64_t log_end);
/* Drop what was learned: something failed on the way. */
void shapes_abandon(struct shapes *s);

/*
 * Forget tables that nothing follows, because their DDL goes unnoticed.  Returns true if there
 * were some.
 */
bool shapes_retain(struct shapes *s, bool (*is_wanted)(void *ctx, const struct schema *schema),
                   void *ctx);

void shapes_format(const struct shapes *s, struct buf *json);
/*
 * Parse what was stored, as far as it was known from `at` or before in the same epoch. before:
 * the same place in another server's log, as a version; 0 for none.  What is certain there is
 * certain at `at`; the rest is left out.
 */
bool shapes_parse(struct shapes *s, struct str json, uint64_t at, uint64_t before,
                  struct err *err) MUST_CHECK;

#endif
