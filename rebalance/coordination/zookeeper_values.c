#include "config.h"

#include "rebalance/coordination/zookeeper_call.h"
#include "rebalance/coordination/zookeeper_name.h"
#include "rebalance/coordination/zookeeper_parts.h"

#include "src/base/map.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* A value as it was when its rights were seen to be good. */
struct checked {
    int64_t made;   /* the change that made it */
    int32_t rights; /* their version */
};

void zookeeper_values_forget(struct zookeeper *z)
{
    if (z->checked != NULL)
        map_free(z->checked, free);
    z->checked = NULL;
}

/* Who made it need not have our log-in, and may have made it before anybody had one. */
static bool check_rights(struct zookeeper *z, const char *path, const struct Stat *stat,
                         struct err *err)
{
    const struct str name = str_from(path);
    struct checked *c = z->checked != NULL ? map_find(z->checked, name) : NULL;

    if (z->auth.len == 0 ||
        (c != NULL && c->made == stat->czxid && c->rights == stat->aversion))
        return true;
    if (!zookeeper_root_check_rights(z, path, err))
        return false;
    if (z->checked == NULL)
        z->checked = map_new();
    if (c == NULL) {
        c = mem_alloc(1, sizeof(*c));
        map_put(z->checked, name, c);
    }
    *c = (struct checked){.made = stat->czxid, .rights = stat->aversion};
    return true;
}

static bool check_name(struct str name, struct err *err)
{
    if (str_equal(name, STR("nodes")) || str_equal(name, STR("locks")))
        return err_set(err, ERR_REJECT, "a value is not named nodes or locks");
    return zookeeper_name_check(name, err);
}

/* Not there: watches until somebody makes it. Again: somebody just did. */
static bool watch_absent(struct zookeeper *z, const char *path, bool *again, struct err *err)
{
    struct Stat stat;
    const int rc = zookeeper_call_exists(z, path, true, &stat);

    *again = rc == ZOK;
    return rc == ZOK || rc == ZNONODE ||
           zookeeper_session_fail(z, rc, "look for", str_from(path), err);
}

static bool read_path(struct zookeeper *z, const char *path, struct buf *data, int32_t *version,
                      struct err *err)
{
    bool again = false;
    struct Stat stat;
    struct str read;
    int rc;

    buf_clear(data);
    do {
        rc = zookeeper_call_get(z, path, &read, &stat);
        if (rc == ZNONODE && !watch_absent(z, path, &again, err))
            return false;
    } while (rc == ZNONODE && again);
    *version = rc == ZOK ? stat.version : COORDINATION_ABSENT;
    if (rc == ZNONODE)
        return true;
    if (rc != ZOK)
        return zookeeper_session_fail(z, rc, "read", str_from(path), err);
    if (!check_rights(z, path, &stat, err))
        return false;
    if (stat.dataLength > COORDINATION_DATA_MAX)
        return err_set(
            err, ERR_REJECT,
            "%s in ZooKeeper holds %d bytes, more than %d, which no node wrote; fix: "
            "find out who did, and delete it",
            path, stat.dataLength, COORDINATION_DATA_MAX);
    buf_append(data, read);
    return true;
}

bool zookeeper_values_read(struct zookeeper *z, struct str name, struct buf *data,
                           int32_t *version, struct err *err)
{
    if (!check_name(name, err) || !zookeeper_session_is_ready(z, err))
        return false;

    struct buf path = zookeeper_session_path(z, NULL, name);
    const bool ok = read_path(z, path.ptr, data, version, err);

    buf_free(&path);
    return ok;
}

static enum written judge(struct zookeeper *z, int rc, struct str path, struct err *err)
{
    switch (rc) {
    case ZOK: return WRITTEN_DONE;
    case ZBADVERSION:
    case ZNODEEXISTS:
        err_set(err, ERR_RETRY, "somebody wrote %" STR_FMT " in ZooKeeper meanwhile",
                STR_ARG(path));
        return WRITTEN_DIFFERS;
    case ZNONODE:
        err_set(err, ERR_RETRY, "%" STR_FMT " is not in ZooKeeper any more", STR_ARG(path));
        return WRITTEN_GONE;
    default: zookeeper_session_fail(z, rc, "write", path, err); return WRITTEN_FAILED;
    }
}

enum written zookeeper_values_write(struct zookeeper *z, const struct coordination_write *w,
                                    struct err *err)
{
    const bool is_node = w->what == COORDINATION_NODE;
    const bool makes = w->version == COORDINATION_ABSENT;
    const bool is_named =
        is_node ? zookeeper_name_check(w->name, err) : check_name(w->name, err);

    assert(!is_node || !makes); /* coordination_join() makes a node */
    if (!is_named || !zookeeper_name_check_data(w->data, err) ||
        !zookeeper_session_is_ready(z, err))
        return WRITTEN_FAILED;

    struct buf path = zookeeper_session_path(z, is_node ? "nodes" : NULL, w->name);
    const int rc =
        makes ? zookeeper_call_create(z, &(struct zookeeper_new){.path = path.ptr,
                                                                 .data = w->data,
                                                                 .flags = ZOO_PERSISTENT})
              : zookeeper_call_set(z, path.ptr, w->data, w->version);
    enum written written = WRITTEN_FAILED;

    if (rc == ZNONODE && makes)
        zookeeper_session_root_is_gone(z, err);
    else
        written = judge(z, rc, buf_str(&path), err);
    buf_free(&path);
    return written;
}
