#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_name.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/file/node_file.h"

#include <inttypes.h>
#include <stdlib.h>

static void drop_list(struct zookeeper *z)
{
    deallocate_String_vector(&z->children);
    z->children = (struct String_vector){0};
    free(z->ids);
    z->ids = NULL;
}

void zookeeper_nodes_forget(struct zookeeper *z)
{
    drop_list(z);
    if (z->foreign != NULL)
        map_free(z->foreign, NULL);
    z->foreign = NULL;
}

static bool is_foreign(const struct zookeeper *z, struct str id)
{
    return z->foreign != NULL && map_find(z->foreign, id) != NULL;
}

/* No session ends it. A list does not tell that, so this was seen only now. */
static void leave_out(struct zookeeper *z, struct str id)
{
    if (is_foreign(z, id))
        return;
    if (z->foreign == NULL)
        z->foreign = map_new();
    map_put(z->foreign, id, z);
    zookeeper_notes_add(z, NOTE_NODES, STR(""));
    z->wake(z->wake_ctx);
}

bool zookeeper_nodes_look_again(struct zookeeper *z, struct str id)
{
    if (!is_foreign(z, id))
        return false;
    map_remove(z->foreign, id);
    zookeeper_notes_add(z, NOTE_NODES, STR(""));
    return true;
}

/* Some node of this id is there: ours, if an earlier answer was lost. */
static bool join_again(struct zookeeper *z, const char *path, struct str data, struct err *err)
{
    struct Stat stat;
    int rc = zookeeper_call_exists(z, path, false, &stat);

    if (rc == ZNONODE)
        return err_set(err, ERR_RETRY, "%s just went from ZooKeeper: join again", path);
    if (rc != ZOK)
        return zookeeper_session_fail(z, rc, "look for", str_from(path), err);
    if (stat.ephemeralOwner == 0)
        return err_set(
            err, ERR_REJECT,
            "%s in ZooKeeper is no node, as it belongs to no session; fix: delete it", path);
    if (stat.ephemeralOwner != zoo_client_id(z->client)->client_id)
        return err_set(err, ERR_RETRY,
                       "%s is registered in ZooKeeper by session 0x%" PRIx64
                       ": that of our last run, which ends within its time-out, or, if it "
                       "stays, of another daemon with a copy of our data folder; fix: stop the "
                       "one that has the copy, and delete the file node in its data folder, so "
                       "that it gets an id of its own",
                       path, (uint64_t)stat.ephemeralOwner);
    rc = zookeeper_call_set(z, path, data, -1);
    return rc == ZOK || zookeeper_session_fail(z, rc, "write", str_from(path), err);
}

bool zookeeper_nodes_join(struct zookeeper *z, struct str id, struct str data, struct err *err)
{
    if (!zookeeper_name_check(id, err) || !zookeeper_name_check_data(data, err) ||
        !zookeeper_session_is_ready(z, err))
        return false;

    struct buf path = zookeeper_session_path(z, "nodes", id);
    const int rc = zookeeper_call_create(
        z, &(struct zookeeper_new){.path = path.ptr, .data = data, .flags = ZOO_EPHEMERAL});
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

bool zookeeper_nodes_list(struct zookeeper *z, const struct str **ids, size_t *n,
                          struct err *err)
{
    if (!zookeeper_session_is_ready(z, err))
        return false;
    drop_list(z);

    struct buf path = zookeeper_session_path(z, "nodes", STR(""));
    const int rc = zookeeper_call_children(z, path.ptr, true, &z->children);
    const bool ok = rc == ZOK || (rc == ZNONODE ? zookeeper_session_root_is_gone(z, err)
                                                : zookeeper_session_fail(z, rc, "list",
                                                                         buf_str(&path), err));

    buf_free(&path);
    if (!ok)
        return false;
    z->ids = mem_alloc((size_t)z->children.count + 1, sizeof(*z->ids));
    *n = 0;
    for (int32_t i = 0; i < z->children.count; i++) {
        const struct str id = str_from(z->children.data[i]);

        if (node_uuid_is(id) && !is_foreign(z, id))
            z->ids[(*n)++] = id;
    }
    *ids = z->ids;
    return true;
}

bool zookeeper_nodes_read(struct zookeeper *z, struct str id, struct coordination_node *out,
                          bool *found, struct err *err)
{
    if (!zookeeper_name_check(id, err) || !zookeeper_session_is_ready(z, err))
        return false;

    struct buf path = zookeeper_session_path(z, "nodes", id);
    struct Stat stat;
    struct str data;
    const int rc = zookeeper_call_get(z, path.ptr, &data, &stat);

    *found = rc == ZOK && stat.ephemeralOwner != 0;
    if (rc == ZOK && !*found) {
        leave_out(z, id);
    } else if (rc == ZOK) {
        const bool is_too_large = stat.dataLength > COORDINATION_DATA_MAX;

        *out = (struct coordination_node){.data = is_too_large ? STR("") : data,
                                          .version = stat.version,
                                          .is_too_large = is_too_large,
                                          .session = (uint64_t)stat.ephemeralOwner};
    } else if (rc != ZNONODE) {
        zookeeper_session_fail(z, rc, "read", buf_str(&path), err);
    }
    buf_free(&path);
    return rc == ZOK || rc == ZNONODE;
}
