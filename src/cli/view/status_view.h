/*
 * The answer of status for people: topics, tables, and what is worth a note.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_STATUS_VIEW_H
#define SRC_CLI_STATUS_VIEW_H

#include "src/base/str.h"
#include "src/cli/view/render.h"

struct buf;

/* Append a millrace/status/1 object; no line is wider than style.width, unless that is 0. */
void status_view(struct buf *out, struct render_style style, struct str json);

#endif
