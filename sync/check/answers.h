/*
 * struct answers: what one server says to the questions of many checks, asked in few
 * statements.
 *
 * Note the questions first, as often as you like, then answers_ask(): it puts many into one
 * statement, and halves a statement that the server refuses.  What cannot be asked together, or
 * is refused, stays without an answer: ask it alone, to get the server's words.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHECK_ANSWERS_H
#define SYNC_CHECK_ANSWERS_H

#include "src/base/base.h"
#include "sync/catalog/catalog.h"

#include <stdbool.h>

struct answers;
struct mysql_conn;

struct answers *answers_new(void) RETURNS_NONNULL MUST_CHECK;
void answers_free(struct answers *a);

/* The strings are copied. */
void answers_note_clause(struct answers *a, const struct clause_wanted *w);
void answers_note_shares(struct answers *a, const struct shares_wanted *w);
/* Ask what was noted since the last call.  Blocks. */
void answers_ask(struct answers *a, struct mysql_conn *c);

/* Tell whether the server is known to accept the clause. */
bool answers_accept(const struct answers *a, const struct clause_wanted *w);
/* The counts, borrowed; NULL if unknown. */
const struct catalog_shares *answers_find_shares(const struct answers *a,
                                                 const struct shares_wanted *w);

#endif
