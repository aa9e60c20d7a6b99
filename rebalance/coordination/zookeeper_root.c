#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_parts.h"

/* A node that everybody may write protects nothing of what lies below it. */
bool zookeeper_root_check_rights(struct zookeeper *z, const char *path, struct err *err)
{
    bool is_open;
    const int rc = zookeeper_call_rights(z, path, &is_open);

    if (rc != ZOK && rc != ZNONODE)
        return zookeeper_session_fail(z, rc, "see the rights of", str_from(path), err);
    return !is_open || z->auth.len == 0 ||
           err_set(err, ERR_REJECT,
                   "everybody may write %s in ZooKeeper, though coordination_auth_file is set; "
                   "fix: stop all nodes and delete it, or let zkCli.sh do: addauth digest "
                   "USER:PASSWORD, then setAcl -R %s auth::cdrwa",
                   path, path);
}

/* Making what is there needs rights to its parent, so look first. */
static bool make_folder(struct zookeeper *z, const char *path, struct err *err)
{
    struct Stat stat;
    int rc = zookeeper_call_exists(z, path, false, &stat);

    if (rc == ZNONODE)
        rc = zookeeper_call_create(
            z, &(struct zookeeper_new){.path = path, .flags = ZOO_PERSISTENT});
    return rc == ZOK || rc == ZNODEEXISTS ||
           zookeeper_session_fail(z, rc, "make", str_from(path), err);
}

/* The root with all above it, one after another. */
static bool make_root(struct zookeeper *z, struct err *err)
{
    struct buf path = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < z->root.len; i++) {
        buf_append_char(&path, z->root.ptr[i]);
        if (i + 1 == z->root.len || z->root.ptr[i + 1] == '/')
            ok = make_folder(z, path.ptr, err);
    }
    ok = ok && zookeeper_root_check_rights(z, path.ptr, err);
    buf_free(&path);
    return ok;
}

static bool make_part(struct zookeeper *z, const char *folder, struct err *err)
{
    struct buf path = zookeeper_session_path(z, folder, STR(""));
    const bool ok =
        make_folder(z, path.ptr, err) && zookeeper_root_check_rights(z, path.ptr, err);

    buf_free(&path);
    return ok;
}

bool zookeeper_root_make(struct zookeeper *z, struct err *err)
{
    return make_root(z, err) && make_part(z, "nodes", err) && make_part(z, "locks", err);
}
