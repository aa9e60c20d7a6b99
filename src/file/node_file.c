#include "config.h"

#include "src/file/node_file.h"

#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/base/random.h"
#include "src/file/new_files.h"
#include "src/file/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UUID_LEN 36

void node_uuid_make(char out[37])
{
    uint8_t b[16];

    random_bytes(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0, at = 0; i < sizeof(b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        snprintf(out + at, 3, "%02x", b[i]);
        at += 2;
    }
    out[UUID_LEN] = '\0';
}

bool node_uuid_is(struct str text)
{
    bool ok = text.len == UUID_LEN;

    for (size_t i = 0; ok && i < text.len; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        ok = dash ? text.ptr[i] == '-' : memchr("0123456789abcdef", text.ptr[i], 16) != NULL;
    }
    return ok;
}

static bool make(const char *path, struct err *err)
{
    char line[UUID_LEN + 2];

    node_uuid_make(line);
    memcpy(line + UUID_LEN, "\n", 2);

    const struct new_file file = {path, str_from(line), 0600};

    return new_files_write(&file, 1, err);
}

static bool read_id(const char *path, struct node_id *out, struct err *err)
{
    struct buf text = {0};
    bool ok = whole_file_read(path, &text, NULL) ||
              err_set_code(err, ERR_RETRY, "errno", errno, "cannot read %s: %s", path,
                           strerror(errno));

    while (ok && text.len > 0 && strchr(" \r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    if (ok && !node_uuid_is(buf_str(&text)))
        ok = err_set(err, ERR_REJECT,
                     "%s does not have the id of a node; fix: remove it, and this data folder "
                     "becomes a new node",
                     path);
    if (ok)
        snprintf(out->id, sizeof(out->id), "%.*s", UUID_LEN, text.ptr);
    buf_free(&text);
    return ok;
}

/* A copied folder has the id of the node that it was copied from, and lies elsewhere. */
static bool find_place(const char *path, struct node_id *out, struct err *err)
{
    char host[256] = "";
    struct buf where = {0};
    struct stat st;

    if (stat(path, &st) != 0)
        return err_set_code(err, ERR_RETRY, "errno", errno, "cannot read %s: %s", path,
                            strerror(errno));
    (void)!gethostname(host, sizeof(host) - 1);
    buf_printf(&where, "%s %s %ju", out->id, host, (uintmax_t)st.st_ino);
    snprintf(out->place, sizeof(out->place), "%016" PRIx64 "%016" PRIx64,
             hash_bytes(buf_str(&where), 1), hash_bytes(buf_str(&where), 2));
    buf_free(&where);
    return true;
}

bool node_file_load(const char *folder, struct node_id *out, struct err *err)
{
    struct buf path = {0};

    buf_printf(&path, "%s/node", folder);

    const bool ok = (access(path.ptr, F_OK) == 0 || make(path.ptr, err)) &&
                    read_id(path.ptr, out, err) && find_place(path.ptr, out, err);

    buf_free(&path);
    return ok;
}
