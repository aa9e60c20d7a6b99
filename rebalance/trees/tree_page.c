#include "config.h"

#include "rebalance/trees/tree_page.h"

#include <string.h>
#include <xxhash.h>

void tree_entry_format(uint8_t out[TREE_ENTRY_SIZE], const struct tree_id *id, uint64_t hash)
{
    memcpy(out, id->bytes, TREE_ID_SIZE);
    store_le64(out + TREE_ID_SIZE, hash);
}

uint64_t tree_entry_sum(const uint8_t *entry, enum tree_side side)
{
    if (tree_entry_hash(entry) == TREE_READ_AGAIN)
        return XXH3_64bits_withSeed(entry, TREE_ENTRY_SIZE, 1 + (uint64_t)side);
    return XXH3_64bits(entry, TREE_ENTRY_SIZE);
}

/* What the check has beside the entries. */
static uint64_t head_sum(const struct tree_page_head *head)
{
    uint8_t bytes[16];

    store_le32(bytes, head->page);
    store_le32(bytes + 4, head->bucket);
    store_le32(bytes + 8, head->next);
    store_le32(bytes + 12, head->n);
    return XXH3_64bits(bytes, sizeof(bytes));
}

void tree_page_format_head(uint8_t out[TREE_PAGE_HEAD], const struct tree_page_head *head,
                           uint64_t sum)
{
    store_le64(out, sum + head_sum(head));
    store_le32(out + 8, head->next);
    store_le32(out + 12, head->n); /* and two zeros */
}

uint64_t tree_page_sum(const uint8_t *page, uint32_t number, uint32_t bucket)
{
    const struct tree_page_head head = {
        .page = number, .bucket = bucket, .next = tree_page_next(page), .n = tree_page_n(page)};

    return load_le64(page) - head_sum(&head);
}

bool tree_page_is_whole(const uint8_t *page, uint32_t number, uint32_t bucket,
                        enum tree_side side, uint64_t *sum)
{
    const unsigned n = tree_page_n(page);
    uint64_t found = 0;

    if (n > TREE_PAGE_ENTRIES)
        return false;
    for (unsigned i = 0; i < n; i++) {
        const uint8_t *entry = page + tree_entry_at(i);

        if (!tree_id_has_a_kind(entry))
            return false;
        found += tree_entry_sum(entry, side);
    }
    *sum += found;
    return found == tree_page_sum(page, number, bucket);
}

int tree_page_find(const uint8_t *page, const struct tree_id *id)
{
    const unsigned n = tree_page_n(page);
    const uint64_t first = load_le64(id->bytes), second = load_le64(id->bytes + 8);

    for (unsigned i = 0; i < n; i++) {
        const uint8_t *entry = page + tree_entry_at(i);

        if (((load_le64(entry) ^ first) | (load_le64(entry + 8) ^ second)) == 0 &&
            entry[TREE_ID_SIZE - 1] == id->bytes[TREE_ID_SIZE - 1])
            return (int)i;
    }
    return -1;
}
