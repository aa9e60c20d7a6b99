#include "config.h"

#include "src/file/draft_file.h"

#include "src/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool fail(const char *path, struct err *err)
{
    return err_set_code(err, ERR_REJECT, "errno", errno, "cannot write %s: %s", path,
                        strerror(errno));
}

bool draft_file_open(struct draft_file *d, const char *path, unsigned mode, struct err *err)
{
    *d = (struct draft_file){.path = path};
    buf_printf(&d->draft, "%s.new.%ld", path, (long)getpid());
    d->fd =
        open(d->draft.ptr, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
    if (d->fd >= 0)
        return true;
    fail(d->draft.ptr, err);
    buf_free(&d->draft);
    return false;
}

/* Some file systems have no hard links. */
static bool give_free_name(const char *from, const char *to)
{
    if (link(from, to) == 0)
        return true;
    return (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
           renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

/* Some file systems cannot sync a folder (EINVAL). */
static bool sync_folder_of(const char *path)
{
    char *copy = mem_copy(path);
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    const int why = errno;

    if (fd >= 0)
        close(fd);
    free(copy);
    errno = why;
    return ok;
}

bool draft_file_keep(struct draft_file *d, bool replace, struct err *err)
{
    const char *draft = d->draft.ptr, *path = d->path;
    const bool has_name =
        fsync(d->fd) == 0 && (replace ? rename(draft, path) == 0 : give_free_name(draft, path));
    const bool ok = has_name && sync_folder_of(path);

    if (!ok)
        fail(path, err);
    if (!ok && has_name && !replace)
        unlink(path);
    draft_file_drop(d);
    return ok;
}

void draft_file_drop(struct draft_file *d)
{
    close(d->fd);
    unlink(d->draft.ptr);
    buf_free(&d->draft);
}
