/*
 * A number that tells a node that another one has changed what it keeps in memory.
 *
 * Every transaction that writes to definitions, index versions, stops, rebuilds, waits, or
 * small values that all nodes follow (followed.c) raises it, as its last statement; so one that
 * is rolled back does not.  Positions, cursors, dead letters and the like leave it as it is.  A
 * statement counts even if it found no row to change.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_CHANGE_H
#define SRC_STORE_CHANGE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/*
 * Read the number: one SELECT of one row.  Whoever reads it before loading, and loads again if
 * it differs later, misses nothing.  ERR_RETRY as everywhere.
 */
bool store_changes(struct store *s, uint64_t *n, struct err *err) MUST_CHECK;

#endif
