/*
 * struct timeline: some values as they were during the last day, in memory of a fixed size.
 *
 * Time is counted in steps of TIMELINE_STEP_S.  The last hour is kept step by step, the last 24
 * hours in wide steps of TIMELINE_WIDE of these.  A wide step has the mean of what was put into
 * it, or the greatest, as the column wants.  What was not put is unknown, which is NAN.
 *
 * Each slot knows which step it holds, so nothing has to be cleared when time passes.
 *
 * @thread one at a time
 */
#ifndef SRC_METRIC_TIMELINE_H
#define SRC_METRIC_TIMELINE_H

#include "src/base/base.h"

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_COLUMNS 5
#define TIMELINE_STEP_S  10
#define TIMELINE_FINE    360 /* steps: an hour */
#define TIMELINE_WIDE    30  /* steps of a wide one: five minutes */
#define TIMELINE_COARSE  288 /* wide steps: a day */

enum timeline_rule {
    TIMELINE_MEAN = 0,
    TIMELINE_MOST,
};

struct timeline_slot {
    int64_t step; /* that it holds, plus 1, so that a zeroed one holds none */
    float values[TIMELINE_COLUMNS];
    uint16_t n[TIMELINE_COLUMNS]; /* how many values each is made of */
};

/* Zero-initialise, but for the rules. */
struct timeline {
    enum timeline_rule rules[TIMELINE_COLUMNS];
    struct timeline_slot fine[TIMELINE_FINE], coarse[TIMELINE_COARSE];
};

/* Put what was measured during a step from 0; one before those that are kept is ignored. */
void timeline_put(struct timeline *t, int64_t step, const double values[TIMELINE_COLUMNS]);
/* The value of one step; NAN: not known, or not kept any more. */
double timeline_fine(const struct timeline *t, int64_t step, size_t column) MUST_CHECK;
/* The same of a wide step: the one of `step` is step / TIMELINE_WIDE. */
double timeline_coarse(const struct timeline *t, int64_t wide, size_t column) MUST_CHECK;

#endif
