/*
 * Shows the reports of jobs: of a verification what differs, and what was not judged.
 *
 * @thread main
 */
#ifndef SRC_CLI_VERIFY_VIEW_H
#define SRC_CLI_VERIFY_VIEW_H

#include "src/base/str.h"
#include "src/cli/view/render.h"

struct buf;

/* Append how a drain ended (millrace/drain/1). */
void view_drain(struct buf *out, struct render_style style, struct str json);
/* Append a report (millrace/verify/1) as text, or how far the job is that will make it. */
void view_verify(struct buf *out, struct render_style style, struct str json);

/* Append the elements of "differences", with their paths. */
void view_differences(struct buf *out, struct render_style style, struct str json);
/* Call add() for each element of the list at pointer. */
void view_each(struct buf *out, struct render_style style, struct str json, const char *pointer,
               void (*add)(struct buf *out, struct render_style style, struct str one));

#endif
