/*
 * Names and addresses of ZooKeeper, as text.
 *
 * Pure.
 */
#ifndef REBALANCE_COORDINATION_ZOOKEEPER_NAME_H
#define REBALANCE_COORDINATION_ZOOKEEPER_NAME_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

/*
 * Divides "h1:2181,h2/path" into "h1:2181,h2:2181" for the client and "/path", by default
 * "/search-center". Replaces both. ERR_REJECT says what is wrong with which server or path.
 */
bool zookeeper_name_address(struct str text, struct buf *servers, struct buf *root,
                            struct err *err) MUST_CHECK;

/* A name of a node, a value or a lock. ERR_REJECT says why it will not do. */
bool zookeeper_name_check(struct str name, struct err *err) MUST_CHECK;

/* What a node or a value may hold. ERR_REJECT if it is too much. */
bool zookeeper_name_check_data(struct str data, struct err *err) MUST_CHECK;

/* The number that ZooKeeper put behind the name of a waiter. False: no such name. */
bool zookeeper_name_sequence(struct str waiter, int32_t *sequence);

/* Tells whether a was given before b; the numbers begin again at -2147483648. */
bool zookeeper_name_before(int32_t a, int32_t b);

#endif
