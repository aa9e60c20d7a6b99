/*
 * Where one document is, for whoever asks delivery (delivery_find()).
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_PLACE_H
#define SYNC_DELIVERY_PLACE_H

#include "src/base/str.h"
#include "sync/delivery/delivery.h"

struct sender;

/* Walks the table of all documents, as their routing is not known. */
void place_find(struct sender *s, struct str index, struct str id, struct delivery_place *out);

#endif
