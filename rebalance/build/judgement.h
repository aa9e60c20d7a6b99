/*
 * struct judgement: decides by the dead letters of both versions whether a complete version may
 * replace the one that searches use (ADR 32).
 *
 * The first version of an index replaces nothing, so it always may.
 *
 * @thread any (blocks on the store)
 */
#ifndef REBALANCE_BUILD_JUDGEMENT_H
#define REBALANCE_BUILD_JUDGEMENT_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct store;

/* Reasons to wait. */
#define WAIT_DEAD_LETTERS "dead_letters" /* it lacks more documents than the searched one */
#define WAIT_DIFFERS      "differs"      /* documents differ from their rows */
#define WAIT_PERSON       "person"       /* whoever began the build wants to publish it */

struct judgement {
    const char *reason; /* WAIT_DEAD_LETTERS, by what else is known another; NULL: it may be
                           published */
    struct buf detail;  /* the reason in words */
    uint64_t letters;   /* dead letters of the version */
    uint64_t searched;  /* number of the searched version, 0: none */
};

struct judged {
    struct str index; /* alias: "orders" */
    uint64_t number;
    uint64_t rows;     /* rows of its tables */
    uint64_t accepted; /* publish it anyway with up to so many dead letters */
};

bool judgement_make(struct judgement *out, struct store *s, const struct judged *v,
                    struct err *err) MUST_CHECK;
void judgement_fini(struct judgement *j);

#endif
