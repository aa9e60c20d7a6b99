/*
 * struct search_asker: questions to the search engine that end when their asker shall stop,
 * even if the engine does not answer.
 *
 * @thread one at a time; blocks
 */
#ifndef SRC_SEARCH_ASKER_H
#define SRC_SEARCH_ASKER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct search;
struct search_asker;
struct stop;

/* Borrows both. */
struct search_asker *search_asker_new(struct search *s,
                                      const struct stop *stop) RETURNS_NONNULL MUST_CHECK;
void search_asker_free(struct search_asker *a); /* NULL is fine */

/*
 * Sends GET path and appends the body; only status 2xx is success. Puts an address that fails
 * aside and asks the next one. Errors are those of search_call(), or ERR_STOP.
 */
bool search_asker_get(struct search_asker *a, struct str path, struct buf *out,
                      struct err *err) MUST_CHECK;

#endif
