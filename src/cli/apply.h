/*
 * What commands that apply definitions share.
 *
 * @thread the command's
 */
#ifndef SRC_CLI_APPLY_H
#define SRC_CLI_APPLY_H

#include "src/base/base.h"

struct call;
struct invocation;
struct session;

/*
 * Send the call of `apply`, print what changes or has changed, the warnings, and what to do
 * next.  Releases the call.  Returns the exit code.
 */
int apply_send(struct session *s, const struct invocation *inv, struct call *call) MUST_CHECK;

#endif
