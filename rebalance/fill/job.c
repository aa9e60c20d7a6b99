#include "config.h"

#include "rebalance/fill/job.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#define WINDOW_MS 1000
#define PARTS     5   /* a limit lets this part of a second's rows through at once */
#define SMOOTH    0.3 /* weight of the newest window */

void job_pace_update(struct job_pace *p, uint64_t rows_done, int64_t now_ms)
{
    if (p->window_ms == 0 || rows_done < p->window_rows) {
        p->window_ms = now_ms;
        p->window_rows = rows_done;
        return;
    }

    const int64_t passed = now_ms - p->window_ms;

    if (passed < WINDOW_MS)
        return;

    const double now = (double)(rows_done - p->window_rows) * 1000 / (double)passed;

    p->rate = p->rate <= 0 ? now : p->rate * (1 - SMOOTH) + now * SMOOTH;
    p->window_ms = now_ms;
    p->window_rows = rows_done;
}

int64_t job_remaining_s(const struct job_pace *p, uint64_t done, uint64_t total)
{
    if (done >= total || p->rate < 0.001)
        return -1;
    return (int64_t)((double)(total - done) / p->rate + 0.999);
}

uint64_t job_shown_done(uint64_t done, uint64_t total)
{
    return done < total ? done : total;
}

uint64_t job_limit_share(uint64_t rate, size_t n)
{
    if (rate == 0 || n == 0)
        return rate;
    return rate < n ? 1 : rate / n;
}

uint64_t job_limit_rows(uint64_t rate, uint64_t rows)
{
    const uint64_t some = rate < PARTS ? 1 : rate / PARTS;

    return rate == 0 || rows < some ? rows : some;
}

int64_t job_limit_take(struct job_limit *l, uint64_t rate, uint64_t rows, int64_t now_ms)
{
    const double now = (double)now_ms, saved = 1000.0 / PARTS;

    if (rate == 0 || l->paid_ms <= 0)
        l->paid_ms = now;
    if (l->paid_ms < now - saved)
        l->paid_ms = now - saved; /* do not catch up on unused time */
    if (rate == 0)
        return 0;
    l->paid_ms += (double)rows * 1000 / (double)rate;
    return l->paid_ms <= now ? 0 : (int64_t)(l->paid_ms - now) + 1;
}

const char *build_check_word(enum build_check check)
{
    static const char *const words[N_BUILD_CHECKS] = {[BUILD_CHECK_SAMPLE] = "sample",
                                                      [BUILD_CHECK_FULL] = "full",
                                                      [BUILD_CHECK_NONE] = "none"};

    return words[check];
}

bool build_check_find(struct str word, enum build_check *out)
{
    for (int i = 0; i < N_BUILD_CHECKS; i++)
        if (str_equal(word, str_from(build_check_word((enum build_check)i)))) {
            *out = (enum build_check)i;
            return true;
        }
    return false;
}

const char *buckets_by_word(enum buckets_by by)
{
    static const char *const words[N_BUCKETS_BY] = {
        [BUCKETS_BY_COLUMN] = "column", [BUCKETS_BY_KEY] = "key", [BUCKETS_BY_MOD] = "mod"};

    return words[by];
}

bool buckets_by_find(struct str word, enum buckets_by *out)
{
    for (int i = 0; i < N_BUCKETS_BY; i++)
        if (str_equal(word, str_from(buckets_by_word((enum buckets_by)i)))) {
            *out = (enum buckets_by)i;
            return true;
        }
    return false;
}

void job_parameters_append(struct buf *b, const struct job_parameters *p)
{
    struct json_writer w = {.out = b};

    json_open_object(&w);
    json_put_u64(&w, STR("rate"), p->rate);
    json_put_u64(&w, STR("chunk"), p->chunk);
    json_put_u64(&w, STR("buckets"), p->buckets);
    json_put_cstr(&w, STR("buckets_by"), buckets_by_word(p->by));
    json_put_u64(&w, STR("nodes"), p->nodes);
    json_put_bool(&w, STR("take_index"), p->take.index);
    json_put_bool(&w, STR("take_alias"), p->take.alias);
    json_put_bool(&w, STR("hold"), p->hold);
    if (p->keeps)
        json_put_u64(&w, STR("keep"), p->keep);
    json_put_cstr(&w, STR("verify"), build_check_word(p->check));
    json_close_object(&w);
}

struct job_parameters job_parameters_read(struct str json)
{
    struct job_parameters p = {0};
    struct buf check = {0}, by = {0};

    (void)json_find_u64(json, "/rate", &p.rate);
    (void)json_find_u64(json, "/chunk", &p.chunk);
    (void)json_find_u64(json, "/buckets", &p.buckets);
    if (p.buckets > BUCKETS_MAX)
        p.buckets = BUCKETS_MAX;
    if (json_find_text(json, "/buckets_by", &by) && !buckets_by_find(buf_str(&by), &p.by))
        p.by = BUCKETS_BY_COLUMN;
    (void)json_find_u64(json, "/nodes", &p.nodes);
    (void)json_find_bool(json, "/take_index", &p.take.index);
    (void)json_find_bool(json, "/take_alias", &p.take.alias);
    (void)json_find_bool(json, "/hold", &p.hold);
    p.keeps = json_find_u64(json, "/keep", &p.keep);
    if (json_find_text(json, "/verify", &check) && !build_check_find(buf_str(&check), &p.check))
        p.check = BUILD_CHECK_SAMPLE;
    buf_free(&check);
    buf_free(&by);
    return p;
}
