#include "config.h"

#include "sync/source/server_switch.h"

#include "src/base/buf.h"
#include "sync/checkpoint/read_position.h"
#include "sync/checkpoint/saver.h"
#include "sync/server/known_server.h"
#include "sync/source/failover.h"

#include <stdlib.h>
#include <string.h>

/* What was read is known only here, so it is compared before the pipeline ends. */
static bool can_follow(struct server_switch *t, struct mysql_conn *c,
                       const struct server_info *info, struct err *err)
{
    struct saver_status saved;
    struct buf read = {0};
    char identity[IDENTITY_CAP];
    bool complete;

    (void)known_server_identity(t->known, identity, sizeof(identity));
    (void)read_position_get(t->reader, &read, &complete);
    saver_status(t->saver, &saved);

    const struct failover_from from = {.identity = identity,
                                       .read = buf_str(&read),
                                       .stored = str_from(saved.gtids),
                                       .anonymous = !complete};
    const bool ok = failover_check(c, info, &from, err) && saver_save(t->saver, err);

    free(saved.gtids);
    buf_free(&read);
    return ok;
}

bool server_switch_meet(struct server_switch *t, struct mysql_conn *c,
                        const struct server_info *info, struct err *err)
{
    if (known_server_meet(t->known, info))
        return true;
    if (!can_follow(t, c, info, err))
        return false;
    memcpy(t->identity, info->identity, sizeof(t->identity));
    __atomic_store_n(&t->done, true, __ATOMIC_RELEASE);
    return err_set(err, ERR_STOP, "continuing with another server");
}

const char *server_switch_to(const struct server_switch *t)
{
    return __atomic_load_n(&t->done, __ATOMIC_ACQUIRE) ? t->identity : NULL;
}
