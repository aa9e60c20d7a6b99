#include "config.h"

#include "sync/change/xa/spill.h"

#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct spill {
    char *folder;
    uint64_t max;
    int fd; /* -1: not needed yet */
    uint64_t end;
    uint64_t used; /* atomic */
};

struct spill *spill_new(const char *folder, uint64_t max)
{
    struct spill *s = mem_alloc(1, sizeof(*s));

    s->folder = mem_copy(folder);
    s->max = max;
    s->fd = -1;
    return s;
}

void spill_free(struct spill *s)
{
    if (s == NULL)
        return;
    if (s->fd != -1)
        close(s->fd);
    free(s->folder);
    free(s);
}

uint64_t spill_used(const struct spill *s)
{
    return __atomic_load_n(&s->used, __ATOMIC_RELAXED);
}

bool spill_has_room(const struct spill *s, uint64_t n)
{
    return n <= s->max && s->used <= s->max - n;
}

uint64_t spill_end(const struct spill *s)
{
    return s->end;
}

static bool trouble(const struct spill *s, const char *what, int why, struct err *err)
{
    return err_set_code(err, ERR_RETRY, "errno", why,
                        "%s in %s, where rows of prepared XA transactions wait: %s; fix: free "
                        "disk space, or end those transactions",
                        what, s->folder, strerror(why));
}

static bool open_file(struct spill *s, struct err *err)
{
    struct buf path = {0};

    if (s->fd != -1)
        return true;
    if (mkdir(s->folder, 0700) == -1 && errno != EEXIST)
        return trouble(s, "making the folder", errno, err);
    buf_printf(&path, "%s/XXXXXX", s->folder);
    s->fd = mkostemp(path.ptr, O_CLOEXEC);

    const int why = errno;

    if (s->fd != -1)
        (void)unlink(path.ptr);
    buf_free(&path);
    return s->fd != -1 || trouble(s, "making a file", why, err);
}

bool spill_append(struct spill *s, struct str bytes, struct err *err)
{
    size_t done = 0;

    if (!open_file(s, err))
        return false;
    while (done < bytes.len) {
        const ssize_t n =
            pwrite(s->fd, bytes.ptr + done, bytes.len - done, (off_t)(s->end + done));

        if (n == -1 && errno != EINTR)
            return trouble(s, "writing", errno, err);
        done += n > 0 ? (size_t)n : 0;
    }
    FAILPOINT(xa_spilled);
    s->end += bytes.len;
    __atomic_add_fetch(&s->used, bytes.len, __ATOMIC_RELAXED);
    return true;
}

bool spill_read(struct spill *s, uint64_t at, void *to, size_t n, struct err *err)
{
    char *out = to;
    size_t done = 0;

    assert(at <= s->end && n <= s->end - at);
    while (done < n) {
        const ssize_t got = pread(s->fd, out + done, n - done, (off_t)(at + done));

        if (got == 0)
            return trouble(s, "reading", EIO, err);
        if (got == -1 && errno != EINTR)
            return trouble(s, "reading", errno, err);
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool spill_damaged(const struct spill *s, struct err *err)
{
    return err_set(
        err, ERR_RETRY,
        "the unnamed file in %s, where rows of prepared XA transactions wait, is damaged: its "
        "bytes are not those that Millrace wrote; fix: check the disk and the memory, then "
        "restart Millrace, which reads these rows from the binlog again",
        s->folder);
}

void spill_release(struct spill *s, uint64_t at, uint64_t n)
{
    if (n == 0)
        return;
    assert(n <= s->used);
    if (__atomic_sub_fetch(&s->used, n, __ATOMIC_RELAXED) == 0) {
        s->end = 0;
        (void)!ftruncate(s->fd, 0);
        return;
    }
    if (at + n == s->end)
        s->end = at;
    /* If this is not possible, the file just stays longer than needed. */
    (void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)n);
}
