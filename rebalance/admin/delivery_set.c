#include "config.h"

#include "rebalance/admin/delivery_set.h"

#include "rebalance/admin/audit.h"
#include "rebalance/admin/settings.h"
#include "rebalance/state/parts.h"

#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/config/configuration.h"
#include "src/format/json.h"

#include <stdlib.h>

#define STORED STR("delivery/settings")

struct live_settings *live_settings_new(const struct configuration *configured)
{
    struct live_settings *s = mem_alloc(1, sizeof(*s));

    lock_init(&s->changes, LOCK_settings_lock);
    lock_init(&s->lock, LOCK_private);
    s->in_force = configured == NULL ? configuration_new() : configuration_copy(configured);
    return s;
}

void live_settings_free(struct live_settings *s)
{
    if (s == NULL)
        return;
    configuration_free(s->in_force);
    lock_fini(&s->lock);
    lock_fini(&s->changes);
    free(s);
}

/* ---- settings made before the start ---- */

static bool load_chosen(struct coordinator *co, struct configuration *to, struct err *err)
{
    struct buf json = {0};
    bool found;
    const bool ok = store_get_value(co->opt.store, STORED, &json, &found, err) &&
                    (!found || configuration_load_chosen(to, buf_str(&json), err)) &&
                    configuration_check(to, err);

    buf_free(&json);
    return ok;
}

/*
 * Settings that no longer fit the configuration are ignored: they must not prevent the start.
 */
bool coordinator_load_settings(struct coordinator *co, struct err *err)
{
    if (load_chosen(co, co->settings->in_force, err))
        return true;
    if (err->kind != ERR_REJECT)
        return err_wrap(err, "reading the delivery settings");
    configuration_reset(co->settings->in_force);
    log_failure(LOG_ERROR, err,
                "the delivery settings set at run time do not fit the configuration and are "
                "ignored; set them again, or drop them with `millrace config delivery set "
                "--reset`");
    return true;
}

struct delivery_settings coordinator_configured_delivery(struct coordinator *co)
{
    lock_acquire(&co->settings->lock);

    const struct delivery_settings s = configuration_settings(co->settings->in_force)->delivery;

    lock_release(&co->settings->lock);
    return s;
}

void coordinator_configuration(struct coordinator *co, struct buf *json)
{
    lock_acquire(&co->settings->lock);
    configuration_append_json(co->settings->in_force, json);
    lock_release(&co->settings->lock);
}

void coordinator_put_delivery_settings(struct coordinator *co, struct json_writer *w)
{
    struct buf items = {0};

    lock_acquire(&co->settings->lock);
    configuration_append_run_time(co->settings->in_force, NULL, (struct str){0}, &items);
    lock_release(&co->settings->lock);
    json_write_raw(w, buf_str(&items));
    buf_free(&items);
}

/* ---- reading and changing them ---- */

static void put_answer(struct buf *json, const struct configuration *c,
                       const struct configuration *before, struct str name, bool dry_run)
{
    struct json_writer w = {.out = json};
    struct buf items = {0};

    configuration_append_run_time(c, before, name, &items);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delivery-settings/1");
    json_put_raw(&w, STR("items"), buf_str(&items));
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
    buf_free(&items);
}

bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err)
{
    struct configuration *as_is = configuration_new();
    bool ok;

    /* Resetting the name in a copy changes nothing, but fails if no setting has this name. */
    ok = name.len == 0 || configuration_choose(as_is, name, (struct str){0}, err);
    configuration_free(as_is);
    if (!ok) {
        err->origin = "http";
        err->code = 404;
        return false;
    }
    lock_acquire(&co->settings->lock);
    put_answer(json, co->settings->in_force, NULL, name, false);
    lock_release(&co->settings->lock);
    return true;
}

int64_t coordinator_stop_ms(struct coordinator *co)
{
    const struct delivery_settings s = coordinator_configured_delivery(co);

    return s.drain ? (int64_t)s.drain_timeout_ms + s.drain_cancel_timeout_ms : 0;
}

static bool store_chosen(struct coordinator *co, const struct configuration *c, struct err *err)
{
    struct buf json = {0};
    bool ok;

    configuration_append_chosen(c, &json);
    ok = store_put_value(co->opt.store, STORED, buf_str(&json), err) ||
         err_wrap(err, "nothing was set, because the store did not take it");
    buf_free(&json);
    FAILPOINT(setting_stored);
    return ok;
}

/* Put next into force.  Returns the previous configuration. */
static struct configuration *put_in_force(struct coordinator *co, struct configuration *next)
    NEEDS(co->settings->changes)
{
    struct configuration *before = co->settings->in_force;

    lock_acquire(&co->settings->lock);
    co->settings->in_force = next;
    lock_release(&co->settings->lock);
    if (co->delivery != NULL)
        delivery_set(co->delivery, &configuration_settings(next)->delivery);
    configuration_log_changes(next, before);
    return before;
}

static bool choose_all(struct configuration *to, const struct setting_change *c, size_t n,
                       struct err *err)
{
    if (n == 0)
        configuration_reset(to);
    for (size_t i = 0; i < n; i++)
        if (!configuration_choose(to, c[i].name, c[i].value, err))
            return false;
    return true;
}

/*
 * Pass on the settings that the topics' own threads use, and wake those of the coordinator,
 * whose deadlines follow from settings.
 */
static void tell_threads(struct coordinator *co)
{
    stop_nudge(&co->stop);
    if (co->delivery == NULL)
        return;

    const struct delivery_settings s = delivery_get(co->delivery);

    lock_acquire(&co->topics->lock);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL) {
            pipeline_set_reads(t->pipeline, s.loads_max, s.read_window_ms);
            pipeline_set_fan_out_share(t->pipeline, s.fan_out_share);
        }
    lock_release(&co->topics->lock);
}

bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              bool dry_run, struct buf *json, struct err *err)
{
    struct configuration *next, *gone;

    lock_acquire(&co->settings->changes);
    next = configuration_copy(co->settings->in_force);
    gone = next;

    const bool ok = choose_all(next, c, n, err) && configuration_check(next, err) &&
                    (dry_run || store_chosen(co, next, err));

    if (ok) {
        if (!dry_run)
            gone = put_in_force(co, next);
        put_answer(json, next, dry_run ? co->settings->in_force : gone, (struct str){0},
                   dry_run);
    } else if (err->kind == ERR_REJECT) {
        err->origin = "http";
        err->code = 422;
    }
    configuration_free(gone);
    lock_release(&co->settings->changes);
    if (ok && !dry_run)
        tell_threads(co);
    return ok;
}

bool coordinator_follow_settings(struct coordinator *co, struct err *err)
{
    struct configuration *next, *gone;

    lock_acquire(&co->settings->changes);
    next = configuration_copy(co->settings->in_force);
    gone = next;
    configuration_reset(next);

    const bool ok = load_chosen(co, next, err);

    if (ok)
        gone = put_in_force(co, next);
    configuration_free(gone);
    lock_release(&co->settings->changes);
    if (ok)
        tell_threads(co);
    return ok;
}

/* changed: [{"name","previous","value", ...}] */
static void note_reload(struct coordinator *co, struct str changed)
{
    struct json_writer w;
    struct buf answered = {0};

    if (str_equal(changed, STR("[]")))
        return;
    w = (struct json_writer){.out = &answered};
    json_open_object(&w);
    json_put_raw(&w, STR("items"), changed);
    json_close_object(&w);
    coordinator_note_audit(co, &(struct audit_entry){.who = STR("the configuration file"),
                                                     .what = STR("reload the configuration"),
                                                     .answered = buf_str(&answered)});
    buf_free(&answered);
}

bool coordinator_configure(struct coordinator *co, const struct configuration *c,
                           struct err *err)
{
    struct configuration *next, *gone;
    struct buf changed = {0};

    lock_acquire(&co->settings->changes);
    next = configuration_copy(co->settings->in_force);
    gone = next;
    configuration_take_configured(next, c);

    const bool ok =
        configuration_check(next, err) || err_wrap(err, "with the settings made at run time");

    if (ok) {
        gone = put_in_force(co, next);
        configuration_append_run_time(next, gone, STR(""), &changed);
    }
    configuration_free(gone);
    lock_release(&co->settings->changes);
    if (ok) {
        tell_threads(co);
        note_reload(co, buf_str(&changed));
    }
    buf_free(&changed);
    return ok;
}
