/*
 * The body of a _bulk request: an action line for each document, and its body line.
 *
 * Ids and routing are JSON-encoded, and a body with a line feed is written with a space instead
 * (in JSON it can only stand between tokens), so nothing that comes from data can add a line.
 * The index stands in the path, once, as the write alias with require_alias, so a late or wrong
 * request can create no index.  Engines ask that of writes only, and of the whole request as
 * soon as one asks: a request of deletes has a guard at its end, an update of a document that
 * is not there, which changes nothing.
 *
 * Areas are updated without a version; their line says how (sync/delivery/area.h).
 *
 * Source: the Bulk API of Elasticsearch 7 to 9 and OpenSearch 1 to 3, which agree here.
 */
#ifndef SYNC_DELIVERY_BULK_H
#define SYNC_DELIVERY_BULK_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/write.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

#define BULK_CONTENT_TYPE "application/x-ndjson"

/* Append the path and query of bulk requests to write_alias. */
void bulk_path(struct buf *out, struct str write_alias);

/* "index", "delete" or "update" of w, no DOC_REFRESH. */
struct str bulk_action(const struct write *w);

/*
 * Append the lines of w, no DOC_REFRESH, with a version below 2^63.  floor: of areas, 0: none
 * (sync/delivery/area.h).
 */
void bulk_append(struct buf *out, const struct write *w, uint64_t floor);

/* Append the lines of the guard, and its _id in the answer. */
void bulk_append_guard(struct buf *out);
#define BULK_GUARD_ID "_millrace"

/* About how many bytes bulk_append() makes of w. */
size_t bulk_size(const struct write *w);

/* Append the path of the document's realtime GET, without its source. */
void bulk_get_path(struct buf *out, struct str write_alias, const struct write *w);

#endif
