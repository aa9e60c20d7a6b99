/*
 * What is a word, and which lists there are.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_WORDS_TEXT_H
#define REBALANCE_WORDS_TEXT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct problems;

extern const char *const word_lists[];
extern const size_t n_word_lists;

/* ERR_REJECT, 404: there is no list of this name. */
bool word_check_list(struct str list, struct err *err) MUST_CHECK;
/* ERR_REJECT, 422: it is no word, and the message says why. */
bool word_check(struct str word, struct err *err) MUST_CHECK;

/*
 * The lines of a text, without empty ones, a mark of the byte order, and spaces around a word.
 * Each line that is no word becomes a problem.  The words point into the text.
 */
struct str *word_read_lines(struct arena *a, struct str text, size_t *n,
                            struct problems *problems) MUST_CHECK;

#endif
