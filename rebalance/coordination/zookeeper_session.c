#include "config.h"

#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/clock.h"

#include <string.h>

/* After servers that cannot be resolved, or rights that will not do. */
#define RETRY_MS 5000

static struct lock words_lock = LOCK_INIT(LOCK_private);
static struct err last_words; /* of the client, guarded by words_lock; it does not say whose */

/* "2026-11-27 01:02:03,004:17(0x7f):ZOO_ERROR@check_events@2985: text" */
void zookeeper_session_on_words(const char *message)
{
    const char *at = strstr(message, ":ZOO_");
    const char *text = at != NULL ? strstr(at, ": ") : NULL;

    lock_acquire(&words_lock);
    err_set(&last_words, ERR_RETRY, "ZooKeeper: %s", text != NULL ? text + 2 : message);
    lock_release(&words_lock);
}

bool zookeeper_session_set_status(struct zookeeper *z, enum coordination_status status)
{
    const bool was_connected = z->state.status == COORDINATION_CONNECTED;

    if (z->state.status == status)
        return false;
    z->state.status = status;
    if (was_connected || status == COORDINATION_CONNECTED || z->state.since_ms == 0)
        z->state.since_ms = clock_mono_ms(); /* of an outage, when it began */
    zookeeper_notes_put_first(z, NOTE_STATE, STR(""));
    return true;
}

bool zookeeper_session_suspend(struct zookeeper *z)
{
    return z->state.status == COORDINATION_CONNECTED &&
           zookeeper_session_set_status(z, COORDINATION_SUSPENDED);
}

/* The servers heard us after we asked. The deciding thread must set the first connection up
 * before anybody is told. */
static bool hear(struct zookeeper *z) NEEDS(z->lock)
{
    const bool is_first = !z->is_caught_up;

    z->is_caught_up = true;
    z->state.dead_ms = z->asked_ms + z->state.timeout_ms;
    return z->is_set_up ? zookeeper_session_set_status(z, COORDINATION_CONNECTED) : is_first;
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

void zookeeper_session_ask(struct zookeeper *z, zhandle_t *client)
{
    lock_acquire(&z->lock);

    const bool was_asking = z->is_asking;

    z->is_asking = true;
    z->asked_ms = was_asking ? z->asked_ms : clock_mono_ms();
    lock_release(&z->lock);
    if (!was_asking && zoo_async(client, z->root.ptr, on_heard, z) != ZOK)
        on_heard(ZINVALIDSTATE, NULL, z);
}

void zookeeper_session_delay(struct zookeeper *z)
{
    z->next_try_ms = clock_mono_ms() + RETRY_MS;
}

bool zookeeper_session_refuse(struct zookeeper *z, const struct err *why)
{
    z->state.why = *why;
    z->is_set_up = false;
    zookeeper_session_delay(z);
    return zookeeper_session_set_status(z, COORDINATION_REFUSED);
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
        return zookeeper_session_set_status(z, COORDINATION_LOST);
    if (state != ZOO_AUTH_FAILED_STATE)
        return zookeeper_session_suspend(z);
    err_set(
        &err, ERR_REJECT,
        "ZooKeeper refuses the log-in; fix: correct user:password in coordination_auth_file");
    return zookeeper_session_refuse(z, &err);
}

void zookeeper_session_on_event(zhandle_t *client, int type, int state, const char *path,
                                void *ctx)
{
    struct zookeeper *z = MAGIC_CAST(zookeeper, ctx);

    (void)path;
    if (type != ZOO_SESSION_EVENT)
        return;
    lock_acquire(&z->lock);

    const bool wakes = change_state(z, client, state);

    lock_release(&z->lock);
    if (state == ZOO_CONNECTED_STATE)
        zookeeper_session_ask(z, client);
    if (wakes)
        z->wake(z->wake_ctx);
}

/* Of a lost connection the client tells itself, before it answers what was sent by it. */
static void set_up_again(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    z->is_set_up = false;
    zookeeper_session_suspend(z);
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
                            ", as another log-in made it; fix: use that one in "
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
