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
struct definitions;

/* False with err at once if the store is known not to answer, so that nobody waits for it. */
bool coordinator_store_answers(struct coordinator *co, struct err *err) MUST_CHECK;
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
    struct definitions *d; /* those to look at */
    bool is_draft;         /* they are not stored */
};
/*
 * Run an errand with a struct table_question and append the text that it finds to json.
 * draft: definitions that are not stored, of which the errand takes a reference; NULL: those
 * that are.
 */
bool coordinator_ask_of_table(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, struct definitions *draft, struct buf *json,
                              struct err *err) MUST_CHECK;

#endif
