/*
 * The address of a database on a command line:
 *
 *     mysql://USER[:PASSWORD]@HOST[:PORT]/DATABASE
 *     mysql://USER[:PASSWORD]@/DATABASE?socket=PATH
 *
 * mariadb:// means the same.  %2F stands for a slash in any part, and so on.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DRAFT_DATABASE_URL_H
#define SYNC_DRAFT_DATABASE_URL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;

struct database_url {
    struct str user, database;
    struct str address; /* HOST:PORT, or the path of a unix socket */
    struct str password;
    bool has_password;
};

/* ERR_REJECT says what is wrong, without the password. */
bool database_url_parse(const char *text, struct arena *a, struct database_url *out,
                        struct err *err) MUST_CHECK;

#endif
