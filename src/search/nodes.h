/*
 * The nodes of a search cluster, as the cluster reports them (_nodes/http), as addresses.
 *
 * Pure: text in, URLs out.
 */
#ifndef SRC_SEARCH_NODES_H
#define SRC_SEARCH_NODES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

#define SEARCH_NODES_MAX 256 /* addresses that we take from one list */

/* The request for the list; its answer has only what we read. */
#define SEARCH_NODES_PATH "/_nodes/http?filter_path=nodes.*.roles,nodes.*.http.publish_address"

struct search_nodes {
    char *urls[SEARCH_NODES_MAX];
    size_t n;
};

/*
 * Reads an answer into an empty list. Takes nodes that hold data or prepare documents, and
 * nodes without a role, which forward requests; not dedicated cluster managers and others.
 * Copies scheme, user and password from like, the URL of a seed. Skips anything but a host and
 * port. ERR_REJECT if the answer is not a list of nodes, or has no usable node.
 */
bool search_nodes_read(struct search_nodes *nodes, struct str answer, const char *like,
                       struct err *err) MUST_CHECK;
/* Removes nodes whose host matches none of the n patterns ("search-*.example.org", any case; *
 * and ? as in file names); n 0 keeps all. Returns how many it removed. */
size_t search_nodes_keep(struct search_nodes *nodes, const char *const *patterns, size_t n);
void search_nodes_free(struct search_nodes *nodes); /* also for a zeroed list */

#endif
