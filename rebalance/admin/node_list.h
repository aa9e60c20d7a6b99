/* The nodes that people know: those that live, and those that have told of themselves. */
#ifndef REBALANCE_ADMIN_NODE_LIST_H
#define REBALANCE_ADMIN_NODE_LIST_H

#include "rebalance/cluster/cluster_survey.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator;
struct errand;

struct node_entry {
    struct str id, name, version;
    bool lives;
    const char *state;             /* of cluster_survey_word(), or "shut down" */
    const struct name_set *things; /* that it works on; NULL: none */
    const struct node_data
        *data;                   /* what it shows others; NULL: it does not live, or is alone */
    int64_t started_ms, told_ms; /* wall; 0: not known */
};

/* Zero-initialise it, and release it with node_list_free(). */
struct node_list {
    struct cluster_survey survey; /* empty if the node has its store alone */
    struct node_entry *list;      /* by name, then id */
    size_t n;
    struct name_set own;  /* what this node works on, if it has its store alone */
    struct errand *asked; /* has the texts that nodes told */
    struct err untold;    /* why nodes that are gone are not in the list; ERR_NONE: they are */
};

/* Blocks. */
bool node_list_load(struct coordinator *co, struct node_list *l, struct err *err) MUST_CHECK;
void node_list_free(struct node_list *l);

/*
 * Finds by id, name, or the first 8 or more digits of an id. A node that lives comes before
 * those of its name that are gone. Refuses what fits none or several.
 */
const struct node_entry *node_list_find(const struct node_list *l, struct str name,
                                        struct err *err) MUST_CHECK;
/* The same, but one that is gone comes before one that lives. */
const struct node_entry *node_list_find_gone(const struct node_list *l, struct str name,
                                             struct err *err) MUST_CHECK;

#endif
