/*
 * Time: monotonic for durations, wall for what people read, steady for what is stored and waited
 * for.
 *
 * @thread any
 */
#ifndef SRC_BASE_CLOCK_H
#define SRC_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void);
int64_t clock_mono_ms(void);
int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC */
/*
 * The wall time of the first call, and what has passed since: it does not jump when somebody sets
 * the clock.  What an earlier process stored may still lie ahead of it.
 */
int64_t clock_steady_ms(void);

#endif
