/*
 * How far a verification that runs as a job is.
 *
 * @thread any
 */
#ifndef REBALANCE_VERIFY_PROGRESS_H
#define REBALANCE_VERIFY_PROGRESS_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdint.h>

struct json_writer;

enum verify_pass {
    VERIFY_ROWS = 0,
    VERIFY_DOCUMENTS,
    VERIFY_LISTED, /* look again at what both found, and repair it */
    VERIFY_OVER,
    VERIFY_SAMPLE,   /* in place of rows and documents; the numbers are stored */
    VERIFY_CHANGED,  /* the same */
    VERIFY_EXCHANGE, /* the same: where the trees of both sides differ */
    VERIFY_REPAIR,   /* after LISTED: what differs is read again */
    N_VERIFY_PASSES,
};
/* "rows", "documents", ... */
const char *verify_pass_word(enum verify_pass pass);

/* What people see of a job. */
struct verify_progress {
    enum verify_pass pass;
    uint64_t done, total;
    double rate; /* per second; 0: unknown */
    int64_t remaining_s;
    struct err why; /* what it waits for */
};

/* Write its members as a job has them. */
void verify_progress_put(struct json_writer *w, const struct verify_progress *p);

#endif
