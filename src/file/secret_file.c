#include "config.h"

#include "src/file/secret_file.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/file/whole_file.h"

#include <errno.h>
#include <string.h>

#define SECRET_MAX 4096

bool secret_file_read(const char *path, char **out, struct err *err)
{
    struct buf text = {0};
    bool exposed = false, ok = true;

    if (!whole_file_read(path, &text, &exposed))
        ok = err_set_code(err, ERR_REJECT, "errno", errno, "password file %s: %s", path,
                          strerror(errno));
    else if (exposed)
        ok = err_set(err, ERR_REJECT,
                     "password file %s: others may read or change it; fix: chmod 600 %s", path,
                     path);
    else if (text.len > SECRET_MAX)
        ok = err_set(err, ERR_REJECT, "password file %s is longer than %d bytes", path,
                     SECRET_MAX);
    if (!ok) {
        buf_free(&text);
        return false;
    }
    text.ptr = text.ptr == NULL ? mem_copy("") : text.ptr;
    text.ptr[strcspn(text.ptr, "\r\n")] = '\0';
    *out = text.ptr;
    return true;
}
