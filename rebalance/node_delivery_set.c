#include "config.h"

#include "rebalance/node.h"

#include "rebalance/delivery_values.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/json.h"

#define STORED STR("delivery/settings")

/* ---- what was set before the start ---- */

static bool load_chosen(struct coordinator *co, struct delivery_values *v, struct err *err)
{
    struct delivery_settings together;
    struct buf json = {0};
    bool found;
    bool ok = store_get_value(co->opt.store, STORED, &json, &found, err) &&
              (!found || delivery_values_load_chosen(v, buf_str(&json), err)) &&
              delivery_values_settings(v, &together, err);

    buf_free(&json);
    return ok;
}

/* What does not fit the configuration any more is left aside, not in the way of the start. */
bool node_load_delivery_values(struct coordinator *co, struct err *err)
{
    struct delivery_values *v = co->opt.values == NULL
                                    ? delivery_values_new()
                                    : delivery_values_copy(co->opt.values);

    co->values = v;
    co->opt.values = NULL; /* was borrowed */
    if (load_chosen(co, v, err))
        return true;
    if (err->kind != ERR_REJECT)
        return err_wrap(err, "reading the delivery settings");
    delivery_values_reset(v);
    log_failure(LOG_ERROR, err,
                "the delivery settings that were set at run time do not fit the configuration "
                "and are left aside; set them again, or forget them with `millrace config "
                "delivery set --reset`");
    return true;
}

bool node_delivery_settings(struct coordinator *co, struct delivery_settings *out,
                            struct err *err)
{
    pthread_mutex_lock(&co->setting);

    const bool ok = delivery_values_settings(co->values, out, err);

    pthread_mutex_unlock(&co->setting);
    return ok;
}

void node_put_delivery_settings(struct coordinator *co, struct json_writer *w)
{
    struct buf items = {0};

    pthread_mutex_lock(&co->setting);
    delivery_values_append_json(co->values, NULL, (struct str){0}, &items);
    pthread_mutex_unlock(&co->setting);
    json_write_raw(w, buf_str(&items));
    buf_free(&items);
}

/* ---- reading and changing them ---- */

static void put_answer(struct buf *json, const struct delivery_values *v,
                       const struct delivery_values *before, struct str name)
{
    struct json_writer w = {.out = json};
    struct buf items = {0};

    delivery_values_append_json(v, before, name, &items);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/delivery-settings/1");
    json_put_raw(&w, STR("items"), buf_str(&items));
    json_close_object(&w);
    buf_free(&items);
}

bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err)
{
    struct delivery_values *as_is = delivery_values_new();
    bool ok;

    /* Asking for its configured value does nothing, but there must be such a name. */
    ok = name.len == 0 || delivery_values_choose(as_is, name, (struct str){0}, err);
    delivery_values_free(as_is);
    if (!ok) {
        err->origin = "http";
        err->code = 404;
        return false;
    }
    pthread_mutex_lock(&co->setting);
    put_answer(json, co->values, NULL, name);
    pthread_mutex_unlock(&co->setting);
    return true;
}

int64_t coordinator_stop_ms(struct coordinator *co)
{
    struct delivery_settings s;
    struct err err;

    if (!node_delivery_settings(co, &s, &err) || !s.drain)
        return 0;
    return (int64_t)s.drain_timeout_ms + s.drain_cancel_timeout_ms;
}

static bool store_chosen(struct coordinator *co, const struct delivery_values *v,
                         struct err *err)
{
    struct buf json = {0};
    bool ok;

    delivery_values_append_chosen(v, &json);
    ok = store_put_value(co->opt.store, STORED, buf_str(&json), err) ||
         err_wrap(err, "nothing was set, the store did not take it");
    buf_free(&json);
    FAILPOINT(setting_stored);
    return ok;
}

static void log_change(const struct delivery_values *v, const struct delivery_values *before)
{
    struct buf items = {0};
    struct json_reader r;
    struct str item;

    delivery_values_append_json(v, before, (struct str){0}, &items);
    json_reader_init(&r, buf_str(&items));
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item)) {
            struct buf name = {0}, previous = {0}, value = {0}, origin = {0};

            json_find_text(item, "/name", &name);
            json_find_text(item, "/previous", &previous);
            json_find_text(item, "/value", &value);
            json_find_text(item, "/origin", &origin);
            log_info("a setting of delivery changed", KV("setting", buf_str(&name)),
                     KV("previous", buf_str(&previous)), KV("value", buf_str(&value)),
                     KV("origin", buf_str(&origin)));
            buf_free(&name);
            buf_free(&previous);
            buf_free(&value);
            buf_free(&origin);
        }
    buf_free(&items);
}

/* All of next counts from now on; what was there is returned.  Called with `setting` held. */
static struct delivery_values *put_in_force(struct coordinator *co,
                                            struct delivery_values *next,
                                            const struct delivery_settings *settings)
{
    struct delivery_values *before = co->values;
    struct delivery_settings were;
    struct err err;

    co->values = next;
    if (co->delivery != NULL && !delivery_set(co->delivery, settings, &were, &err))
        log_failure(LOG_ERROR, &err, "delivery did not take its settings");
    log_change(next, before);
    return before;
}

static bool choose_all(struct delivery_values *v, const struct setting_change *c, size_t n,
                       struct err *err)
{
    if (n == 0)
        delivery_values_reset(v);
    for (size_t i = 0; i < n; i++)
        if (!delivery_values_choose(v, c[i].name, c[i].value, err))
            return false;
    return true;
}

/* What a topic's own threads go by. */
static void tell_topics(struct coordinator *co)
{
    if (co->delivery == NULL)
        return;

    const struct delivery_settings s = delivery_get(co->delivery);

    pthread_mutex_lock(&co->lock);
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_set_reads(t->pipeline, s.loads_max, s.read_window_ms);
    pthread_mutex_unlock(&co->lock);
}

bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              struct buf *json, struct err *err)
{
    struct delivery_settings settings;
    struct delivery_values *next, *gone;

    pthread_mutex_lock(&co->setting);
    next = delivery_values_copy(co->values);
    gone = next;

    const bool ok = choose_all(next, c, n, err) &&
                    delivery_values_settings(next, &settings, err) &&
                    store_chosen(co, next, err);

    if (ok) {
        gone = put_in_force(co, next, &settings);
        put_answer(json, next, gone, (struct str){0});
    } else if (err->kind == ERR_REJECT) {
        err->origin = "http";
        err->code = 422;
    }
    delivery_values_free(gone);
    pthread_mutex_unlock(&co->setting);
    if (ok)
        tell_topics(co);
    return ok;
}

bool coordinator_configure(struct coordinator *co, const struct delivery_values *values,
                           struct err *err)
{
    struct delivery_settings settings;
    struct delivery_values *next, *gone;

    pthread_mutex_lock(&co->setting);
    next = delivery_values_copy(co->values);
    gone = next;
    delivery_values_configure_as(next, values);

    const bool ok = delivery_values_settings(next, &settings, err) ||
                    err_wrap(err, "with what was set at run time");

    if (ok)
        gone = put_in_force(co, next, &settings);
    delivery_values_free(gone);
    pthread_mutex_unlock(&co->setting);
    if (ok)
        tell_topics(co);
    return ok;
}
