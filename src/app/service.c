#include "config.h"

#include "src/app/service.h"

#include "src/base/log.h"
#include "src/base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static sigset_t handled_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    return set;
}

void service_block_signals(void)
{
    const sigset_t set = handled_signals();

    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void service_init(void)
{
    const struct rlimit none = {0, 0};
    struct rlimit files;

    service_block_signals();
    signal(SIGPIPE, SIG_IGN);
    umask(S_IRWXG | S_IRWXO);
    setrlimit(RLIMIT_CORE, &none);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Half of the watchdog's timeout, in microseconds; 0 without a watchdog. */
static uint64_t watchdog_us(void)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

    if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != getpid()))
        return 0;
    return strtoull(usec, NULL, 10) / 2;
}

enum service_event service_wait(void)
{
    const sigset_t set = handled_signals();
    uint64_t us = watchdog_us();
    const struct timespec pause = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};

    for (;;) {
        int signal = us > 0 ? sigtimedwait(&set, NULL, &pause) : sigwaitinfo(&set, NULL);

        if (signal == SIGHUP)
            return SERVICE_RELOAD;
        if (signal == SIGTERM || signal == SIGINT)
            return SERVICE_STOP;
        if (us > 0)
            service_notify("WATCHDOG=1");
    }
}

bool service_stops_within(int64_t ms)
{
    const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return sigtimedwait(&set, NULL, &time) > 0;
}

static void *end_at_signal(void *arg)
{
    (void)arg;
    while (service_wait() != SERVICE_STOP)
        continue;
    log_warn("stopped at once by a second signal");
    _exit(EXIT_FAILURE);
}

void service_stop_at_once_on_signal(void)
{
    pthread_detach(thread_start("signals", end_at_signal, NULL));
}

void service_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;

    if (len < 2 || len >= sizeof(a.sun_path) || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(a.sun_path, path, len);
    if (path[0] == '@')
        a.sun_path[0] = '\0'; /* an abstract address */

    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd == -1)
        return;
    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&a,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
}
