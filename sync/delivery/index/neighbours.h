/*
 * struct neighbours: does anybody but jobs write to the engine now?
 *
 * Jobs are polite for the sake of others (sync/delivery/index/guests.h). While there are none,
 * they take all that the engine has. There are none if neither the stream nor, as the engine
 * says, an index of others took a document for NEIGHBOURS_QUIET_MS, and if the engine was asked
 * about that for NEIGHBOURS_FIRST_MS at least. It is asked each second while jobs have requests
 * in flight; less often if its answers are late, so that asking costs it little. An engine that
 * does not say, or takes too long, has neighbours.
 *
 * Pure: the caller passes the time, in monotonic ms.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_NEIGHBOURS_H
#define SYNC_DELIVERY_INDEX_NEIGHBOURS_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define NEIGHBOURS_QUIET_MS 10000
#define NEIGHBOURS_FIRST_MS 3000
#define NEIGHBOURS_ASK_MS   1000
#define NEIGHBOURS_SLOW_MS  400   /* an answer that takes longer says nothing */
#define NEIGHBOURS_LATER_MS 60000 /* after an answer that says nothing */

/* Zero-initialise. */
struct neighbours {
    bool stream_wrote, others_wrote; /* ever */
    int64_t stream_ms, others_ms;    /* when they did so last */
    bool has_answer;                 /* the next three are of the last one */
    uint64_t total;                  /* what indexes of others had taken */
    int64_t answered_ms;
    int64_t since_ms; /* the first of those that came without a long pause */
    int64_t asked_ms;
    int64_t next_ms; /* not asked before */
    bool is_asked;
};

/* The stream brought a document. */
void neighbours_note_stream(struct neighbours *n, int64_t now_ms);

/* Tell whether to ask now. The caller asks, and passes the answer on. */
bool neighbours_is_due(const struct neighbours *n, int64_t now_ms);
void neighbours_ask(struct neighbours *n, int64_t now_ms);
/* total: documents that indexes of others have taken and deleted since they were made. */
void neighbours_answer(struct neighbours *n, uint64_t total, int64_t now_ms);
/* The engine did not answer that. */
void neighbours_no_answer(struct neighbours *n, int64_t now_ms);

bool neighbours_are_there(const struct neighbours *n, int64_t now_ms);

#endif
