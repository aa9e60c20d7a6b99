#include "config.h"

#include "rebalance/repeat/repeat_record.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/hex.h"
#include "src/format/json.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stddef.h>

bool repeat_hash(char hash[REPEAT_HASH + 1], const struct str *parts, size_t n)
{
    unsigned char sum[REPEAT_HASH / 2];
    struct buf all = {0};

    /* Each with its length, so that no two lists of parts are alike. */
    for (size_t i = 0; i < n; i++) {
        buf_printf(&all, "%zu:", parts[i].len);
        buf_append(&all, parts[i]);
    }

    const bool ok = gnutls_hash_fast(GNUTLS_DIG_SHA256, all.ptr, all.len, sum) == 0;

    for (size_t i = 0; ok && i < sizeof(sum); i++)
        hex_put(hash + 2 * i, sum[i]);
    hash[REPEAT_HASH] = '\0';
    buf_free(&all);
    return ok;
}

void repeat_record_write(struct buf *json, const struct repeat_record *r)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_u64(&w, STR("at_ms"), (uint64_t)r->at_ms);
    json_put_string(&w, STR("asked"), r->asked);
    json_put_string(&w, STR("node"), r->node);
    json_put_string(&w, STR("program"), r->program);
    json_put_string(&w, STR("claim"), r->claim);
    json_put_u64(&w, STR("status"), r->status);
    json_put_bool(&w, STR("is_long"), r->is_long);
    json_put_string(&w, STR("answer"), r->answer);
    json_close_object(&w);
}

static struct str text_at(struct arena *a, struct str json, const char *pointer)
{
    struct buf text = {0};

    (void)json_find_text(json, pointer, &text);

    const struct str kept = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return kept;
}

void repeat_record_read(struct repeat_record *out, struct arena *a, struct str json)
{
    uint64_t at_ms = 0;

    *out = (struct repeat_record){.asked = text_at(a, json, "/asked"),
                                  .node = text_at(a, json, "/node"),
                                  .program = text_at(a, json, "/program"),
                                  .claim = text_at(a, json, "/claim"),
                                  .answer = text_at(a, json, "/answer")};
    (void)json_find_u64(json, "/at_ms", &at_ms);
    (void)json_find_u64(json, "/status", &out->status);
    (void)json_find_bool(json, "/is_long", &out->is_long);
    out->at_ms = (int64_t)at_ms;
}

/* The program that ran it has ended, or it took longer than any call may. */
static bool is_lost(const struct repeat_record *r, const struct repeat_view *now)
{
    return now->now_ms - r->at_ms >= REPEAT_RUNS_MS ||
           (str_equal(r->node, now->node) && !str_equal(r->program, now->program));
}

enum repeat_state repeat_state_of(const struct repeat_record *r, const struct repeat_view *now)
{
    if (now->now_ms - r->at_ms >= REPEAT_KEPT_MS)
        return REPEAT_OLD;
    if (!str_equal(r->asked, now->asked))
        return REPEAT_OTHER;
    if (r->status != 0)
        return REPEAT_ANSWERED;
    return is_lost(r, now) ? REPEAT_LOST : REPEAT_RUNS;
}
