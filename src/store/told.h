/*
 * What owners tell of their topics and nodes of themselves, for any node to show, with its age.
 *
 * The newest counts: each call of put replaces what was told before.  The store does not limit
 * how often; callers tell when something changes, at most once a second.  Ages count by the
 * store's clock, as those of nodes may differ.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_TOLD_H
#define SRC_STORE_TOLD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

/* The longest body in bytes; a MySQL server may set a lower limit. */
#define TOLD_BODY_MAX ((size_t)1 << 20)

struct stored_told {
    struct str topic;
    struct str node, node_name; /* the owner: its id, and its name for people */
    uint64_t term;              /* of the owner */
    int64_t at_ms;              /* when, by our wall clock */
    struct str body;            /* opaque JSON */
};
/* ERR_STOP: the topic has a newer owner.  ERR_REJECT: the body is too long. */
bool store_put_told(struct store *s, const struct stored_told *t, struct err *err) MUST_CHECK;
/* Loads by topic; an empty topic means all. */
bool store_load_told(struct store *s, struct arena *a, struct str topic,
                     struct stored_told **out, size_t *n, struct err *err) MUST_CHECK;
/* The topic is defined no more. None told is success. */
bool store_delete_told(struct store *s, struct str topic, struct err *err) MUST_CHECK;

struct stored_told_node {
    struct str node, node_name; /* its id, and its name for people */
    struct str program;         /* version */
    int64_t at_ms;              /* when, by our wall clock */
    struct str body;            /* opaque JSON */
};
/* Only the node itself calls this.  ERR_REJECT: the body is too long. */
bool store_put_told_node(struct store *s, const struct stored_told_node *t,
                         struct err *err) MUST_CHECK;
/* Loads all, by id. */
bool store_load_told_nodes(struct store *s, struct arena *a, struct stored_told_node **out,
                           size_t *n, struct err *err) MUST_CHECK;
/* The node does not come back. None told is success. */
bool store_delete_told_node(struct store *s, struct str node, struct err *err) MUST_CHECK;

#endif
