/*
 * Shows the trace of a document: why, the next step, and where it lies.
 *
 * @thread main
 */
#ifndef SRC_CLI_TRACE_VIEW_H
#define SRC_CLI_TRACE_VIEW_H

#include "src/base/str.h"
#include "src/cli/view/render.h"

struct buf;

/* Append a trace (millrace/trace/1) as text. */
void view_trace(struct buf *out, struct render_style style, struct str json);

#endif
