#include "config.h"

#include "sync/routing/shapes_store.h"

#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/store/store.h"
#include "sync/routing/shapes.h"

struct shapes *shapes_store_load(struct store *store, const char *topic, uint64_t start,
                                 uint64_t before)
{
    struct shapes *s = shapes_new();
    struct buf name = {0}, json = {0};
    struct err err = {0};
    bool found = false;

    buf_printf(&name, "shapes/%s", topic);
    if (!store_get_value(store, buf_str(&name), &json, &found, &err) ||
        (found && !shapes_parse(s, buf_str(&json), start, before, &err)))
        log_failure(LOG_WARN, &err, "reading the shapes of tables from the server again",
                    KV("topic", topic));
    else if (before != 0 && !shapes_store_save(store, topic, s, &err))
        log_failure(LOG_WARN, &err, "the next start moves the shapes of tables again",
                    KV("topic", topic));
    buf_free(&name);
    buf_free(&json);
    return s;
}

bool shapes_store_save(struct store *store, const char *topic, const struct shapes *s,
                       struct err *err)
{
    struct buf name = {0}, json = {0};

    shapes_format(s, &json);
    buf_printf(&name, "shapes/%s", topic);

    const bool ok = store_put_value(store, buf_str(&name), buf_str(&json), err);

    FAILPOINT(shapes_kept);
    buf_free(&name);
    buf_free(&json);
    return ok;
}
