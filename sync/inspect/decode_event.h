/*
 * What `millrace binlog decode --events` prints of an event besides its position.
 */
#ifndef SYNC_INSPECT_DECODE_EVENT_H
#define SYNC_INSPECT_DECODE_EVENT_H

#include "src/base/base.h"

struct buf;
struct event_format;
struct step;

/* Append ,"event":NAME and further members, each with a leading comma. */
void decode_event_append(struct buf *b, const struct event_format *f, const struct step *step);

#endif
