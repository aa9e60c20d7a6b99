/*
 * The nodes of a search cluster, as it tells them itself (_nodes/http), as addresses.
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

#define SEARCH_NODES_MAX 256 /* addresses that are taken of one list */

/* What is asked for the list: only what is read here. */
#define SEARCH_NODES_PATH "/_nodes/http?filter_path=nodes.*.roles,nodes.*.http.publish_address"

struct search_nodes {
    char *urls[SEARCH_NODES_MAX];
    size_t n;
};

/*
 * Read an answer into an empty list.  Nodes that hold data or prepare documents are taken, and
 * those of no role, which pass requests on; dedicated cluster managers and others are not.
 * Scheme, user and password are those of like, the URL of a seed.  What is no host and port is
 * left out.  ERR_REJECT: the answer is no list of nodes, or nothing in it is of use.
 */
bool search_nodes_read(struct search_nodes *nodes, struct str answer, const char *like,
                       struct err *err) MUST_CHECK;
void search_nodes_free(struct search_nodes *nodes); /* also a zeroed one */

#endif
