/*
 * struct words: the published words of each list, as they are served.
 *
 * Kept by the list's turn in the store, so that a request without news costs one small read.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WORDS_CONTENT_H
#define REBALANCE_WORDS_CONTENT_H

#include "rebalance/words/words.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct pulls;
struct store;
struct words;

struct words *words_new(void) RETURNS_NONNULL MUST_CHECK;
void words_free(struct words *w); /* NULL is fine */
struct pulls *words_pulls(struct words *w) RETURNS_NONNULL;

/*
 * What the list is now; blocks on the store.  Appends the words to text unless it is NULL, or
 * `has` is their ETag; *sent tells.
 */
struct word_question {
    struct store *store;
    struct str list, has;
    bool *sent; /* may be NULL */
};
bool words_read(struct words *w, const struct word_question *q, struct word_file *file,
                struct buf *text, struct err *err) MUST_CHECK;

#endif
