/*
 * Shows the results of `millrace binlog inspect` to people.
 *
 * @thread any (no state)
 */
#ifndef SRC_CLI_INSPECT_VIEW_H
#define SRC_CLI_INSPECT_VIEW_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/cli/view/render.h"

/* A view_fn for {"items":[...]}, a list of inspect_run()'s objects. */
void inspect_view(struct buf *out, struct render_style style, struct str json);

#endif
