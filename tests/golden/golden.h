/* What the modes of golden_dump share. */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

#include "src/base/arena.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/mysql/mysql.h"
#include "sync/definition/definition.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"
#include "sync/value/schema.h"

struct dump {
    struct mysql_options server;
    struct mysql_conn *conn;
    struct definitions *defs;
    struct plan *plan;
    struct schema *schemas[32];
    size_t n_schemas;
    struct arena *arena;
};

NORETURN void die(const char *what, const struct err *err);

/* A plan_schema_fn; ctx is the struct dump, which keeps the schemas. */
struct schema *find_schema(void *ctx, struct str topic, struct str database, struct str table);

void print_loaded(const struct loaded *l);

/* All documents, in d->arena; the list is the caller's to free. */
struct loaded *load_all(struct dump *d, size_t *n);

/* Before the plan is compiled: every relation is to be read alone. */
void want_areas(struct dump *d);
void dump_areas(struct dump *d);

/* Every document as the rows in the server's binlog say. */
void dump_images(struct dump *d);

#endif
