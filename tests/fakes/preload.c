/*
 * A library for LD_PRELOAD that makes a program's machine misbehave.  The program's environment
 * says how, when it starts:
 *
 * - PRELOAD_CLOCK=FILE: the wall clock is off by the number of seconds in FILE, which is read
 *   each time.
 * - PRELOAD_SYNC=N: every N-th fsync or fdatasync fails with EIO.  For *.db* files, everything
 *   written since the last one that did not fail is lost at once.
 * - PRELOAD_WRITE=N: every N-th write to a regular file fails with EIO.  Some of the others are
 *   interrupted, some are cut short.
 * - PRELOAD_FULL=FILE: the disk is full for files whose path begins with the text in FILE;
 *   FILE is read each time.  Half of every other write is taken.
 * - PRELOAD_MALLOC=N: the N-th request for memory fails, and so do the nine after it.
 * - PRELOAD_THREAD=N: the N-th thread does not start.
 * - PRELOAD_FILES=N: no more than N files may be open.
 * - PRELOAD_TOLD=FILE: FILE gets a letter for each fault: s(ync), w(rite), i(nterrupted),
 *   c(ut), m(emory), t(hread).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static long sync_each, write_each, malloc_at, thread_at;
static const char *clock_file, *full_file;
static atomic_long n_full, n_syncs, n_writes, n_mallocs, n_refused, n_threads;
static int told = -1;

static long number(const char *name)
{
    const char *text = getenv(name);

    return text == NULL ? 0 : strtol(text, NULL, 10);
}

static void tell(char what)
{
    if (told >= 0 && syscall(SYS_write, told, &what, 1) != 1)
        abort();
}

/*
 * libfyaml 0.7 does not look at what malloc() returns and crashes, which no caller can prevent.
 * Its own calls get memory, so that they do not hide what Millrace does without any.
 */
static uintptr_t careless_from, careless_to;

static int find_careless(struct dl_phdr_info *is, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (strstr(is->dlpi_name, "/libfyaml.so") == NULL)
        return 0;
    for (int i = 0; i < is->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &is->dlpi_phdr[i];

        if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0)
            continue;
        careless_from = is->dlpi_addr + p->p_vaddr;
        careless_to = careless_from + p->p_memsz;
    }
    return 1;
}

/* Its calls through libc (asprintf) count as its own. */
static bool is_careless(void)
{
    void *callers[16];
    const int n = backtrace(callers, 16);
    bool found = false;

    for (int i = 0; i < n; i++)
        found |= (uintptr_t)callers[i] >= careless_from && (uintptr_t)callers[i] < careless_to;
    return found;
}

__attribute__((constructor)) static void begin(void)
{
    const long files = number("PRELOAD_FILES");

    if (getenv("PRELOAD_TOLD") != NULL)
        told = open(getenv("PRELOAD_TOLD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (files > 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)files, (rlim_t)files});
    clock_file = getenv("PRELOAD_CLOCK");
    full_file = getenv("PRELOAD_FULL");
    sync_each = number("PRELOAD_SYNC");
    write_each = number("PRELOAD_WRITE");
    thread_at = number("PRELOAD_THREAD");
    dl_iterate_phdr(find_careless, NULL);
    is_careless(); /* the first backtrace asks for memory itself */
    malloc_at = number("PRELOAD_MALLOC");
}

/* ---- the clock ---- */

static time_t off_by(void)
{
    FILE *f = clock_file == NULL ? NULL : fopen(clock_file, "r");
    long seconds = 0;

    if (f == NULL || fscanf(f, "%ld", &seconds) != 1)
        seconds = 0;
    if (f != NULL)
        fclose(f);
    return seconds;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    static int (*next)(clockid_t, struct timespec *);

    if (next == NULL)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");

    const int rc = next(id, out);

    if (id == CLOCK_REALTIME)
        out->tv_sec += off_by();
    return rc;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec now;
    const int rc = clock_gettime(CLOCK_REALTIME, &now);

    (void)zone;
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return rc;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* ---- the disk ---- */

static int fail(int error)
{
    errno = error;
    return -1;
}

/* What a file had where it was written to since its last sync, the newest first. */
struct undo {
    struct undo *next;
    ino_t file;
    off_t at, size; /* of the file */
    ssize_t n;
    char old[];
};
static struct undo *undos; /* guarded by undo_lock */
static pthread_mutex_t undo_lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_store(int fd)
{
    char link[64], path[4096] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, ".db") != NULL;
}

static void remember(int fd, size_t n, off_t at)
{
    struct stat s;
    struct undo *u;

    if (sync_each == 0 || !is_store(fd) || fstat(fd, &s) == -1)
        return;
    u = malloc(sizeof(*u) + n);
    u->file = s.st_ino;
    u->size = s.st_size;
    u->at = at;
    u->n = pread(fd, u->old, n, at);
    pthread_mutex_lock(&undo_lock);
    u->next = undos;
    undos = u;
    pthread_mutex_unlock(&undo_lock);
}

static void undo(int fd, const struct undo *u)
{
    if ((u->n > 0 && syscall(SYS_pwrite64, fd, u->old, (size_t)u->n, u->at) != u->n) ||
        ftruncate(fd, u->size) == -1)
        abort();
}

/* What was written to the file is safe, or lost. */
static void settle(int fd, bool is_lost)
{
    struct stat s;

    if (fstat(fd, &s) == -1)
        return;
    pthread_mutex_lock(&undo_lock);
    for (struct undo **at = &undos; *at != NULL;) {
        struct undo *u = *at;

        if (u->file != s.st_ino) {
            at = &u->next;
            continue;
        }
        if (is_lost)
            undo(fd, u);
        *at = u->next;
        free(u);
    }
    pthread_mutex_unlock(&undo_lock);
}

static int sync_with(const char *name, int fd)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const bool is_lost = sync_each > 0 && ++n_syncs % sync_each == 0;

    settle(fd, is_lost);
    if (!is_lost)
        return next(fd);
    tell('s');
    return fail(EIO);
}

int fsync(int fd)
{
    return sync_with("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_with("fdatasync", fd);
}

static bool is_full(int fd)
{
    char link[64], prefix[4096] = "", path[4096] = "";
    FILE *f = full_file == NULL ? NULL : fopen(full_file, "r");

    if (f == NULL)
        return false;
    if (fgets(prefix, sizeof(prefix), f) == NULL)
        prefix[0] = '\0';
    fclose(f);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return prefix[0] != '\0' && readlink(link, path, sizeof(path) - 1) > 0 &&
           strncmp(path, prefix, strlen(prefix)) == 0;
}

/* How much of a write of n bytes is done; -1: none, as errno says. */
static ssize_t part_of(int fd, size_t n)
{
    struct stat s;
    long number;

    if (is_full(fd))
        return n < 2 || ++n_full % 2 == 0 ? fail(ENOSPC) : (ssize_t)(n / 2);
    if (write_each == 0 || n < 2 || fstat(fd, &s) == -1 || !S_ISREG(s.st_mode))
        return (ssize_t)n;
    number = ++n_writes;
    tell(number % write_each == 0 ? 'w' : number % 7 == 0 ? 'i' : number % 5 == 0 ? 'c' : '.');
    if (number % write_each == 0)
        return fail(EIO);
    if (number % 7 == 0)
        return fail(EINTR);
    return (ssize_t)(number % 5 == 0 ? n / 2 : n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    ssize_t (*next)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    const ssize_t part = part_of(fd, n);

    return part < 0 ? -1 : next(fd, bytes, (size_t)part);
}

static ssize_t pwrite_with(const char *name, int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t (*next)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, name);
    const ssize_t part = part_of(fd, n);

    if (part > 0)
        remember(fd, (size_t)part, at);
    return part < 0 ? -1 : next(fd, bytes, (size_t)part, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return pwrite_with("pwrite", fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite_with("pwrite64", fd, bytes, n, at);
}

/* ---- memory and threads ---- */

static bool has_memory(void)
{
    static _Thread_local bool inside;
    bool has = true;

    if (malloc_at == 0 || inside || ++n_mallocs < malloc_at || n_refused >= 10)
        return true;
    inside = true;
    if (!is_careless() && ++n_refused <= 10) {
        tell('m');
        has = false;
    }
    inside = false;
    return has;
}

void *malloc(size_t n)
{
    return has_memory() ? __libc_malloc(n) : NULL;
}

void *calloc(size_t n, size_t size)
{
    return has_memory() ? __libc_calloc(n, size) : NULL;
}

void *realloc(void *p, size_t n)
{
    return has_memory() ? __libc_realloc(p, n) : NULL;
}

int pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");

    if (thread_at == 0 || ++n_threads != thread_at)
        return next(out, attr, run, arg);
    tell('t');
    return EAGAIN;
}
