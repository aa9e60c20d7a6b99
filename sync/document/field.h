/*
 * struct field: how one column's value becomes a member of a document.
 *
 * Formats are those of docs/definitions.md: exact numbers, ISO 8601 dates, base64
 * bytes, GeoJSON geometry.  Row images and SELECTed rows take the same path.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_FIELD_H
#define SYNC_DOCUMENT_FIELD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"

#include <stdbool.h>

struct buf;
struct column;
struct value;

struct field {
    const struct column *column;
    struct str member; /* "name": with its quotes, escaped, and the colon */
    bool as_string;    /* DECIMAL in a string field */
    bool as_boolean;   /* print numbers as true and false */
    enum zero_date zero_date;
    struct str zone;    /* appended to a DATETIME; empty if none */
    struct str if_null; /* JSON to write for NULL; empty for null */
};

/* type is the field's type in the index; empty for the column's default. */
struct field field_make(const struct column *c, struct str member, struct str type,
                        const struct topic_definition *topic);

/*
 * Append the value as JSON.  ERR_REJECT if the document cannot be built; b is then undefined.
 */
bool field_append(const struct field *f, const struct value *v, struct buf *b,
                  struct err *err) MUST_CHECK;

/* Append what the document has if there is no value. */
void field_append_null(const struct field *f, struct buf *b);

#endif
