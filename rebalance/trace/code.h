/*
 * Why a document is, or is not, as its row says, in one code, and what to do next: pure.
 *
 * Each code stands for a fact that alone explains what searches show.  Of several facts the
 * first code explains most; so the order of the codes decides, and nothing else.
 *
 * @thread any
 */
#ifndef REBALANCE_TRACE_CODE_H
#define REBALANCE_TRACE_CODE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdint.h>

struct buf;

enum trace_code {
    /* No side, or only one, can be looked at. */
    TRACE_BEING_BUILT = 0,
    TRACE_NO_INDEX,
    TRACE_STOPPED,
    TRACE_TOPIC_PAUSED, /* noted only if that keeps from looking, or from delivering */
    TRACE_NOT_RUNNING,
    TRACE_INDEX_ABSENT,
    TRACE_INDEX_CLOSED,
    TRACE_ENGINE_AWAY,
    TRACE_SERVER_AWAY,
    TRACE_ASTRAY, /* searches read another index, whatever this one has */
    /* Both were looked at, and are equal. */
    TRACE_EQUAL,
    TRACE_SOFT_DELETED, /* this and the next: rightly no document */
    TRACE_FILTERED,
    TRACE_UNROOTED,
    TRACE_NO_ROW,
    TRACE_NOT_FOLLOWED, /* as its definition wants it */
    TRACE_DELAYED,      /* until a run */
    /* They differ for now. */
    TRACE_PAUSED,
    TRACE_HELD,
    TRACE_SENT,
    TRACE_READING,
    TRACE_QUEUED,
    TRACE_APART,
    TRACE_UNSTORED,
    TRACE_DEAD_LETTER,
    TRACE_PURGED,
    TRACE_FAN_OUT,
    TRACE_CASCADE,
    TRACE_BY_TIME,
    TRACE_NOT_DELIVERED,
    TRACE_CHANGING,
    TRACE_DROPPED, /* by a pipeline, it may be */
    /* They differ. */
    TRACE_LINEAGE,
    TRACE_ROUTING,
    TRACE_MISSING,
    TRACE_UNEXPLAINED,
    TRACE_EXTRA,
    TRACE_DIFFERENT,
    /* Of a related row: what its documents are together. */
    TRACE_SHOWN_DIFFERENT,
    TRACE_SHOWN_UNKNOWN,
    TRACE_SHOWN_EQUAL,
    TRACE_SHOWN_NOWHERE,
    N_TRACE_CODES,
};

/* A set of facts. */
#define TRACE_FACT(code) (UINT64_C(1) << (code))

/* The first code among the facts; TRACE_CHANGING if there are none. */
enum trace_code trace_choose(uint64_t facts);

/* "equal", "dead_letter", ... */
const char *trace_word(enum trace_code code);
/* "equal", "different" or "unknown". */
const char *trace_verdict(enum trace_code code);

/* What the sentences name.  why and fix: of the fact that is told; each may be empty;
 * without a fix, the status says more. */
struct trace_names {
    struct str table, id, index, why, fix;
};
/* Append the sentence, or the next step, which is empty if nothing needs doing. */
void trace_append_sentence(struct buf *b, enum trace_code code, const struct trace_names *n);
void trace_append_next(struct buf *b, enum trace_code code, const struct trace_names *n);

#endif
