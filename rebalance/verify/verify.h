/*
 * Are documents equal to their rows? Looks at both sides of some keys, and repairs what differs
 * if that is wished.
 *
 * While changes go on, a document may differ from its row because the change is on its way. So
 * what differs is looked at again, once everything that the first look can have seen is
 * delivered; only what three looks in a row saw alike is a difference.
 */
#ifndef REBALANCE_VERIFY_VERIFY_H
#define REBALANCE_VERIFY_VERIFY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct coordinator;

#define VERIFY_KEYS_MAX 100

struct verify_request {
    struct str table;
    const struct str *keys; /* `_id`s; of a table that shares its index, also without prefix */
    size_t n_keys;          /* 1 to VERIFY_KEYS_MAX */
    bool repair;            /* read again what differs */
    bool values;            /* the answer shows the values that differ */
};

/*
 * Verify the documents of some keys in the index that searches use, by the definition that it
 * was built with. Writes nothing without `repair`. ERR_RETRY if a side cannot be asked now.
 * @thread any (locked inside; blocks, a server and the engine as people's requests do, and up
 * to half a minute for changes that are on their way)
 */
bool coordinator_verify(struct coordinator *co, const struct verify_request *r,
                        struct buf *json, struct err *err) MUST_CHECK;

#endif
