/*
 * From a column's type to the type of its field in the index, by the table of the contract
 * (design, part 4), and what else a column's definition puts into the mapping of that field.
 *
 * The engines name a few things differently (flat_object and flattened, knn_vector and
 * dense_vector); either name is understood for either engine.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_FIELD_TYPE_H
#define SYNC_MODEL_FIELD_TYPE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/engine.h"
#include "sync/model/definition.h"

#include <stdbool.h>

/* Characters of a value that a keyword finds: a term has 32766 bytes, a character up to four. */
#define FIELD_TERM_MAX 8191

struct arena;
struct column;
struct yaml_node;

/* The default for a column, "keyword"; static. */
const char *field_default_type(const struct column *c, const struct engine *e);

/* Whether the values that Millrace writes for the column can be taken by a field of that type.
 */
bool field_type_fits(const struct column *c, const char *type);

/*
 * The mapping of the field, {"type": ...} with everything that d (NULL: nothing) says, in the
 * arena.  zero_text: zero dates are written as text, so the field must bear them.  ERR_REJECT:
 * what d says does not go together.
 */
bool field_mapping(struct arena *a, const struct column *c, const struct column_definition *d,
                   const struct engine *e, bool zero_text, struct yaml_node **out,
                   struct err *err) MUST_CHECK;

#endif
