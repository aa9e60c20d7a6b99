#include "config.h"

#include "sync/server/known_server.h"

#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known_server {
    struct lock lock;

    /* All guarded by lock. */
    char identity[IDENTITY_CAP];
    bool gtid;
    bool ordered; /* it commits in log order */
};

struct known_server *known_server_new(const char *identity)
{
    struct known_server *k = mem_alloc(1, sizeof(*k));

    lock_init(&k->lock, LOCK_private);
    snprintf(k->identity, sizeof(k->identity), "%s", identity);
    return k;
}

void known_server_free(struct known_server *k)
{
    if (k == NULL)
        return;
    lock_fini(&k->lock);
    free(k);
}

bool known_server_meet(struct known_server *k, const struct server_info *info)
{
    lock_acquire(&k->lock);

    const bool same = k->identity[0] == '\0' || strcmp(k->identity, info->identity) == 0;

    if (same) {
        snprintf(k->identity, sizeof(k->identity), "%s", info->identity);
        k->gtid = info->gtid;
        k->ordered = info->commits_in_order;
    }
    lock_release(&k->lock);
    return same;
}

bool known_server_open(struct known_server *k, const struct mysql_options *at,
                       struct mysql_conn **out, struct err *err)
{
    char identity[IDENTITY_CAP];

    if (!mysql_conn_open(out, at, err))
        return false;
    if (!known_server_identity(k, identity, sizeof(identity)) ||
        server_identity_is(*out, identity, err))
        return true;
    mysql_conn_close(*out);
    *out = NULL;
    return false;
}

bool known_server_identity(struct known_server *k, char *out, size_t cap)
{
    lock_acquire(&k->lock);
    snprintf(out, cap, "%s", k->identity);
    lock_release(&k->lock);
    return out[0] != '\0';
}

bool known_server_has_gtid(struct known_server *k)
{
    lock_acquire(&k->lock);

    const bool gtid = k->gtid;

    lock_release(&k->lock);
    return gtid;
}

bool known_server_needs_commit_waits(struct known_server *k)
{
    lock_acquire(&k->lock);

    const bool needed = !k->gtid && k->ordered;

    lock_release(&k->lock);
    return needed;
}
