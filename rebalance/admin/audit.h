/*
 * Who has changed what, for whoever asks later.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_ADMIN_AUDIT_H
#define REBALANCE_ADMIN_AUDIT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_filter;
struct buf;
struct coordinator;

/* A call that has changed something.  Empty: not kept, or none. */
struct audit_entry {
    struct str who, method, target, what, object, reason;
    struct str asked, answered; /* JSON; a long one is replaced by its length */
};

/* Store it; blocks for 5 s at most.  If the store does not take it, the log has it. */
void coordinator_note_audit(struct coordinator *co, const struct audit_entry *e);

/* The newest first; limit 0: 100.  503 if the store does not answer. */
bool coordinator_list_audit(struct coordinator *co, const struct audit_filter *f,
                            struct buf *json, struct err *err) MUST_CHECK;

#endif
