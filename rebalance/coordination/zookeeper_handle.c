#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/clock.h"

/* So many signs of life are asked for within the time-out of a session. */
#define SIGNS 6

static void end_set_up(struct zookeeper *z, bool ok, const struct err *err)
{
    lock_acquire(&z->lock);
    z->is_set_up = ok;
    z->state.is_open_to_all = ok && z->auth.len == 0; /* like all that we make there */
    if (ok && z->is_caught_up)
        zookeeper_session_set_status(z, COORDINATION_CONNECTED);
    else if (!ok && err->kind == ERR_REJECT)
        zookeeper_session_refuse(z, err);
    lock_release(&z->lock);
}

/*
 * Once there is a connection: the client forgets a log-in that it was given before, if its
 * first tries to connect fail.  It repeats a given one over each later connection.
 */
static void log_in(struct zookeeper *z)
{
    if (z->auth.len > 0 && !z->is_logged_in)
        zoo_add_auth(z->client, "digest", z->auth.ptr, (int)z->auth.len, NULL, NULL);
    z->is_logged_in = true;
}

static void set_up(struct zookeeper *z)
{
    struct err err = {0};

    log_in(z);

    const bool ok = zookeeper_root_make(z, &err);

    end_set_up(z, ok, &err);
}

static zhandle_t *begin_client(struct zookeeper *z)
{
    const int timeout_ms = (int)z->timeout_ms;

#ifdef HAVE_ZOOKEEPER_TLS
    if (z->tls.len > 0)
        return zookeeper_init_ssl(z->servers.ptr, z->tls.ptr, zookeeper_session_on_event,
                                  timeout_ms, NULL, z, ZOO_NO_LOG_CLIENTENV);
#endif
    return zookeeper_init2(z->servers.ptr, zookeeper_session_on_event, timeout_ms, NULL, z,
                           ZOO_NO_LOG_CLIENTENV, zookeeper_session_on_words);
}

static void delay(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    zookeeper_session_delay(z);
    lock_release(&z->lock);
}

void zookeeper_handle_end(struct zookeeper *z)
{
    if (z->client != NULL)
        zookeeper_close(z->client);
    z->client = NULL;
    zookeeper_calls_drop(z);
    zookeeper_notes_drop_all(z);
}

void zookeeper_handle_begin(struct zookeeper *z)
{
    if (z->client != NULL)
        zookeeper_handle_end(z);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    lock_acquire(&z->lock);
    z->is_set_up = z->is_caught_up = z->is_asking = false;
    z->state.dead_ms = 0;
    zookeeper_session_set_status(z, COORDINATION_CONNECTING);
    lock_release(&z->lock);
    z->is_lost_dropped = z->is_lost_told = z->is_logged_in = false;
    z->client = begin_client(z);
    if (z->client == NULL) {
        delay(z);
        return;
    }
    /* Not while a connection is there: the thread that looks names up hears nothing then. */
    zoo_set_servers_resolution_delay(z->client, -1);
}

/* True: something is left to do, and it is time to do it. */
static bool is_due(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const bool is_due = !z->is_set_up && clock_mono_ms() >= z->next_try_ms;

    lock_release(&z->lock);
    return is_due;
}

/*
 * The session must be over, though no server has said so.  Servers that lost what they knew
 * refuse a client that saw more than they have, for as long as its handle lives.
 */
static bool is_long_dead(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const bool is = z->state.status == COORDINATION_SUSPENDED && z->state.dead_ms != 0 &&
                    clock_mono_ms() >= z->state.dead_ms + z->state.timeout_ms;

    lock_release(&z->lock);
    return is;
}

/* Only another session can help: the handle is dead, or its session is. */
static void lose(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    zookeeper_session_set_status(z, COORDINATION_LOST);
    lock_release(&z->lock);
}

/* The client gives a silent server up, but its clock stands still while the machine sleeps. */
static void look_alive(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const int64_t now_ms = clock_mono_ms();
    const bool is_due = now_ms >= z->asked_ms + z->state.timeout_ms / SIGNS;

    if (is_due && z->is_asking && now_ms >= z->state.dead_ms)
        zookeeper_session_suspend(z);
    lock_release(&z->lock);
    if (is_due)
        zookeeper_session_ask(z, z->client);
}

static bool has_caught_up(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const bool has = z->is_caught_up;

    lock_release(&z->lock);
    return has;
}

void zookeeper_handle_keep(struct zookeeper *z)
{
    const int state = z->client != NULL ? zoo_state(z->client) : 0;

    if (z->is_lost_told || (z->client == NULL && is_due(z)))
        zookeeper_handle_begin(z);
    else if (state == ZOO_AUTH_FAILED_STATE && is_due(z))
        lose(z);
    else if (state != ZOO_CONNECTED_STATE && z->client != NULL && is_long_dead(z))
        lose(z);
    else if (state == ZOO_CONNECTED_STATE)
        look_alive(z);
    if (state == ZOO_CONNECTED_STATE && has_caught_up(z) && is_due(z))
        set_up(z);
}
