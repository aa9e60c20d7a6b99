/*
 * Areas: parts of a document that are written alone, by a scripted update.
 *
 * An update takes no version and raises the stored one by one.  So a document whose target has
 * areas says in `_millrace` what it is made of:
 *
 *     "_millrace": {"version": 900, "areas": {"items": 990}}
 *
 * version is that of the last whole write, which stands for every area; areas has those that
 * were written alone since.  The script writes an area read at a stamp where what is there is
 * older, and does nothing where it is not: so a copy that comes late or again is harmless.  It
 * refuses (AREA_WHOLE) where only the whole document will do: after AREA_UPDATES_MAX updates,
 * as the next write of the stream may have a version that close (design part 7, rule 3), where
 * the stored version would rise above the stamp, where it is below the floor, and where
 * `_millrace` is missing.
 *
 * Hence a stored version is at most AREA_UPDATES_MAX above that of its last whole write: what
 * is refused by one further above is superseded, and what is refused by one within that gap
 * may not be, and is read again (sync/delivery/conflict.h).
 *
 * The floor: a daemon that was killed may have left a whole write in the engine's queue.  One
 * of a version above the stored one would be taken, and say something older of an area that was
 * written meanwhile.  So for a while after the start only documents of a version that no
 * earlier daemon can have given out are updated.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DELIVERY_AREA_H
#define SYNC_DELIVERY_AREA_H

#include "src/base/base.h"
#include "sync/delivery/write.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define AREA_UPDATES_MAX 18
#define AREA_FIELD       "_millrace"

/* In the reason of an update that the script refuses, as the whole document must be written. */
#define AREA_WHOLE "_millrace: the whole document is to be written"

/* Append the line of a bulk update: w is a DOC_UPDATE.  floor 0: none. */
void area_append_update(struct buf *out, const struct write *w, uint64_t floor);

/* Append body, a JSON object, as the whole document that w writes at its version. */
void area_append_whole(struct buf *out, const struct write *w, struct str body);

/* Whether the error of a refused update says that the script did not run as it should. */
bool area_is_script_trouble(struct str type, struct str reason);

#endif
