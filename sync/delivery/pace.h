/*
 * struct pace: when documents that wait to be read are worth a read.
 *
 * A read costs the same statements for one document as for some hundred.  A change that comes
 * while nothing else is under way is read at once; where many are asked for, one read follows
 * the other after a window, so that more of them come together, and several changes of one
 * document are one read.  Of a slower flow fewer come in a window: then the next read waits
 * longer, until they are worth it.  Where nothing more comes, nothing is waited for.
 *
 * Pure: the time is handed in.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_PACE_H
#define SYNC_DELIVERY_PACE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pace_options {
    int64_t window_ms;  /* between reads of a flow; 0: every read goes at once */
    int64_t longest_ms; /* the same where fewer wait than a read is worth */
    unsigned flow;      /* so many asked for in a quarter of a window are a flow, until a window
                           has less than twice as many */
    size_t worth;       /* documents */
    size_t enough;      /* so many are not waited with */
};

struct pace_span { /* of time, in which reads were asked for */
    int64_t since_ms;
    unsigned asked;
};

struct pace {
    struct pace_options opt;
    int64_t read_ms;  /* when the last read began */
    int64_t asked_ms; /* when one was asked for last */
    struct pace_span quarter, window;
    bool flows;
    bool at_once; /* what waits is not to wait for more */
};

/* What else there is when a read is asked for. */
enum pace_others {
    PACE_ALONE,    /* nothing: whoever changes one row after the other waits for nothing */
    PACE_AMONG,    /* some wait, or are under way */
    PACE_GATHERED, /* many that are asked for with it */
};

void pace_init(struct pace *p, const struct pace_options *opt);
/* The same for one that is in use. */
void pace_set(struct pace *p, const struct pace_options *opt);

void pace_ask(struct pace *p, int64_t now_ms, enum pace_others others);
/* When the n > 0 that wait are to be read. */
int64_t pace_reads_at(const struct pace *p, size_t n, int64_t now_ms);
/* They are. */
void pace_read(struct pace *p, int64_t now_ms);

#endif
