/*
 * Convert stored geometries to GeoJSON (RFC 7946).
 *
 * Servers store the SRID, then WKB with x first. x is the longitude: MySQL 8 swaps the axes of
 * geographic reference systems when it reads or prints text or WKB, but not in storage.
 */
#ifndef SYNC_VALUE_GEOMETRY_H
#define SYNC_VALUE_GEOMETRY_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/* Returns false and appends nothing if the bytes are no geometry. */
bool geometry_append_geojson(struct buf *b, struct str srid_wkb) MUST_CHECK;

#endif
