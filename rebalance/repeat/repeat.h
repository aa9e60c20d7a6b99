/*
 * Requests that come again: whoever sends one with a key, and does not know whether it arrived,
 * sends it again with the same key.  It is carried out once within a day, and answered alike.
 *
 * The store keeps them, so that they outlive the program and are known at all nodes.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_REPEAT_REPEAT_H
#define REBALANCE_REPEAT_REPEAT_H

#include "rebalance/repeat/repeat_record.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct coordinator;

#define REPEATS_MAX    1000 /* that are kept; the oldest make room */
#define REPEAT_KEY_MAX 255  /* bytes of a key: visible ASCII */

struct repeat_key {
    struct str caller, method, path, key; /* those that are equal are one request */
    struct str query, body;               /* of one request these must be equal */
};

/* One that is carried out for the first time, from begin to end. */
struct repeated {
    char name[sizeof("repeat/") + REPEAT_HASH];
    char asked[REPEAT_HASH + 1];
    char claim[37];
    int64_t at_ms;
    bool is_first;   /* carry it out, then call coordinator_end_repeat() */
    bool still_runs; /* the first time does: the same request may have its answer later */
};

/*
 * Unless it is the first: append its answer, and set its status.  ERR_REJECT has the HTTP
 * status in err.code: 400 a key that is none, 409 it runs, or nobody knows what became of it,
 * 422 another query or body.
 */
bool coordinator_begin_repeat(struct coordinator *co, const struct repeat_key *k,
                              struct repeated *out, int *status, struct buf *answer,
                              struct err *err) MUST_CHECK;
/*
 * Keep the answer; status 0: nothing was done, so forget the request.  If the store fails, the
 * request counts as one that runs, and later as one of which nobody knows.
 */
void coordinator_end_repeat(struct coordinator *co, const struct repeated *r, int status,
                            struct str answer);

#endif
