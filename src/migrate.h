/*
 * Bringing a store to this program's version.
 *
 * Migrations are numbered, forward only and built in (sql/); which were applied is written in
 * the table millrace_migration.  A store that knows a higher number than we do was written by a
 * newer Millrace and is refused.
 */
#ifndef SRC_MIGRATE_H
#define SRC_MIGRATE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct store_backend;

/* The statements end with ";\n". */
struct migration {
    unsigned number; /* from 1, without gaps */
    const char *name;
    const char *sql;
};

extern const struct migration migrations[];
extern const size_t n_migrations;

bool migrate(struct store_backend *b, struct err *err) MUST_CHECK;

#endif
