/*
 * Which topics of other nodes a request concerns.
 *
 * @thread any
 */
#ifndef REBALANCE_SHARED_OTHERS_H
#define REBALANCE_SHARED_OTHERS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct coordinator;
struct dead_letter_filter;

/*
 * Is the topic the work of another node?  False for one that neither a definition names nor an
 * index version has, and for all topics if this node has the store alone.  Never blocks.
 */
bool coordinator_is_others(struct coordinator *co, struct str topic) MUST_CHECK;

/* Is that of the index version? */
bool coordinator_is_others_version(struct coordinator *co, struct str index,
                                   uint64_t number) MUST_CHECK;

/*
 * Append the topic whose owner works on the index of a table, named as in a command; false if
 * no definition and no retired index has this name.  Never blocks.
 */
bool coordinator_topic_of(struct coordinator *co, struct str table,
                          struct buf *topic) MUST_CHECK;

/* List the topics that have such dead letters.  Blocks on the store. */
bool coordinator_topics_of_letters(struct coordinator *co, const struct dead_letter_filter *f,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err) MUST_CHECK;

#endif
