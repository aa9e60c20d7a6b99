/*
 * What a build asks of whoever can compare documents with rows, before searches see its
 * version.
 *
 * @thread the build's
 */
#ifndef REBALANCE_BUILD_QUESTION_H
#define REBALANCE_BUILD_QUESTION_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct stop;

/* A complete version whose documents are compared with their rows. */
struct build_question {
    uint64_t job;
    struct str table, index; /* index: alias, "orders" */
    uint64_t number;
    bool all;          /* not only a sample */
    struct stop *stop; /* the build's */
};

/*
 * Compare, have what differs written again, and compare once more. Sets differs to why the
 * version should wait, or leaves it empty, also if that could not be judged. Blocks. Returns
 * false only if the build is stopping.
 */
typedef bool build_compare_fn(void *ctx, const struct build_question *q, struct buf *differs,
                              struct err *err);

#endif
