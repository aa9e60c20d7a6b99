#include "config.h"

#include "src/base/clock.h"

#include <pthread.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

static pthread_once_t first_call = PTHREAD_ONCE_INIT;
static int64_t ahead_ns; /* wall time minus monotonic time; written once */

static int64_t now_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* CLOCK_MONOTONIC stands still while the machine sleeps, and what others wait for does not. */
int64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_BOOTTIME);
}

int64_t clock_mono_ms(void)
{
    return clock_mono_ns() / NS_PER_MS;
}

/* Read in this order, a pause between the two makes it too small. */
int64_t clock_slept_ms(void)
{
    const int64_t all_ns = clock_mono_ns();

    return (all_ns - now_ns(CLOCK_MONOTONIC)) / NS_PER_MS;
}

int64_t clock_wall_ms(void)
{
    return now_ns(CLOCK_REALTIME) / NS_PER_MS;
}

static void look_at_wall(void)
{
    ahead_ns = now_ns(CLOCK_REALTIME) - clock_mono_ns();
}

int64_t clock_steady_ms(void)
{
    (void)pthread_once(&first_call, look_at_wall);
    return (clock_mono_ns() + ahead_ns) / NS_PER_MS;
}
