/*
 * What people and scripts have changed: the newest AUDIT_KEPT calls.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_AUDIT_H
#define SRC_STORE_AUDIT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define AUDIT_KEPT 100000

struct stored_audit {
    uint64_t id;
    int64_t at_ms;
    struct str who;            /* "uid 0"; empty: a command without a daemon */
    struct str node;           /* the name of the node that was asked */
    struct str method, target; /* of the call */
    struct str what;           /* it, in words */
    struct str object;         /* the table, topic ... that it names; may be empty */
    struct str reason;         /* as its sender gave it; empty: none */
    struct str asked;          /* JSON: the body of the call; empty: not kept */
    struct str answered;       /* JSON: the answer, with what was before; empty: not kept */
};

/* Texts must fit into the store: who cuts what is longer is the caller. */
bool store_add_audit(struct store *s, const struct stored_audit *e, struct err *err) MUST_CHECK;

struct audit_filter {
    struct str object;  /* empty: any */
    uint64_t before_id; /* 0: from the newest on */
    size_t limit;
};
/* Load them, newest first. */
bool store_load_audit(struct store *s, struct arena *a, const struct audit_filter *f,
                      struct stored_audit **out, size_t *n, struct err *err) MUST_CHECK;

#endif
