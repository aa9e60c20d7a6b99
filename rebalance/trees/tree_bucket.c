#include "config.h"

#include "rebalance/trees/tree_bucket.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool tree_read_at(int fd, void *out, size_t len, uint64_t at, struct err *err)
{
    while (len > 0) {
        const ssize_t n = pread(fd, out, len, (off_t)at);

        if (n == 0)
            return err_set(err, ERR_REJECT, "it is too short");
        if (n < 0 && errno != EINTR)
            return err_set_code(err, ERR_REJECT, "errno", errno, "cannot read it: %s",
                                strerror(errno));
        if (n > 0) {
            out = (uint8_t *)out + n;
            at += (uint64_t)n;
            len -= (size_t)n;
        }
    }
    return true;
}

static bool damaged(uint32_t page, struct err *err)
{
    return err_set(err, ERR_REJECT, "its page %u is damaged", page);
}

bool tree_bucket_sum(const struct tree_view *view, const struct tree_bucket *bucket,
                     struct buf *pages, uint64_t *sum, struct err *err)
{
    const struct tree_shape *shape = &view->shape;
    const uint32_t pages_max = 1 + view->n_used - shape->first_more; /* else it is a ring */
    uint32_t number = shape->first_bucket + bucket->number;

    buf_clear(pages);
    *sum = 0;
    for (uint32_t i = 0; i == 0 || number != 0; i++) {
        const uint64_t from = bucket->is_copy ? bucket->copy_page + (uint64_t)i : number;
        uint8_t *page;

        if (i == pages_max)
            return err_set(err, ERR_REJECT, "its bucket %u has no end", bucket->number);
        buf_reserve(pages, TREE_PAGE_SIZE);
        page = (uint8_t *)pages->ptr + pages->len;
        if (!tree_read_at(bucket->is_copy ? bucket->copy_fd : view->fd, page, TREE_PAGE_SIZE,
                          from * TREE_PAGE_SIZE, err))
            return false;
        if (!tree_page_is_whole(page, number, bucket->number, view->side, sum))
            return damaged(number, err);
        pages->len += TREE_PAGE_SIZE;

        const uint32_t next = tree_page_next(page);

        if (next != 0 && (next < shape->first_more || next >= view->n_used))
            return damaged(number, err);
        number = next;
    }
    return true;
}

bool tree_bucket_read(const struct tree_view *view, const struct tree_bucket *bucket,
                      struct buf *pages, struct err *err)
{
    uint64_t sum;

    if (!tree_bucket_sum(view, bucket, pages, &sum, err))
        return false;
    if (sum != bucket->sum)
        return err_set(err, ERR_REJECT, "its bucket %u is not what its sum says",
                       bucket->number);
    return true;
}

const uint8_t *tree_bucket_next(const struct buf *pages, size_t *page, size_t *i)
{
    for (; *page < pages->len; *page += TREE_PAGE_SIZE, *i = 0) {
        const uint8_t *p = (const uint8_t *)pages->ptr + *page;

        if (*i < tree_page_n(p))
            return p + tree_entry_at((unsigned)(*i)++);
    }
    return NULL;
}
