/*
 * Upgrades a store to this program's version.
 *
 * Migrations are numbered, go forward only and are built in (sql/).  The table
 * millrace_migration records the applied ones.  Beside a migration that is shared, programs
 * that do not know it work on.  One that is alone is made while no such program uses the store,
 * and from then on each of them is refused: ERR_FATAL (ADR 52).
 */
#ifndef SRC_STORE_MIGRATE_H
#define SRC_STORE_MIGRATE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct store_backend;

/* Each statement ends with ";\n". */
struct migration {
    unsigned number; /* from 1, without gaps */
    const char *name;
    const char *sql;
    bool alone; /* programs that do not know it must not use the store */
};

extern const struct migration migrations[];
extern const size_t n_migrations;

/* ERR_RETRY: older programs use the store, which one of our migrations forbids. */
bool migrate(struct store_backend *b, struct err *err) MUST_CHECK;
/* On another connection to a store that we have migrated: others may have migrated it since. */
bool migrate_return(struct store_backend *b, struct err *err) MUST_CHECK;

#endif
