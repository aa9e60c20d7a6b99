/*
 * The audit log: each call that has changed something is noted, unless it was another node's,
 * which the node that was asked notes.
 *
 * @thread any (blocks on the store)
 */
#ifndef WEB_API_AUDIT_H
#define WEB_API_AUDIT_H

#include "src/base/base.h"

struct api_call;
struct route;

/* Note the call, which is over, if it has changed something. */
void audit_note(const struct route *r, const struct api_call *c);

#endif
