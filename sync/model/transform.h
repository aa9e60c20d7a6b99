/*
 * struct transform: a step of a column's `transform`, as the definition says it.
 *
 * The steps take the text of a value as the document would show it, one after another; behind
 * `split` each takes every element.  sync/document/transform_apply.h does it.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_TRANSFORM_H
#define SYNC_MODEL_TRANSFORM_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum transform_kind {
    TRANSFORM_TEXT = 0, /* whatever it is becomes a text */
    TRANSFORM_TRIM,     /* without white space at both ends */
    TRANSFORM_SPLIT,    /* an array of what is between `by` */
    TRANSFORM_JOIN,     /* the texts of `columns` with `by` between them; NULLs are left out */
    TRANSFORM_DATE,     /* read by `format`, written as ISO 8601 */
    TRANSFORM_BOOLEAN,
    TRANSFORM_NUMBER,
    TRANSFORM_JSON, /* the text is JSON */
    TRANSFORM_MASK, /* HMAC-SHA-256 with the key `salt`, in hexadecimal */
};
#define N_TRANSFORM_KINDS (TRANSFORM_MASK + 1)

struct transform {
    enum transform_kind kind;
    struct str by, format, salt; /* format ends in NUL */
    struct str *columns;         /* of `join` */
    size_t n_columns;
};

struct transforms {
    const struct transform *steps;
    size_t n;
};

/*
 * The steps of a definition's JSON list, in the arena; empty: none.  ERR_REJECT: what is wrong,
 * and what would be right.
 */
bool transforms_parse(struct arena *a, struct str json, struct transforms *out,
                      struct err *err) MUST_CHECK;

/* Whether the column of that name is what the steps begin with; else others are joined. */
bool transforms_read_column(const struct transforms *t);

/* A column that could hold what comes out, for its field type; name is borrowed. */
struct column transforms_column(const struct transforms *t, struct str name);

/* The field type of what comes out where it is not that of such a column; NULL: it is. */
const char *transforms_type(const struct transforms *t);

#endif
