/*
 * struct access_denied: the indexes whose documents the server does not let the topic's user
 * read, and why.
 *
 * A revoked privilege keeps documents waiting until it is granted again.  Users see that here,
 * and so does the code that clears obstacles for others.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_READ_ACCESS_DENIED_H
#define SYNC_READ_ACCESS_DENIED_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct access_denied;
struct err;
struct mysql_conn;
struct plan;

struct access_denied *access_denied_new(void) RETURNS_NONNULL MUST_CHECK;
void access_denied_free(struct access_denied *d); /* NULL is allowed */

enum access_denied_read {
    ACCESS_DENIED_DOCUMENTS = 0,
    ACCESS_DENIED_ROOTS,  /* which documents hold a row */
    ACCESS_DENIED_TABLES, /* the shapes of tables: the remembered ones are used */
    N_ACCESS_DENIED_READS
};
/*
 * Report how a read for the index ("orders_v2") ended; why is NULL on success.  Only a missing
 * privilege counts as failure.
 */
void access_denied_tell(struct access_denied *d, const char *index,
                        enum access_denied_read read, const struct err *why);

/*
 * Tell whether tables of the index are hidden.  Look again from time to time: nothing announces
 * a grant.
 */
bool access_denied_has_tables(struct access_denied *d, struct str index) MUST_CHECK;

/* Returns true with what waits and why, or false if everything is readable as far as known. */
bool access_denied_find(struct access_denied *d, struct str index, struct err *why) MUST_CHECK;

/*
 * Put the GRANT before a server's refusal to read the plan's tables.  The connections, one per
 * topic of the plan, are those of the read that was refused.  Blocks.
 */
void access_denied_explain(const struct plan *p, struct mysql_conn *const *of, struct err *err);

#endif
