/*
 * Upgrades a store to this program's version.
 *
 * Migrations are numbered, go forward only and are built in (sql/).  The table
 * millrace_migration records the applied ones.  A store with a higher number than ours was
 * written by a newer Millrace and is refused: ERR_FATAL.
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
};

extern const struct migration migrations[];
extern const size_t n_migrations;

bool migrate(struct store_backend *b, struct err *err) MUST_CHECK;

#endif
