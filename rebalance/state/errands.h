/*
 * People's requests that ask the store, or the server of a table.
 *
 * @thread any (blocks)
 */
#ifndef REBALANCE_STATE_ERRANDS_H
#define REBALANCE_STATE_ERRANDS_H

#include "rebalance/watch/errand.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;

/*
 * Like errand_run(), for an errand that asks the store. Fails at once if the store is known not
 * to answer.
 */
bool coordinator_ask_store(struct coordinator *co, struct errand *e, errand_fn run,
                           struct err *err) MUST_CHECK;
/* A question about a table: the ctx of an errand. */
struct table_question {
    struct coordinator *co;
    struct str table, key; /* in the errand's arena */
};
/* Run an errand with a struct table_question and append the text that it finds to json. */
bool coordinator_ask_of_table(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, struct buf *json, struct err *err) MUST_CHECK;

#endif
