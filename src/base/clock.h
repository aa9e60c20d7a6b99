/*
 * Three clocks: monotonic for durations, wall for people, steady for stored times and
 * deadlines. All go on while the machine sleeps.
 *
 * @thread any
 */
#ifndef SRC_BASE_CLOCK_H
#define SRC_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void);
int64_t clock_mono_ms(void);
/* Returns how long the machine has slept since it started, for waits that do not count that. */
int64_t clock_slept_ms(void);
int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC */
/*
 * Returns the wall time of the first call plus the monotonic time passed since. Setting the
 * clock does not make it jump. A time stored by an earlier process may still lie ahead of it.
 */
int64_t clock_steady_ms(void);

#endif
