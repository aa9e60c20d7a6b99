#include "config.h"

#include "rebalance/fill/parameters.h"

#include "src/base/buf.h"
#include "src/format/json.h"

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
    if (p->growth > 0 || p->slow) {
        json_put_u64(&w, STR("growth"), p->growth);
        json_put_bool(&w, STR("slow"), p->slow);
    }
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
    (void)json_find_u64(json, "/growth", &p.growth);
    (void)json_find_bool(json, "/slow", &p.slow);
    p.keeps = json_find_u64(json, "/keep", &p.keep);
    if (json_find_text(json, "/verify", &check) && !build_check_find(buf_str(&check), &p.check))
        p.check = BUILD_CHECK_SAMPLE;
    buf_free(&check);
    buf_free(&by);
    return p;
}
