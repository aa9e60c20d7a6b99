/*
 * A document's write was refused because a newer version is stored: whose is it?
 *
 * Superseded means that a version of our lineage is there, not beyond the highest one given
 * out. Any other stops the index: a lost store or another writer must not freeze it in silence.
 * What was read again and is refused by the gap above its own stamp is read again and stamped
 * higher (design part 7, rule 3).  So is whatever is refused by that gap where areas raise the
 * stored version (sync/delivery/area.h): also a delete of the stream may be the newest.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_CONFLICT_H
#define SYNC_DELIVERY_CONFLICT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/sender.h"

/* doc, IN_FLIGHT, was refused for this reason.  It goes on, or its stored version is asked for.
 */
void conflict_judge(struct sender *s, struct document *doc, struct str reason);

/* Give up the questions in flight, without their callbacks, before the HTTP client goes. */
void conflict_give_up_all(struct sender *s);

#endif
