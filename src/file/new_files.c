#include "config.h"

#include "src/file/new_files.h"

#include "src/file/draft_file.h"

#include <errno.h>
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
    return true;
}

static bool write_file(const struct new_file *file, struct err *err)
{
    struct draft_file d;

    if (!draft_file_open(&d, file->path, file->mode, err))
        return false;
    if (!write_all(d.fd, file->text)) {
        fail(err, file->path);
        draft_file_drop(&d);
        return false;
    }
    return draft_file_keep(&d, false, err) || (err->code == EEXIST && exists(file->path, err));
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
