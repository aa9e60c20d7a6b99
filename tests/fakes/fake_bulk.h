/*
 * Reading the body of a _bulk request, as a fake search engine needs it.
 *
 * Pure.
 */
#ifndef TESTS_FAKES_FAKE_BULK_H
#define TESTS_FAKES_FAKE_BULK_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/str.h"
#include "tests/fakes/fake_engine.h"

#include <stdbool.h>
#include <stddef.h>

struct fake_bulk_op {
    struct fake_op op;
    struct str index; /* empty: that of the path */
    struct str routing;
    bool is_update; /* without a script: of a document that is not there, nothing happens */
    bool is_scripted;
};

struct fake_bulk {
    struct fake_bulk_op *ops; /* in the arena, with their texts */
    size_t n;
};

/* False: malformed, as a whole. */
bool fake_bulk_parse(struct str body, struct arena *a, struct fake_bulk *out) MUST_CHECK;

#endif
