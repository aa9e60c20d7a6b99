#include "config.h"

#include "rebalance/version/settings.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/fields.h"

#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/definition/export.h"
#include "sync/mapping/settings.h"

#include <stdlib.h>

/* Under admin_lock. */
struct settings_sync {
    bool due;       /* indexes may lack settings of their definitions */
    struct err why; /* the last reported problem with them */
};

struct settings_sync *settings_sync_new(void)
{
    return mem_alloc(1, sizeof(struct settings_sync));
}

void settings_sync_free(struct settings_sync *s)
{
    free(s);
}

void coordinator_settings_due(struct coordinator *co)
{
    co->settings_sync->due = true;
}

/* Store the settings that the version has now, so that they are not put again. */
static bool remember(struct coordinator *co, const struct stored_version *v,
                     const struct definitions *d, const struct table_definition *t,
                     struct str settings, struct err *err)
{
    struct table_definition now = *t;
    struct buf json = {0};

    now.settings_json = settings;
    coordinator_append_version_json(d, definition_lead(d, t), &now, &json);

    const struct version_name name = {v->index, v->number};
    const bool ok = store_set_version_definition(co->opt.store, &name, buf_str(&json), err) &&
                    coordinator_refresh(co, err);

    buf_free(&json);
    return ok;
}

/* Apply the settings of `now` to the index of v, which was built with those of t. */
static bool bring(struct coordinator *co, const struct stored_version *v,
                  const struct definitions *d, const struct table_definition *t,
                  const struct table_definition *now, struct err *err)
{
    struct buf name = {0}, json = {0}, then = {0};
    bool ok = true;

    coordinator_index_name(&name, v->index, v->number);
    if (mapping_settings_changed(t, now, &json, &then)) {
        ok = search_put_settings(co->opt.search, buf_str(&name), buf_str(&json), err) &&
             remember(co, v, d, t, buf_str(&then), err);
        if (ok) {
            log_info("index settings changed", KV("index", buf_str(&name)));
            coordinator_log(co, table_name(now), v->index, v->number, "settings", json.ptr);
        } else {
            err_wrap(err, "index %s does not have its new settings yet", name.ptr);
        }
    }
    buf_free(&name);
    buf_free(&json);
    buf_free(&then);
    return ok;
}

static bool settle(struct coordinator *co, const struct definitions *now,
                   const struct stored_version *v, struct err *err)
{
    const struct table_definition *then = definition_lead_of(now, v->index), *t;
    struct definitions *d = NULL;
    bool ok = true;

    if (then == NULL || !str_equal(v->state, STR("available")))
        return true;
    ok = coordinator_version_definitions(co, v, &d, &t, err) &&
         (!str_equal(table_name(t), table_name(then)) ||
          (bring(co, v, d, definition_settings(d, t), definition_settings(now, then), err) &&
           coordinator_bring_fields(co, v, d, now, then, err)));
    definitions_unref(d);
    return ok;
}

/* Logs each failure once, however often it is retried. */
static void tell(struct coordinator *co, const struct err *err, struct problems *problems)
{
    if (problems != NULL)
        problems_add(problems, SEVERITY_WARNING, (struct place){0}, "%s%s", err->msg,
                     err->kind == ERR_RETRY ? "; Millrace retries by itself" : "");
    else if (strcmp(co->settings_sync->why.msg, err->msg) != 0)
        log_failure(LOG_WARN, err, "could not change index settings");
    co->settings_sync->why = *err;
}

void coordinator_sync_settings(struct coordinator *co, struct problems *problems)
{
    struct definitions *now;
    struct catalogue *c;

    if (!co->settings_sync->due)
        return;
    co->settings_sync->due = false;
    now = coordinator_definitions(co);
    c = coordinator_catalogue(co);
    for (size_t i = 0; i < c->n_versions; i++) {
        struct err err = {0};

        if (!coordinator_owns(co, c->versions[i].topic) ||
            settle(co, now, &c->versions[i], &err) || err.kind == ERR_STOP)
            continue; /* its topic's owner puts them: we do, if we get the topic back */
        tell(co, &err, problems);
        co->settings_sync->due = co->settings_sync->due || err.kind == ERR_RETRY;
    }
    catalogue_unref(c);
    definitions_unref(now);
}
