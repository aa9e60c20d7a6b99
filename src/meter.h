/*
 * Progress of long work on standard error: one line that is written over on a terminal, else a
 * plain line every few seconds.
 *
 * The share is never above 100 %, and the total never below what is done, since totals are
 * estimates until the end.
 *
 * @thread one at a time
 */
#ifndef SRC_METER_H
#define SRC_METER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct meter_facts {
    struct str what; /* "orders v8" */
    uint64_t done, total;
    double rate;              /* rows a second */
    double remaining_seconds; /* negative: not known */
    bool finished;
};

/* Append "orders v8   42.0 %  4,200 of about 10,000 rows  2,000/s  2.9 s left". */
void meter_format(struct buf *out, const struct meter_facts *f);

struct meter {
    int fd;
    bool terminal;
    int64_t next_ms; /* when the next plain line is due */
    bool drawn;      /* a line stands on the terminal */
};

void meter_init(struct meter *m, int fd);
/* Show f now, or leave it out where a plain line is not due; finished ones are always shown. */
void meter_show(struct meter *m, const struct meter_facts *f, int64_t now_ms);
/* Leave the line that stands there, so that other text can follow. */
void meter_end(struct meter *m);

#endif
