/*
 * The words of the analyzer's lists, and when what is published of a list changed last.
 *
 * A word is new until it is published.  Only a new one can be changed into another; a published
 * one can only be deleted.  A list's turn rises with each change of its published words, so who
 * keeps them in memory asks for the turn alone.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_WORDS_WORDS_H
#define SRC_STORE_WORDS_WORDS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define WORD_BYTES_MAX 255    /* of a word */
#define WORDS_MAX      500000 /* of a list */

struct stored_word {
    struct str list, word;
    int64_t added_ms;
    int64_t published_ms; /* 0: it is new */
};

/* All times are of the store's clock, so that all nodes tell the same. */
struct stored_word_list {
    uint64_t turn;      /* of the published words; 0: they never changed */
    int64_t changed_ms; /* when they changed last; 0: never */
    uint64_t n_new, n_published;
};

struct word_order {
    struct str list;
    const struct str *words;
    size_t n;
    bool publish;            /* publish them as well, also those that were new already */
    bool dry_run;            /* say what would be done, and store nothing */
    void (*live)(void *ctx); /* called from time to time while it goes on; NULL: nobody asks */
    void *live_ctx;
};

struct words_done {
    uint64_t n_added, n_published, n_deleted; /* those that were not so before */
};

/* Adds those that are not there.  422 if the list would have more than WORDS_MAX. */
bool store_add_words(struct store *s, const struct word_order *o, struct words_done *done,
                     struct err *err) MUST_CHECK;
/* Publishes them; n = 0: all that are new.  404 if one is not there: then none is published. */
bool store_publish_words(struct store *s, const struct word_order *o, struct words_done *done,
                         struct err *err) MUST_CHECK;
/* Deletes them.  404 if one is not there: then none is deleted. */
bool store_delete_words(struct store *s, const struct word_order *o, struct words_done *done,
                        struct err *err) MUST_CHECK;
/* Turns a new word into another one.  404: it is not there; 409: it is published, or the other
 * one is there. */
bool store_change_word(struct store *s, struct str list, struct str word, struct str into,
                       bool dry_run, struct err *err) MUST_CHECK;

struct word_filter {
    struct str list; /* empty: both */
    struct str word; /* empty: any; else this one */
    struct str part; /* empty: any; else those with these bytes in them */
    bool only_new, only_published;
    struct str after_list, after_word; /* those behind this one; empty: from the first on */
    size_t limit;
};
/* In the order of their lists, and of their bytes. */
bool store_load_words(struct store *s, struct arena *a, const struct word_filter *f,
                      struct stored_word **out, size_t *n, struct err *err) MUST_CHECK;
bool store_load_word_list(struct store *s, struct str list, struct stored_word_list *out,
                          struct err *err) MUST_CHECK;
/* Loads the turn and the time alone, which costs nothing. */
bool store_load_word_turn(struct store *s, struct str list, struct stored_word_list *out,
                          struct err *err) MUST_CHECK;
/* Loads what is published, in the order of its bytes, and the turn that it is of. */
bool store_load_published(struct store *s, struct arena *a, struct str list,
                          struct stored_word_list *at, struct str **words, size_t *n,
                          struct err *err) MUST_CHECK;

#endif
