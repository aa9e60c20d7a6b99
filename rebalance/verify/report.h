/*
 * A report: what one verification found, as JSON (millrace/verify/1).
 *
 * @thread any
 */
#ifndef REBALANCE_VERIFY_REPORT_H
#define REBALANCE_VERIFY_REPORT_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct verify_result;
struct verify_run;

/* What was verified, and when. Texts are borrowed. */
struct verify_report {
    struct str table, index;
    uint64_t version;
    uint32_t definition;  /* CRC-32 of its text */
    bool values_compared; /* the index keeps documents as they were sent */
    int64_t began_ms;     /* wall time */
    uint64_t from, to;    /* what the root's log was read up to, at begin and end */
    unsigned looks;
    uint64_t job;       /* 0: it was none */
    struct str where;   /* only rows that meet it; empty: all */
    uint64_t sample;    /* so many documents were asked for; 0: all */
    struct str checked; /* the tables whose changed rows were compared (changed.h); or empty */
    struct str why;     /* why not all could be judged; empty: all was */
};

/* Fill in what a run tells; began_ms, from and looks are the caller's. */
void verify_report_of_run(struct verify_report *r, const struct verify_run *run);
void verify_report_append(const struct verify_report *r, const struct verify_result *result,
                          struct buf *json);

#endif
