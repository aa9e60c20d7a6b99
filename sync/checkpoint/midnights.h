/*
 * struct midnights: where the log was when each day began, for what reads a day again.
 *
 * A transaction's time is the latest header time of its events: about when it committed.  The
 * first transaction at or after a midnight is the first of that day, and the place before it is
 * the midnight's: whatever committed at or after midnight is read from there on.  Times of
 * later transactions may be earlier again; their day stays the one in which the log has them.
 * So the days have all of the log, each part once.
 *
 * A midnight is noted before its transaction ends and stored before a position passes that.  So
 * who was away at midnight meets it when it catches up, and who is killed meets it again. While
 * nothing is written to the log, no midnight is noted: the next transaction notes all of them.
 *
 * @thread builder: pass; saver: take, forget
 */
#ifndef SYNC_CHECKPOINT_MIDNIGHTS_H
#define SYNC_CHECKPOINT_MIDNIGHTS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct midnights;
struct zone;

#define MIDNIGHTS_MAX    31   /* that wait for the store, or are noted at once */
#define MIDNIGHT_AHEAD_S 3600 /* a server's clock is believed so far ahead of ours */

struct midnight {
    int64_t day; /* since 1970-01-01 */
    uint32_t file_number;
    uint64_t offset;
};

/*
 * Takes over the zone; NULL: no midnight is noted.  last: the last day whose midnight was
 * passed before; INT64_MIN: unknown, so that the first transaction says in which day the log
 * begins.
 */
struct midnights *midnights_new(struct zone *zone, int64_t last) RETURNS_NONNULL MUST_CHECK;
void midnights_free(struct midnights *m); /* NULL is allowed */

/*
 * A transaction that begins at this place ends.  Times are in seconds; one beyond
 * MIDNIGHT_AHEAD_S after now counts as now.
 */
struct midnight_passing {
    int64_t time, now;
    uint32_t file_number;
    uint64_t offset;
};
void midnights_pass(struct midnights *m, const struct midnight_passing *p);

/* Copy the days that are not stored yet into out, which has room for MIDNIGHTS_MAX. */
size_t midnights_take(struct midnights *m, struct midnight *out) MUST_CHECK;
/* Those up to this day are stored. */
void midnights_forget(struct midnights *m, int64_t day);

#endif
