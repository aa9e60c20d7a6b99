#include "config.h"

#include "rebalance/trees/tree_entries.h"

#include "rebalance/trees/tree_snapshot.h"

/* Where an id is, or could be put. */
struct spot {
    uint32_t bucket;
    int slot;      /* -1: the bucket does not have it */
    uint32_t page; /* that has it, or else the first with room, or 0 */
    uint32_t last; /* page of the bucket */
};

/* The bucket is checked, so its pages lead to its last one. */
static struct spot find_spot(const struct tree_file *f, uint32_t bucket,
                             const struct tree_id *id)
{
    struct spot spot = {.bucket = bucket, .slot = -1};

    for (uint32_t page = f->view.shape.first_bucket + bucket; page != 0;) {
        const uint8_t *p = tree_file_page(f, page);
        const int slot = tree_page_find(p, id);

        if (slot >= 0) {
            spot.slot = slot;
            spot.page = page;
            return spot;
        }
        if (spot.page == 0 && tree_page_n(p) < TREE_PAGE_ENTRIES)
            spot.page = page;
        spot.last = page;
        page = tree_page_next(p);
    }
    return spot;
}

static bool look(struct tree_file *f, const struct tree_id *id, struct spot *out,
                 struct err *err)
{
    const uint32_t bucket = tree_bucket_of(id->bytes, f->view.shape.n_buckets);

    if (!tree_file_check(f, bucket, err))
        return false;
    *out = find_spot(f, bucket, id);
    return true;
}

static uint64_t offset_of(uint32_t page, unsigned slot)
{
    return (uint64_t)page * TREE_PAGE_SIZE + tree_entry_at(slot);
}

/* Adds a page's new head, whose entries' sum grows by more. */
static void add_head(struct tree_change *c, const uint8_t *old,
                     const struct tree_page_head *head, uint64_t more)
{
    uint8_t bytes[TREE_PAGE_HEAD];

    tree_page_format_head(bytes, head, tree_page_sum(old, head->page, head->bucket) + more);
    tree_change_add(c, (uint64_t)head->page * TREE_PAGE_SIZE, bytes, sizeof(bytes));
}

static void add_sum(struct tree_change *c, const struct tree_file *f, uint32_t bucket,
                    uint64_t more)
{
    uint8_t bytes[8];

    store_le64(bytes, tree_file_sum(f, bucket) + more);
    tree_change_add(c, tree_sum_at(bucket), bytes, sizeof(bytes));
}

static struct tree_page_head head_of(const uint8_t *p, uint32_t page, uint32_t bucket)
{
    return (struct tree_page_head){
        .page = page, .bucket = bucket, .next = tree_page_next(p), .n = tree_page_n(p)};
}

static void replace(struct tree_file *f, const struct spot *spot, const uint8_t *entry)
{
    const uint8_t *p = tree_file_page(f, spot->page);
    const uint8_t *old = p + tree_entry_at((unsigned)spot->slot);
    const struct tree_page_head head = head_of(p, spot->page, spot->bucket);
    const uint64_t more =
        tree_entry_sum(entry, f->view.side) - tree_entry_sum(old, f->view.side);
    struct tree_change change = {.len = 0};

    tree_change_add(&change, offset_of(spot->page, (unsigned)spot->slot), entry,
                    TREE_ENTRY_SIZE);
    add_head(&change, p, &head, more);
    add_sum(&change, f, spot->bucket, more);
    tree_change_commit(&change, f->map);
}

/* The spot's page has room. */
static void insert(struct tree_file *f, const struct spot *spot, const uint8_t *entry)
{
    const uint8_t *p = tree_file_page(f, spot->page);
    const uint64_t more = tree_entry_sum(entry, f->view.side);
    struct tree_page_head head = head_of(p, spot->page, spot->bucket);
    struct tree_state state = f->state;
    struct tree_change change = {.len = 0};

    tree_change_add(&change, offset_of(spot->page, head.n), entry, TREE_ENTRY_SIZE);
    head.n++;
    add_head(&change, p, &head, more);
    add_sum(&change, f, spot->bucket, more);
    state.count++;
    tree_file_commit_state(f, &change, &state);
}

/* All pages of the bucket are full: another one comes behind them. */
static bool insert_page(struct tree_file *f, const struct spot *spot, const uint8_t *entry,
                        struct err *err)
{
    static const uint8_t unused[TREE_PAGE_HEAD];

    if (!tree_file_make_room(f, err))
        return false;

    const uint8_t *last = tree_file_page(f, spot->last);
    const uint64_t more = tree_entry_sum(entry, f->view.side);
    struct tree_page_head before = head_of(last, spot->last, spot->bucket);
    struct tree_state state = f->state;
    const struct tree_page_head head = {.page = state.n_used, .bucket = spot->bucket, .n = 1};
    struct tree_change change = {.len = 0};

    tree_change_add(&change, offset_of(head.page, 0), entry, TREE_ENTRY_SIZE);
    add_head(&change, unused, &head, more);
    before.next = head.page;
    add_head(&change, last, &before, 0);
    add_sum(&change, f, spot->bucket, more);
    state.count++;
    state.n_used++;
    tree_file_commit_state(f, &change, &state);
    return true;
}

bool tree_entries_put(struct tree_file *f, const struct tree_id *id, uint64_t hash,
                      struct err *err)
{
    uint8_t entry[TREE_ENTRY_SIZE];
    struct spot spot;

    if (!look(f, id, &spot, err))
        return false;
    if (spot.slot >= 0 && tree_entry_hash(tree_file_page(f, spot.page) +
                                          tree_entry_at((unsigned)spot.slot)) == hash)
        return true;
    tree_snapshot_keep(f, spot.bucket);
    tree_entry_format(entry, id, hash);
    if (spot.slot >= 0)
        replace(f, &spot, entry);
    else if (spot.page != 0)
        insert(f, &spot, entry);
    else
        return insert_page(f, &spot, entry, err);
    return true;
}

bool tree_entries_remove(struct tree_file *f, const struct tree_id *id, struct err *err)
{
    struct tree_change change = {.len = 0};
    struct spot spot;

    if (!look(f, id, &spot, err))
        return false;
    if (spot.slot < 0)
        return true;
    tree_snapshot_keep(f, spot.bucket);

    const uint8_t *p = tree_file_page(f, spot.page);
    const unsigned slot = (unsigned)spot.slot;
    const uint64_t less = 0 - tree_entry_sum(p + tree_entry_at(slot), f->view.side);
    struct tree_page_head head = head_of(p, spot.page, spot.bucket);
    struct tree_state state = f->state;

    head.n--;
    tree_change_add(&change, offset_of(spot.page, slot), p + tree_entry_at(head.n),
                    TREE_ENTRY_SIZE);
    add_head(&change, p, &head, less);
    add_sum(&change, f, spot.bucket, less);
    state.count--;
    tree_file_commit_state(f, &change, &state);
    return true;
}

bool tree_entries_find(struct tree_file *f, const struct tree_id *id, bool *found,
                       uint64_t *hash, struct err *err)
{
    struct spot spot;

    if (!look(f, id, &spot, err))
        return false;
    *found = spot.slot >= 0;
    if (*found)
        *hash =
            tree_entry_hash(tree_file_page(f, spot.page) + tree_entry_at((unsigned)spot.slot));
    return true;
}
