/*
 * What `millrace binlog decode --events` says of each event besides its place.
 */
#ifndef SYNC_BINLOG_DECODE_EVENT_H
#define SYNC_BINLOG_DECODE_EVENT_H

#include "src/base/base.h"

struct buf;
struct event_format;
struct step;

/* Appends ,"event":NAME and further members, each with its comma. */
void decode_event_append(struct buf *b, const struct event_format *f, const struct step *step);

#endif
