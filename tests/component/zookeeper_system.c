#include "config.h"

#include "tests/component/zookeeper_system.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

#define REPLACES __attribute__((visibility("default"))) /* for the client's library, too */

static _Atomic unsigned n_lookups;
static _Atomic int64_t slept_ns, client_ns, client_stopped_ns;

static int64_t read_ns(clockid_t id)
{
    struct timespec now;

    syscall(SYS_clock_gettime, id, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The client reads CLOCK_MONOTONIC_RAW. */
REPLACES int clock_gettime(clockid_t id, struct timespec *now)
{
    const int64_t stopped_ns = client_stopped_ns;
    int64_t ns = read_ns(id);

    if (id == CLOCK_BOOTTIME)
        ns += slept_ns;
    else if (id == CLOCK_MONOTONIC_RAW)
        ns = (stopped_ns != 0 ? stopped_ns : ns) + client_ns;
    *now = (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    return 0;
}

void let_machine_sleep(int64_t ms)
{
    slept_ns += ms * NS_PER_MS;
}

void let_client_age(int64_t ms)
{
    client_ns += ms * NS_PER_MS;
}

void stop_client_clock(bool stops)
{
    client_stopped_ns = stops ? read_ns(CLOCK_MONOTONIC_RAW) : 0;
}

REPLACES int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                         struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *found = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&real, &found, sizeof(real));
    n_lookups++;
    return real(host, port, hints, out);
}

unsigned count_lookups(void)
{
    return n_lookups;
}
