#include "config.h"

#include "rebalance/state/pauses.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/human.h"
#include "src/format/json.h"

#include <string.h>

#define PREFIX "pause/"

/* Returns false if the value is not a pause, or one that has ended. */
static bool read_pause(struct arena *a, const struct stored_value *v, struct pause *out)
{
    const struct str thing = {v->name.ptr + strlen(PREFIX), v->name.len - strlen(PREFIX)};
    const char *slash = memchr(thing.ptr, '/', thing.len);
    struct buf reason = {0};
    uint64_t at_ms = 0, retention_s = 0, needs_ms = 0;

    if (slash == NULL || v->content.len == 0)
        return false;
    (void)json_find_text(v->content, "/reason", &reason);
    (void)json_find_u64(v->content, "/at_ms", &at_ms);
    (void)json_find_u64(v->content, "/retention_s", &retention_s);
    (void)json_find_u64(v->content, "/needs_ms", &needs_ms);
    *out = (struct pause){
        .kind = {thing.ptr, (size_t)(slash - thing.ptr)},
        .name = {slash + 1, thing.len - (size_t)(slash - thing.ptr) - 1},
        .reason = arena_copy(a, buf_str(&reason)),
        .at_ms = (int64_t)at_ms,
        .retention_s = retention_s,
        .needs_ms = (int64_t)needs_ms,
    };
    buf_free(&reason);
    return true;
}

bool pauses_load(struct store *store, struct arena *a, struct pause **out, size_t *n,
                 struct err *err)
{
    struct stored_value *values = NULL;
    size_t n_values = 0;

    *n = 0;
    if (!store_load_values(store, a, STR(PREFIX), &values, &n_values, err))
        return false;
    *out = arena_alloc(a, n_values + 1, sizeof(**out));
    for (size_t i = 0; i < n_values; i++)
        *n += read_pause(a, &values[i], &(*out)[*n]);
    return true;
}

static bool put(struct store *store, struct str kind, struct str name, struct str value,
                struct err *err)
{
    struct buf key = {0};

    buf_printf(&key, PREFIX "%" STR_FMT "/%" STR_FMT, STR_ARG(kind), STR_ARG(name));

    const bool ok = store_put_value(store, buf_str(&key), value, err);

    buf_free(&key);
    return ok;
}

bool pause_store(struct store *store, const struct pause *p, struct err *err)
{
    struct buf value = {0};
    struct json_writer w = {.out = &value};

    json_open_object(&w);
    json_put_u64(&w, STR("at_ms"), (uint64_t)p->at_ms);
    json_put_string(&w, STR("reason"), p->reason);
    json_put_u64(&w, STR("retention_s"), p->retention_s);
    json_put_u64(&w, STR("needs_ms"), (uint64_t)p->needs_ms);
    json_close_object(&w);

    const bool ok = put(store, p->kind, p->name, buf_str(&value), err);

    buf_free(&value);
    return ok;
}

bool pause_end(struct store *store, struct str kind, struct str name, struct err *err)
{
    return put(store, kind, name, STR(""), err);
}

const struct pause *pauses_find(const struct pause *list, size_t n, const char *kind,
                                struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(list[i].kind, str_from(kind)) && str_equal(list[i].name, name))
            return &list[i];
    return NULL;
}

void pause_append(struct buf *b, const struct pause *p)
{
    buf_append(b, STR("a person paused it at "));
    human_time(b, p->at_ms);
    if (p->reason.len > 0)
        buf_printf(b, ": %" STR_FMT, STR_ARG(p->reason));
}
