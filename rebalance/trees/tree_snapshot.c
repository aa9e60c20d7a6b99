#include "config.h"

#include "rebalance/trees/tree_snapshot.h"

#include "src/base/lock.h"
#include "src/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tree_snapshot {
    struct tree_file *file; /* a reference */
    struct tree_view view;
    uint64_t *sums;
    int kept_fd;
    uint32_t n_kept; /* pages; the tree's thread only */

    struct lock lock;
    /* All guarded by lock: the tree's thread changes them. */
    uint32_t *kept; /* for each bucket 1 + its first page in kept_fd; 0: not kept */
    int lost;       /* an errno, if a bucket could not be kept */
};

static void kept_name(const char *path, struct buf *out)
{
    buf_printf(out, "%s.kept", path);
}

void tree_snapshot_remove(const char *path)
{
    struct buf name = {0};

    kept_name(path, &name);
    unlink(name.ptr);
    buf_free(&name);
}

/* Returns a file that goes with its descriptor, or -1. */
static int open_nameless(const char *path)
{
    struct buf name = {0};
    int fd;

    tree_snapshot_remove(path); /* left by a process that was killed here */
    kept_name(path, &name);
    fd = open(name.ptr, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlink(name.ptr);
    buf_free(&name);
    return fd;
}

bool tree_snapshot_new(struct tree_snapshot **out, struct tree_file *f, const char *path,
                       struct err *err)
{
    const uint32_t n = f->view.shape.n_buckets;
    struct tree_snapshot *s;
    int fd;

    if (f->snapshot != NULL)
        return err_set(err, ERR_RETRY, "it has a snapshot already");
    fd = open_nameless(path);
    if (fd < 0)
        return err_set_code(err, ERR_RETRY, "errno", errno, "cannot make a file beside it: %s",
                            strerror(errno));
    s = mem_alloc(1, sizeof(*s));
    s->file = f;
    s->view = f->view;
    s->sums = mem_alloc(n, sizeof(*s->sums));
    memcpy(s->sums, f->sums, n * sizeof(*s->sums));
    s->kept_fd = fd;
    s->kept = mem_alloc(n, sizeof(*s->kept));
    lock_init(&s->lock, LOCK_private);
    f->refs++;
    f->snapshot = s;
    *out = s;
    return true;
}

void tree_snapshot_free(struct tree_snapshot *s)
{
    if (s == NULL)
        return;
    s->file->snapshot = NULL;
    tree_file_unref(s->file);
    close(s->kept_fd);
    lock_fini(&s->lock);
    free(s->kept);
    free(s->sums);
    free(s);
}

const struct tree_view *tree_snapshot_view(const struct tree_snapshot *s)
{
    return &s->view;
}

const uint64_t *tree_snapshot_sums(const struct tree_snapshot *s)
{
    return s->sums;
}

/* Appends the pages of the bucket that was read last to the kept ones. Returns 0 or an errno.
 */
static int append_pages(struct tree_snapshot *s)
{
    const struct buf *pages = &s->file->pages;
    const ssize_t n =
        pwrite(s->kept_fd, pages->ptr, pages->len, (off_t)s->n_kept * TREE_PAGE_SIZE);

    if (n != (ssize_t)pages->len)
        return n < 0 ? errno : ENOSPC;
    s->n_kept += (uint32_t)(pages->len / TREE_PAGE_SIZE);
    return 0;
}

void tree_snapshot_keep(struct tree_file *f, uint32_t bucket)
{
    struct tree_snapshot *s = f->snapshot;

    /* Only this thread writes these two. */
    if (s == NULL || s->lost != 0 || s->kept[bucket] != 0)
        return;

    const uint32_t first = s->n_kept;
    const int lost = append_pages(s);

    lock_acquire(&s->lock);
    s->lost = lost;
    s->kept[bucket] = 1 + first;
    lock_release(&s->lock);
}

/* Returns 1 + the bucket's first kept page, or 0. */
static uint32_t look_for_kept(struct tree_snapshot *s, uint32_t bucket, int *lost)
{
    uint32_t kept;

    lock_acquire(&s->lock);
    kept = s->kept[bucket];
    *lost = s->lost;
    lock_release(&s->lock);
    return kept;
}

bool tree_snapshot_read(struct tree_snapshot *s, uint32_t bucket, struct buf *pages,
                        struct err *err)
{
    struct tree_bucket b = {.number = bucket, .sum = s->sums[bucket], .copy_fd = s->kept_fd};
    int lost;
    uint32_t kept = look_for_kept(s, bucket, &lost);

    if (kept == 0 && lost == 0) {
        const bool ok = tree_bucket_read(&s->view, &b, pages, err);

        kept = look_for_kept(s, bucket, &lost);
        if (kept == 0 && lost == 0)
            return ok; /* else a change may have begun meanwhile */
    }
    if (lost != 0)
        return err_set_code(err, ERR_RETRY, "errno", lost,
                            "what changed meanwhile could not be kept: %s", strerror(lost));
    b.is_copy = true;
    b.copy_page = kept - 1;
    return tree_bucket_read(&s->view, &b, pages, err);
}
