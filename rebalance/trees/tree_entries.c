#include "config.h"

#include "rebalance/trees/tree_entries.h"

#include "rebalance/trees/tree_snapshot.h"

#include <string.h>

/* A bucket's pages, one behind the other, as they will be written. */
struct bucket {
    struct tree_file *f;
    uint32_t number;
    uint64_t more;     /* that its sum grows by */
    uint64_t count;    /* entries of the file */
    uint32_t n_used;   /* pages of the file */
    struct buf *dirty; /* a byte for each page: 1 if it must be written */
};

/* Where an id is, or could be put. */
struct spot {
    size_t page; /* of the bucket, from 0; n_pages(): none */
    int slot;    /* -1: the bucket does not have it, and the page has room */
};

static size_t n_pages(const struct bucket *b)
{
    return b->dirty->len;
}

static uint8_t *page_at(const struct bucket *b, size_t page)
{
    return (uint8_t *)b->f->pages.ptr + page * TREE_PAGE_SIZE;
}

/* Returns the page's number in the file. */
static uint32_t number_of(const struct bucket *b, size_t page)
{
    return page == 0 ? b->f->view.shape.first_bucket + b->number
                     : tree_page_next(page_at(b, page - 1));
}

static struct spot find_spot(const struct bucket *b, const struct tree_id *id)
{
    struct spot room = {n_pages(b), -1};

    for (size_t i = 0; i < n_pages(b); i++) {
        const uint8_t *page = page_at(b, i);
        const int slot = tree_page_find(page, id);

        if (slot >= 0)
            return (struct spot){i, slot};
        if (room.page == n_pages(b) && tree_page_n(page) < TREE_PAGE_ENTRIES)
            room.page = i;
    }
    return room;
}

static struct tree_page_head head_of(const struct bucket *b, size_t page)
{
    return (struct tree_page_head){.page = number_of(b, page),
                                   .bucket = b->number,
                                   .next = tree_page_next(page_at(b, page)),
                                   .n = tree_page_n(page_at(b, page))};
}

/* Gives a page a new head. The sum of its entries grows by more. */
static void set_head(struct bucket *b, size_t page, const struct tree_page_head *head,
                     uint64_t more)
{
    uint8_t *bytes = page_at(b, page);
    const uint64_t sum = tree_page_sum(bytes, head->page, head->bucket) + more;

    tree_page_format_head(bytes, head, sum);
    b->dirty->ptr[page] = 1;
    b->more += more;
}

/* All pages are full: another one comes behind them. It is nobody's in the file until the last
 * one, which is written after it, leads to it. */
static bool add_page(struct bucket *b, struct err *err)
{
    const size_t last = n_pages(b) - 1;
    struct tree_page_head before = head_of(b, last);
    const struct tree_page_head head = {.page = b->n_used, .bucket = b->number};

    if (!tree_file_make_room(b->f, b->n_used, err))
        return false;
    before.next = b->n_used++;
    buf_reserve(&b->f->pages, TREE_PAGE_SIZE);
    memset(b->f->pages.ptr + b->f->pages.len, 0, TREE_PAGE_SIZE);
    b->f->pages.len += TREE_PAGE_SIZE;
    set_head(b, last, &before, 0);
    tree_page_format_head(page_at(b, last + 1), &head, 0);
    buf_append_char(b->dirty, 1);
    return true;
}

static void put(struct bucket *b, const struct spot *spot, const struct tree_change *c)
{
    struct tree_page_head head = head_of(b, spot->page);
    const unsigned slot = spot->slot >= 0 ? (unsigned)spot->slot : head.n++;
    uint8_t *entry = page_at(b, spot->page) + tree_entry_at(slot);
    uint64_t more = 0;

    if (spot->slot >= 0)
        more -= tree_entry_sum(entry, b->f->view.side);
    else
        b->count++;
    tree_entry_format(entry, &c->id, c->hash);
    set_head(b, spot->page, &head, more + tree_entry_sum(entry, b->f->view.side));
}

/* The last entry of the page takes its place. */
static void take_out(struct bucket *b, const struct spot *spot)
{
    struct tree_page_head head = head_of(b, spot->page);
    uint8_t *bytes = page_at(b, spot->page);
    uint8_t *entry = bytes + tree_entry_at((unsigned)spot->slot);
    const uint64_t less = tree_entry_sum(entry, b->f->view.side);

    head.n--;
    memmove(entry, bytes + tree_entry_at(head.n), TREE_ENTRY_SIZE);
    set_head(b, spot->page, &head, 0 - less);
    b->count--;
}

static bool is_there_already(const struct bucket *b, const struct spot *spot,
                             const struct tree_change *c)
{
    if (spot->slot < 0 || c->is_gone)
        return spot->slot < 0 && c->is_gone;
    return tree_entry_hash(page_at(b, spot->page) + tree_entry_at((unsigned)spot->slot)) ==
           c->hash;
}

static bool change(struct bucket *b, const struct tree_change *c, struct err *err)
{
    const struct spot spot = find_spot(b, &c->id);

    if (is_there_already(b, &spot, c))
        return true;
    tree_snapshot_keep(b->f, b->number); /* the first time, before anything changed */
    if (c->is_gone) {
        take_out(b, &spot);
        return true;
    }
    if (spot.page == n_pages(b) && !add_page(b, err))
        return false;
    put(b, &spot, c);
    return true;
}

/* From the last page on: see add_page(). An entry that was taken out and put again is in the
 * same page or an earlier one, so no kill leaves it in two. */
static bool write_pages(const struct bucket *b, struct err *err)
{
    for (size_t i = n_pages(b); i-- > 0;)
        if (b->dirty->ptr[i] != 0 &&
            !tree_file_write_page(b->f, number_of(b, i), page_at(b, i), err))
            return false;
    return true;
}

bool tree_entries_change(struct tree_file *f, uint32_t bucket,
                         const struct tree_change *changes, size_t n, struct err *err)
{
    struct bucket b = {.f = f,
                       .number = bucket,
                       .count = f->state.count,
                       .n_used = f->state.n_used,
                       .dirty = &f->dirty};

    if (!tree_file_read(f, bucket, err))
        return false;
    buf_clear(&f->dirty);
    for (size_t at = 0; at < f->pages.len; at += TREE_PAGE_SIZE)
        buf_append_char(&f->dirty, 0);
    for (size_t i = 0; i < n; i++)
        if (!change(&b, &changes[i], err))
            return false;
    if (!write_pages(&b, err))
        return false;
    f->sums[bucket] += b.more;
    f->state.count = b.count;
    f->view.n_used = f->state.n_used = b.n_used;
    return true;
}

bool tree_entries_find(struct tree_file *f, const struct tree_id *id, bool *found,
                       uint64_t *hash, struct err *err)
{
    *found = false;
    if (!tree_file_read(f, tree_bucket_of(id->bytes, f->view.shape.n_buckets), err))
        return false;
    for (size_t at = 0; at < f->pages.len && !*found; at += TREE_PAGE_SIZE) {
        const uint8_t *page = (const uint8_t *)f->pages.ptr + at;
        const int slot = tree_page_find(page, id);

        *found = slot >= 0;
        if (*found)
            *hash = tree_entry_hash(page + tree_entry_at((unsigned)slot));
    }
    return true;
}
