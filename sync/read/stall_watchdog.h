/*
 * struct stall_watchdog: let a thread wait for servers as long as they work, but not for one
 * that hangs.
 *
 * The thread's connections time out only after STALL_WATCHDOG_READ_S, because a statement that
 * sorts a lot returns no row for long.  Once the thread has waited a while, another thread asks
 * each of its servers, on a connection of its own, whether it answers at all.  If one does not,
 * or at shutdown, the watchdog interrupts the waiting thread.
 *
 * @thread as each function says
 */
#ifndef SYNC_READ_STALL_WATCHDOG_H
#define SYNC_READ_STALL_WATCHDOG_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define STALL_WATCHDOG_READ_S 7200

struct mysql_conn;
struct stall_watchdog;
struct server_access;

struct stall_watchdog_options {
    int64_t after_ms; /* wait before asking a server; 0 for 20 s */
    int64_t every_ms; /* interval of asking; 0 for 10 s */
    bool (*answers)(const struct server_access *server); /* blocks; NULL: try a log-in */
};

struct stall_watchdog *
stall_watchdog_new(const struct stall_watchdog_options *opt) RETURNS_NONNULL MUST_CHECK;
void stall_watchdog_start(struct stall_watchdog *p);
/* Interrupt every present and future wait, without waiting for anything.  @thread any */
void stall_watchdog_interrupt(struct stall_watchdog *p);
/* Likewise, and join the thread: blocks while a server is asked.  @thread any */
void stall_watchdog_stop(struct stall_watchdog *p);
void stall_watchdog_free(struct stall_watchdog *p); /* NULL is allowed */

/*
 * Register a connection that the thread may wait for.  Unregister it before closing it.
 *
 * @thread the waiting one, as all below
 */
void stall_watchdog_enter(struct stall_watchdog *p, struct mysql_conn *c,
                          struct server_access *server);
void stall_watchdog_leave(struct stall_watchdog *p, struct mysql_conn *c);

/*
 * Mark the begin and end of a wait.  The end returns true if a server did not answer: its
 * connections are unusable.
 */
void stall_watchdog_begin(struct stall_watchdog *p);
bool stall_watchdog_end(struct stall_watchdog *p) MUST_CHECK;

#endif
