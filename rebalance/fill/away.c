#include "config.h"

#include "rebalance/fill/away.h"

#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/position/gtid_set.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"

#include <stdio.h>
#include <stdlib.h>

void fill_point_fini(struct fill_point *p)
{
    buf_free(&p->topic);
    buf_free(&p->identity);
    buf_free(&p->gtids);
}

bool fill_point_take(struct fill_point *p, struct str topic, struct known_server *known,
                     struct read_position *reader)
{
    char identity[IDENTITY_CAP] = "";
    bool complete;

    buf_append(&p->topic, topic);
    (void)known_server_identity(known, identity, sizeof(identity));
    buf_append(&p->identity, str_from(identity));
    p->gtid = known_server_has_gtid(known);
    p->version = read_position_get(reader, &p->gtids, &complete);
    return p->gtid && complete && p->gtids.len > 0;
}

static bool set_position(struct away *a, const struct fill_point *p, struct err *err)
{
    struct gtid_set *gtids = NULL;

    if (p->gtids.len == 0)
        return true;
    if (!gtid_set_parse(buf_str(&p->gtids), &gtids, err))
        return err_wrap(err, "the GTIDs stored for other nodes");
    read_position_set_gtids(a->position, gtids);
    gtid_set_free(gtids);
    return true;
}

bool away_init(struct away *a, const char *topic, const struct fill_point *p, uint64_t version,
               struct server_access *server, struct err *err)
{
    struct server_info info = {.gtid = p->gtid};

    snprintf(info.identity, sizeof(info.identity), "%.*s", (int)p->identity.len,
             p->identity.len > 0 ? p->identity.ptr : "");
    *a = (struct away){.topic = mem_copy(topic),
                       .server = server_access_ref(server),
                       .known = known_server_new(""),
                       .position = read_position_new(version)};
    return (known_server_meet(a->known, &info) || /* the first that it meets */
            err_set(err, ERR_RETRY, "the server of topic %s is another one", a->topic)) &&
           set_position(a, p, err);
}

void away_fini(struct away *a)
{
    server_access_unref(a->server);
    known_server_free(a->known);
    read_position_free(a->position);
    free(a->topic);
    *a = (struct away){0};
}
