#include "config.h"

#include "src/file/whole_file.h"

#include "src/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool whole_file_is_exposed(const struct stat *st)
{
    const mode_t group = st->st_uid == geteuid() ? S_IRGRP | S_IWGRP : S_IWGRP;

    return (st->st_mode & (group | S_IROTH | S_IWOTH)) != 0;
}

bool whole_file_read(const char *path, struct buf *out, bool *exposed)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char part[4096];
    ssize_t n = -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (exposed != NULL)
            *exposed = whole_file_is_exposed(&st);
        while ((n = read(fd, part, sizeof(part))) > 0 && out->len < WHOLE_FILE_MAX)
            buf_append(out, (struct str){part, (size_t)n});
    } else {
        errno = EISDIR;
    }
    close(fd);
    return n >= 0;
}
