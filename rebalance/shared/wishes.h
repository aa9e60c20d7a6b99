/*
 * Requests for a topic's owner: passed on by the node that a person asked, and carried out by
 * the owner as if they had come to its own API.  They travel through the store
 * (src/store/wish.h); no node calls another.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_SHARED_WISHES_H
#define REBALANCE_SHARED_WISHES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/wish.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct coordinator;

/* ---- the node that was asked ---- */

struct wish_request {
    struct str topic, user, method, target, body; /* as in struct stored_wish */
    bool repeatable;
};

/*
 * Let the topic's owner answer, and wait for that.  Whatever the owner answered is success, and
 * passed through unchanged.  *nobody: no owner took it, so nothing was done; err says so.
 */
bool coordinator_pass_on(struct coordinator *co, const struct wish_request *r, int *status,
                         struct buf *answer, bool *nobody, struct err *err) MUST_CHECK;

/* ---- the owner ---- */

struct open_wish {
    uint64_t id;
    struct str topic;
    uint64_t term; /* of this node, the topic's owner */
};

/* The wishes that this node is to carry out, oldest first. One cheap SELECT if none waits. */
bool coordinator_load_wishes(struct coordinator *co, struct arena *a, struct open_wish **out,
                             size_t *n, struct err *err) MUST_CHECK;
/*
 * *run: carry it out and end it; else leave it alone.  Nothing else in this process may have
 * taken it and not ended it.
 */
bool coordinator_take_wish(struct coordinator *co, struct arena *a, const struct open_wish *o,
                           struct stored_wish *w, bool *run, struct err *err) MUST_CHECK;
bool coordinator_end_wish(struct coordinator *co, const struct open_wish *o,
                          const struct wish_answer *answer, struct err *err) MUST_CHECK;
/* Forget those that ended long ago. */
bool coordinator_prune_wishes(struct coordinator *co, struct err *err) MUST_CHECK;

#endif
