#include "config.h"

#include "src/base/clock.h"

#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

static int64_t now_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_mono_ms(void)
{
    return now_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

int64_t clock_wall_ms(void)
{
    return now_ns(CLOCK_REALTIME) / NS_PER_MS;
}
