/*
 * struct shapes: what the tables of a topic looked like at the place where its log is read.
 *
 * Rows that the log has without column names (binlog_row_metadata is not FULL) can be read only
 * by the shape that their table had when they were written, and the server tells only the one of
 * now.  So a shape is kept from the position at which it was learned until DDL in the stream
 * changes it, over restarts as well.  One that was learned while the log already went on to
 * `doubt_to` may be that of a later change: up to there rows are not believed, only their keys
 * are, and when DDL for the table does follow there, not even these.
 *
 * @thread the builder's; a shape's count is atomic
 */
#ifndef SYNC_SHAPES_H
#define SYNC_SHAPES_H

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
    uint64_t doubt_to;     /* rows up to this version may have been written in another shape */
    bool used;             /* such rows were met */
    bool refuted;          /* rows of another shape were met: it is to be learned anew */
    struct altered *altered; /* columns that led to it, by name; since the doubt began */
    size_t n_altered;
    bool altered_unclear; /* others may have, too */
    unsigned refs;
};
struct shape *shape_ref(struct shape *s) RETURNS_NONNULL;
void shape_unref(struct shape *s); /* NULL is fine */

/* It came from `before` (NULL: nothing was known) by this statement at version `at`. */
void shape_note_ddl(struct shape *s, const struct shape *before, const struct ddl *ddl,
                    uint64_t at);
/*
 * Whether ddl, at version `at`, may be the second of two ALTERs that together did to values what
 * no shape shows, as nobody looked in between: of a column that one of them did not just add.
 */
bool shape_hides(const struct shape *s, const struct ddl *ddl, uint64_t at);

struct shapes;
struct shapes *shapes_new(void) RETURNS_NONNULL MUST_CHECK;
void shapes_free(struct shapes *s); /* NULL is fine */

/* The latest shape of the table that is known from `at` or before; borrowed; NULL: none. */
struct shape *shapes_find(const struct shapes *s, struct str database, struct str table,
                          uint64_t at);

/* The table looks so from `at` on; takes a reference.  Borrowed. */
struct shape *shapes_learn(struct shapes *s, struct schema *schema, uint64_t at);
/* Whether anything was learned that neither of the next two was told about. */
bool shapes_are_new(const struct shapes *s);
/* What was learned was learned before the log was at log_end. */
void shapes_settle(struct shapes *s, uint64_t log_end);
/* What was learned counts for nothing: something failed on the way. */
void shapes_abandon(struct shapes *s);

/* Forget tables that nobody follows: their DDL is not noticed.  True: there were some. */
bool shapes_retain(struct shapes *s, bool (*is_wanted)(void *ctx, const struct schema *schema),
                   void *ctx);

void shapes_format(const struct shapes *s, struct buf *json);
/*
 * What was kept, as far as it is known from `at` or before, of the same epoch.
 *
 * before: the same place in the log of another server, as a version; 0: none.  What is certain
 * there holds at `at` as well, and what is not is left out.
 */
bool shapes_parse(struct shapes *s, struct str json, uint64_t at, uint64_t before,
                  struct err *err) MUST_CHECK;

#endif
