#include "config.h"

#include "rebalance/fill/bucket.h"

#include "rebalance/fill/job.h"
#include "src/base/hex.h"
#include "src/format/json.h"
#include "sync/document/key.h"

void bucket_fini(struct fill_bucket *b)
{
    buf_free(&b->until);
    buf_free(&b->by);
    buf_free(&b->index);
    buf_free(&b->node);
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
    json_close_object(&w);
    buf_free(&until);
}

static bool append_bytes(struct buf *out, struct str hex)
{
    for (size_t i = 0; i < hex.len; i += 2) {
        const int byte = i + 1 < hex.len ? hex_byte(hex, i) : -1;

        if (byte < 0)
            return false;
        buf_append_char(out, (char)byte);
    }
    return true;
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
                    append_bytes(&b->until, buf_str(&hex)) && is_cursor(buf_str(&b->until));

    buf_free(&hex);
    return ok;
}

bool bucket_read(struct str json, struct fill_bucket *b)
{
    *b = (struct fill_bucket){0};
    (void)json_find_text(json, "/by", &b->by);
    (void)json_find_text(json, "/index", &b->index);
    (void)json_find_text(json, "/node", &b->node);
    (void)json_find_u64(json, "/dead", &b->dead);
    return read_mod(json, b) || read_until(json, b);
}

void bucket_sum_add(struct bucket_sum *sum, struct str state, struct str error,
                    uint64_t rows_done, struct str parameters)
{
    uint64_t dead = 0;

    (void)json_find_u64(parameters, "/dead", &dead);
    sum->n++;
    sum->n_done += str_equal(state, STR(BUCKET_DONE));
    sum->n_running += str_equal(state, STR(BUCKET_RUNNING));
    sum->rows_done += rows_done;
    sum->dead += dead;
    if (str_equal(state, STR(BUCKET_ERROR)) && !sum->failed) {
        sum->failed = true;
        sum->error = error;
    }
    if (str_equal(state, STR(BUCKET_RUNNING)) && sum->waits.len == 0)
        sum->waits = error;
}
