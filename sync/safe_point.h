/*
 * struct safe_point: the place in the log from which a restart misses nothing.
 *
 * Usually that is the end of what is done.  But rows of an XA transaction that was prepared and
 * not yet committed are nowhere but in the log, so while one is open the place stays before it:
 * a hold.  What is done behind a hold is remembered as a set of GTIDs, so that the place and
 * the executed set that is stored with it always fit, and memory does not grow with the time
 * that a transaction stays prepared.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_SAFE_POINT_H
#define SYNC_SAFE_POINT_H

#include "src/base/base.h"
#include "sync/binlog/gtid_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The GTID event that opened a transaction, as bytes: its part of the log's fingerprint. */
#define MARK_GTID_BYTES 23

/* The end of a transaction. */
struct mark {
    uint32_t file_number;
    uint64_t offset;
    int64_t event_ms;
    uint64_t gtid_start;                 /* where its GTID event begins, 0: it has none */
    uint8_t gtid_event[MARK_GTID_BYTES]; /* header and checksum of that event */
    struct gtid gtid;                    /* family GTID_NONE without */
};

/* As a document version. */
uint64_t mark_version(const struct mark *m, uint64_t epoch);

struct safe_point;

struct safe_point *safe_point_new(const struct mark *start) RETURNS_NONNULL MUST_CHECK;
void safe_point_free(struct safe_point *s);

/* Stay at `at` or before, which is behind all that is done; the hold's number, never 0. */
uint64_t safe_point_hold(struct safe_point *s, const struct mark *at);
/* The hold ends there, once everything up to end is done: the place is never between its two ends,
 * where a restart would read the second one without the first. */
void safe_point_release(struct safe_point *s, uint64_t hold, const struct mark *end);

/*
 * Everything up to `to` is done: to's own GTID became executed by that, and those of merged
 * (NULL: none).  All of them lie on the same side of every hold.
 */
void safe_point_done(struct safe_point *s, const struct mark *to,
                     const struct gtid_set *merged);

/* Everything up to here is done, whatever holds. */
const struct mark *safe_point_end(const struct safe_point *s);

/*
 * The place; true when it moved since the last call.  The GTIDs that came to lie before it are
 * added to executed.
 */
bool safe_point_take(struct safe_point *s, struct mark *out, struct gtid_set *executed);

size_t safe_point_holds(const struct safe_point *s);

#endif
