#include "config.h"

#include "rebalance/coordination/zookeeper.h"

/* Without the client's library: what the callers find in place of zookeeper.c. */
bool zookeeper_open(const struct zookeeper_options *opt, struct coordination **out,
                    struct err *err)
{
    (void)opt;
    *out = NULL;
    return err_set(
        err, ERR_FATAL,
        "this program was built without ZooKeeper; fix: set coordination to embedded, or "
        "install libzookeeper-mt-dev and build it with --with-zookeeper=yes");
}

bool zookeeper_has_tls(void)
{
    return false;
}
