/*
 * struct pace: when documents that wait to be read are worth a read.
 *
 * A read costs the same statements for one document as for some hundred.  A single change is
 * read at once; where many are asked for, one read follows the other after a window, so that
 * more of them come together, and several changes of one document are one read.
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

struct pace {
    int64_t window_ms;    /* 0: every read goes at once */
    unsigned flow;        /* so many asked for in a window are many */
    size_t enough;        /* documents that are not waited with */
    int64_t read_ms;      /* when the last read began */
    int64_t since_ms;     /* of this window */
    unsigned asked, last; /* reads asked for in this window, and in the one before */
    bool gathered;        /* what waits has come together already */
};

void pace_init(struct pace *p, int64_t window_ms, unsigned flow, size_t enough);

/* The same for one that is in use. */
void pace_set(struct pace *p, int64_t window_ms, size_t enough);

/* A read of a document is asked for; gathered: with many others at a time. */
void pace_ask(struct pace *p, int64_t now_ms, bool gathered);
/* When the n > 0 that wait are to be read. */
int64_t pace_reads_at(const struct pace *p, size_t n, int64_t now_ms);
/* They are. */
void pace_read(struct pace *p, int64_t now_ms);

#endif
