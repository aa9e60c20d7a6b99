#include "config.h"

#include "sync/source/transport/transport.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/mem.h"
#include "sync/decode/event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC_LEN         4
#define EVENT_MAX_DEFAULT ((uint64_t)64 << 20)

/* Bytes to read at a time.  A larger event grows the buffer while it lasts. */
#define CHUNK ((size_t)1 << 17)

struct file_transport {
    struct transport base;
    char *path;
    int fd;
    uint64_t event_max;
    uint64_t resume; /* where to continue after the FORMAT_DESCRIPTION; 0 for right after it */
    uint64_t offset; /* of the next event to return */
    struct buf buf;  /* bytes read; those from `used` on are unread */
    size_t used;
    uint64_t rest;    /* bytes of the last event still to be skipped */
    bool interrupted; /* atomic */
};

static bool damaged(const struct file_transport *f, struct err *err, const char *reason)
{
    return transport_fail(err, TRANSPORT_DAMAGED, "%s:%" PRIu64 ": %s", f->path, f->offset,
                          reason);
}

static size_t have(const struct file_transport *f)
{
    return f->buf.len - f->used;
}

static const uint8_t *here(const struct file_transport *f)
{
    return (const uint8_t *)f->buf.ptr + f->used;
}

/* Read until n bytes are there or the file ends.  Returns false on error. */
static bool need(struct file_transport *f, size_t n, struct err *err)
{
    if (have(f) >= n)
        return true;
    buf_drop(&f->buf, f->used);
    f->used = 0;
    if (f->buf.cap > 4 * CHUNK && n < CHUNK && f->buf.len < CHUNK) {
        struct buf smaller = {0};

        buf_append(&smaller, buf_str(&f->buf));
        buf_free(&f->buf);
        f->buf = smaller;
    }
    while (f->buf.len < n) {
        buf_reserve(&f->buf, CHUNK);

        const ssize_t got = read(f->fd, f->buf.ptr + f->buf.len, CHUNK);

        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return err_set_code(err, ERR_REJECT, "errno", errno, "%s:%" PRIu64 ": %s", f->path,
                                f->offset, strerror(errno));
        if (got > 0)
            f->buf.len += (size_t)got;
    }
    return true;
}

/* MariaDB marks encryption after the FORMAT_DESCRIPTION, where every reader looks. */
static bool is_encrypted(const struct file_transport *f)
{
    return have(f) >= EVENT_HEADER_LEN && here(f)[4] == EVENT_START_ENCRYPTION;
}

/* After the FORMAT_DESCRIPTION: go to the requested start. */
static bool go_on(struct file_transport *f, struct err *err)
{
    const uint64_t offset = f->resume;

    f->resume = 0;
    if (!need(f, EVENT_HEADER_LEN, err))
        return false;
    if (offset <= f->offset || is_encrypted(f))
        return true;
    if (lseek(f->fd, (off_t)offset, SEEK_SET) < 0)
        return err_set_code(err, ERR_REJECT, "errno", errno, "%s: %s", f->path,
                            strerror(errno));
    buf_clear(&f->buf);
    f->used = 0;
    f->offset = offset;
    return true;
}

static bool pass_rest(struct file_transport *f, struct err *err)
{
    while (f->rest > 0) {
        const size_t n = f->rest < CHUNK ? (size_t)f->rest : CHUNK;

        if (!need(f, n, err))
            return false;
        if (have(f) < n)
            return damaged(f, err, "the file ends inside an event");
        f->used += n;
        f->offset += n;
        f->rest -= n;
    }
    return true;
}

static int file_next(struct transport *t, struct str *event, struct err *err)
{
    struct file_transport *f = CONTAINER_OF(t, struct file_transport, base);

    if (__atomic_load_n(&f->interrupted, __ATOMIC_RELAXED)) {
        transport_fail(err, TRANSPORT_INTERRUPTED, "interrupted");
        return -1;
    }
    if (!pass_rest(f, err) || (f->resume != 0 && f->offset > MAGIC_LEN && !go_on(f, err)))
        return -1;
    if (!need(f, EVENT_HEADER_LEN, err))
        return -1;
    if (have(f) == 0)
        return 0;
    if (have(f) < EVENT_HEADER_LEN) {
        damaged(f, err, "the file ends inside an event's header");
        return -1;
    }

    const uint32_t len = load_le32(here(f) + 9);

    if (len < EVENT_HEADER_LEN) {
        damaged(f, err, "damaged: an event of fewer than 19 bytes");
        return -1;
    }
    const bool cut = len > f->event_max && event_may_be_cut(here(f)[4]);
    const size_t n = cut && len > EVENT_CUT_LEN ? EVENT_CUT_LEN : len;

    if (len > f->event_max && !cut) {
        transport_fail(err, TRANSPORT_MAX_PACKET,
                       "%s:%" PRIu64 ": an event of %" PRIu32 " bytes, at most %" PRIu64
                       " are allowed, or the file is damaged",
                       f->path, f->offset, len, f->event_max);
        return -1;
    }
    if (!need(f, n, err))
        return -1;
    if (have(f) < n) {
        transport_fail(err, TRANSPORT_DAMAGED,
                       "%s:%" PRIu64 ": the file ends inside an event (%zu of %" PRIu32
                       " bytes)",
                       f->path, f->offset, have(f), len);
        return -1;
    }
    *event = (struct str){(const char *)here(f), n};
    f->used += n;
    f->offset += n;
    f->rest = len - n;
    return 1;
}

static void file_interrupt(struct transport *t)
{
    struct file_transport *f = CONTAINER_OF(t, struct file_transport, base);

    __atomic_store_n(&f->interrupted, true, __ATOMIC_RELAXED);
}

static void file_close(struct transport *t)
{
    struct file_transport *f = CONTAINER_OF(t, struct file_transport, base);

    if (f->fd >= 0)
        close(f->fd);
    buf_free(&f->buf);
    free(f->path);
    free(f);
}

static const struct transport_ops file_ops = {file_next, file_interrupt, file_close, NULL};

static bool check_magic(struct file_transport *f, struct err *err)
{
    if (!need(f, MAGIC_LEN, err))
        return false;
    if (have(f) >= MAGIC_LEN && memcmp(here(f),
                                       "\xfd"
                                       "bin",
                                       MAGIC_LEN) == 0)
        return transport_fail(err, TRANSPORT_REFUSED,
                              "%s: the server encrypted this file: read it through the server "
                              "(--topic NAME)",
                              f->path);
    if (have(f) < MAGIC_LEN || memcmp(here(f),
                                      "\xfe"
                                      "bin",
                                      MAGIC_LEN) != 0)
        return transport_fail(err, TRANSPORT_DAMAGED, "%s:0: not a binlog file", f->path);
    f->used = f->offset = MAGIC_LEN;
    return true;
}

bool transport_open_file(struct transport **out, const char *path, uint64_t offset,
                         size_t event_max, struct err *err)
{
    struct file_transport *f = mem_alloc(1, sizeof(*f));

    const bool is_stdin = strcmp(path, "-") == 0;

    f->base.ops = &file_ops;
    f->path = mem_copy(is_stdin ? "stdin" : path);
    f->event_max = event_max != 0 ? event_max : EVENT_MAX_DEFAULT;
    f->resume = offset > MAGIC_LEN ? offset : 0;
    f->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0) {
        err_set_code(err, ERR_REJECT, "errno", errno, "%s: %s", path, strerror(errno));
        goto close_file;
    }
    if (!check_magic(f, err))
        goto close_file;
    *out = &f->base;
    return true;

close_file:
    file_close(&f->base);
    return false;
}
