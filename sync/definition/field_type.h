/*
 * The index field type for a column type, by the table of docs/definitions.md, and
 * the rest of the field's mapping from the column's definition.
 *
 * The engines name a few types differently (flat_object and flattened, knn_vector and
 * dense_vector); each name works for both engines.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_FIELD_TYPE_H
#define SYNC_DEFINITION_FIELD_TYPE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/search/engine.h"
#include "sync/definition/definition.h"

#include <stdbool.h>

/*
 * The longest value, in characters, that a keyword can index: a term has 32766 bytes, a
 * character up to four.
 */
#define FIELD_TERM_MAX 8191

struct arena;
struct column;
struct yaml_node;

/* The default type for a column, for example "keyword"; static. */
const char *field_default_type(const struct column *c, const struct engine *e);

/* Tell whether a field of this type accepts the values that Millrace writes for the column. */
bool field_type_fits(const struct column *c, const char *type);

/*
 * Build the field's mapping, {"type": ...} and all that d adds (NULL for nothing), in the
 * arena. zero_text: the field must accept zero dates as text.  ERR_REJECT if parts of d
 * contradict each other.
 */
bool field_mapping(struct arena *a, const struct column *c, const struct column_definition *d,
                   const struct engine *e, bool zero_text, struct yaml_node **out,
                   struct err *err) MUST_CHECK;

#endif
