/*
 * struct transform: one step of a column's `transform`.
 *
 * Each step takes the text of a value, as the document would show it, from the step before.
 * After `split` each step handles every element. sync/document/transform_apply.h executes them.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_TRANSFORM_H
#define SYNC_DEFINITION_TRANSFORM_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/value/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum transform_kind {
    TRANSFORM_TEXT = 0, /* convert anything to text */
    TRANSFORM_TRIM,     /* strip white space at both ends */
    TRANSFORM_SPLIT,    /* split at `by` into an array */
    TRANSFORM_JOIN,     /* join the texts of `columns` with `by`; leave out NULLs */
    TRANSFORM_DATE,     /* parse with `format`, print as ISO 8601 */
    TRANSFORM_BOOLEAN,
    TRANSFORM_NUMBER,
    TRANSFORM_JSON, /* parse the text as JSON */
    TRANSFORM_MASK, /* HMAC-SHA-256 with the key `salt`, in hexadecimal */
};
#define N_TRANSFORM_KINDS (TRANSFORM_MASK + 1)

struct transform {
    enum transform_kind kind;
    struct str by, format, salt; /* format ends in NUL */
    struct str *columns;         /* for `join` */
    size_t n_columns;
};

struct transforms {
    const struct transform *steps;
    size_t n;
};

/*
 * Parse the steps of a definition's JSON list into the arena; empty for none.  ERR_REJECT says
 * what is wrong and what would be right.
 */
bool transforms_parse(struct arena *a, struct str json, struct transforms *out,
                      struct err *err) MUST_CHECK;

/* Tell whether the steps start from their own column, rather than join others. */
bool transforms_read_column(const struct transforms *t);

/* A column that could hold the result, to derive a field type from.  Borrows name. */
struct column transforms_column(const struct transforms *t, struct str name);

/* The field type of the result if it differs from that of transforms_column(), else NULL. */
const char *transforms_type(const struct transforms *t);

#endif
