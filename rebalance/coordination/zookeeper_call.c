#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

/*
 * A request and its answer, until it is answered and its caller has left it.
 *
 * @thread the deciding one and the client's (locked by the session's lock, but for z)
 */
struct zookeeper_call {
    enum magic magic;
    struct zookeeper *z;
    struct link link; /* in z->calls */
    bool is_answered, is_left;
    int rc;
    struct Stat stat;
    struct buf text; /* data, or a path */
    struct String_vector names;
    bool is_open;
};

static struct zookeeper_call *begin(struct zookeeper *z)
{
    struct zookeeper_call *c = mem_alloc(1, sizeof(*c));

    c->magic = MAGIC_zookeeper_call;
    c->z = z;
    lock_acquire(&z->lock);
    list_push_back(&z->calls, &c->link);
    lock_release(&z->lock);
    return c;
}

static void drop(struct zookeeper_call *c)
{
    list_remove(&c->link);
    buf_free(&c->text);
    deallocate_String_vector(&c->names);
    MAGIC_END(zookeeper_call, c);
    free(c);
}

/* Waits for the answer to a request that the client took with rc; else it calls nobody back. */
static int wait_for(struct zookeeper_call *c, int rc)
{
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    if (rc != ZOK) {
        c->is_answered = true;
        c->rc = rc;
    }

    const int64_t until_ms = clock_mono_ms() + z->state.timeout_ms;

    while (!c->is_answered && lock_wait_until(&z->lock, &z->answered_cond, until_ms))
        ;
    rc = c->is_answered ? c->rc : ZOPERATIONTIMEOUT;
    lock_release(&z->lock);
    return rc;
}

/* The answer may still come. */
static void leave(struct zookeeper_call *c)
{
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    c->is_left = true;
    if (c->is_answered)
        drop(c);
    lock_release(&z->lock);
}

void zookeeper_calls_drop(struct zookeeper *z)
{
    lock_acquire(&z->lock);
    LIST_EACH(l, &z->calls)
    {
        drop(LIST_ITEM(l, struct zookeeper_call, link));
    }
    lock_release(&z->lock);
}

/* ---- of the client's thread ---- */

static struct zookeeper_call *of(const void *data)
{
    return MAGIC_CAST(zookeeper_call, (void *)(uintptr_t)data);
}

static void answer(struct zookeeper *z, struct zookeeper_call *c, int rc) GIVES_BACK(z->lock)
{
    c->rc = rc;
    c->is_answered = true;
    if (c->is_left)
        drop(c);
    else
        pthread_cond_signal(&z->answered_cond);
    lock_release(&z->lock);
}

static void on_done(int rc, const void *data)
{
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    answer(z, c, rc);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    if (rc == ZOK && stat != NULL)
        c->stat = *stat;
    answer(z, c, rc);
}

static void on_text(int rc, const char *text, const void *data)
{
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    if (rc == ZOK && text != NULL)
        buf_append(&c->text, str_from(text));
    answer(z, c, rc);
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    const size_t kept = len < COORDINATION_DATA_MAX ? (size_t)len : COORDINATION_DATA_MAX;
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    if (rc == ZOK && stat != NULL)
        c->stat = *stat;
    if (rc == ZOK && value != NULL && len > 0)
        buf_append(&c->text, (struct str){value, kept});
    answer(z, c, rc);
}

static void on_names(int rc, const struct String_vector *names, const void *data)
{
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    lock_acquire(&z->lock);
    if (rc == ZOK && names != NULL && names->count > 0) {
        allocate_String_vector(&c->names, names->count);
        for (int32_t i = 0; i < names->count; i++)
            c->names.data[i] = mem_copy(names->data[i] != NULL ? names->data[i] : "");
    }
    answer(z, c, rc);
}

static void on_rights(int rc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    struct zookeeper_call *c = of(data);
    struct zookeeper *z = c->z;

    (void)stat;
    lock_acquire(&z->lock);
    for (int32_t i = 0; rc == ZOK && acl != NULL && i < acl->count; i++)
        c->is_open |= acl->data[i].id.scheme != NULL &&
                      strcmp(acl->data[i].id.scheme, "world") == 0 &&
                      (acl->data[i].perms & ~ZOO_PERM_READ) != 0;
    answer(z, c, rc);
}

/* ---- the calls ---- */

int zookeeper_call_create(struct zookeeper *z, const struct zookeeper_new *n)
{
    struct zookeeper_call *c = begin(z);
    const int len = n->data.ptr == NULL ? -1 : (int)n->data.len;
    const int rc = wait_for(c, zoo_acreate(z->client, n->path, n->data.ptr, len,
                                           zookeeper_session_acl(z), n->flags, on_text, c));

    if (rc == ZOK && n->made != NULL)
        buf_append(n->made, buf_str(&c->text));
    leave(c);
    return rc;
}

int zookeeper_call_delete(struct zookeeper *z, const char *path)
{
    struct zookeeper_call *c = begin(z);
    const int rc = wait_for(c, zoo_adelete(z->client, path, -1, on_done, c));

    leave(c);
    return rc;
}

int zookeeper_call_set(struct zookeeper *z, const char *path, struct str data, int32_t version)
{
    struct zookeeper_call *c = begin(z);
    const int rc =
        wait_for(c, zoo_aset(z->client, path, data.ptr, (int)data.len, version, on_stat, c));

    leave(c);
    return rc;
}

static watcher_fn watcher(bool watch)
{
    return watch ? zookeeper_notes_on_change : NULL;
}

int zookeeper_call_exists(struct zookeeper *z, const char *path, bool watch, struct Stat *stat)
{
    struct zookeeper_call *c = begin(z);
    const int rc = wait_for(c, zoo_awexists(z->client, path, watcher(watch), z, on_stat, c));

    if (rc == ZOK)
        *stat = c->stat;
    leave(c);
    return rc;
}

int zookeeper_call_get(struct zookeeper *z, const char *path, struct str *data,
                       struct Stat *stat)
{
    struct zookeeper_call *c = begin(z);
    const int rc = wait_for(c, zoo_awget(z->client, path, watcher(true), z, on_data, c));

    buf_clear(&z->answer);
    if (rc == ZOK) {
        buf_append(&z->answer, buf_str(&c->text));
        *stat = c->stat;
    }
    *data = buf_str(&z->answer);
    leave(c);
    return rc;
}

int zookeeper_call_children(struct zookeeper *z, const char *path, bool watch,
                            struct String_vector *names)
{
    struct zookeeper_call *c = begin(z);
    const int rc =
        wait_for(c, zoo_awget_children(z->client, path, watcher(watch), z, on_names, c));

    if (rc == ZOK) {
        *names = c->names;
        c->names = (struct String_vector){0};
    }
    leave(c);
    return rc;
}

int zookeeper_call_rights(struct zookeeper *z, const char *path, bool *is_open)
{
    struct zookeeper_call *c = begin(z);
    const int rc = wait_for(c, zoo_aget_acl(z->client, path, on_rights, c));

    *is_open = rc == ZOK && c->is_open;
    leave(c);
    return rc;
}
