/*
 * struct safe_point: the place in the log from which a restart misses nothing.  Pure.
 *
 * Usually the end of what is done.  But the rows of a prepared XA transaction exist only in the
 * log, so while one is open the place stays before it: a hold.  What is done after a hold is
 * remembered as a set of GTIDs, so that the place and the executed set stored with it always
 * match, and memory does not grow while a transaction stays prepared.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHECKPOINT_SAFE_POINT_H
#define SYNC_CHECKPOINT_SAFE_POINT_H

#include "src/base/base.h"
#include "sync/position/gtid_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the GTID event that opened a transaction: part of the log's fingerprint. */
#define COMMIT_GTID_BYTES 23

/* The end of a transaction. */
struct commit_position {
    uint32_t file_number;
    uint64_t offset;
    int64_t event_ms;
    uint64_t gtid_start;                   /* where its GTID event begins; 0 if it has none */
    uint8_t gtid_event[COMMIT_GTID_BYTES]; /* header and checksum of that event */
    struct gtid gtid;                      /* family GTID_NONE if it has none */
};

/* The mark as a document version. */
uint64_t commit_position_version(const struct commit_position *m, uint64_t epoch);

struct safe_point;

struct safe_point *
safe_point_new(const struct commit_position *start) RETURNS_NONNULL MUST_CHECK;
void safe_point_free(struct safe_point *s);

/*
 * Hold the place at or before `at`, which is after everything done.  Returns the hold's number,
 * never 0.
 */
uint64_t safe_point_hold(struct safe_point *s, const struct commit_position *at);
/*
 * End the hold once everything up to end is done.  The place is never between the hold's two
 * ends, where a restart would read the second one without the first.
 */
void safe_point_release(struct safe_point *s, uint64_t hold, const struct commit_position *end);

/*
 * Everything up to `to` is done; its own GTID and those of merged (NULL for none) are executed.
 * All of them must be on the same side of every hold.
 */
void safe_point_done(struct safe_point *s, const struct commit_position *to,
                     const struct gtid_set *merged);

/* The end of what is done, regardless of holds. */
const struct commit_position *safe_point_end(const struct safe_point *s);

/*
 * Get the place.  Returns true if it moved since the last call.  Adds the GTIDs that are now
 * before it to executed.
 */
bool safe_point_take(struct safe_point *s, struct commit_position *out,
                     struct gtid_set *executed);

size_t safe_point_holds(const struct safe_point *s);
/* Get the first place that is held and not released; false: none is. */
bool safe_point_held(const struct safe_point *s, struct commit_position *out) MUST_CHECK;

#endif
