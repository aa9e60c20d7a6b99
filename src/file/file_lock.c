#include "config.h"

#include "src/file/file_lock.h"

#include "src/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct file_lock {
    int fd;
};

static const char origin[] = "lock"; /* of an error whose code is the owner's pid */

static bool taken(int fd, const char *path, struct err *err)
{
    char text[24] = "";
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;

    if (pid > 0)
        return err_set_code(
            err, ERR_RETRY, origin, (int)pid,
            "process %ld is using it (%s); stop that one first, or let it do the work", pid,
            path);
    return err_set_code(err, ERR_RETRY, origin, 0, "another process is using it (%s)", path);
}

bool file_lock_is_taken(const struct err *err)
{
    return err->kind == ERR_RETRY && err->origin != NULL && strcmp(err->origin, origin) == 0;
}

/* The pid is for messages only, so a failure (a full disk) does not matter. */
static void write_pid(int fd)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) != len)
        (void)!ftruncate(fd, 0);
}

bool file_lock_take(struct file_lock **out, const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set_code(err, ERR_FATAL, "errno", errno, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        taken(fd, path, err);
        close(fd);
        return false;
    }
    write_pid(fd);
    *out = mem_alloc(1, sizeof(**out));
    (*out)->fd = fd;
    return true;
}

void file_lock_release(struct file_lock *l)
{
    if (l == NULL)
        return;
    close(l->fd);
    free(l);
}
