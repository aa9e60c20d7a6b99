/*
 * For the rig's own files: delivery_rig.c makes it, delivery_rig_calls.c and
 * delivery_rig_reads.c are what delivery calls, delivery_rig_submit.c what tests hand to it,
 * delivery_rig_wait.c and delivery_rig_check.c how they see what became of that.
 */
#ifndef TESTS_COMPONENT_DELIVERY_RIG_PARTS_H
#define TESTS_COMPONENT_DELIVERY_RIG_PARTS_H

#include "tests/component/delivery_rig.h"

#include <stddef.h>
#include <stdint.h>

/* ctx, and all calls that delivery makes. */
void rig_hand_calls(struct rig *r, struct delivery_options *o);
/* The loader's thread, until the queue of loads is closed.  arg: the rig */
void *rig_load(void *arg);

/* Tickets that ended, however. */
uint64_t rig_all_done(struct rig *r);

#endif
