#include "config.h"

#include "rebalance/node.h"

#include "src/store_fan_out.h"

#include <inttypes.h>

/* What people see of changed rows that lead to very many documents (sync/fan_out.h). */

/* Under the lock. */
static struct fan_out_progress progress_of(struct coordinator *co, struct str topic,
                                           struct str alias, uint64_t number)
{
    const struct topic *t = node_topic(co, topic);

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

void node_append_fan_out(struct coordinator *co, struct json_writer *w,
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

static void append_sum(struct coordinator *co, struct json_writer *w, const char *id,
                       const struct fan_out_sum *s)
{
    struct fan_out_progress p;

    pthread_mutex_lock(&co->lock);
    p = progress_of(co, s->topic, s->index, s->version);
    pthread_mutex_unlock(&co->lock);
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
    node_put_time(w, STR("created"), s->created_ms);
    json_close_object(w);
}

bool node_list_fan_outs(struct coordinator *co, struct str name, struct json_writer *w,
                        size_t *n_listed, struct err *err)
{
    struct arena *a = arena_new();
    struct fan_out_sum *sums;
    size_t n;
    const bool ok = store_sum_fan_outs(co->opt.store, a, &sums, &n, err);

    for (size_t i = 0; ok && i < n; i++) {
        struct buf id = {0};

        buf_printf(&id, "fan-out-%" PRIu64, sums[i].run != 0 ? sums[i].run : sums[i].first_id);
        if (name.len == 0 || str_equal(name, buf_str(&id)) || str_equal(name, sums[i].index) ||
            str_equal(name, sums[i].table)) {
            ++*n_listed;
            append_sum(co, w, id.ptr, &sums[i]);
        }
        buf_free(&id);
    }
    arena_free(a);
    return ok;
}
