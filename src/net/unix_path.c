#include "config.h"

#include "src/net/unix_path.h"

#include "src/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool open_folder(struct unix_path *out, const char *path, size_t folder_len,
                        struct err *err)
{
    char *folder = mem_copy(path);

    folder[folder_len] = '\0';
    out->folder_fd = open(folder_len > 0 ? folder : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->folder_fd == -1)
        err_set_code(err, ERR_REJECT, "errno", errno, "folder %.300s: %s", folder,
                     strerror(errno));
    free(folder);
    return out->folder_fd != -1;
}

bool unix_path_open(struct unix_path *out, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    size_t len = strlen(path);

    *out = (struct unix_path){.folder_fd = -1};
    if (len < sizeof(out->text)) {
        memcpy(out->text, path, len + 1);
        return true;
    }
    if (slash == NULL || strlen(slash + 1) > 64)
        return err_set(err, ERR_REJECT, "the socket's name is longer than 64 bytes: %.200s",
                       slash != NULL ? slash + 1 : path);
    if (!open_folder(out, path, (size_t)(slash - path), err))
        return false;
    snprintf(out->text, sizeof(out->text), "/proc/self/fd/%d/%.64s", out->folder_fd, slash + 1);
    return true;
}

void unix_path_close(struct unix_path *p)
{
    if (p->folder_fd != -1)
        close(p->folder_fd);
    p->folder_fd = -1;
}
