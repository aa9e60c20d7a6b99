/*
 * struct pulls: who asked this node for which list, and which state of it they have.
 *
 * In memory alone: after a restart the list is empty until the engine's nodes ask again, which
 * they do each minute.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WORDS_PULLS_H
#define REBALANCE_WORDS_PULLS_H

#include "rebalance/words/words.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PULLS_MAX 256 /* then the one that has not asked for longest is forgotten */

struct pulls;

struct pull {
    char list[8], address[48];
    int64_t asked_ms;          /* the last request of any kind */
    int64_t pulled_ms;         /* the last content; 0: none from this node */
    char etag[WORD_ETAG_SIZE]; /* of what it has; empty: not known */
};

struct pulls *pulls_new(void) RETURNS_NONNULL MUST_CHECK;
void pulls_free(struct pulls *p); /* NULL is fine */

/* sent: the content went to the caller, whose ETag this is. */
void pulls_note(struct pulls *p, const struct word_pull *who, const char *etag, bool sent);
/* Copies at most PULLS_MAX, and returns how many. */
size_t pulls_copy(struct pulls *p, struct pull *out) MUST_CHECK;

#endif
