/*
 * Values as JSON text: the building blocks, and the forms that `millrace binlog decode` prints.
 *
 * Numbers are exact; a float prints as the shortest text that parses to the same 32 or 64 bits.
 */
#ifndef SYNC_VALUE_VALUE_JSON_H
#define SYNC_VALUE_VALUE_JSON_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/value/value.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

void value_append_int(struct buf *b, int64_t i);
void value_append_uint(struct buf *b, uint64_t u);
/* A value that is not finite (a VECTOR may have one) becomes null. */
void value_append_float(struct buf *b, float f);
void value_append_double(struct buf *b, double d);
/* Append a base64 string. */
void value_append_base64(struct buf *b, struct str bytes);
/* Append s as a string, or as {"base64":"…"} if it is not UTF-8. */
void value_append_bytes(struct buf *b, struct str s);
/* Append labels joined by ',' as ["a","b"]. */
void value_append_labels(struct buf *b, struct str joined);
/* Append little-endian floats as [0.5,1]. */
void value_append_vector(struct buf *b, struct str floats);
/*
 * Append SRID and WKB as GeoJSON, longitude first.  Returns false and appends nothing if the
 * bytes are no geometry.
 */
bool value_append_geojson(struct buf *b, struct str srid_wkb) MUST_CHECK;

/*
 * Append JSON without white space between its parts.  Returns false and appends nothing if it
 * is not JSON.  Values from the binlog decoder are compact already.
 */
bool value_append_compact_json(struct buf *b, struct str json) MUST_CHECK;

/*
 * Append a value in the form of `millrace binlog decode`.  The caller must leave out absent
 * values.
 */
void value_append_json(struct buf *b, const struct value *v);

#endif
