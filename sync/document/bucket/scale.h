/*
 * Values that lie between two others of a column: where a range can be cut, without a look at
 * its rows.
 *
 * Values are parts of keys (sync/document/key.h).  Those that come out compare with the column,
 * but no row needs to have them.  Numbers, times and bytes come in the server's order.  Text
 * does only nearly, as each collation has an order of its own: ask the server.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DOCUMENT_BUCKET_SCALE_H
#define SYNC_DOCUMENT_BUCKET_SCALE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct column;

#define SCALE_VALUES 7 /* cut a range into eight */

/* Tell whether most collations take two texts for the same: by case, accents, last spaces. */
bool scale_is_same(const struct column *c, struct str x, struct str y);

/*
 * Set out to values in the arena that rise from low to high, evenly where possible, without the
 * two themselves.  Returns how many: none if there is none, or if the column is a SET.
 */
size_t scale_between(const struct column *c, struct str low, struct str high, struct arena *a,
                     struct str out[SCALE_VALUES]);

#endif
