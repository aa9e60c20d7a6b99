/*
 * Areas: parts of a document that a scripted update writes alone.
 *
 * An update carries no version and raises the stored version by one.  So a document whose
 * target has areas records in `_millrace` what it is made of:
 *
 *     "_millrace": {"version": 900, "areas": {"items": 990}}
 *
 * version is the version of the last whole write and stands for every area; areas lists those
 * written alone since.  The script writes an area if its stamp is newer than the stored one,
 * else does nothing, so a late or repeated copy is harmless.  It refuses the update with
 * AREA_WHOLE if the whole document must be written:
 *
 *   - AREA_UPDATES_MAX updates came since the last whole write, as the next write of the stream
 *     may have a version that close (docs/rules.md, rule 3);
 *   - the stored version would rise above the stamp;
 *   - the stored version is below the floor;
 *   - `_millrace` is missing.
 *
 * Hence a stored version is at most AREA_UPDATES_MAX above the version of its last whole write.
 * If a write is refused by a version further above, it is superseded.  If it is refused by a
 * version within that gap, it may not be: read the document again (sync/delivery/conflict.h).
 *
 * The floor: a killed daemon may have left a whole write in the engine's queue.  If its version
 * is above the stored one, the engine takes it and so restores an older state of an area that
 * was updated meanwhile.  So for a while after the start, areas are updated only in documents
 * whose version no earlier daemon can have given out.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DELIVERY_DOCUMENT_AREA_H
#define SYNC_DELIVERY_DOCUMENT_AREA_H

#include "src/base/base.h"
#include "sync/delivery/document/write.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define AREA_UPDATES_MAX 18
#define AREA_FIELD       "_millrace"

/*
 * Part of the error's reason if the script refuses an update because the whole document must be
 * written.
 */
#define AREA_WHOLE "_millrace: the whole document is to be written"

/* Append the body line of a bulk update.  w is a DOC_UPDATE.  floor 0: none. */
void area_append_update(struct buf *out, const struct write *w, uint64_t floor);

/* Append body, a JSON object, as the whole document that w writes at its version. */
void area_append_whole(struct buf *out, const struct write *w, struct str body);

/* Tell whether the error of a refused update means that the engine could not run the script. */
bool area_is_script_trouble(struct str type, struct str reason);

#endif
