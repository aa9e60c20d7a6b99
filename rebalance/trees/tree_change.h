/*
 * One change of a tree's file, in a few places at once: whole or not at all, even if the
 * process is killed in between. Only the files of rebalance/trees include this.
 *
 * The change is written to the header page first, with a check over it, then to its places. An
 * open repeats the last change: it is there already, or what was begun is completed. A change
 * whose check is wrong had not begun in its places. This holds against a kill, after which the
 * kernel still has every store; a power cut is found by other means (tree_header.h).
 *
 *     0 check (8), 8 length of what follows (8), then places: offset << 8 | length (8), bytes
 */
#ifndef REBALANCE_TREES_TREE_CHANGE_H
#define REBALANCE_TREES_TREE_CHANGE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_CHANGE_MAX 512

/* len = 0 begins one. */
struct tree_change {
    size_t len;
    uint8_t bytes[TREE_CHANGE_MAX];
};

/* at: an offset in the file. len: at most 255. Asserts that the change has room. */
void tree_change_add(struct tree_change *c, uint64_t at, const void *bytes, size_t len);
/* Makes the change in the mapped file. */
void tree_change_commit(const struct tree_change *c, uint8_t *map);

/*
 * Repeats the last change of an unmapped file of size bytes, whose first page is given. Blocks.
 * ERR_REJECT: the change has a right check and places that no change has, or they cannot be
 * written.
 */
bool tree_change_repeat(const uint8_t *page, int fd, uint64_t size, struct err *err) MUST_CHECK;

#endif
