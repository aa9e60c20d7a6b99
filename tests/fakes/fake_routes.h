/*
 * What a fake search engine answers besides _bulk: administration, single documents, its
 * script.
 */
#ifndef TESTS_FAKES_FAKE_ROUTES_H
#define TESTS_FAKES_FAKE_ROUTES_H

#include "tests/fakes/fake_engine.h"
#include "tests/fakes/fake_http.h"
#include "tests/fakes/fake_search.h"

void fake_routes_handle(struct fake_search *f, const struct fake_http_request *req,
                        struct fake_http_answer *answer);

/* fake_search's: the engine, until unlocked. */
struct fake_engine *fake_search_lock(struct fake_search *f) RETURNS_NONNULL;
void fake_search_unlock(struct fake_search *f);
/* While locked: the status that a read of a document fails with; 0: it does not. */
int fake_search_get_failure(struct fake_search *f);
/* An error in the engine's form. */
void fake_refuse(struct fake_http_answer *answer, int status, const char *type,
                 const char *reason);

#endif
