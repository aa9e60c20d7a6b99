#include "config.h"

#include "rebalance/cluster/zookeeper_name.h"
#include "rebalance/cluster/zookeeper_parts.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

/* A node as it was read last. */
struct known_node {
    struct buf id, data;
    int32_t version;
    uint64_t session;
    bool is_too_large;
    bool is_fresh; /* nothing changed since, and a change will be told */
    bool is_listed;
};

static void drop(void *value)
{
    struct known_node *n = value;

    buf_free(&n->id);
    buf_free(&n->data);
    free(n);
}

void zookeeper_nodes_forget(struct zookeeper *z)
{
    if (z->nodes != NULL)
        map_free(z->nodes, drop);
    z->nodes = NULL;
    z->has_children = false;
    free(z->listed);
    z->listed = NULL;
}

void zookeeper_nodes_expire(struct zookeeper *z, enum note_kind kind, struct str id)
{
    struct known_node *n = z->nodes != NULL ? map_find(z->nodes, id) : NULL;

    if (kind == NOTE_NODES)
        z->has_children = false;
    else if (n != NULL)
        n->is_fresh = false;
}

/* Some node of this id is there: ours, if an earlier answer was lost. */
static bool join_again(struct zookeeper *z, const char *path, struct str data, struct err *err)
{
    struct Stat stat;
    int rc = zoo_exists(z->client, path, 0, &stat);

    if (rc == ZNONODE)
        return err_set(err, ERR_RETRY, "%s just went from ZooKeeper: join again", path);
    if (rc != ZOK)
        return zookeeper_session_fail(z, rc, "look for", str_from(path), err);
    if (stat.ephemeralOwner == 0)
        return err_set(err, ERR_REJECT,
                       "%s in ZooKeeper is no node, as it belongs to no session: delete it",
                       path);
    if (stat.ephemeralOwner != zoo_client_id(z->client)->client_id)
        return err_set(err, ERR_RETRY,
                       "%s is still registered in ZooKeeper by session 0x%" PRIx64
                       ": by our last run, which ends within its time-out, or by another "
                       "daemon with a copy of our data folder",
                       path, (uint64_t)stat.ephemeralOwner);
    rc = zoo_set(z->client, path, data.ptr, (int)data.len, -1);
    return rc == ZOK || zookeeper_session_fail(z, rc, "write", str_from(path), err);
}

bool zookeeper_nodes_join(struct zookeeper *z, struct str id, struct str data, struct err *err)
{
    if (!zookeeper_name_check(id, err) || !zookeeper_name_check_data(data, err) ||
        !zookeeper_session_is_ready(z, err))
        return false;

    struct buf path = zookeeper_session_path(z, "nodes", id);
    const int rc = zoo_create(z->client, path.ptr, data.ptr, (int)data.len,
                              zookeeper_session_acl(z), ZOO_EPHEMERAL, NULL, 0);
    bool ok = rc == ZOK;

    if (rc == ZNODEEXISTS)
        ok = join_again(z, path.ptr, data, err);
    else if (rc == ZNONODE)
        ok = zookeeper_session_root_is_gone(z, err);
    else if (rc != ZOK)
        ok = zookeeper_session_fail(z, rc, "make", buf_str(&path), err);
    buf_free(&path);
    return ok;
}

static struct known_node *find_or_add(struct zookeeper *z, const char *id)
{
    struct known_node *n = map_find(z->nodes, str_from(id));

    if (n == NULL) {
        n = mem_alloc(1, sizeof(*n));
        buf_append(&n->id, str_from(id));
        map_put(z->nodes, buf_str(&n->id), n);
    }
    return n;
}

static void drop_unlisted(struct zookeeper *z)
{
    struct str id;
    void *value;

    for (size_t i = 0; map_next(z->nodes, &i, &id, &value);)
        if (!((struct known_node *)value)->is_listed)
            drop(map_remove(z->nodes, id));
}

static bool read_children(struct zookeeper *z, struct err *err)
{
    struct buf path = zookeeper_session_path(z, "nodes", STR(""));
    struct String_vector ids = {0};
    const int rc = zoo_wget_children(z->client, path.ptr, zookeeper_session_on_change, z, &ids);
    struct str id;
    void *value;

    z->has_children = rc == ZOK;
    if (rc == ZNONODE)
        zookeeper_session_root_is_gone(z, err);
    else if (rc != ZOK)
        zookeeper_session_fail(z, rc, "list", buf_str(&path), err);
    buf_free(&path);
    if (rc != ZOK)
        return false;
    for (size_t i = 0; map_next(z->nodes, &i, &id, &value);)
        ((struct known_node *)value)->is_listed = false;
    for (int32_t i = 0; i < ids.count && ids.data[i] != NULL; i++)
        find_or_add(z, ids.data[i])->is_listed = true;
    deallocate_String_vector(&ids);
    drop_unlisted(z);
    return true;
}

/* One that just went stays unlisted and unread: the watch of the list tells. */
static bool read_node(struct zookeeper *z, struct known_node *n, struct err *err)
{
    struct buf path = zookeeper_session_path(z, "nodes", buf_str(&n->id));
    struct Stat stat;
    struct str data;
    const int rc = zookeeper_session_read(z, path.ptr, &data, &stat);

    if (rc == ZOK) {
        n->is_too_large = stat.dataLength > COORDINATION_DATA_MAX;
        n->version = stat.version;
        n->session = (uint64_t)stat.ephemeralOwner;
        buf_clear(&n->data);
        buf_append(&n->data, n->is_too_large ? STR("") : data);
    } else if (rc != ZNONODE)
        zookeeper_session_fail(z, rc, "read", buf_str(&path), err);
    n->is_fresh = rc == ZOK;
    n->is_listed = rc != ZNONODE;
    buf_free(&path);
    return rc == ZOK || rc == ZNONODE;
}

static bool read_stale(struct zookeeper *z, struct err *err)
{
    struct str id;
    void *value;

    for (size_t i = 0; map_next(z->nodes, &i, &id, &value);) {
        struct known_node *n = value;

        if (!n->is_fresh && !read_node(z, n, err))
            return false;
    }
    drop_unlisted(z);
    return true;
}

static void list(struct zookeeper *z, size_t *n_nodes)
{
    struct str id;
    void *value;

    *n_nodes = 0;
    z->listed = mem_resize(z->listed, map_count(z->nodes) + 1, sizeof(*z->listed));
    for (size_t i = 0; map_next(z->nodes, &i, &id, &value);) {
        const struct known_node *n = value;

        z->listed[(*n_nodes)++] = (struct coordination_node){
            .id = buf_str(&n->id),
            .data = buf_str(&n->data),
            .version = n->version,
            .session = n->session,
            .is_too_large = n->is_too_large,
        };
    }
}

bool zookeeper_nodes_list(struct zookeeper *z, const struct coordination_node **nodes,
                          size_t *n, struct err *err)
{
    if (!zookeeper_session_is_ready(z, err))
        return false;
    if (z->nodes == NULL)
        z->nodes = map_new();
    if ((!z->has_children && !read_children(z, err)) || !read_stale(z, err))
        return false;
    list(z, n);
    *nodes = z->listed;
    return true;
}
