#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* After servers that cannot be resolved, or rights that will not do. */
#define RETRY_MS 5000

/* So many signs of life are asked for within the time-out of a session. */
#define SIGNS 6

static struct lock words_lock = LOCK_INIT(LOCK_private);
static struct err last_words; /* of the client, guarded by words_lock; it does not say whose */

/* "2026-11-27 01:02:03,004:17(0x7f):ZOO_ERROR@check_events@2985: text" */
static void on_words(const char *message)
{
    const char *at = strstr(message, ":ZOO_");
    const char *text = at != NULL ? strstr(at, ": ") : NULL;

    lock_acquire(&words_lock);
    err_set(&last_words, ERR_RETRY, "ZooKeeper: %s", text != NULL ? text + 2 : message);
    lock_release(&words_lock);
}

static bool set_status(struct zookeeper *z, enum coordination_status status) NEEDS(z->lock)
{
    if (z->state.status == status)
        return false;
    z->state.status = status;
    z->state.since_ms = clock_mono_ms();
    zookeeper_notes_put_first(z, NOTE_STATE, STR(""));
    return true;
}

static bool suspend(struct zookeeper *z) NEEDS(z->lock)
{
    return z->state.status == COORDINATION_CONNECTED && set_status(z, COORDINATION_SUSPENDED);
}

/* The servers heard us after we asked. The deciding thread must set the first connection up
 * before anybody is told. */
static bool hear(struct zookeeper *z) NEEDS(z->lock)
{
    const bool is_first = !z->is_caught_up;

    z->is_caught_up = true;
    z->state.dead_ms = z->asked_ms + z->state.timeout_ms;
    return z->is_set_up ? set_status(z, COORDINATION_CONNECTED) : is_first;
}

static void on_heard(int rc, const char *path, const void *ctx)
{
    struct zookeeper *z = MAGIC_CAST(zookeeper, (void *)(uintptr_t)ctx);

    (void)path;
    lock_acquire(&z->lock);
    z->is_asking = false;

    const bool wakes = rc == ZOK && hear(z);

    lock_release(&z->lock);
    if (wakes)
        z->wake(z->wake_ctx);
}

/* Asks our server to catch up with the others; that it answers is a sign of life, too. */
static void ask(struct zookeeper *z, zhandle_t *client)
{
    lock_acquire(&z->lock);

    const bool was_asking = z->is_asking;

    z->is_asking = true;
    z->asked_ms = was_asking ? z->asked_ms : clock_mono_ms();
    lock_release(&z->lock);
    if (!was_asking && zoo_async(client, z->root.ptr, on_heard, z) != ZOK)
        on_heard(ZINVALIDSTATE, NULL, z);
}

static bool refuse(struct zookeeper *z, const struct err *why) NEEDS(z->lock)
{
    z->state.why = *why;
    z->is_set_up = false;
    z->next_try_ms = clock_mono_ms() + RETRY_MS;
    return set_status(z, COORDINATION_REFUSED);
}

static bool change_state(struct zookeeper *z, zhandle_t *client, int state) NEEDS(z->lock)
{
    struct err err;

    z->is_caught_up = false;
    if (state == ZOO_CONNECTED_STATE) {
        z->state.session = (uint64_t)zoo_client_id(client)->client_id;
        z->state.timeout_ms = (unsigned)zoo_recv_timeout(client);
        return false;
    }
    if (state == ZOO_EXPIRED_SESSION_STATE)
        return set_status(z, COORDINATION_LOST);
    if (state != ZOO_AUTH_FAILED_STATE)
        return suspend(z);
    err_set(&err, ERR_REJECT,
            "ZooKeeper refuses the log-in: check user:password in coordination_auth_file");
    return refuse(z, &err);
}

static void on_session(zhandle_t *client, int type, int state, const char *path, void *ctx)
{
    struct zookeeper *z = MAGIC_CAST(zookeeper, ctx);

    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    lock_acquire(&z->lock);

    const bool wakes = change_state(z, client, state);

    lock_release(&z->lock);
    if (state == ZOO_CONNECTED_STATE)
        ask(z, client);
    if (wakes)
        z->wake(z->wake_ctx);
}

/* Takes "name/" or "name" from the front. */
static struct str take_name(struct str *path)
{
    const char *slash = path->len > 0 ? memchr(path->ptr, '/', path->len) : NULL;
    const struct str name = {path->ptr,
                             slash != NULL ? (size_t)(slash - path->ptr) : path->len};
    const size_t gone = slash != NULL ? name.len + 1 : name.len;

    *path = (struct str){path->ptr + gone, path->len - gone};
    return name;
}

static enum note_kind tell_what(struct str path, struct str *name)
{
    const struct str folder = take_name(&path);

    *name = take_name(&path);
    if (str_equal(folder, STR("locks")))
        return NOTE_LOCK;
    if (str_equal(folder, STR("nodes")) && name->len == 0)
        return NOTE_NODES;
    if (str_equal(folder, STR("nodes")))
        return NOTE_NODE;
    *name = folder;
    return NOTE_VALUE;
}

void zookeeper_session_on_change(zhandle_t *client, int type, int state, const char *path,
                                 void *ctx)
{
    struct zookeeper *z = MAGIC_CAST(zookeeper, ctx);
    const struct str all = str_from(path != NULL ? path : "");
    struct str name;

    (void)client, (void)state;
    if (type == ZOO_SESSION_EVENT || all.len <= z->root.len + 1)
        return;

    const struct str below = {all.ptr + z->root.len + 1, all.len - z->root.len - 1};
    const enum note_kind kind = tell_what(below, &name);

    lock_acquire(&z->lock);

    const bool is_news = !str_equal(all, buf_str(&z->released));

    if (is_news)
        zookeeper_notes_put(z, kind, name);
    lock_release(&z->lock);
    if (is_news)
        z->wake(z->wake_ctx);
}

/* Of a lost connection the client tells itself, before it answers what was sent by it. */
static void set_up_again(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    z->is_set_up = false;
    suspend(z);
    lock_release(&z->lock);
}

bool zookeeper_session_fail(struct zookeeper *z, int rc, const char *what, struct str path,
                            struct err *err)
{
    if (rc == ZOPERATIONTIMEOUT)
        set_up_again(z);
    if (rc == ZNOAUTH)
        return err_set_code(err, ERR_REJECT, "zookeeper", rc,
                            "ZooKeeper does not let us %s %" STR_FMT
                            ": another log-in made it; use that one in "
                            "coordination_auth_file, another path in coordination, or change "
                            "its rights (zkCli.sh: setAcl -R)",
                            what, STR_ARG(path));
    return err_set_code(err, ERR_RETRY, "zookeeper", rc,
                        "ZooKeeper could not %s %" STR_FMT ": %s", what, STR_ARG(path),
                        zerror(rc));
}

const struct ACL_vector *zookeeper_session_acl(const struct zookeeper *z)
{
    return z->auth.len > 0 ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

struct buf zookeeper_session_path(const struct zookeeper *z, const char *folder,
                                  struct str name)
{
    struct buf path = {0};

    buf_append(&path, buf_str(&z->root));
    if (folder != NULL)
        buf_printf(&path, "/%s", folder);
    if (name.len > 0)
        buf_printf(&path, "/%" STR_FMT, STR_ARG(name));
    return path;
}

void zookeeper_session_state(struct zookeeper *z, struct coordination_state *out)
{
    lock_acquire(&z->lock);
    *out = z->state;
    lock_release(&z->lock);
    if (out->status == COORDINATION_REFUSED)
        return;
    out->why = (struct err){0};
    if (out->status == COORDINATION_CONNECTED)
        return;
    lock_acquire(&words_lock);
    out->why = last_words;
    lock_release(&words_lock);
}

bool zookeeper_session_is_ready(struct zookeeper *z, struct err *err)
{
    lock_acquire(&z->lock);

    const bool is_ready =
        z->state.status == COORDINATION_CONNECTED && clock_mono_ms() < z->state.dead_ms;

    lock_release(&z->lock);
    return is_ready || err_set(err, ERR_RETRY, "ZooKeeper is not connected");
}

bool zookeeper_session_root_is_gone(struct zookeeper *z, struct err *err)
{
    set_up_again(z);
    return err_set(err, ERR_RETRY,
                   "somebody deleted %" STR_FMT " in ZooKeeper: it is made again",
                   STR_ARG(buf_str(&z->root)));
}

static void end_set_up(struct zookeeper *z, bool ok, const struct err *err)
{
    lock_acquire(&z->lock);
    z->is_set_up = ok;
    if (ok && z->is_caught_up)
        set_status(z, COORDINATION_CONNECTED);
    else if (!ok && err->kind == ERR_REJECT)
        refuse(z, err);
    lock_release(&z->lock);
}

static void set_up(struct zookeeper *z)
{
    struct err err = {0};
    const bool ok = zookeeper_root_make(z, &err);

    end_set_up(z, ok, &err);
}

static zhandle_t *begin_client(struct zookeeper *z)
{
    const int timeout_ms = (int)z->timeout_ms;

#ifdef HAVE_ZOOKEEPER_TLS
    if (z->tls.len > 0)
        return zookeeper_init_ssl(z->servers.ptr, z->tls.ptr, on_session, timeout_ms, NULL, z,
                                  ZOO_NO_LOG_CLIENTENV);
#endif
    return zookeeper_init2(z->servers.ptr, on_session, timeout_ms, NULL, z,
                           ZOO_NO_LOG_CLIENTENV, on_words);
}

static void delay(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    z->next_try_ms = clock_mono_ms() + RETRY_MS;
    lock_release(&z->lock);
}

void zookeeper_session_end(struct zookeeper *z)
{
    if (z->client != NULL)
        zookeeper_close(z->client);
    z->client = NULL;
    zookeeper_calls_drop(z);
    zookeeper_notes_drop_all(z);
}

void zookeeper_session_begin(struct zookeeper *z)
{
    zookeeper_session_end(z);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    lock_acquire(&z->lock);
    z->is_set_up = z->is_caught_up = z->is_asking = false;
    z->state.dead_ms = 0;
    set_status(z, COORDINATION_CONNECTING);
    lock_release(&z->lock);
    z->is_lost_dropped = z->is_lost_told = false;
    z->client = begin_client(z);
    if (z->client == NULL) {
        delay(z);
        return;
    }
    /* Not while a connection is there: the thread that looks names up hears nothing then. */
    zoo_set_servers_resolution_delay(z->client, -1);
    if (z->auth.len > 0)
        zoo_add_auth(z->client, "digest", z->auth.ptr, (int)z->auth.len, NULL, NULL);
}

/* True: something is left to do, and it is time to do it. */
static bool is_due(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const bool is_due = !z->is_set_up && clock_mono_ms() >= z->next_try_ms;

    lock_release(&z->lock);
    return is_due;
}

/* The client's handle is dead after a refused log-in, so that only another session can help. */
static void lose(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    set_status(z, COORDINATION_LOST);
    lock_release(&z->lock);
}

/* The client gives a silent server up, but its clock stands still while the machine sleeps. */
static void look_alive(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const int64_t now_ms = clock_mono_ms();
    const bool is_due = now_ms >= z->asked_ms + z->state.timeout_ms / SIGNS;

    if (is_due && z->is_asking && now_ms >= z->state.dead_ms)
        suspend(z);
    lock_release(&z->lock);
    if (is_due)
        ask(z, z->client);
}

static bool has_caught_up(struct zookeeper *z)
{
    lock_acquire(&z->lock);

    const bool has = z->is_caught_up;

    lock_release(&z->lock);
    return has;
}

void zookeeper_session_keep(struct zookeeper *z)
{
    const int state = z->client != NULL ? zoo_state(z->client) : 0;

    if (z->is_lost_told || (z->client == NULL && is_due(z)))
        zookeeper_session_begin(z);
    else if (state == ZOO_AUTH_FAILED_STATE && is_due(z))
        lose(z);
    else if (state == ZOO_CONNECTED_STATE)
        look_alive(z);
    if (state == ZOO_CONNECTED_STATE && has_caught_up(z) && is_due(z))
        set_up(z);
}

bool zookeeper_session_catch_up(struct zookeeper *z, struct err *err)
{
    const int rc = zookeeper_call_sync(z, z->root.ptr);

    return rc == ZOK || zookeeper_session_fail(z, rc, "catch up at", buf_str(&z->root), err);
}
