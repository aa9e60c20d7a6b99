#include "config.h"

#include "src/file/new_files.h"

#include "src/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool exists(const char *path, struct err *err)
{
    return err_set(
        err, ERR_REJECT,
        "%s exists already, and millrace replaces no file; move it away, or write to "
        "another folder",
        path);
}

bool new_files_are_free(const struct new_file *files, size_t n, struct err *err)
{
    struct stat st;

    for (size_t i = 0; i < n; i++)
        if (lstat(files[i].path, &st) == 0)
            return exists(files[i].path, err);
    return true;
}

static bool fail(struct err *err, const char *path)
{
    return err_set_code(err, ERR_REJECT, "errno", errno, "cannot write %s: %s", path,
                        strerror(errno));
}

static bool write_all(int fd, struct str text)
{
    while (text.len > 0) {
        const ssize_t n = write(fd, text.ptr, text.len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            text = (struct str){text.ptr + n, text.len - (size_t)n};
    }
    return fsync(fd) == 0;
}

/* Some file systems have no hard links. */
static bool give_name(const char *from, const char *to)
{
    if (link(from, to) == 0)
        return true;
    return (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
           renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

static bool write_file(const struct new_file *file, struct err *err)
{
    struct buf draft = {0};
    bool fine = false;

    buf_printf(&draft, "%s.new.%ld", file->path, (long)getpid());

    const int fd =
        open(draft.ptr, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);

    if (fd < 0) {
        fail(err, draft.ptr);
        buf_free(&draft);
        return false;
    }
    if (!write_all(fd, file->text) || !give_name(draft.ptr, file->path))
        (void)(errno == EEXIST ? exists(file->path, err) : fail(err, file->path));
    else
        fine = true;
    close(fd);
    unlink(draft.ptr);
    buf_free(&draft);
    return fine;
}

bool new_files_write(const struct new_file *files, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (write_file(&files[i], err))
            continue;
        while (i-- > 0)
            unlink(files[i].path);
        return false;
    }
    return true;
}
