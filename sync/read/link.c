#include "config.h"

#include "sync/read/link.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/mysql/mysql.h"
#include "sync/read/stall_watchdog.h"
#include "sync/read/view.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"

#define REPLICA_MS 2000  /* how long a replica may take to show what was read */
#define AWAY_MS    10000 /* one that did not is left alone */

void read_link_close(struct read_link *l)
{
    if (l->conn != NULL && l->opt.watchdog != NULL)
        stall_watchdog_leave(l->opt.watchdog, l->conn);
    mysql_conn_close(l->conn);
    server_access_unref(l->server);
    l->conn = NULL;
    l->server = NULL;
}

void read_link_fini(struct read_link *l)
{
    read_link_close(l);
    server_access_unref(l->away);
    l->away = NULL;
}

/* The server that had its own address may be the followed one by now. */
static bool is_replica(struct read_link *l)
{
    char identity[IDENTITY_CAP];
    struct err ignored;

    return !known_server_identity(l->opt.known, identity, sizeof(identity)) ||
           !server_identity_is(l->conn, identity, &ignored);
}

static bool connect(struct read_link *l, struct server_access *server, struct err *err)
{
    if (l->conn != NULL && server_access_equal(l->server, server))
        return true;
    read_link_close(l);

    struct mysql_options at = server->options;

    at.group = l->opt.group;
    if (l->opt.watchdog != NULL)
        at.read_timeout_s = STALL_WATCHDOG_READ_S;
    if (server->replica ? !mysql_conn_open(&l->conn, &at, err)
                        : !known_server_open(l->opt.known, &at, &l->conn, err))
        return false;
    if (l->opt.watchdog != NULL)
        stall_watchdog_enter(l->opt.watchdog, l->conn, server);
    mysql_conn_count(l->conn, l->opt.statements);
    l->server = server_access_ref(server);
    l->replica = server->replica && is_replica(l);
    l->late = 0;
    return true;
}

static bool open_on(struct read_link *l, struct server_access *server, int64_t timeout_ms,
                    uint64_t at_least, uint64_t *stamp, struct err *err)
{
    if (!connect(l, server, err))
        return false;

    const struct read_view_options view = {
        .reader = l->opt.reader,
        .replica = l->replica,
        .gtid = known_server_has_gtid(l->opt.known),
        .late = l->replica ? &l->late : NULL,
        .at_least = at_least,
        .timeout_ms = timeout_ms,
        .stop = l->opt.stop,
    };

    return read_view_open(l->conn, &view, stamp, err);
}

/* Logs once, until the replica keeps up again. */
static void leave_alone(struct read_link *l, struct server_access *replica,
                        const struct err *why)
{
    read_link_close(l);
    server_access_ref(replica);
    server_access_unref(l->away);
    l->away = replica;
    l->away_until_ms = clock_mono_ms() + AWAY_MS;
    if (!l->told)
        log_failure(LOG_WARN, why,
                    "a replica does not keep up, reading from the topic's "
                    "server",
                    KV("topic", l->opt.topic), KV("replica", server_access_name(replica)));
    l->told = true;
}

static bool is_away(const struct read_link *l, const struct server_access *replica)
{
    return l->away != NULL && server_access_equal(l->away, replica) &&
           clock_mono_ms() < l->away_until_ms;
}

bool read_link_open(struct read_link *l, struct server_access *server, uint64_t at_least,
                    uint64_t *stamp, struct err *err)
{
    if (!server->replica)
        return open_on(l, server, l->opt.timeout_ms, at_least, stamp, err);
    if (known_server_has_gtid(l->opt.known) && !is_away(l, server)) {
        if (open_on(l, server, REPLICA_MS, at_least, stamp, err)) {
            l->told = false;
            return true;
        }
        if (err->kind == ERR_STOP)
            return false;
        leave_alone(l, server, err);
    }
    return open_on(l, l->opt.primary, l->opt.timeout_ms, at_least, stamp, err);
}
