/*
 * struct guard: when many documents of an index are refused, is that their fault or the
 * index's?
 *
 * One that is refused among others that are taken is to blame itself.  Where most are refused,
 * over as many answers as it takes to tell, the mapping or the definition is wrong: then no
 * document is to blame, and the index is held.  Deletes say nothing: nothing in them can be
 * refused.
 *
 * Pure.
 *
 * @thread one at a time
 */
#ifndef SYNC_DELIVERY_GUARD_H
#define SYNC_DELIVERY_GUARD_H

#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

#define GUARD_DOCUMENTS 20 /* so many refused, and more than half: the index is to blame */

/* Zero-initialise.  Of what was judged since the refused were last no more than half. */
struct guard {
    size_t n_refused, n_judged;
};

/*
 * Another answer: so many documents were refused, so many taken.  is_held: it was of a sample
 * of an index that is held for this, and tells alone.  True: the index is to blame.
 */
bool guard_judge(struct guard *g, size_t n_refused, size_t n_taken, bool is_held) MUST_CHECK;

#endif
