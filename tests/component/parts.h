/*
 * A test program of several files, each with a part of its tests: its server starts once.
 */
#ifndef TESTS_COMPONENT_PARTS_H
#define TESTS_COMPONENT_PARTS_H

#include "tests/unit/unit.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct test_part {
    const struct CMUnitTest *tests;
    size_t n;
};

/* All of them, one part after another; the caller's to free. */
static inline struct CMUnitTest *join_parts(const struct test_part *const *parts,
                                            size_t n_parts, size_t *n)
{
    struct CMUnitTest *all = NULL;

    *n = 0;
    for (size_t i = 0; i < n_parts; i++) {
        all = mem_resize(all, *n + parts[i]->n, sizeof(*all));
        memcpy(all + *n, parts[i]->tests, parts[i]->n * sizeof(*all));
        *n += parts[i]->n;
    }
    return all;
}

/* The whole program's tests, between set_up and tear_down; how many failed. */
static inline int run_parts(const char *name, const struct test_part *const *parts,
                            size_t n_parts, CMFixtureFunction set_up,
                            CMFixtureFunction tear_down)
{
    size_t n;
    struct CMUnitTest *all = join_parts(parts, n_parts, &n);
    const int failed = _cmocka_run_group_tests(name, all, n, set_up, tear_down);

    free(all);
    return failed;
}

#endif
