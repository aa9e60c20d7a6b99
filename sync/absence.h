/*
 * struct absence: a server that did not answer is left alone for a while, ever longer, and then
 * tried by one at a time, so that nobody else waits for it.
 *
 * @thread one at a time (pure)
 */
#ifndef SYNC_ABSENCE_H
#define SYNC_ABSENCE_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stdint.h>

#define ABSENCE_FIRST_MS 1000
#define ABSENCE_MAX_MS   60000

/* Zero: it is there.  Times are monotonic. */
struct absence {
    int64_t pause_ms; /* the last; 0: it is there */
    int64_t until_ms; /* nobody tries before */
    bool tried;       /* by somebody who has yet to tell */
};

/* Whether the server may be tried now; who does tells then how it went. */
bool absence_may_try(struct absence *a, int64_t now_ms) MUST_CHECK;
void absence_tell(struct absence *a, bool there, int64_t now_ms);

#endif
