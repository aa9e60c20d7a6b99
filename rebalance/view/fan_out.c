#include "config.h"

#include "rebalance/view/fan_out.h"

#include "rebalance/state/parts.h"

#include "src/store/later/fan_out.h"

#include <inttypes.h>

/*
 * The progress of fan-outs, that is of changed rows with very many documents
 * (sync/related/fan_out/fan_out.h), and of documents that stay until cascades of foreign keys
 * are followed (sync/related/cascade/cascades.h).
 */

/* Needs the lock of the topics, or admin_lock. */
static struct fan_out_progress progress_of(struct coordinator *co, struct str topic,
                                           struct str alias, uint64_t number)
{
    const struct topic *t = topics_find(co->topics, topic);

    return t != NULL && t->pipeline != NULL ? pipeline_fan_out(t->pipeline, alias, number)
                                            : (struct fan_out_progress){0};
}

static void put_remaining(struct json_writer *w, const struct fan_out_progress *p)
{
    if (p->run != 0 && p->all_known)
        json_put_u64(w, STR("remaining"), p->known);
    else
        json_put_null(w, STR("remaining"));
}

void coordinator_append_fan_out(struct coordinator *co, struct json_writer *w,
                                const struct stored_version *v)
{
    const struct fan_out_progress p = v == NULL
                                          ? (struct fan_out_progress){0}
                                          : progress_of(co, v->topic, v->index, v->number);

    json_write_key(w, STR("fan_out"));
    if (p.rows == 0) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_u64(w, STR("rows"), p.rows);
    json_put_u64(w, STR("documents_done"), p.documents);
    put_remaining(w, &p);
    json_close_object(w);
}

void coordinator_append_cascades(struct coordinator *co, struct json_writer *w,
                                 const struct stored_version *v, struct str index)
{
    const struct topic *t = v == NULL ? NULL : topics_find(co->topics, v->topic);
    const size_t n =
        t == NULL || t->pipeline == NULL ? 0 : pipeline_gone_stay(t->pipeline, index);

    json_write_key(w, STR("cascades"));
    if (n == 0) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_u64(w, STR("documents"), n);
    json_close_object(w);
}

static void append_sum(struct coordinator *co, struct json_writer *w, const char *id,
                       const struct fan_out_sum *s)
{
    struct fan_out_progress p;

    lock_acquire(&co->topics->lock);
    p = progress_of(co, s->topic, s->index, s->version);
    lock_release(&co->topics->lock);
    if (p.run != s->run)
        p = (struct fan_out_progress){.documents = s->documents};
    json_open_object(w);
    json_put_cstr(w, STR("id"), id);
    json_put_cstr(w, STR("kind"), "fan_out");
    json_put_string(w, STR("index"), s->index);
    json_put_string(w, STR("table"), s->table);
    json_put_u64(w, STR("version"), s->version);
    json_put_cstr(w, STR("state"), s->run != 0 ? "running" : "init");
    json_put_cstr(w, STR("phase"), s->run != 0 ? "reading" : "waiting");
    json_put_u64(w, STR("rows"), s->jobs);
    json_put_u64(w, STR("documents_done"), p.documents);
    put_remaining(w, &p);
    json_put_cstr(w, STR("error"), "");
    coordinator_put_time(w, STR("created"), s->created_ms);
    json_close_object(w);
}

void coordinator_list_fan_outs(struct coordinator *co, const struct store_copy *stored,
                               struct str name, struct json_writer *w, size_t *n_listed)
{
    const struct fan_out_sum *sums = stored->fan_outs;

    for (size_t i = 0; i < stored->n_fan_outs; i++) {
        struct buf id = {0};

        buf_printf(&id, "fan-out-%" PRIu64, sums[i].run != 0 ? sums[i].run : sums[i].first_id);
        if (name.len == 0 || str_equal(name, buf_str(&id)) || str_equal(name, sums[i].index) ||
            str_equal(name, sums[i].table)) {
            ++*n_listed;
            append_sum(co, w, id.ptr, &sums[i]);
        }
        buf_free(&id);
    }
}
