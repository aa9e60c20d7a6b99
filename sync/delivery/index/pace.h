/*
 * struct pace: decides when the documents that wait to be read are worth a read.
 *
 * A read costs the same statements for one document as for some hundred.  A change that comes
 * while nothing else is under way is read at once.  While many come, reads are a window apart,
 * so that each reads more documents and covers several changes of one document.  In a slower
 * flow fewer come per window: the next read then waits longer, until enough have gathered.  If
 * no more come, the read does not wait for them.
 *
 * Large documents are read few at a time: as many as fit into the bytes of a read, going by the
 * reads before.
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
    size_t enough;      /* documents that are read at once, and the most of one read */
    size_t bytes;       /* that a read should take */
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
    size_t fit;  /* so many documents of the reads before take opt.bytes; 0: not known */
    size_t each; /* bytes that each document of the last read took */
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
/* Return the bytes that each document of the last read took; 0: not known. */
size_t pace_each(const struct pace *p);
/* Return how many documents a read may have. */
size_t pace_most(const struct pace *p);
/* A read of n documents took so many bytes, and left out others or not. */
void pace_took(struct pace *p, size_t n, size_t bytes, bool is_cut);

#endif
