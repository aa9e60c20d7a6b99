/*
 * One page of a bucket: 4 KiB with a head and up to 163 entries, in any order. Only the files
 * of rebalance/trees include this.
 *
 *     head    0 check (8), 8 next page of the bucket or 0 (4), 12 number of entries (2), 14
 * zero entry   0 packed id (17), 17 hash (8)
 *
 * Numbers are little-endian. Each entry has a sum, a hash of its 25 bytes. The check is the sum
 * of all entries plus a hash of the head and of where the page lies, so a change of one entry
 * changes the check by a difference, and a page that lies in another's place does not pass.
 *
 * Pure.
 */
#ifndef REBALANCE_TREES_TREE_PAGE_H
#define REBALANCE_TREES_TREE_PAGE_H

#include "rebalance/trees/tree.h"
#include "rebalance/trees/tree_id.h"
#include "src/base/base.h"
#include "src/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define TREE_PAGE_SIZE    4096
#define TREE_PAGE_HEAD    16
#define TREE_ENTRY_SIZE   25
#define TREE_PAGE_ENTRIES ((TREE_PAGE_SIZE - TREE_PAGE_HEAD) / TREE_ENTRY_SIZE)

/* Where a page lies, and what its head says. */
struct tree_page_head {
    uint32_t page, bucket; /* from 0 */
    uint32_t next;
    unsigned n; /* entries */
};

static inline uint32_t tree_page_next(const uint8_t *page)
{
    return load_le32(page + 8);
}

static inline unsigned tree_page_n(const uint8_t *page)
{
    return load_le16(page + 12);
}

/* Returns the offset of entry i in its page. */
static inline size_t tree_entry_at(unsigned i)
{
    return TREE_PAGE_HEAD + (size_t)TREE_ENTRY_SIZE * i;
}

static inline uint64_t tree_entry_hash(const uint8_t *entry)
{
    return load_le64(entry + TREE_ID_SIZE);
}

void tree_entry_format(uint8_t out[TREE_ENTRY_SIZE], const struct tree_id *id, uint64_t hash);
/* An entry to be read again has another sum on each side: so its bucket is never equal. */
uint64_t tree_entry_sum(const uint8_t *entry, enum tree_side side);

/* sum: of the page's entries. */
void tree_page_format_head(uint8_t out[TREE_PAGE_HEAD], const struct tree_page_head *head,
                           uint64_t sum);
/* Returns the sum of the page's entries, as its check has it. */
uint64_t tree_page_sum(const uint8_t *page, uint32_t number, uint32_t bucket);
/* Returns false if the page is damaged; else adds its entries' sum to *sum. */
bool tree_page_is_whole(const uint8_t *page, uint32_t number, uint32_t bucket,
                        enum tree_side side, uint64_t *sum);
/* Returns the entry's place in the page, or -1. */
int tree_page_find(const uint8_t *page, const struct tree_id *id);

/* Returns the bucket of an id, of n; with more buckets, ids keep the order of their buckets. */
static inline uint32_t tree_bucket_of(const uint8_t *id, uint32_t n)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint32_t)((wide)tree_id_spread(id) * n >> 64);
}

#endif
