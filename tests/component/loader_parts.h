/* The parts of test_loader, which read the same tables. */
#ifndef TESTS_COMPONENT_LOADER_PARTS_H
#define TESTS_COMPONENT_LOADER_PARTS_H

#include "tests/component/parts.h"
#include "tests/component/server.h"

#include "src/base/str.h"

#include <stddef.h>

struct plan;
struct schema;

/* Orders, of which all but the first ten belong to customer 1; more than a page of roots. */
#define N_ORDERS 16384

/* To the server that has them. */
extern struct mysql_conn *conn;

/* The schemas of one plan, which takes references of its own. */
struct loader_schemas {
    struct schema *all[8];
    size_t n;
};

/* As plan_compile wants it; ctx: struct loader_schemas. */
struct schema *loader_find_schema(void *ctx, struct str topic, struct str database,
                                  struct str table);
/* The plan of one of the tables; unref it. */
struct plan *loader_compile(const char *table);

extern const struct test_part loader_delayed, loader_roots;

#endif
