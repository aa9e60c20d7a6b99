#include "config.h"

#include "rebalance/admin/follow.h"

#include "rebalance/admin/apply.h"
#include "rebalance/admin/delivery_set.h"
#include "rebalance/version/pause.h"

#include "src/base/log.h"
#include "src/store/change.h"

/* The number is read before the load, so that a change during the load makes another one due.
 */
void coordinator_look_for_changes(struct coordinator *co)
{
    struct err err = {0};
    uint64_t now;

    if (!co->opt.is_shared)
        return;
    if (!store_changes(co->opt.store, &now, &err)) {
        log_debug("cannot tell what other nodes changed", KV("why", (const char *)err.msg));
        return;
    }
    if (now != co->changes) {
        co->changes = now;
        co->follows = true;
        coordinator_load_soon(co);
    }
}

void coordinator_catch_up(struct coordinator *co)
{
    struct err err = {0};

    coordinator_load_soon(co);
    lock_acquire(&co->admin_lock);
    if (!coordinator_take_stored(co, &err))
        log_debug("a command of another node may meet what was stored before",
                  KV("why", (const char *)err.msg));
    lock_release(&co->admin_lock);
}

void coordinator_follow_changes(struct coordinator *co)
{
    struct err err = {0};

    if (!co->follows)
        return;
    co->follows = false;
    coordinator_put_pauses(co);
    if (!coordinator_follow_settings(co, &err)) {
        log_failure(LOG_WARN, &err, "the delivery settings that another node set are not read");
        co->follows = true;
    }
}
