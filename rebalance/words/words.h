/*
 * The words of the lists that the IK analyzer reads over HTTP: "ext", words that it finds, and
 * "stop", words that it leaves out (docs/words.md).
 *
 * The store has the words; any node changes and serves them.  In memory are only the content of
 * each list, by its turn in the store, and who asked this node for it.
 *
 * @thread any (blocks on the store, and for a try on the engine)
 */
#ifndef REBALANCE_WORDS_WORDS_H
#define REBALANCE_WORDS_WORDS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct coordinator;
struct word_filter;
struct word_order;

/* Each checks the name of the list (404) and the words (422). */
bool coordinator_add_words(struct coordinator *co, const struct word_order *o, struct buf *json,
                           struct err *err) MUST_CHECK;
/* n = 0: all that are new. */
bool coordinator_publish_words(struct coordinator *co, const struct word_order *o,
                               struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_delete_words(struct coordinator *co, const struct word_order *o,
                              struct buf *json, struct err *err) MUST_CHECK;
/* Its only word becomes another one. */
bool coordinator_change_word(struct coordinator *co, const struct word_order *o,
                             struct str into, struct buf *json, struct err *err) MUST_CHECK;
/*
 * Adds each line of a text, as o has it, which has no words.  If one is no word, adds none, and
 * json has the list of all faults with their lines.
 */
bool coordinator_import_words(struct coordinator *co, const struct word_order *o,
                              struct str text, struct buf *json, struct err *err) MUST_CHECK;

/* limit 0: 100.  With f->word: 404 if it is not there. */
bool coordinator_list_words(struct coordinator *co, const struct word_filter *f,
                            struct buf *json, struct err *err) MUST_CHECK;
/* Appends a word a line, as an import takes it. */
bool coordinator_export_words(struct coordinator *co, const struct word_filter *f,
                              struct buf *text, struct err *err) MUST_CHECK;
/* What is published, who pulled it from this node, and which tables use the analyzer. */
bool coordinator_word_status(struct coordinator *co, struct buf *json,
                             struct err *err) MUST_CHECK;
/* What the engine makes of a text. */
bool coordinator_try_words(struct coordinator *co, struct str analyzer, struct str text,
                           struct buf *json, struct err *err) MUST_CHECK;

#define WORD_ETAG_SIZE 40

/* What a list is at the moment. */
struct word_file {
    char etag[WORD_ETAG_SIZE]; /* of the content alone, with its quotes */
    int64_t changed_ms;        /* 0: nothing was ever published */
};
/* One request for a list. */
struct word_pull {
    struct str list, address;
    struct str has; /* If-None-Match: the ETag that the caller has; empty: none */
    bool is_head;   /* the words will not be sent */
};
/*
 * Appends the published words of the list, a word a line, unless the caller has them already;
 * notes who asked.
 */
bool coordinator_serve_words(struct coordinator *co, const struct word_pull *p,
                             struct word_file *file, struct buf *text,
                             struct err *err) MUST_CHECK;

#endif
