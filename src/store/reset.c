#include "config.h"

#include "src/store/reset.h"

#include "src/base/failpoint.h"
#include "src/store/core.h"

/* Inside a transaction. */
static bool stop_tables(struct store *s, const struct topic_reset *r, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < r->n_stops; i++)
        ok = store_write_stop(s, &r->stops[i], err);
    for (size_t i = 0; ok && i < r->n_rebuilds; i++)
        ok = store_write_rebuild(s, &r->rebuilds[i], err);
    for (size_t i = 0; ok && i < r->n_builds; i++)
        ok = store_write_drop(s, &r->builds[i], err);
    for (size_t i = 0; ok && i < r->n_kept; i++)
        ok = store_write_history(s, &r->kept[i], STR("its topic was reset"), r->at_ms, err);
    return ok;
}

/* Inside a transaction. */
static bool drop_position(struct store *s, const struct topic_reset *r, struct err *err)
{
    return store_run(s, "DELETE FROM fan_out WHERE topic = ?", BINDS(TEXT(r->topic)), err) &&
           store_run(s, "DELETE FROM gone WHERE topic = ?", BINDS(TEXT(r->topic)), err) &&
           store_run(s, "DELETE FROM midnight WHERE topic = ?", BINDS(TEXT(r->topic)), err) &&
           store_run(s, "DELETE FROM checkpoint WHERE topic = ?", BINDS(TEXT(r->topic)), err) &&
           store_write_value(s, r->start.name, r->start.content, err);
}

bool store_reset_topic(struct store *s, const struct topic_reset *r, struct err *err)
{
    if (!store_begin_write(s, OF_TOPIC(r->topic), err))
        return false;

    bool ok = stop_tables(s, r, err);

    FAILPOINT(topic_stopped);
    ok = ok && drop_position(s, r, err);
    return store_end(s, ok, err);
}
