/*
 * A view for who looks by itself, again and again: of what this node's pipelines do alone.  It
 * wakes nobody, asks for nothing anew, and has nothing of store, engine and other nodes.
 *
 * @thread any (takes the lock of the topics)
 */
#ifndef REBALANCE_VIEW_GLANCE_H
#define REBALANCE_VIEW_GLANCE_H

#include "src/base/base.h"

struct coordinator;

/* To be freed by coordinator_view_free(). */
struct coordinator_view *
coordinator_view_glance(struct coordinator *co) RETURNS_NONNULL MUST_CHECK;

#endif
