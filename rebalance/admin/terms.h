/*
 * Whether definitions are still as somebody saw them who wants to change them.  Who changed
 * them last, and when, is stored with each change.
 */
#ifndef REBALANCE_ADMIN_TERMS_H
#define REBALANCE_ADMIN_TERMS_H

#include "rebalance/state/parts.h"

struct change_terms;
struct retirement;

/* 412 with who changed them last if `now` is of another revision than the terms say. */
bool coordinator_check_terms(struct coordinator *co, const struct definitions *now,
                             const struct change_terms *terms, struct err *err) MUST_CHECK;
/* Adds to the values of r who makes this change, and when. */
void coordinator_note_change(struct str by, struct retirement *r);

#endif
