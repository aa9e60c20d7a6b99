/*
 * The doctor's checks as text for people.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_DOCTOR_VIEW_H
#define SRC_CLI_DOCTOR_VIEW_H

#include "src/base/str.h"
#include "src/cli/view/render.h"

#include <stdbool.h>

struct buf;

/*
 * Append the checks of a list in json ("/items"): all, or those that are not ok.  Returns
 * whether any is not.
 */
bool doctor_view_checks(struct buf *out, struct render_style style, struct str json,
                        const char *list, bool all);

/* Append the line that says how it stands, by "ok" in json and whether a check warned. */
void doctor_view_verdict(struct buf *out, struct str json, bool warned);

#endif
