/*
 * Limits how often somebody may guess a password.  After ATTEMPTS_FREE failures for one name
 * from one address, or ATTEMPTS_FREE_AN_ADDRESS from the address, each failure is followed by a
 * pause: 1, 2, 4 ... ATTEMPTS_PAUSE_MAX_S seconds.  What is older than a quarter of an hour is
 * forgotten.
 *
 * Holds a fixed number of counters, found by hash: two that meet count as one, so it may pause
 * too early, and the success of one forgives the other.
 *
 * @thread any (locked inside)
 */
#ifndef WEB_ACCESS_ATTEMPTS_H
#define WEB_ACCESS_ATTEMPTS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define ATTEMPTS_FREE            5
#define ATTEMPTS_FREE_AN_ADDRESS 20
#define ATTEMPTS_PAUSE_MAX_S     60

struct attempts;

struct attempts *attempts_new(void) RETURNS_NONNULL MUST_CHECK;
void attempts_free(struct attempts *a); /* NULL is fine */

/*
 * Begin one.  Returns 0, and counts it as a failure until attempts_forgive(), or else the
 * milliseconds until the next one is allowed.  a NULL is fine: always 0.
 */
int64_t attempts_begin(struct attempts *a, struct str name, struct str address,
                       int64_t now_ms) MUST_CHECK;
/* One has succeeded: forget the failures of this name from this address, and this one. */
void attempts_forgive(struct attempts *a, struct str name, struct str address);

#endif
