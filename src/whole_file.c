#include "config.h"

#include "src/whole_file.h"

#include "src/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
            *exposed = (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
        while ((n = read(fd, part, sizeof(part))) > 0 && out->len < WHOLE_FILE_MAX)
            buf_append(out, (struct str){part, (size_t)n});
    } else {
        errno = EISDIR;
    }
    close(fd);
    return n >= 0;
}
