#include "config.h"

#include "rebalance/admin/bucket_list.h"

#include "rebalance/cluster/cluster_ops.h"
#include "rebalance/cluster/name_set.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/fill/part.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/store/store.h"
#include "sync/document/key.h"

#include <string.h>

bool bucket_list_is_of(const struct stored_job *job, const struct stored_job *build)
{
    return str_equal(job->kind, STR(JOB_BUCKET)) && str_equal(build->kind, STR(JOB_INDEX)) &&
           job->version == build->version && str_equal(job->index, build->index);
}

void bucket_list_sum(const struct stored_job *jobs, size_t n, const struct stored_job *build,
                     struct bucket_sum *sum)
{
    *sum = (struct bucket_sum){.n = 0};
    for (size_t i = 0; i < n; i++)
        if (bucket_list_is_of(&jobs[i], build))
            bucket_sum_add(sum, &jobs[i]);
}

/* Each node once: there are few. */
static void put_node(struct json_writer *w, struct buf *seen, const struct stored_job *bucket)
{
    struct fill_bucket b;
    struct buf mark = {0};
    const bool known = bucket_read(bucket->parameters, &b);

    buf_printf(&mark, " %" STR_FMT " ", STR_ARG(buf_str(&b.node)));
    if (known && b.node.len > 0 &&
        (seen->len == 0 || memmem(seen->ptr, seen->len, mark.ptr, mark.len) == NULL)) {
        buf_append(seen, buf_str(&mark));
        json_write_string(w, buf_str(&b.node));
    }
    bucket_fini(&b);
    buf_free(&mark);
}

void bucket_list_put_sum(struct json_writer *w, const struct stored_job *jobs, size_t n,
                         const struct stored_job *build)
{
    struct bucket_sum sum;
    struct buf seen = {0};

    bucket_list_sum(jobs, n, build, &sum);
    json_put_u64(w, STR("buckets"), sum.n);
    json_put_u64(w, STR("buckets_done"), sum.n_done);
    json_put_u64(w, STR("nodes_limit"), job_parameters_read(build->parameters).nodes);
    json_write_key(w, STR("nodes"));
    json_open_array(w);
    for (size_t i = 0; i < n; i++)
        if (bucket_list_is_of(&jobs[i], build) && str_equal(jobs[i].state, STR(BUCKET_RUNNING)))
            put_node(w, &seen, &jobs[i]);
    json_close_array(w);
    buf_free(&seen);
}

/* "shop.orders 7,3": a table, and the values of its key. */
static void append_cursor(struct buf *out, struct str cursor)
{
    struct str part;

    for (size_t i = 0; key_next(&cursor, &part); i++) {
        if (i > 0)
            buf_append_char(out, i == 1 ? ' ' : ',');
        buf_append(out, part);
    }
}

/* cursor empty: one that has not begun, or that the caller may not see. */
static void put_cursor(struct json_writer *w, struct str name, struct str cursor)
{
    struct buf text = {0};

    append_cursor(&text, cursor);
    json_put_string(w, name, buf_str(&text));
    buf_free(&text);
}

/* "created", or "created mod 8 = 3". */
static void put_by(struct json_writer *w, const struct fill_bucket *b)
{
    struct buf text = {0};

    buf_append(&text, buf_str(&b->by));
    if (b->mod > 0)
        buf_printf(&text, " mod %u = %u", (unsigned)b->mod, (unsigned)b->rest);
    json_put_string(w, STR("by"), buf_str(&text));
    buf_free(&text);
}

/* "hash mod 3 = 1": a part's places are no keys of a table. */
static void put_part(struct json_writer *w, const struct fill_bucket *b)
{
    struct fill_part part;
    struct buf by = {0};

    if (part_read(buf_str(&b->part), &part) && part.mod > 1)
        buf_printf(
            &by, "%" STR_FMT " mod %u = %u",
            STR_ARG(part.bucket_column.len > 0 ? buf_str(&part.bucket_column) : STR("hash")),
            (unsigned)part.mod, (unsigned)part.rest);
    json_put_cstr(w, STR("cursor"), "");
    json_put_cstr(w, STR("until"), "");
    json_put_string(w, STR("by"), buf_str(&by));
    json_put_string(w, STR("delayed_table"), buf_str(&part.table));
    part_fini(&part);
    buf_free(&by);
}

/* What is not known is null, so that nobody reckons with it. */
static void put_known(struct json_writer *w, struct str name, int64_t value, bool is_known)
{
    if (is_known)
        json_put_i64(w, name, value);
    else
        json_put_null(w, name);
}

/* Its buckets follow one another. */
static void find_build(struct bucket_lister *l, const struct stored_job *bucket)
{
    if (l->build != NULL && bucket_list_is_of(bucket, l->build))
        return;
    l->build = NULL;
    l->sum = (struct bucket_sum){.n = 0};
    for (size_t i = 0; i < l->n && l->build == NULL; i++)
        if (bucket_list_is_of(bucket, &l->jobs[i])) {
            l->build = &l->jobs[i];
            bucket_list_sum(l->jobs, l->n, l->build, &l->sum);
        }
}

static void put_progress(struct json_writer *w, struct bucket_lister *l,
                         const struct stored_job *bucket)
{
    struct bucket_progress p;

    find_build(l, bucket);
    p = bucket_progress(bucket, &l->sum, l->build == NULL ? 0 : l->build->rows_total);
    json_put_u64(w, STR("rows_done"), bucket->rows_done);
    put_known(w, STR("rows_total"), (int64_t)p.total,
              p.total > 0 || str_equal(bucket->state, STR(BUCKET_DONE)));
    put_known(w, STR("rate"), (int64_t)p.rate, p.rate > 0);
    put_known(w, STR("remaining_seconds"), p.remaining_s, p.remaining_s >= 0);
}

/* Whether the node that worked on it lives no more, as far as this one knows. */
static bool is_left(const struct bucket_lister *l, const struct stored_job *bucket,
                    const struct fill_bucket *b)
{
    return str_equal(bucket->state, STR(BUCKET_RUNNING)) && l->cluster->is_connected &&
           l->cluster->live.n > 0 && !name_set_has(&l->cluster->live, buf_str(&b->node));
}

static struct str find_wait(const struct bucket_lister *l, const struct stored_job *bucket,
                            const struct fill_bucket *b)
{
    if (is_left(l, bucket, b))
        return STR("a node that has room for it, as its own is gone");
    if (bucket->error.len > 0 || !str_equal(bucket->state, STR(BUCKET_INIT)))
        return str_equal(bucket->state, STR(BUCKET_ERROR)) ? STR("") : bucket->error;
    return STR("a node that has room for it");
}

void bucket_list_put(struct json_writer *w, struct bucket_lister *l,
                     const struct stored_job *bucket)
{
    struct fill_bucket b;
    const bool known = bucket_read(bucket->parameters, &b);
    const bool runs = str_equal(bucket->state, STR(BUCKET_RUNNING)) && !is_left(l, bucket, &b);

    json_put_u64(w, STR("bucket"), bucket->bucket + (b.part.len == 0));
    json_put_u64(w, STR("buckets"), bucket->buckets);
    json_put_string(w, STR("node"), known ? buf_str(&b.node) : STR(""));
    if (b.part.len > 0) {
        put_part(w, &b);
    } else {
        put_cursor(w, STR("cursor"), l->sees_rows ? bucket->cursor : STR(""));
        put_cursor(w, STR("until"), known && l->sees_rows ? buf_str(&b.until) : STR(""));
        put_by(w, &b);
    }
    json_put_cstr(w, STR("phase"), runs ? "filling" : "waiting");
    put_progress(w, l, bucket);
    json_put_string(w, STR("waits_for"), find_wait(l, bucket, &b));
    json_put_cstr(w, STR("fix"), "");
    bucket_fini(&b);
}
