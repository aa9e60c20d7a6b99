#include "config.h"

#include "sync/checkpoint/dump_watch.h"

#include "sync/server/server_info.h"

#include <stddef.h>

#define STUCK_MS 15000 /* a dump that is merely slow yields something within this time */
#define GONE_MS  3000

const char *dump_watch_look(struct dump_watch *w, const struct log_backlog *backlog,
                            uint64_t read, bool waits, int64_t now_ms)
{
    const bool is_behind = read == w->read && waits && !(backlog->found && backlog->bytes == 0);

    if (!is_behind || !w->is_doubted)
        w->since_ms = now_ms;
    w->read = read;
    w->is_doubted = is_behind;
    if (now_ms - w->since_ms <= (backlog->found ? STUCK_MS : GONE_MS))
        return NULL;
    w->since_ms = now_ms;
    return backlog->found ? "the server's log has grown, but its dump sends nothing"
                          : "the server's log does not hold the position that was read";
}
