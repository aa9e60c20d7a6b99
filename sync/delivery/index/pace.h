/*
 * struct pace: decides when the documents that wait to be read are worth a read.
 *
 * A read costs the same statements for one document as for some hundred.  A change that comes
 * while nothing else is under way is read at once.  While many come, reads are a window apart,
 * so that each reads more documents and covers several changes of one document.  In a slower
 * flow fewer come per window: the next read then waits longer, until enough have gathered.  If
 * no more come, the read does not wait for them.
 *
 * Pure: the caller passes the time.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_INDEX_PACE_H
#define SYNC_DELIVERY_INDEX_PACE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace_options {
    int64_t window_ms;  /* between reads in a flow; 0: read at once */
    int64_t longest_ms; /* between reads while fewer than `worth` wait */
    unsigned flow;      /* this many requests in a quarter of a window begin a flow; a window of
                           fewer than twice as many ends it */
    size_t worth;       /* documents that are worth a read */
    size_t enough;      /* documents that are read at once */
};

struct pace_span { /* A span of time, and the reads requested in it. */
    int64_t since_ms;
    unsigned asked;
};

struct pace {
    struct pace_options opt;
    int64_t read_ms;  /* when the last read began */
    int64_t asked_ms; /* when a read was last requested */
    struct pace_span quarter, window;
    bool flows;
    bool at_once; /* do not wait for more documents */
};

/* What else was going on when a read was requested. */
enum pace_others {
    PACE_ALONE,    /* nothing: whoever changes one row after another never waits */
    PACE_AMONG,    /* others wait or are under way */
    PACE_GATHERED, /* many are requested together with it */
};

void pace_init(struct pace *p, const struct pace_options *opt);
/* Change the options of one in use. */
void pace_set(struct pace *p, const struct pace_options *opt);

void pace_ask(struct pace *p, int64_t now_ms, enum pace_others others);
/* Return when to read the n > 0 documents that wait. */
int64_t pace_reads_at(const struct pace *p, size_t n, int64_t now_ms);
/* A read begins. */
void pace_read(struct pace *p, int64_t now_ms);

#endif
