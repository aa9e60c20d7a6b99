/*
 * Failpoints: named moments at which a test has the program killed.
 *
 * They are in every build, so that what is tested is what runs elsewhere.  While none is armed
 * one costs a look at a variable that never changes, and none stands in a loop over rows.
 *
 * @thread any, once failpoint_arm has returned
 */
#ifndef SRC_BASE_FAILPOINT_H
#define SRC_BASE_FAILPOINT_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

enum failpoint {
#define POINT(name, moment) POINT_##name,
#include "src/base/failpoint.def"
#undef POINT
    N_FAILPOINTS
};

/* The variable that arms one, of the form NAME[:NTH[:ACTION]]. */
#define FAILPOINT_VARIABLE "MILLRACE_FAILPOINT"

#define FAILPOINT(name)                                \
    do {                                               \
        if (UNLIKELY(failpoint_armed == POINT_##name)) \
            failpoint_reached();                       \
    } while (0)

extern enum failpoint failpoint_armed; /* N_FAILPOINTS: none */

/*
 * Arm what text asks for, before other threads run.  The nth time (the first) that the point is
 * reached the program dies as by kill -9 (`kill`), or its thread waits so many ms (`wait=MS`),
 * which stands for whatever else takes long there.  A name that is none: ERR_REJECT, and the
 * log has all that there are.
 */
bool failpoint_arm(const char *text, struct err *err) MUST_CHECK;
void failpoint_disarm(void);

/* For FAILPOINT alone. */
void failpoint_reached(void) COLD;

#endif
