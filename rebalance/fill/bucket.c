#include "config.h"

#include "rebalance/fill/bucket.h"

#include "rebalance/fill/job.h"
#include "rebalance/fill/parameters.h"
#include "src/format/json.h"
#include "src/store/store.h"
#include "sync/document/key.h"

void bucket_fini(struct fill_bucket *b)
{
    buf_free(&b->until);
    buf_free(&b->by);
    buf_free(&b->index);
    buf_free(&b->node);
    buf_free(&b->part);
}

void bucket_append(struct buf *json, const struct fill_bucket *b)
{
    struct json_writer w = {.out = json};
    struct buf until = {0};

    buf_append_hex(&until, buf_str(&b->until));
    json_open_object(&w);
    if (b->mod > 0) {
        json_put_u64(&w, STR("mod"), b->mod);
        json_put_u64(&w, STR("rest"), b->rest);
    } else {
        json_put_string(&w, STR("until"), buf_str(&until));
    }
    json_put_string(&w, STR("by"), buf_str(&b->by));
    json_put_string(&w, STR("index"), buf_str(&b->index));
    json_put_string(&w, STR("node"), buf_str(&b->node));
    json_put_u64(&w, STR("dead"), b->dead);
    json_put_u64(&w, STR("rate"), b->rate);
    json_put_u64(&w, STR("lost_ms"), b->lost_ms);
    if (b->part.len > 0)
        json_put_raw(&w, STR("part"), buf_str(&b->part));
    json_close_object(&w);
    buf_free(&until);
}

/* All of it must be parts: a table, and none or more of a key. */
static bool is_cursor(struct str cursor)
{
    struct str part;

    while (cursor.len > 0)
        if (!key_next(&cursor, &part))
            return false;
    return true;
}

static bool read_mod(struct str json, struct fill_bucket *b)
{
    uint64_t mod = 0, rest = 0;

    if (!json_find_u64(json, "/mod", &mod) || !json_find_u64(json, "/rest", &rest) ||
        mod > BUCKETS_MAX || rest >= mod || b->by.len == 0)
        return false;
    b->mod = (uint32_t)mod;
    b->rest = (uint32_t)rest;
    return true;
}

static bool read_until(struct str json, struct fill_bucket *b)
{
    struct buf hex = {0};
    const bool ok = json_find_text(json, "/until", &hex) &&
                    buf_append_unhex(&b->until, buf_str(&hex)) && is_cursor(buf_str(&b->until));

    buf_free(&hex);
    return ok;
}

bool bucket_read(struct str json, struct fill_bucket *b)
{
    struct str part;

    *b = (struct fill_bucket){0};
    (void)json_find_text(json, "/by", &b->by);
    (void)json_find_text(json, "/index", &b->index);
    (void)json_find_text(json, "/node", &b->node);
    (void)json_find_u64(json, "/dead", &b->dead);
    (void)json_find_u64(json, "/rate", &b->rate);
    (void)json_find_u64(json, "/lost_ms", &b->lost_ms);
    if (json_find(json, "/part", &part))
        buf_append(&b->part, part);
    return read_mod(json, b) || read_until(json, b);
}

bool bucket_is_open(const struct stored_job *job)
{
    return str_equal(job->state, STR(BUCKET_INIT)) ||
           str_equal(job->state, STR(BUCKET_RUNNING));
}

/* What nobody fills has none, whatever was stored. */
static uint64_t rate_of(const struct stored_job *job)
{
    uint64_t rate = 0;

    if (str_equal(job->state, STR(BUCKET_RUNNING)) && job->error.len == 0)
        (void)json_find_u64(job->parameters, "/rate", &rate);
    return rate;
}

void bucket_sum_add(struct bucket_sum *sum, const struct stored_job *job)
{
    const bool runs = str_equal(job->state, STR(BUCKET_RUNNING));
    uint64_t dead = 0, lost_ms = 0;

    (void)json_find_u64(job->parameters, "/dead", &dead);
    (void)json_find_u64(job->parameters, "/lost_ms", &lost_ms);
    if (lost_ms > sum->lost_ms)
        sum->lost_ms = lost_ms;
    sum->n++;
    sum->n_done += str_equal(job->state, STR(BUCKET_DONE));
    sum->n_running += runs;
    sum->rows_done += job->rows_done;
    sum->expected += job->rows_total;
    sum->rate += rate_of(job);
    sum->dead += dead;
    if (str_equal(job->state, STR(BUCKET_ERROR)) && !sum->failed) {
        sum->failed = true;
        sum->error = job->error;
    }
    if (runs && sum->waits.len == 0)
        sum->waits = job->error;
}

/* Guesses of single buckets are all too large or too small by about the same factor. */
static uint64_t expected_rows(const struct stored_job *job, const struct bucket_sum *all,
                              uint64_t rows)
{
    if (job->rows_total == 0 || all->expected == 0)
        return all->n == 0 ? 0 : rows / all->n;
    return rows == 0
               ? job->rows_total
               : (uint64_t)((double)job->rows_total / (double)all->expected * (double)rows);
}

struct bucket_progress bucket_progress(const struct stored_job *job,
                                       const struct bucket_sum *all, uint64_t rows)
{
    struct bucket_progress p = {.rate = rate_of(job), .remaining_s = -1};
    const uint64_t expected = expected_rows(job, all, rows);

    if (str_equal(job->state, STR(BUCKET_DONE)))
        p.total = job->rows_done;
    else if (expected > job->rows_done)
        p.total = expected;
    if (p.total > 0 && p.rate > 0)
        p.remaining_s = job_remaining_s(&(struct job_pace){.rate = (double)p.rate},
                                        job->rows_done, p.total);
    return p;
}
