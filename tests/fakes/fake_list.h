/*
 * What GET of several indexes answers: their aliases, and their mappings with what Millrace
 * keeps there.  A name may end with `*`.
 *
 * @thread one at a time (with the lock of the fake search engine)
 */
#ifndef TESTS_FAKES_FAKE_LIST_H
#define TESTS_FAKES_FAKE_LIST_H

#include "tests/fakes/fake_answer.h"

/* Whether the request asks for indexes that need not be there, of whatever names. */
bool fake_is_list(const struct fake_http_request *req);
/* Those that there are. */
void fake_list_indexes(struct fake_search *f, struct str names,
                       struct fake_http_answer *answer);

#endif
