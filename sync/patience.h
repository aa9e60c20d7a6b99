/*
 * struct patience: a thread waits for servers as long as they work, and not for one that hangs.
 *
 * Its connections take an answer for lost only after PATIENCE_READ_S: a statement that sorts very
 * much gives no row for long.  Once the thread has waited for a while, another one asks each of
 * its servers, on a connection of its own, whether it answers at all; where one does not, and at
 * the end, what the thread waits for is interrupted.
 *
 * @thread as each function says
 */
#ifndef SYNC_PATIENCE_H
#define SYNC_PATIENCE_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_READ_S 7200

struct mysql_conn;
struct patience;
struct server_access;

struct patience_options {
    int64_t after_ms; /* from when a server is asked; 0: 20 s */
    int64_t every_ms; /* and how often; 0: 10 s */
    bool (*answers)(const struct server_access *server); /* blocks; NULL: by a log-in */
};

struct patience *patience_new(const struct patience_options *opt) RETURNS_NONNULL MUST_CHECK;
void patience_start(struct patience *p);
/* Whatever waits, or will, is interrupted.  @thread any */
void patience_stop(struct patience *p);
void patience_free(struct patience *p); /* NULL is fine */

/* A connection that the thread may wait for, until it leaves, before it is closed.
 * @thread the one that waits, as all below */
void patience_enter(struct patience *p, struct mysql_conn *c, struct server_access *server);
void patience_leave(struct patience *p, struct mysql_conn *c);

/* It waits from here to there.  True: a server did not answer, and its connections are of no use
 * any more. */
void patience_begin(struct patience *p);
bool patience_end(struct patience *p) MUST_CHECK;

#endif
