/*
 * What to throw away when the changes that wait are too many.
 *
 * Only changes of an index that takes nothing are purged, while their worker is above its
 * high-water mark, and each by its key, so that its row is read again when the index goes on.
 */
#ifndef SYNC_DELIVERY_PURGE_H
#define SYNC_DELIVERY_PURGE_H

#include "src/base/base.h"

enum purge_strategy {
    PURGE_ONE = 0, /* the oldest change of a random index */
    PURGE_INDEX,   /* all of a random index */
    PURGE_ALL,     /* all of all that take nothing */
    PURGE_OFF,     /* nothing: callers wait, and so does the source */
    N_PURGE_STRATEGIES,
};

#endif
