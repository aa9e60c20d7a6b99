/*
 * Delayed tables that a statement changed as a whole: the index versions that show them wait
 * for a run, which has them built (src/store/later/whole_table.h).
 */
#ifndef REBALANCE_STATE_PUT_OFF_H
#define REBALANCE_STATE_PUT_OFF_H

#include "rebalance/state/parts.h"

struct whole_change {  /* all borrowed */
    struct str topic;  /* whose log has the statement */
    struct str table;  /* the delayed one: "shop.label" */
    struct str reason; /* for people */
    uint64_t version;  /* of the statement; 0: not known */
    struct str owner;  /* the topic of the documents */
    struct str index;  /* alias of the version that shows the table: "orders" ... */
    uint64_t number;   /* ... and its number */
};
/* Durable when it returns true; blocks on the store.  ERR_STOP: the topic has another owner. */
bool coordinator_put_off(struct coordinator *co, const struct whole_change *change,
                         struct err *err) MUST_CHECK;

#endif
