/*
 * Values as JSON text: the pieces, and the forms that `millrace binlog decode` prints.
 *
 * Numbers are exact; floats are the shortest text that gives the same 32 or 64 bits.
 */
#ifndef SYNC_BINLOG_VALUE_JSON_H
#define SYNC_BINLOG_VALUE_JSON_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/value.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

void value_append_int(struct buf *b, int64_t i);
void value_append_uint(struct buf *b, uint64_t u);
/* Not finite (possible in a VECTOR): null. */
void value_append_float(struct buf *b, float f);
void value_append_double(struct buf *b, double d);
/* "…" in base64. */
void value_append_base64(struct buf *b, struct str bytes);
/* Text as a string; what is not UTF-8 as {"base64":"…"}. */
void value_append_bytes(struct buf *b, struct str s);
/* ["a","b"] of labels joined by ','. */
void value_append_labels(struct buf *b, struct str joined);
/* [0.5,1] of little-endian floats. */
void value_append_vector(struct buf *b, struct str floats);
/* GeoJSON of SRID and WKB, longitude first.  False: not a geometry, nothing is appended. */
bool value_append_geojson(struct buf *b, struct str srid_wkb) MUST_CHECK;

/*
 * JSON text without the white space between its parts.  False: not JSON, nothing is appended.
 * What binlog decoding makes is in this form already.
 */
bool value_append_compact_json(struct buf *b, struct str json) MUST_CHECK;

/* The form of `millrace binlog decode`.  An absent value has none: the caller leaves it out. */
void value_append_json(struct buf *b, const struct value *v);

#endif
