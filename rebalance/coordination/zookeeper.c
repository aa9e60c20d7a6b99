#include "config.h"

#include "rebalance/coordination/zookeeper.h"

#include "rebalance/coordination/zookeeper_name.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct zookeeper *of(struct coordination *c)
{
    return CONTAINER_OF(c, struct zookeeper, base);
}

static void copy_state(struct coordination *c, struct coordination_state *out)
{
    zookeeper_session_state(of(c), out);
}

static bool is_lost(struct zookeeper *z)
{
    struct coordination_state state;

    zookeeper_session_state(z, &state);
    return state.status == COORDINATION_LOST;
}

/* Each lock is told of, and the session at last. Its client may wait to be closed, so it stays
 * until that was told. */
static void drop_lost(struct zookeeper *z)
{
    z->is_lost_dropped = true;
    zookeeper_notes_drop_all(z);
    zookeeper_nodes_forget(z);
    zookeeper_locks_lose(z);
    zookeeper_notes_add(z, NOTE_STATE, STR(""));
}

/* What a note changes here; false: the deciding thread has no event of it. */
static bool apply(struct zookeeper *z, enum note_kind kind, struct str name)
{
    switch (kind) {
    case NOTE_STATE:
        if (is_lost(z) && !z->is_lost_dropped) {
            drop_lost(z);
            return false;
        }
        z->is_lost_told = is_lost(z);
        return true;
    case NOTE_LOCK:
        zookeeper_locks_unsettle(z, name);
        zookeeper_locks_settle(z);
        return false;
    case NOTE_NODE: return !zookeeper_nodes_look_again(z, name);
    case NOTE_NODES:
    case NOTE_VALUE:
    case NOTE_GRANTED:
    case NOTE_TAKEN: return true;
    }
    return false;
}

static bool next(struct coordination *c, struct coordination_event *out)
{
    static const enum coordination_change changes[] = {
        [NOTE_STATE] = COORDINATION_STATE,     [NOTE_NODES] = COORDINATION_NODES,
        [NOTE_NODE] = COORDINATION_NODE,       [NOTE_VALUE] = COORDINATION_VALUE,
        [NOTE_GRANTED] = COORDINATION_GRANTED, [NOTE_TAKEN] = COORDINATION_TAKEN,
    };
    struct zookeeper *z = of(c);
    enum note_kind kind;

    zookeeper_handle_keep(z);
    zookeeper_locks_settle(z);
    while (zookeeper_notes_take(z, &kind))
        if (apply(z, kind, buf_str(&z->told_name))) {
            *out = (struct coordination_event){changes[kind], buf_str(&z->told_name)};
            return true;
        }
    return false;
}

static bool join(struct coordination *c, struct str id, struct str data, struct err *err)
{
    return zookeeper_nodes_join(of(c), id, data, err);
}

static bool list_nodes(struct coordination *c, const struct str **ids, size_t *n,
                       struct err *err)
{
    return zookeeper_nodes_list(of(c), ids, n, err);
}

static bool read_node(struct coordination *c, struct str id, struct coordination_node *out,
                      bool *found, struct err *err)
{
    return zookeeper_nodes_read(of(c), id, out, found, err);
}

static bool read_value(struct coordination *c, struct str name, struct buf *data,
                       int32_t *version, struct err *err)
{
    return zookeeper_values_read(of(c), name, data, version, err);
}

static enum written write_data(struct coordination *c, const struct coordination_write *w,
                               struct err *err)
{
    return zookeeper_values_write(of(c), w, err);
}

static bool queue_for_lock(struct coordination *c, struct str name, struct err *err)
{
    return zookeeper_locks_queue(of(c), name, err);
}

static bool hold_lock(struct coordination *c, struct str name)
{
    return zookeeper_locks_hold(of(c), name);
}

static bool leave_lock(struct coordination *c, struct str name, struct err *err)
{
    return zookeeper_locks_leave(of(c), name, err);
}

static void end(struct coordination *c)
{
    struct zookeeper *z = of(c);

    zookeeper_handle_end(z);
    zookeeper_nodes_forget(z);
    zookeeper_values_forget(z);
    zookeeper_locks_free(z);
    pthread_cond_destroy(&z->answered_cond);
    lock_fini(&z->lock);
    buf_free(&z->servers);
    buf_free(&z->root);
    buf_free(&z->auth);
    buf_free(&z->tls);
    buf_free(&z->told_name);
    buf_free(&z->released);
    buf_free(&z->answer);
    MAGIC_END(zookeeper, z);
    free(z);
}

static const struct coordination_ops ops = {
    .state = copy_state,
    .next = next,
    .join = join,
    .list = list_nodes,
    .read_node = read_node,
    .read_value = read_value,
    .write = write_data,
    .lock = queue_for_lock,
    .holds = hold_lock,
    .unlock = leave_lock,
    .close = end,
};

static bool check_auth(struct str auth, struct err *err)
{
    const char *colon = auth.len > 0 ? memchr(auth.ptr, ':', auth.len) : NULL;
    bool is_good = auth.len == 0 ||
                   (colon != NULL && colon != auth.ptr && colon + 1 < auth.ptr + auth.len);

    for (size_t i = 0; i < auth.len; i++)
        is_good &= (unsigned char)auth.ptr[i] >= ' ';
    return is_good || err_set(err, ERR_REJECT,
                              "coordination_auth_file holds no log-in; fix: write one line "
                              "user:password");
}

static bool check_tls(struct str tls, struct err *err)
{
    return tls.len == 0 || zookeeper_has_tls() ||
           err_set(err, ERR_FATAL,
                   "the ZooKeeper client of this program speaks no TLS, so coordination_tls "
                   "cannot be used; fix: build it with one that does, or go through stunnel");
}

static struct zookeeper *make(const struct zookeeper_options *opt)
{
    struct zookeeper *z = mem_alloc(1, sizeof(*z));

    z->magic = MAGIC_zookeeper;
    z->base.ops = &ops;
    z->timeout_ms = opt->timeout_ms;
    z->wake = opt->wake;
    z->wake_ctx = opt->wake_ctx;
    buf_append(&z->auth, opt->auth);
    buf_append(&z->tls, opt->tls);
    list_init(&z->calls);
    list_init(&z->notes);
    lock_init(&z->lock, LOCK_private);
    lock_init_cond(&z->answered_cond);
    return z;
}

bool zookeeper_open(const struct zookeeper_options *opt, struct coordination **out,
                    struct err *err)
{
    if (!check_auth(opt->auth, err) || !check_tls(opt->tls, err))
        return false;

    struct zookeeper *z = make(opt);

    if (!zookeeper_name_address(opt->servers, &z->servers, &z->root, err)) {
        end(&z->base);
        return false;
    }
    zookeeper_handle_begin(z);
    *out = &z->base;
    return true;
}

bool zookeeper_has_tls(void)
{
#ifdef HAVE_ZOOKEEPER_TLS
    return true;
#else
    return false;
#endif
}
