#include "config.h"

#include "rebalance/node.h"

#include "src/store_fan_out.h"

#include "src/base/clock.h"
#include "src/base/log.h"

#include <inttypes.h>

#define REASON \
    "changes of its topic were lost when the topic was reset to the server's present position"

static void answer(struct buf *json, const char *schema, struct str topic, uint64_t n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("topic"), topic);
    json_put_u64(&w, STR("tables"), n);
    json_close_object(&w);
}

/* Every version that searches use misses changes from here on, until it is built again. */
static bool stop_tables(struct coordinator *co, const struct definitions *d, struct str topic,
                        const char *reason, uint64_t *n, struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct buf fix = {0};

        if (definition_lead(d, t) != t || !node_shows_topic(d, t, topic) ||
            catalogue_version(c, table_index(t), STR("available")) == NULL)
            continue;
        buf_append(&fix, STR("millrace index create "));
        buf_append_word(&fix, table_name(t));
        ok = node_stop_table(co, table_name(t), reason, fix.ptr, err);
        (*n)++;
        buf_free(&fix);
    }
    __atomic_store_n(&co->routes_due, true, __ATOMIC_RELEASE); /* also of other topics' tables */
    node_catalogue_free(c);
    return ok;
}

static bool drop_position(struct coordinator *co, struct str topic, struct err *err)
{
    struct buf name = {0};

    buf_printf(&name, "start/%" STR_FMT, STR_ARG(topic));

    const bool ok = store_put_value(co->opt.store, buf_str(&name), STR("now"), err) &&
                    store_delete_checkpoint(co->opt.store, topic, err);

    buf_free(&name);
    return ok;
}

bool node_reset_topic(struct coordinator *co, const struct definitions *d, struct str topic,
                      const char *reason, uint64_t *n, struct err *err)
{
    struct topic *t = node_topic(co, topic);

    if (t != NULL)
        node_stop_topic(co, t);
    return stop_tables(co, d, topic, reason, n, err) && node_drop_builds(co, topic, err) &&
           store_delete_fan_outs(co->opt.store, topic, err) && drop_position(co, topic, err);
}

bool coordinator_topic_reset(struct coordinator *co, struct str topic, struct buf *json,
                             struct err *err)
{
    uint64_t n = 0;

    if (!node_begin(co, err))
        return false;

    struct definitions *d = node_definitions(co);
    bool ok = definitions_topic(d, topic) != NULL ||
              refuse(err, 404, "there is no topic %" STR_FMT, STR_ARG(topic));

    ok = ok && node_reset_topic(co, d, topic, REASON, &n, err);
    if (ok && co->delivery != NULL)
        node_sync_topics(co);
    if (ok)
        answer(json, "millrace/topic-reset/1", topic, n);
    definitions_unref(d);
    pthread_mutex_unlock(&co->doing);
    return ok;
}

bool coordinator_topic_resume(struct coordinator *co, struct str topic, struct buf *json,
                              struct err *err)
{
    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, topic);
    const bool ok = t != NULL && t->pipeline != NULL;

    if (ok)
        pipeline_retry(t->pipeline);
    pthread_mutex_unlock(&co->lock);
    if (!ok)
        return refuse(err, 404, "topic %" STR_FMT " does not run; fix: millrace status says why, "
                      "millrace topic list shows what is", STR_ARG(topic));
    if (co->delivery != NULL)
        delivery_probe(co->delivery);
    answer(json, "millrace/topic-resume/1", topic, 0);
    return true;
}
