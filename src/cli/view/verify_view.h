/*
 * Shows the report of a verification: what differs, and what was not judged.
 *
 * @thread main
 */
#ifndef SRC_CLI_VERIFY_VIEW_H
#define SRC_CLI_VERIFY_VIEW_H

#include "src/base/str.h"
#include "src/cli/view/render.h"

struct buf;

/* Append a report (millrace/verify/1) as text, or how far the job is that will make it. */
void view_verify(struct buf *out, struct render_style style, struct str json);

#endif
