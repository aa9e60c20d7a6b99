/*
 * Failpoints: named moments at which a test kills the program.
 *
 * Every build has them, so tests run the code that is released. An unarmed failpoint costs one
 * read of a variable that never changes. No failpoint stands in a loop over rows.
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

/* The environment variable that arms one failpoint, as NAME[:NTH[:ACTION]]. */
#define FAILPOINT_VARIABLE "MILLRACE_FAILPOINT"

#define FAILPOINT(name)                                \
    do {                                               \
        if (UNLIKELY(failpoint_armed == POINT_##name)) \
            failpoint_reached();                       \
    } while (0)

extern enum failpoint failpoint_armed; /* N_FAILPOINTS: none */

/*
 * Arms the failpoint that text names; call before starting other threads. When a thread reaches
 * the point for the NTH time (default: the first), the action runs: `kill` kills the program as
 * kill -9 does; `wait=MS` makes the thread wait, to simulate a slow step. An unknown name is
 * ERR_REJECT, and the log lists all names.
 */
bool failpoint_arm(const char *text, struct err *err) MUST_CHECK;
void failpoint_disarm(void);

/* Only FAILPOINT calls this. */
void failpoint_reached(void) COLD;

#endif
