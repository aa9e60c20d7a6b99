/*
 * struct trees: the anti-entropy trees of this node, a pair of each index version that searches
 * use, and the thread that changes them.
 *
 * A pair begins empty when a comparison of the whole index begins (trees_begin()). The
 * comparison fills it, and from then on it follows what delivery tells of both sides
 * (trees_note()). Once the comparison has ended, the pair is complete and can be compared.
 *
 * A pair that missed changes is worth nothing. So each remembers which term of its topic it
 * followed: only the next term may go on with it (trees_follow()). Anything else that cannot be
 * told, as a damaged file or a full disk, ends the pair. The next comparison makes a new one.
 *
 * Entries wait in a queue of QUEUE_BYTES, in front of which the stream waits for a slow disk. A
 * kill loses it, so no position is stored behind what is in it (trees_flush()).
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_TREES_TREES_H
#define REBALANCE_TREES_TREES_H

#include "rebalance/trees/tree.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct key_set;
struct trees;

/* folder is made if it is missing. owner: the store's identity, a part of every file's. */
bool trees_new(struct trees **out, const char *folder, struct str owner,
               struct err *err) MUST_CHECK;
/* Puts what waits, and closes all. NULL is fine. Blocks on the disk. */
void trees_free(struct trees *all);

/*
 * Before changes of the index are read under this term: goes on with its pair if that followed
 * the term before, else ends it. term is from 1. Blocks on the disk.
 */
void trees_follow(struct trees *all, struct str index, uint64_t term);
/* Begins a pair for about n_expected documents; ends the one before. Blocks on the disk. */
bool trees_begin(struct trees *all, struct str index, uint64_t term, uint64_t n_expected,
                 struct err *err) MUST_CHECK;
/* Everything is in the pair. Returns false if it was ended meanwhile. Blocks on the disk. */
bool trees_complete(struct trees *all, struct str index) MUST_CHECK;
/* Ends the pair, if there is one, and removes its files. */
void trees_end(struct trees *all, struct str index);
/* Ends the pairs of all other indexes. The first call removes what is left of others that have
 * no pair, too. @thread one at a time; blocks on the disk */
void trees_keep(struct trees *all, const struct key_set *wanted);

/* Returns a hash of a document as a value, never 0; 0 if its index has no pair, or if body is
 * not JSON. */
uint64_t trees_value(struct trees *all, struct str index, struct str routing, struct str body);

struct tree_news {
    enum tree_side side;
    bool is_gone;  /* the side has no such document */
    uint64_t hash; /* else; or TREE_READ_AGAIN */
    struct str id;
};
/* Does nothing without a pair. Blocks while the queue is full. */
void trees_note(struct trees *all, struct str index, const struct tree_news *news);
/* The same for both sides. */
void trees_note_both(struct trees *all, struct str index, bool is_gone, uint64_t hash,
                     struct str id);
/* Waits until what was noted before is put. NULL is fine. Blocks on the disk. */
void trees_flush(struct trees *all);

enum trees_state { TREES_NONE = 0, TREES_BUILDING, TREES_COMPLETE };
const char *trees_state_word(enum trees_state state); /* "missing", "building", "complete" */
struct trees_view {
    enum trees_state state;
    uint64_t entries;     /* of the index's side */
    uint64_t bytes;       /* of both files */
    int64_t built_ms;     /* wall time; TREES_COMPLETE only */
    int64_t exchanged_ms; /* wall time of the last exchange since the start; 0: none */
    int64_t since_ms;     /* wall time when it was opened, or complete if that is later */
    uint64_t n_unnamed;   /* of the last exchange */
};
struct trees_view trees_look(struct trees *all, struct str index); /* all NULL: TREES_NONE */

#endif
