/*
 * Storing the dead letters of rows that make no document, and of documents that the engine
 * refused.
 */
#ifndef REBALANCE_DEAD_LETTER_LETTERS_H
#define REBALANCE_DEAD_LETTER_LETTERS_H

#include "rebalance/state/parts.h"

/*
 * Store all letters or none.  Does not apply the limit dead_letters.max: a builder must not
 * wait for a person.  @thread any
 */
bool coordinator_keep_dead_letters(struct coordinator *co, const struct dead_letter_note *notes,
                                   size_t n, struct err *err) MUST_CHECK;

/*
 * Tell delivery which documents of the topic have dead letters, so that a later success deletes
 * the letter.  topic: empty: all.  Blocks on the store.
 */
bool coordinator_note_letters(struct coordinator *co, struct str topic,
                              struct err *err) MUST_CHECK;

#endif
