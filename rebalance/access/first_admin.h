/*
 * The first admin: while nobody may use the port, whoever can read the daemon's log or a file
 * of its data folder adds the first user, by a token that counts once.
 *
 * Each start makes another token.  It ends as soon as anybody may use the port, at whatever
 * node that user or token was added.
 *
 * @thread any (locked inside; all but coordinator_awaits_first_admin() block)
 */
#ifndef REBALANCE_ACCESS_FIRST_ADMIN_H
#define REBALANCE_ACCESS_FIRST_ADMIN_H

#include "src/access/token.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;
struct coordinator;
struct first_admin;

#define FIRST_ADMIN_FILE "first-admin.token" /* of the data folder; mode 0600 */

struct first_admin *first_admin_new(void) RETURNS_NONNULL MUST_CHECK;
void first_admin_free(struct first_admin *f); /* NULL is fine */

/*
 * If nobody may use the port, make a token, write it into its file, and log it with what to do.
 * page: the address of the page, for people; NULL: nobody can be added there, so that there is
 * no token, and the file of an earlier start goes.
 */
void coordinator_open_first_admin(struct coordinator *co, const char *page);
/* Whether the token counts.  Never blocks. */
bool coordinator_awaits_first_admin(struct coordinator *co) MUST_CHECK;
/* End the token and delete its file, if anybody may use the port, or always. */
void coordinator_end_first_admin(struct coordinator *co, bool always);

struct first_admin_order {
    struct str token;          /* of the file */
    struct str name, password; /* of the user */
    struct str from;           /* the address of whoever asks; empty: the unix socket */
};
/* Add the user as an admin, and log in.  401: another token; 409: there is somebody already. */
bool coordinator_add_first_admin(struct coordinator *co, const struct first_admin_order *o,
                                 char token[TOKEN_TEXT + 1], struct buf *json,
                                 struct err *err) MUST_CHECK;

#endif
