#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_name.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/random.h"

#include <stdlib.h>
#include <string.h>

#define GUID_BYTES 16

/* Looks at a queue in which everybody before us goes while we look. */
#define LOOKS_MAX 20

/*
 * Our place in the queue of a lock. Its name in ZooKeeper begins with a guid, by which it is
 * found again after the answer of its making was lost.
 */
struct queued {
    struct buf name, guid;
    struct buf place;  /* its name with the number; empty: not made, or not known to be */
    bool is_asked;     /* its making was asked for, and the answer lost */
    bool is_unsettled; /* the queue must be looked at */
    bool is_held;
    bool is_given_back; /* to be deleted, and then forgotten */
};

static void drop(void *value)
{
    struct queued *q = value;

    buf_free(&q->name);
    buf_free(&q->guid);
    buf_free(&q->place);
    free(q);
}

static struct queued *find(const struct zookeeper *z, struct str name)
{
    return z->locks != NULL ? map_find(z->locks, name) : NULL;
}

static struct queued *add(struct zookeeper *z, struct str name)
{
    struct queued *q = mem_alloc(1, sizeof(*q));
    char guid[GUID_BYTES];

    random_bytes(guid, sizeof(guid));
    buf_append(&q->name, name);
    buf_append_hex(&q->guid, (struct str){guid, sizeof(guid)});
    buf_append_char(&q->guid, '-');
    q->is_unsettled = true;
    if (z->locks == NULL)
        z->locks = map_new();
    map_put(z->locks, name, q);
    return q;
}

static struct buf folder_of(const struct zookeeper *z, const struct queued *q)
{
    return zookeeper_session_path(z, "locks", buf_str(&q->name));
}

static struct buf path_of(const struct zookeeper *z, const struct queued *q, struct str place)
{
    struct buf path = folder_of(z, q);

    buf_printf(&path, "/%" STR_FMT, STR_ARG(place));
    return path;
}

static bool read_queue(struct zookeeper *z, const struct queued *q, struct String_vector *queue,
                       struct err *err)
{
    struct buf folder = folder_of(z, q);
    const int rc = zookeeper_call_children(z, folder.ptr, false, queue);
    const bool ok = rc == ZOK || rc == ZNONODE ||
                    zookeeper_session_fail(z, rc, "list", buf_str(&folder), err);

    buf_free(&folder);
    return ok;
}

static bool is_ours(const struct queued *q, const char *place)
{
    return place != NULL && str_has_prefix(str_from(place), buf_str(&q->guid));
}

/* Whether the server made it before its answer was lost. It has by now, or never will: our
 * server has caught up since, or does what we ask for in order. */
static bool find_place(struct zookeeper *z, struct queued *q, struct err *err)
{
    struct String_vector queue = {0};

    if (!read_queue(z, q, &queue, err))
        return false;
    for (int32_t i = 0; i < queue.count && q->place.len == 0; i++)
        if (is_ours(q, queue.data[i]))
            buf_append(&q->place, str_from(queue.data[i]));
    deallocate_String_vector(&queue);
    q->is_asked = false;
    return true;
}

/* Whoever may write it may delete the places in it. */
static bool check_folder(struct zookeeper *z, const struct queued *q, struct err *err)
{
    struct buf folder = folder_of(z, q);
    const bool ok = z->auth.len == 0 || zookeeper_root_check_rights(z, folder.ptr, err);

    buf_free(&folder);
    return ok;
}

static int create_place(struct zookeeper *z, const struct queued *q, struct buf *made)
{
    struct buf path = path_of(z, q, buf_str(&q->guid));
    const int rc = zookeeper_call_create(
        z, &(struct zookeeper_new){
               .path = path.ptr, .flags = ZOO_EPHEMERAL_SEQUENTIAL, .made = made});

    buf_free(&path);
    return rc;
}

static int create_folder(struct zookeeper *z, const struct queued *q)
{
    struct buf folder = folder_of(z, q);
    const int rc = zookeeper_call_create(
        z, &(struct zookeeper_new){.path = folder.ptr, .flags = ZOO_PERSISTENT});

    buf_free(&folder);
    return rc == ZNODEEXISTS ? ZOK : rc;
}

static bool make_place(struct zookeeper *z, struct queued *q, struct err *err)
{
    struct buf made = {0};
    int rc;

    if (!check_folder(z, q, err))
        return false;
    rc = create_place(z, q, &made);

    if (rc == ZNONODE) {
        rc = create_folder(z, q);
        if (rc == ZOK)
            rc = create_place(z, q, &made);
    }
    q->is_asked = rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT;
    if (rc == ZOK) {
        const char *slash = strrchr(made.ptr, '/');

        buf_append(&q->place, str_from(slash + 1));
    }
    buf_free(&made);
    if (rc == ZNONODE)
        return zookeeper_session_root_is_gone(z, err);
    return rc == ZOK ||
           zookeeper_session_fail(z, rc, "queue for the lock", buf_str(&q->name), err);
}

/* Watches it, too. */
static bool is_there(struct zookeeper *z, const struct queued *q, struct str place, bool *there,
                     struct err *err)
{
    struct buf path = path_of(z, q, place);
    struct Stat stat;
    struct str data;
    const int rc = zookeeper_call_get(z, path.ptr, &data, &stat);
    const bool ok = rc == ZOK || rc == ZNONODE ||
                    zookeeper_session_fail(z, rc, "read", buf_str(&path), err);

    *there = rc == ZOK;
    buf_free(&path);
    return ok;
}

/* The one that was queued last before us; NULL: we are the first. Names of no queue do not
 * count. */
static const char *find_before(const struct queued *q, const struct String_vector *queue)
{
    const char *found = NULL;
    int32_t ours = 0, latest = 0, number;

    zookeeper_name_sequence(buf_str(&q->place), &ours);
    for (int32_t i = 0; i < queue->count; i++) {
        if (queue->data[i] == NULL ||
            !zookeeper_name_sequence(str_from(queue->data[i]), &number) ||
            !zookeeper_name_before(number, ours))
            continue;
        if (found == NULL || zookeeper_name_before(latest, number)) {
            found = queue->data[i];
            latest = number;
        }
    }
    return found;
}

/* Settled: we hold it, or watch the one before us. */
static bool look_before(struct zookeeper *z, struct queued *q, bool *settled, struct err *err)
{
    struct String_vector queue = {0};
    bool ok = read_queue(z, q, &queue, err);
    const char *before = ok ? find_before(q, &queue) : NULL;

    if (ok && before != NULL)
        ok = is_there(z, q, str_from(before), settled, err);
    else if (ok)
        *settled = q->is_held = true;
    deallocate_String_vector(&queue);
    return ok;
}

/* We are in the queue. False: not now, or not any more, in which case the place is empty. */
static bool look(struct zookeeper *z, struct queued *q, struct err *err)
{
    const bool was_held = q->is_held;
    bool there, settled = was_held;

    if (!is_there(z, q, buf_str(&q->place), &there, err))
        return false;
    if (!there) {
        buf_clear(&q->place);
        return err_set(err, ERR_RETRY, "somebody deleted our place in the queue of a lock");
    }
    for (int i = 0; !settled && i < LOOKS_MAX; i++)
        if (!look_before(z, q, &settled, err))
            return false;
    q->is_unsettled = !settled;
    if (q->is_held && !was_held)
        zookeeper_notes_add(z, NOTE_GRANTED, buf_str(&q->name));
    return true;
}

static void lose(struct zookeeper *z, struct queued *q)
{
    if (!q->is_given_back)
        zookeeper_notes_add(z, NOTE_TAKEN, buf_str(&q->name));
    drop(map_remove(z->locks, buf_str(&q->name)));
}

/* True: it is gone and forgotten. */
static bool give_back(struct zookeeper *z, struct queued *q, struct err *err)
{
    struct buf path = path_of(z, q, buf_str(&q->place));

    lock_acquire(&z->lock);
    buf_clear(&z->released);
    buf_append(&z->released, buf_str(&path));
    lock_release(&z->lock);

    const int rc = q->place.len > 0 ? zookeeper_call_delete(z, path.ptr) : ZOK;
    const bool ok = rc == ZOK || rc == ZNONODE ||
                    zookeeper_session_fail(z, rc, "give back", buf_str(&path), err);

    buf_free(&path);
    if (ok)
        lose(z, q);
    return ok;
}

/* One step after another; the first that fails is done again with the next settling. */
static bool settle(struct zookeeper *z, struct queued *q, struct err *err)
{
    if (q->place.len == 0 && q->is_asked && !find_place(z, q, err))
        return false;
    if (q->is_given_back)
        return give_back(z, q, err);
    if (q->place.len == 0 && !make_place(z, q, err))
        return false;
    if (look(z, q, err))
        return true;
    if (q->place.len == 0) /* somebody deleted it */
        lose(z, q);
    return false;
}

/* Refused, with nothing of ours there: who asks again is told why. */
static bool is_hopeless(const struct queued *q, const struct err *err)
{
    return err->kind == ERR_REJECT && q->place.len == 0 && !q->is_asked && !q->is_given_back;
}

void zookeeper_locks_settle(struct zookeeper *z)
{
    struct err err;
    struct str name;
    void *value;

    for (size_t i = 0; z->locks != NULL && map_next(z->locks, &i, &name, &value);) {
        struct queued *q = value;

        if (q->is_unsettled && zookeeper_session_is_ready(z, &err) && !settle(z, q, &err) &&
            is_hopeless(q, &err))
            lose(z, q);
    }
}

void zookeeper_locks_unsettle(struct zookeeper *z, struct str name)
{
    struct queued *q = find(z, name);

    if (q != NULL)
        q->is_unsettled = true;
}

void zookeeper_locks_lose(struct zookeeper *z)
{
    struct str name;
    void *value;

    for (size_t i = 0; z->locks != NULL && map_next(z->locks, &i, &name, &value);)
        lose(z, value);
}

void zookeeper_locks_free(struct zookeeper *z)
{
    if (z->locks != NULL)
        map_free(z->locks, drop);
    z->locks = NULL;
}

bool zookeeper_locks_queue(struct zookeeper *z, struct str name, struct err *err)
{
    if (!zookeeper_name_check(name, err) || !zookeeper_session_is_ready(z, err))
        return false;

    struct queued *q = find(z, name);

    if (q != NULL && q->is_given_back && !settle(z, q, err))
        return false;
    if (find(z, name) != NULL)
        return true;
    if (settle(z, add(z, name), err) || err->kind != ERR_REJECT) {
        z->wake(z->wake_ctx); /* it may be granted */
        return true;
    }
    if (find(z, name) != NULL)
        drop(map_remove(z->locks, name));
    return false;
}

bool zookeeper_locks_hold(struct zookeeper *z, struct str name)
{
    const struct queued *q = find(z, name);
    struct err err;

    return q != NULL && q->is_held && !q->is_given_back && zookeeper_session_is_ready(z, &err);
}

bool zookeeper_locks_leave(struct zookeeper *z, struct str name, struct err *err)
{
    struct queued *q = find(z, name);

    zookeeper_notes_drop(z, NOTE_GRANTED, name);
    zookeeper_notes_drop(z, NOTE_TAKEN, name);
    if (q == NULL)
        return true;
    q->is_given_back = q->is_unsettled = true;
    q->is_held = false;
    return zookeeper_session_is_ready(z, err) && settle(z, q, err);
}
