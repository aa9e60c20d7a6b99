/*
 * What index create prints of a build, from the API's JSON.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_BUILD_VIEW_H
#define SRC_CLI_BUILD_VIEW_H

#include "src/cli/view/render.h"

struct buf;

/* "building orders version 8: ...", of the answer to its start. */
void view_building(struct buf *out, struct render_style style, struct str json);
/* "built orders version 8: ...", of its version in a list. */
void view_built(struct buf *out, struct render_style style, struct str json);
/*
 * "orders in 8 buckets by mod: the server will read about 16,000,000 rows to find the 2,000,000
 * that there are", of what it will cost.
 */
void view_build_cost(struct buf *out, struct render_style style, struct str json);

#endif
