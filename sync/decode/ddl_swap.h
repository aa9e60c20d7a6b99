/*
 * Recognise the RENAME TABLE by which an online schema-change tool replaces a table by its
 * copy.
 *
 *   gh-ost:                    t TO _t_del, _t_gho TO t   (one statement, or two)
 *   pt-online-schema-change:   t TO _t_old, _t_new TO t
 *
 * Until then every change went to the table itself and stands in the log under its name; the
 * copy has the same rows.  If a name is taken, the tools prefix more underscores. gh-ost adds a
 * timestamp to `_t_del`.  Both cut names at 64 characters.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DECODE_DDL_SWAP_H
#define SYNC_DECODE_DDL_SWAP_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct ddl;

enum ddl_swap {
    DDL_SWAP_NONE = 0,
    DDL_SWAP_WHOLE, /* the table is now the copy */
    DDL_SWAP_AWAY,  /* the first step of gh-ost: the table is gone ... */
    DDL_SWAP_BACK,  /* ... and the second: the copy has the name */
};

enum ddl_swap ddl_find_swap(const struct ddl *ddl, struct str database, struct str table);

#endif
