/*
 * RENAME TABLE by which a tool for online schema changes puts its copy in a table's place.
 *
 * gh-ost:                    t TO _t_del, _t_gho TO t   (one statement, or two)
 * pt-online-schema-change:   t TO _t_old, _t_new TO t
 *
 * Until then every change of the table was made to the table itself, and so is in the log under
 * its name; the copy has the same rows.  The tools put more underscores in front where a name is
 * taken, gh-ost puts a time into `_t_del`, and both cut names at 64 characters.
 *
 * @thread any (pure)
 */
#ifndef SYNC_BINLOG_DDL_SWAP_H
#define SYNC_BINLOG_DDL_SWAP_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct ddl;

enum ddl_swap {
    DDL_SWAP_NONE = 0,
    DDL_SWAP_WHOLE, /* the table is the copy now */
    DDL_SWAP_AWAY,  /* gh-ost's first step: the table is away ... */
    DDL_SWAP_BACK,  /* ... and the second: the copy is there */
};

enum ddl_swap ddl_find_swap(const struct ddl *ddl, struct str database, struct str table);

#endif
