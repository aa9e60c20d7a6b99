/*
 * Apply the steps of a column's `transform` to a value.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_TRANSFORM_APPLY_H
#define SYNC_DOCUMENT_TRANSFORM_APPLY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct transforms;

/* Append the text of a JSON value: the content of a string, the JSON of anything else. */
void transform_append_text(struct buf *text, struct str json);

/*
 * Append the steps' result for a text, as JSON; the caller has already done a `join`.
 * ERR_REJECT if a step cannot use the text; out is then undefined.
 */
bool transform_apply(const struct transforms *t, struct str text, struct buf *out,
                     struct err *err) MUST_CHECK;

#endif
