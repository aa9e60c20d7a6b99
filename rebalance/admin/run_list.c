#include "config.h"

#include "rebalance/admin/run_list.h"

#include "rebalance/delayed/runs.h"
#include "rebalance/fill/job.h"
#include "rebalance/state/parts.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/store/later/snapshot.h"
#include "src/store/store.h"

#include <inttypes.h>

/* At the pace of the whole run so far. */
static double rate_of(const struct snapshot_run *r)
{
    const int64_t ms = r->updated_ms - r->created_ms;

    return ms > 0 ? (double)r->n_done * 1000 / (double)ms : 0;
}

static void put_run(struct coordinator *co, struct json_writer *w, struct str id,
                    const struct snapshot_run *r)
{
    const struct job_pace pace = {.rate = rate_of(r)};
    const int64_t left = job_remaining_s(&pace, r->n_done, r->n_all);
    struct buf why = {0};

    coordinator_append_delayed_why(co, r->topic, &why);
    json_open_object(w);
    json_put_string(w, STR("id"), id);
    json_put_cstr(w, STR("kind"), "delayed");
    json_put_cstr(w, STR("index"), "");
    json_put_string(w, STR("table"), r->table);
    json_put_string(w, STR("topic"), r->topic);
    json_put_u64(w, STR("version"), 0);
    json_put_cstr(w, STR("state"), "running");
    json_put_cstr(w, STR("phase"), r->n_done < r->n_all ? "snapshots" : "finishing");
    json_put_u64(w, STR("rows_done"), job_shown_done(r->n_done, r->n_all));
    json_put_u64(w, STR("rows_total"), r->n_all);
    json_put_double(w, STR("rate"), (double)(int64_t)pace.rate);
    if (left >= 0)
        json_put_i64(w, STR("remaining_seconds"), left);
    else
        json_put_null(w, STR("remaining_seconds"));
    json_put_string(w, STR("waits_for"), buf_str(&why));
    json_put_cstr(w, STR("fix"), "");
    json_put_cstr(w, STR("error"), "");
    coordinator_put_time(w, STR("created"), r->created_ms);
    json_close_object(w);
    buf_free(&why);
}

/* Appends its id. */
static bool is_named(struct buf *id, const struct definitions *d, const struct snapshot_run *r,
                     struct str name)
{
    buf_printf(id, "delayed-%" PRIu64, r->id);
    if (str_equal(name, buf_str(id)) || str_equal(name, r->topic))
        return true;
    if (r->table.len > 0)
        return str_equal(name, r->table);

    /* It has those of all delayed tables of its topic. */
    const struct table_definition *t = definitions_table(d, name);
    const struct topic_definition *topic = definitions_topic_of(d, name);

    return t != NULL && t->delayed && topic != NULL && str_equal(topic->name, r->topic);
}

static bool has_part(const struct catalogue *c, const struct snapshot_run *r,
                     const struct stored_job *job)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (c->versions[i].number == job->version &&
            str_equal(c->versions[i].index, job->index))
            return str_equal(c->versions[i].topic, r->topic);
    return false;
}

bool run_list_has(const struct definitions *d, const struct catalogue *c,
                  const struct store_copy *stored, struct str name,
                  const struct stored_job *job)
{
    bool has = false;

    if (name.len == 0 || !str_equal(job->kind, STR(JOB_PART)))
        return false;
    for (size_t i = 0; !has && i < stored->n_runs; i++) {
        struct buf id = {0};

        has = is_named(&id, d, &stored->runs[i], name) && has_part(c, &stored->runs[i], job);
        buf_free(&id);
    }
    return has;
}

void coordinator_list_runs(struct coordinator *co, const struct store_copy *stored,
                           struct str name, struct json_writer *w, size_t *n_listed)
{
    struct definitions *d = coordinator_definitions(co);

    for (size_t i = 0; i < stored->n_runs; i++) {
        const struct snapshot_run *r = &stored->runs[i];
        struct buf id = {0};

        if (is_named(&id, d, r, name) || name.len == 0) {
            ++*n_listed;
            put_run(co, w, buf_str(&id), r);
        }
        buf_free(&id);
    }
    definitions_unref(d);
}
