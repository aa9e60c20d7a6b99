/*
 * The steps of a column's `transform`, done to a value.
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

/* The text of a JSON value, appended: of a string what it says, of others the JSON. */
void transform_append_text(struct buf *text, struct str json);

/*
 * What the steps make of a text, as JSON, appended; a `join` among them has been done.
 * ERR_REJECT: the text is not what a step needs; out is then undefined.
 */
bool transform_apply(const struct transforms *t, struct str text, struct buf *out,
                     struct err *err) MUST_CHECK;

#endif
