#include "config.h"

#include "src/secret_file.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/whole_file.h"

#include <errno.h>
#include <string.h>

#define SECRET_MAX 4096

bool secret_file_read(const char *path, char **out, struct err *err)
{
    struct buf text = {0};

    if (!whole_file_read(path, &text, NULL)) {
        buf_free(&text);
        return err_set_code(err, ERR_REJECT, "errno", errno, "password file %s: %s", path,
                            strerror(errno));
    }
    if (text.len > SECRET_MAX) {
        buf_free(&text);
        return err_set(err, ERR_REJECT, "password file %s is longer than %d bytes", path,
                       SECRET_MAX);
    }
    text.ptr = text.ptr == NULL ? mem_copy("") : text.ptr;
    text.ptr[strcspn(text.ptr, "\r\n")] = '\0';
    *out = text.ptr;
    return true;
}
