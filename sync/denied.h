/*
 * struct denied: indexes whose documents the server does not let the topic's user read, and why.
 *
 * A right that was taken away keeps documents that are to be read waiting, until it is given
 * back.  Here people see it, and whoever clears what is in the way of others.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_DENIED_H
#define SYNC_DENIED_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct denied;
struct err;

struct denied *denied_new(void) RETURNS_NONNULL MUST_CHECK;
void denied_free(struct denied *d); /* NULL is fine */

enum denied_read {
    DENIED_DOCUMENTS = 0,
    DENIED_ROOTS, /* which documents lead to a row */
    N_DENIED_READS
};
/* How a read of the index ("orders_v2") ended; why NULL: well.  Of failures only a missing right
 * counts. */
void denied_tell(struct denied *d, const char *index, enum denied_read read,
                 const struct err *why);

/* False: all of it may be read, as far as is known. */
bool denied_find(struct denied *d, struct str index, struct err *why) MUST_CHECK;

#endif
