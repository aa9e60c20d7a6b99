/*
 * How a handler ends: with what the coordinator wrote into the answer, or with its failure.
 *
 * @thread one at a time
 */
#ifndef WEB_ANSWER_H
#define WEB_ANSWER_H

#include "src/base/err.h"
#include "web/api.h"

#include <stdbool.h>

/*
 * ok: status stands, the body is in c->res.  Else: the problem of err; a JSON list that the
 * call had written is its "errors".
 */
void answer(struct api_call *c, int status, bool ok, const struct err *err);

/* A request that cannot be: a problem with status 400. */
void answer_bad(struct api_call *c, const char *detail);

#endif
