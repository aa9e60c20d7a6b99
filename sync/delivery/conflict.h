/*
 * A newer stored version refused a document's write: is that version ours?
 *
 * The write is superseded if the stored version is of our lineage and not above the highest one
 * given out.  Any other version stops the index: a lost store or another writer must not freeze
 * it in silence.  If the write is the result of a re-read, and the stored version lies in the
 * gap above its stamp, read the document again and stamp it higher (docs/rules.md, rule 3).  In
 * an index with areas, which raise the stored version, do so for any write that this gap
 * refuses (sync/delivery/document/area.h): a delete from the stream may also be the newest.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_CONFLICT_H
#define SYNC_DELIVERY_CONFLICT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/sender.h"

/*
 * Judge doc, IN_FLIGHT, which was refused for this reason.  Ends or requeues it, or looks up
 * its stored version.
 */
void conflict_judge(struct sender *s, struct document *doc, struct str reason);

/* Drop the lookups in flight without their callbacks.  Call before freeing the HTTP client. */
void conflict_give_up_all(struct sender *s);

#endif
