/*
 * What `millrace binlog inspect` says, as people read it.
 *
 * @thread any (no state)
 */
#ifndef SRC_INSPECT_VIEW_H
#define SRC_INSPECT_VIEW_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"
#include "src/render.h"

/* A view_fn for {"items":[...]} with the objects of inspect_run(). */
void inspect_view(struct buf *out, struct render_style style, struct str json);

#endif
