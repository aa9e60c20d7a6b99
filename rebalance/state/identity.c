#include "config.h"

#include "rebalance/state/parts.h"

#include "src/base/random.h"
#include "src/file/node_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Make a replication server id, high enough not to collide with one that a person chose. */
static uint32_t make_server_id(void)
{
    uint32_t id;

    random_bytes(&id, sizeof(id));
    return 0x60000000u | (id & 0x1fffffffu);
}

/* All nodes that share a store are one owner of its indexes. */
static bool load_owner(struct coordinator *co, struct err *err)
{
    char fresh[37];
    struct buf b = {0};

    node_uuid_make(fresh);

    bool ok = store_keep_value(co->opt.store, STR("owner"), str_from(fresh), &b, err);

    if (ok)
        snprintf(co->identity.owner, sizeof(co->identity.owner), "%s", b.ptr);
    buf_free(&b);
    return ok;
}

static bool load_server_id(struct coordinator *co, struct str topic, uint32_t *out,
                           struct err *err)
{
    struct buf name = {0}, b = {0};
    bool found;

    buf_printf(&name, "server_id/%" STR_FMT, STR_ARG(topic));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &b, &found, err);

    if (ok && found) {
        *out = (uint32_t)strtoul(b.ptr, NULL, 10);
    } else if (ok) {
        *out = make_server_id();
        buf_clear(&b);
        buf_printf(&b, "%" PRIu32, *out);
        ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&b), err);
    }
    buf_free(&b);
    buf_free(&name);
    return ok;
}

bool coordinator_replica_identity(struct coordinator *co, const struct topic_definition *d,
                                  struct replica_identity *out, struct err *err)
{
    out->server_id = d->server_id;
    if (out->server_id == 0 && !load_server_id(co, d->name, &out->server_id, err))
        return false;
    /* The node's uuid with the id as its last 8 digits. */
    snprintf(out->uuid, sizeof(out->uuid), "%.28s%08" PRIx32, co->identity.uuid,
             out->server_id);
    return true;
}

static void take_name(struct coordinator *co)
{
    struct identity *i = &co->identity;

    if (co->opt.node_name != NULL)
        snprintf(i->name, sizeof(i->name), "%s", co->opt.node_name);
    else if (gethostname(i->name, sizeof(i->name)) != 0)
        snprintf(i->name, sizeof(i->name), "%s", i->uuid);
    i->name[sizeof(i->name) - 1] = '\0';
    co->opt.node_name = NULL; /* was borrowed */
}

bool coordinator_load_identity(struct coordinator *co, struct err *err)
{
    if (co->opt.node != NULL)
        snprintf(co->identity.uuid, sizeof(co->identity.uuid), "%s", co->opt.node);
    else
        node_uuid_make(co->identity.uuid);
    co->opt.node = NULL; /* was borrowed */
    take_name(co);
    return load_owner(co, err);
}
