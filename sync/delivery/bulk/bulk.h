/*
 * The body of a _bulk request: an action line for each document, then its body line.
 *
 * Data can never add a line: ids and routing are JSON-encoded, and a line feed in a body
 * becomes a space (in JSON it can only stand between tokens).
 *
 * The path names the index once, as the write alias with require_alias, so a late or wrong
 * request cannot create an index.  Engines enforce that for writes only, but for the whole
 * request if it has one.  So a request of deletes alone ends with a guard: an update of a
 * document that does not exist, which changes nothing.
 *
 * A document whose target has a pipeline names it in its action line.  Deletes pass no
 * pipeline.
 *
 * Areas are updated without a version (sync/delivery/document/area.h).
 *
 * Source: the Bulk API of Elasticsearch 7 to 9 and OpenSearch 1 to 3, which agree here.
 */
#ifndef SYNC_DELIVERY_BULK_BULK_H
#define SYNC_DELIVERY_BULK_BULK_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/document/write.h"

#include <stddef.h>
#include <stdint.h>

struct buf;

#define BULK_CONTENT_TYPE "application/x-ndjson"

/* Append the path and query of bulk requests to write_alias. */
void bulk_path(struct buf *out, struct str write_alias);

/* Return "index", "delete" or "update" for w, which is no DOC_REFRESH. */
struct str bulk_action(const struct write *w);

/*
 * Append the lines of w, which is no DOC_REFRESH and has a version below 2^63.  floor: for
 * areas; 0: none (sync/delivery/document/area.h).
 */
void bulk_append(struct buf *out, const struct write *w, uint64_t floor);

/* Append the lines of the guard.  BULK_GUARD_ID is its _id in the answer. */
void bulk_append_guard(struct buf *out);
#define BULK_GUARD_ID "_millrace"

/* Estimate the bytes that bulk_append() writes for w. */
size_t bulk_size(const struct write *w);

/* Append the path of a realtime GET of the document, without its source. */
void bulk_get_path(struct buf *out, struct str write_alias, const struct write *w);

#endif
