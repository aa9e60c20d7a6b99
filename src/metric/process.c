#include "config.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/metric/metric.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void put_cpu(struct buf *out)
{
    struct rusage use;

    if (getrusage(RUSAGE_SELF, &use) == 0)
        metric_put_double(out, METRIC_PROCESS_CPU,
                          seconds(use.ru_utime) + seconds(use.ru_stime));
}

/* Reads /proc/self/statm: address space and resident memory in pages (proc(5)). */
static void put_memory(struct buf *out)
{
    unsigned long size, resident;
    unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL)
        return;
    if (fscanf(f, "%lu %lu", &size, &resident) == 2) {
        metric_put_u64(out, METRIC_PROCESS_VIRTUAL, size * page);
        metric_put_u64(out, METRIC_PROCESS_RSS, resident * page);
    }
    fclose(f);
}

static void put_descriptors(struct buf *out)
{
    DIR *dir = opendir("/proc/self/fd");
    struct rlimit limit;
    uint64_t n = 0;

    if (dir != NULL) {
        for (struct dirent *e; (e = readdir(dir)) != NULL;)
            n += e->d_name[0] != '.';
        closedir(dir);
        metric_put_u64(out, METRIC_PROCESS_FDS, n - 1); /* not counting opendir's own */
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metric_put_u64(out, METRIC_PROCESS_FDS_MAX, limit.rlim_cur);
}

static double start_s; /* set once */

/* Reads field 22 of /proc/self/stat: ticks from boot to start (proc(5)). The process name
 * before it may contain blanks. */
static void find_start(void)
{
    char line[1024] = "";
    unsigned long long ticks;
    struct timespec since_boot;
    FILE *f = fopen("/proc/self/stat", "re");
    double now_s = (double)clock_wall_ms() / 1e3;

    start_s = now_s;
    if (f == NULL)
        return;

    const char *p = fgets(line, sizeof(line), f) != NULL ? strrchr(line, ')') : NULL;

    fclose(f);
    for (int field = 2; p != NULL && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p == NULL || sscanf(p, "%llu", &ticks) != 1)
        return;
    clock_gettime(CLOCK_BOOTTIME, &since_boot);
    start_s = now_s - (double)since_boot.tv_sec - (double)since_boot.tv_nsec / 1e9 +
              (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

void metric_put_process(struct buf *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_start);
    metric_put_u64(out, METRIC_BUILD_INFO, 1, STR(PACKAGE_VERSION));
    metric_put_u64(out, METRIC_LOG_LINES_LOST, log_lost());
    put_cpu(out);
    put_memory(out);
    put_descriptors(out);
    metric_put_double(out, METRIC_PROCESS_START, start_s);
}
