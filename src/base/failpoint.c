#include "config.h"

#include "src/base/failpoint.h"

#include "src/base/log.h"
#include "src/base/str.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MAX_MS 600000

static const struct {
    const char *name, *moment;
} points[] = {
#define POINT(name, moment) {#name, moment},
#include "src/base/failpoint.def"
#undef POINT
};

enum failpoint failpoint_armed = N_FAILPOINTS;

static uint64_t nth;
static uint64_t reached; /* atomic */
static long wait_ms;     /* 0: kill */

static bool find(struct str name, enum failpoint *point)
{
    for (size_t i = 0; i < ARRAY_LEN(points); i++)
        if (str_equal(str_from(points[i].name), name)) {
            *point = (enum failpoint)i;
            return true;
        }
    return false;
}

static bool refuse_name(struct str name, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(points); i++)
        log_warn("there is a failpoint", KV("name", points[i].name),
                 KV("moment", points[i].moment));
    return err_set(err, ERR_REJECT,
                   FAILPOINT_VARIABLE
                   " names no failpoint: \"%.*s\"; fix: one of those that the "
                   "log names just before this",
                   STR_ARG(name));
}

/* Reads a whole number from 1 to max; nothing may follow it. */
static bool read_number(const char *text, size_t len, uint64_t max, uint64_t *n)
{
    char *end;

    if (len == 0 || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return errno == 0 && end == text + len && *n > 0 && *n <= max;
}

static bool read_action(const char *text, long *ms)
{
    static const char wait[] = "wait=";
    uint64_t n = 0;

    *ms = 0;
    if (strcmp(text, "kill") == 0)
        return true;
    if (strncmp(text, wait, strlen(wait)) != 0 ||
        !read_number(text + strlen(wait), strlen(text) - strlen(wait), WAIT_MAX_MS, &n))
        return false;
    *ms = (long)n;
    return true;
}

bool failpoint_arm(const char *text, struct err *err)
{
    const size_t name_len = strcspn(text, ":");
    const char *times = text[name_len] == ':' ? text + name_len + 1 : "1";
    const size_t times_len = strcspn(times, ":");
    const char *action = times[times_len] == ':' ? times + times_len + 1 : "kill";
    const struct str name = {text, name_len};
    enum failpoint point;

    if (!find(name, &point))
        return refuse_name(name, err);
    if (!read_number(times, times_len, UINT64_MAX, &nth))
        return err_set(err, ERR_REJECT,
                       FAILPOINT_VARIABLE "=%s: the time is a number, 1 for the first", text);
    if (!read_action(action, &wait_ms))
        return err_set(err, ERR_REJECT,
                       FAILPOINT_VARIABLE "=%s: the action is kill, or wait=MS up to %d", text,
                       WAIT_MAX_MS);
    reached = 0;
    failpoint_armed = point;
    log_warn("a failpoint is armed", KV("name", points[point].name), KV("nth", nth),
             KV("moment", points[point].moment));
    return true;
}

void failpoint_disarm(void)
{
    failpoint_armed = N_FAILPOINTS;
}

void failpoint_reached(void)
{
    const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000};

    if (__atomic_add_fetch(&reached, 1, __ATOMIC_RELAXED) != nth)
        return;
    log_warn("a failpoint is reached", KV("name", points[failpoint_armed].name));
    if (wait_ms > 0) {
        nanosleep(&wait, NULL);
        return;
    }
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}
