/*
 * Stored geometries to GeoJSON (RFC 7946).
 *
 * Servers store the SRID and then WKB with x first.  x is the longitude: MySQL 8 turns the axes
 * of geographic reference systems when text or WKB comes in or goes out, not in storage.
 */
#ifndef SYNC_BINLOG_GEOMETRY_H
#define SYNC_BINLOG_GEOMETRY_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

/* False: not a geometry; nothing is appended. */
bool geometry_append_geojson(struct buf *b, struct str srid_wkb) MUST_CHECK;

#endif
