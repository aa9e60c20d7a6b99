#include "config.h"

#include "src/search/pages.h"

#include "src/base/arena.h"
#include "src/base/log.h"
#include "src/format/json.h"

#define KEEP "2m"

static bool is_whole(struct str answer, struct err *err)
{
    uint64_t failed = 0;
    bool late = false;

    if (!json_find_u64(answer, "/_shards/failed", &failed))
        return err_set(err, ERR_RETRY, "the search engine's answer to _search cannot be read");
    if (failed > 0 || (json_find_bool(answer, "/timed_out", &late) && late))
        return err_set(err, ERR_RETRY, "the search engine could not search all of its shards");
    return true;
}

static size_t count_hits(struct str hits)
{
    struct json_reader r;
    size_t n = 0;

    json_reader_init(&r, hits);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_skip(&r))
            n++;
    return n;
}

/* Returns false if this is not a hit. */
static bool read_hit(struct str hit, struct arena *a, struct search_hit *out)
{
    struct buf id = {0}, routing = {0};
    const bool ok = json_find_text(hit, "/_id", &id);

    *out = (struct search_hit){0};
    (void)json_find_text(hit, "/_routing", &routing);
    (void)json_find_u64(hit, "/_version", &out->version);
    out->id = arena_copy(a, buf_str(&id));
    out->routing = arena_copy(a, buf_str(&routing));
    buf_free(&id);
    buf_free(&routing);
    return ok;
}

static bool read_hits(struct str answer, struct arena *a, struct search_hit **out, size_t *n)
{
    struct json_reader r;
    struct str hits, hit;

    *n = 0;
    if (!json_find(answer, "/hits/hits", &hits))
        return false;
    *out = arena_alloc(a, count_hits(hits) + 1, sizeof(**out));
    json_reader_init(&r, hits);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &hit))
            *n += read_hit(hit, a, &(*out)[*n]);
    return json_reader_ok(&r);
}

static bool take_page(struct search_pages *p, struct str answer, struct arena *a,
                      struct search_hit **hits, size_t *n, struct err *err)
{
    if (!is_whole(answer, err))
        return false;
    buf_clear(&p->scroll);
    if (!json_find_text(answer, "/_scroll_id", &p->scroll) || !read_hits(answer, a, hits, n))
        return err_set(err, ERR_RETRY, "the search engine's answer to _search cannot be read");
    p->end = *n == 0;
    return true;
}

bool search_pages_open(struct search_pages *p, struct search *s, struct str index,
                       struct str query, size_t size, struct search_slice slice,
                       struct arena *a, struct search_hit **hits, size_t *n, struct err *err)
{
    struct buf path = {0}, body = {0}, answer = {0};

    p->search = s;
    buf_append_char(&path, '/');
    search_append_path(&path, index);
    buf_append(&path, STR("/_search?scroll=" KEEP));
    buf_append_char(&body, '{');
    if (slice.n > 1)
        buf_printf(&body, "\"slice\":{\"id\":%zu,\"max\":%zu},", slice.at, slice.n);
    buf_printf(&body,
               "\"size\":%zu,\"sort\":[\"_doc\"],\"_source\":false,\"version\":true,"
               "\"query\":%" STR_FMT "}",
               size, STR_ARG(query));

    bool ok = search_call(s, "POST", buf_str(&path), buf_str(&body), &answer, err) &&
              take_page(p, buf_str(&answer), a, hits, n, err);

    if (ok && *n < size)
        p->end = true;
    buf_free(&path);
    buf_free(&body);
    buf_free(&answer);
    return ok;
}

bool search_pages_next(struct search_pages *p, struct arena *a, struct search_hit **hits,
                       size_t *n, struct err *err)
{
    struct buf body = {0}, answer = {0};
    struct json_writer w = {.out = &body};

    *n = 0;
    if (p->end)
        return true;
    json_open_object(&w);
    json_put_cstr(&w, STR("scroll"), KEEP);
    json_put_string(&w, STR("scroll_id"), buf_str(&p->scroll));
    json_close_object(&w);

    const bool ok =
        search_call(p->search, "POST", STR("/_search/scroll"), buf_str(&body), &answer, err) &&
        take_page(p, buf_str(&answer), a, hits, n, err);

    buf_free(&body);
    buf_free(&answer);
    return ok;
}

/* If this fails, the engine drops the scroll by itself. */
void search_pages_close(struct search_pages *p)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};
    struct err err = {0};

    if (p->scroll.len > 0) {
        json_open_object(&w);
        json_put_string(&w, STR("scroll_id"), buf_str(&p->scroll));
        json_close_object(&w);
        if (!search_call(p->search, "DELETE", STR("/_search/scroll"), buf_str(&body), NULL,
                         &err))
            log_debug("a search was not ended in the engine", KV("reason", err.msg));
    }
    buf_free(&body);
    buf_free(&p->scroll);
    *p = (struct search_pages){0};
}
