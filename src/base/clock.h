/*
 * Time: monotonic for durations, wall for what people read.
 */
#ifndef SRC_BASE_CLOCK_H
#define SRC_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void);
int64_t clock_mono_ms(void);
int64_t clock_wall_ms(void); /* milliseconds since 1970 UTC */

#endif
