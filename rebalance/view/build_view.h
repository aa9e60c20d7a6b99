/*
 * struct build_view: the state of a build at one moment, and why it does not progress.
 *
 * @thread its maker's
 */
#ifndef REBALANCE_VIEW_BUILD_VIEW_H
#define REBALANCE_VIEW_BUILD_VIEW_H

#include "rebalance/build/index_build.h"
#include "rebalance/state/parts.h"

#include <stdbool.h>

struct catalogue;
struct coordinator;
struct definitions;
struct stored_version;

/* A build, or a version whose build has not begun. */
struct build_view {
    bool is_there;
    bool runs; /* else only number, phase and why are set */
    struct index_build_status
        s; /* why: what blocks the build; ERR_NONE with a text: its present step */
    char fix[ERR_MSG_MAX]; /* what somebody must do; or empty */
};

/*
 * Fill in the version's build, or why none runs, as far as d and c know; if it does not
 * progress, why, and the fix if a person must act.
 */
void coordinator_look_at_build(const struct coordinator *co, const struct definitions *d,
                               const struct catalogue *c, const struct stored_version *version,
                               struct build_view *out) NEEDS(co->topics->lock);

/*
 * If it is slower than its tables grow, and nothing else is known of why it does not progress:
 * say so, and what helps.  table: as commands take it.
 */
void coordinator_say_slow(struct build_view *b, struct str table);

/* Append the commands that build the table anew in place of the version being built. */
void coordinator_append_reset(struct buf *b, struct str table);

#endif
