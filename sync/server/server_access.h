/*
 * How to reach one MySQL or MariaDB server: a copy of the options to connect with.
 *
 * @thread any (immutable, atomic count)
 */
#ifndef SYNC_SERVER_SERVER_ACCESS_H
#define SYNC_SERVER_SERVER_ACCESS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>

struct database_definition;
struct server_definition;
struct topic_definition;

struct server_access {
    struct mysql_options options; /* this struct owns the strings */
    bool replica;                 /* not the server that the topic streams */
    unsigned refs;
};

/*
 * Build from definitions; reads secrets now.  File paths are relative to folder.  If database
 * is NULL or has no server of its own, use the topic's.  ERR_REJECT names a file that cannot be
 * read.
 */
bool server_access_new(struct server_access **out, const struct topic_definition *topic,
                       const struct database_definition *database, const char *folder,
                       struct err *err) MUST_CHECK;
struct server_access *server_access_ref(struct server_access *a) RETURNS_NONNULL;
void server_access_unref(struct server_access *a); /* NULL is allowed */

/* Tell whether both lead to the same server in the same way. */
bool server_access_equal(const struct server_access *a, const struct server_access *b);

/* "127.0.0.1:3306" or the socket path, for messages; valid as long as a. */
const char *server_access_name(const struct server_access *a);

#endif
