/*
 * A wish from its first word to its answer, as its requester sees it.
 *
 * @thread any (blocks)
 */
#ifndef REBALANCE_SHARED_WISH_SEND_H
#define REBALANCE_SHARED_WISH_SEND_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct stop;
struct store;
struct stored_wish;

struct wish_limits {
    int64_t take_ms; /* how long to wait until an owner takes it */
    int64_t end_ms;  /* and from then on for its answer */
};

enum wish_end {
    WISH_ANSWERED, /* *w has status and answer, or an error */
    WISH_NOBODY,   /* no owner took it, and none will: nothing was done */
    WISH_LATE,     /* an owner took it, and goes on with it */
};

/*
 * Put the wish and wait for its end, which *w then has.  Setting `stop` is as a limit that is
 * reached.  If the store fails, nobody knows whether the wish is carried out.
 */
bool wish_send(struct store *s, struct stop *stop, struct arena *a, struct stored_wish *w,
               const struct wish_limits *limits, enum wish_end *end,
               struct err *err) MUST_CHECK;

#endif
