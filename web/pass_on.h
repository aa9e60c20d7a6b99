/*
 * Requests for a topic that another node owns: the owner carries them out, through the same
 * table of routes.
 *
 * @thread any (blocks until the owner has answered, or a limit is reached)
 */
#ifndef WEB_PASS_ON_H
#define WEB_PASS_ON_H

#include "src/base/base.h"

#include <stdbool.h>

struct api_call;
struct route;

/*
 * If the request is another node's, answer it with what that node answers, and return true.
 * Else return false: this node carries it out.
 */
bool pass_on(const struct route *r, const struct api_call *c) MUST_CHECK;

#endif
