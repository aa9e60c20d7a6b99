/*
 * struct field: how one column's value becomes a member of a document.
 *
 * The forms are those of the contract (design, part 4): exact numbers, dates as ISO 8601, bytes
 * in base64, geometry as GeoJSON.  Row images and SELECTed rows go the same way.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_FIELD_H
#define SYNC_DOCUMENT_FIELD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/model/definition.h"

#include <stdbool.h>

struct buf;
struct column;
struct value;

struct field {
    const struct column *column;
    struct str member; /* "name": with its quotes, escaped, and the colon */
    bool as_string;    /* DECIMAL in a field of strings */
    bool as_boolean;   /* numbers as true and false */
    enum zero_date zero_date;
    struct str zone;    /* put behind a DATETIME; empty: none */
    struct str if_null; /* JSON that stands for NULL; empty: null */
};

/* type: of the field in the index, empty: the column's default. */
struct field field_make(const struct column *c, struct str member, struct str type,
                        const struct topic_definition *topic);

/* Append the value as JSON.  ERR_REJECT: the document cannot be built; b is then undefined. */
bool field_append(const struct field *f, const struct value *v, struct buf *b,
                  struct err *err) MUST_CHECK;

/* What stands in the document where there is no value. */
void field_append_null(const struct field *f, struct buf *b);

#endif
