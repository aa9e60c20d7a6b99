#include "config.h"

#include "rebalance/trees/tree_compare.h"

#include "rebalance/trees/tree_snapshot.h"

#include <stdlib.h>
#include <string.h>

/* One side, and what is read of it. */
struct side {
    struct tree_snapshot *snapshot;
    const struct tree_view *view;
    struct buf pages;
    struct buf entries; /* one behind the other */
};

struct comparison {
    struct side sides[2]; /* by enum tree_side */
    tree_on_difference *on_difference;
    void *ctx;
};

static int order_of_entries(const void *a, const void *b)
{
    return memcmp(a, b, TREE_ID_SIZE);
}

static void sort_entries(struct buf *entries)
{
    const size_t n = entries->len / TREE_ENTRY_SIZE;

    if (n > 1)
        qsort(entries->ptr, n, TREE_ENTRY_SIZE, order_of_entries);
}

/* Appends the entries of a bucket, or those that are in bucket `only` of n buckets. */
static bool gather(struct side *side, uint32_t bucket, uint32_t only, uint32_t n,
                   struct err *err)
{
    const bool all = n == side->view->shape.n_buckets;
    const uint8_t *entry;

    if (!tree_snapshot_read(side->snapshot, bucket, &side->pages, err))
        return err_wrap(err, "the %s tree",
                        side->view->side == TREE_SOURCE ? "source's" : "index's");
    for (size_t page = 0, i = 0; (entry = tree_bucket_next(&side->pages, &page, &i)) != NULL;) {
        if (all || tree_bucket_of(entry, n) == only)
            buf_append(&side->entries, (struct str){(const char *)entry, TREE_ENTRY_SIZE});
    }
    return true;
}

static bool report(const struct comparison *c, enum tree_difference what, const uint8_t *entry,
                   struct err *err)
{
    struct tree_id id;

    memcpy(id.bytes, entry, TREE_ID_SIZE);
    return c->on_difference(c->ctx, what, &id, err);
}

/* Both have the id. */
static bool compare_hashes(const struct comparison *c, const uint8_t *source,
                           const uint8_t *index, struct err *err)
{
    const uint64_t s = tree_entry_hash(source), i = tree_entry_hash(index);

    if (s == TREE_READ_AGAIN || i == TREE_READ_AGAIN)
        return report(c, TREE_UNREAD, source, err);
    return s == i || report(c, TREE_DIFFERENT, source, err);
}

/* at is below the length: an empty list has no address. */
static const uint8_t *entry_at(const struct buf *entries, size_t at)
{
    return (const uint8_t *)entries->ptr + at;
}

/* Merges what was gathered of both sides. */
static bool compare_entries(struct comparison *c, struct err *err)
{
    struct buf *source = &c->sides[TREE_SOURCE].entries, *index = &c->sides[TREE_INDEX].entries;
    size_t s = 0, i = 0;
    bool ok = true;

    sort_entries(source);
    sort_entries(index);
    while (ok && (s < source->len || i < index->len)) {
        const int order = s == source->len ? 1
                          : i == index->len
                              ? -1
                              : memcmp(entry_at(source, s), entry_at(index, i), TREE_ID_SIZE);

        if (order < 0)
            ok = report(c, TREE_MISSING, entry_at(source, s), err);
        else if (order > 0)
            ok = report(c, TREE_EXTRA, entry_at(index, i), err);
        else
            ok = compare_hashes(c, entry_at(source, s), entry_at(index, i), err);
        s += order <= 0 ? TREE_ENTRY_SIZE : 0;
        i += order >= 0 ? TREE_ENTRY_SIZE : 0;
    }
    buf_clear(source);
    buf_clear(index);
    return ok;
}

static bool compare_equal_shapes(struct comparison *c, struct err *err)
{
    struct side *source = &c->sides[TREE_SOURCE], *index = &c->sides[TREE_INDEX];
    const uint64_t *s = tree_snapshot_sums(source->snapshot);
    const uint64_t *i = tree_snapshot_sums(index->snapshot);
    const uint32_t n = source->view->shape.n_buckets;

    for (uint32_t b = 0; b < n; b++) {
        if (s[b] == i[b])
            continue;
        if (!gather(source, b, b, n, err) || !gather(index, b, b, n, err) ||
            !compare_entries(c, err))
            return false;
    }
    return true;
}

/* Returns the least spread (tree_id_spread()) of an id in a bucket of n; not of bucket 0. */
static uint64_t least_spread(uint32_t bucket, uint32_t n)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((((wide)bucket << 64) + n - 1) / n);
}

/* Gathers from the side with fewer buckets what the other one has in its bucket b of n. */
static bool gather_part(struct side *few, uint32_t b, uint32_t n, struct err *err)
{
    __extension__ typedef unsigned __int128 wide;
    const uint32_t m = few->view->shape.n_buckets;
    const uint64_t least = b == 0 ? 0 : least_spread(b, n);
    const uint64_t most = b + 1 == n ? UINT64_MAX : least_spread(b + 1, n) - 1;
    const uint32_t first = (uint32_t)((wide)least * m >> 64);
    const uint32_t last = (uint32_t)((wide)most * m >> 64);

    for (uint32_t i = first; i <= last; i++)
        if (!gather(few, i, b, n, err))
            return false;
    return true;
}

static bool compare_other_shapes(struct comparison *c, struct err *err)
{
    struct side *many = &c->sides[TREE_SOURCE], *few = &c->sides[TREE_INDEX];

    if (many->view->shape.n_buckets < few->view->shape.n_buckets) {
        few = &c->sides[TREE_SOURCE];
        many = &c->sides[TREE_INDEX];
    }

    const uint32_t n = many->view->shape.n_buckets;

    for (uint32_t b = 0; b < n; b++)
        if (!gather(many, b, b, n, err) || !gather_part(few, b, n, err) ||
            !compare_entries(c, err))
            return false;
    return true;
}

bool tree_compare(struct tree_snapshot *source, struct tree_snapshot *index,
                  tree_on_difference *on_difference, void *ctx, struct err *err)
{
    struct comparison c = {
        .sides = {[TREE_SOURCE] = {.snapshot = source, .view = tree_snapshot_view(source)},
                  [TREE_INDEX] = {.snapshot = index, .view = tree_snapshot_view(index)}},
        .on_difference = on_difference,
        .ctx = ctx,
    };
    const struct tree_view *s = c.sides[TREE_SOURCE].view, *i = c.sides[TREE_INDEX].view;
    bool ok;

    if (s->side != TREE_SOURCE || i->side != TREE_INDEX || s->version_mark != i->version_mark)
        return err_set(err, ERR_REJECT,
                       "these trees are not the source's and the index's of one version");
    ok = s->shape.n_buckets == i->shape.n_buckets ? compare_equal_shapes(&c, err)
                                                  : compare_other_shapes(&c, err);
    for (size_t side = 0; side < 2; side++) {
        buf_free(&c.sides[side].pages);
        buf_free(&c.sides[side].entries);
    }
    return ok;
}
