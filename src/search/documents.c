#include "config.h"

#include "src/search/documents.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/net/http.h"
#include "src/search/engine_error.h"

#include <inttypes.h>
#include <string.h>

static void write_wish(struct json_writer *w, const struct search_wish *wish)
{
    json_open_object(w);
    json_put_string(w, STR("_id"), wish->id);
    if (wish->routing.len > 0)
        json_put_string(w, STR("routing"), wish->routing);
    if (!wish->source)
        json_put_bool(w, STR("_source"), false);
    json_close_object(w);
}

static void write_request(struct buf *body, const struct search_wish *wishes, size_t n)
{
    struct json_writer w = {.out = body};

    json_open_object(&w);
    json_write_key(&w, STR("docs"));
    json_open_array(&w);
    for (size_t i = 0; i < n; i++)
        write_wish(&w, &wishes[i]);
    json_close_array(&w);
    json_close_object(&w);
}

/* What one element of the answer says. */
struct got_document {
    struct buf id, routing;
    struct str source, error; /* within the answer */
    uint64_t version;
    bool found, says_found;
};

static void told_free(struct got_document *t)
{
    buf_free(&t->id);
    buf_free(&t->routing);
}

static void read_member(struct json_reader *r, struct str key, struct got_document *t)
{
    if (json_string_equal(key, STR("_id")))
        json_read_text(r, &t->id);
    else if (json_string_equal(key, STR("_routing")))
        json_read_text(r, &t->routing);
    else if (json_string_equal(key, STR("_version")) && json_peek(r) == JSON_NUMBER)
        json_read_u64(r, &t->version);
    else if (json_string_equal(key, STR("found")))
        t->says_found = json_read_bool(r, &t->found);
    else if (json_string_equal(key, STR("_source")))
        json_read_raw(r, &t->source);
    else if (json_string_equal(key, STR("error")))
        json_read_raw(r, &t->error);
}

static bool read_told(struct json_reader *r, struct got_document *t)
{
    struct str key;

    if (!json_enter_object(r))
        return false;
    while (json_next_member(r, &key))
        read_member(r, key, t);
    return json_reader_ok(r);
}

static bool fail_for_error(const struct got_document *t, struct str id, struct err *err)
{
    struct buf body = {0}, reason = {0};

    buf_printf(&body, "{\"error\":%" STR_FMT "}", STR_ARG(t->error));
    engine_error_append_reason(&reason, buf_str(&body));
    err_set(err, ERR_RETRY, "the search engine cannot get document %" STR_FMT ": %" STR_FMT,
            STR_ARG(id), STR_ARG(buf_str(&reason)));
    buf_free(&body);
    buf_free(&reason);
    return false;
}

static bool judge(const struct got_document *t, const struct search_wish *wish, struct arena *a,
                  struct search_document *out, struct err *err)
{
    if (!str_equal(buf_str(&t->id), wish->id))
        return err_set(err, ERR_RETRY,
                       "the search engine was asked for document %" STR_FMT
                       " and answered with another one",
                       STR_ARG(wish->id));
    if (t->error.ptr != NULL)
        return fail_for_error(t, wish->id, err);
    if (!t->says_found)
        return err_set(err, ERR_RETRY,
                       "the search engine does not say whether document %" STR_FMT " is there",
                       STR_ARG(wish->id));
    *out = (struct search_document){.found = t->found};
    if (!t->found)
        return true;
    out->version = t->version;
    out->routing = arena_copy(a, buf_str(&t->routing));
    if (wish->source && t->source.ptr != NULL)
        out->source = arena_copy(a, t->source);
    return true;
}

static bool read_answer(struct str answer, const struct search_wish *wishes, size_t n,
                        struct arena *a, struct search_document *out, struct err *err)
{
    struct json_reader r;
    struct str docs;
    size_t i = 0;
    bool ok = true;

    if (!json_find(answer, "/docs", &docs))
        return err_set(err, ERR_RETRY, "the search engine's answer to _mget cannot be read");
    json_reader_init(&r, docs);
    if (json_enter_array(&r))
        while (ok && i < n && json_next_element(&r)) {
            struct got_document t = {0};

            ok = read_told(&r, &t) && judge(&t, &wishes[i], a, &out[i], err);
            told_free(&t);
            i += ok;
        }
    if (!json_reader_ok(&r) || (ok && (i < n || json_next_element(&r))))
        return err_set(err, ERR_RETRY,
                       "the search engine was asked for %zu documents and did not answer with "
                       "so many",
                       n);
    return ok;
}

static bool get_once(struct search *s, struct str index, const struct search_wish *wishes,
                     size_t n, struct arena *a, struct search_document *out, struct err *err)
{
    struct buf path = {0}, body = {0}, answer = {0};

    buf_append_char(&path, '/');
    search_append_path(&path, index);
    buf_append(&path, STR("/_mget"));
    write_request(&body, wishes, n);

    const bool ok = search_call(s, "POST", buf_str(&path), buf_str(&body), &answer, err) &&
                    read_answer(buf_str(&answer), wishes, n, a, out, err);

    buf_free(&path);
    buf_free(&body);
    buf_free(&answer);
    return ok;
}

static bool is_too_long(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, HTTP_TOO_LONG) == 0;
}

/* Half of the documents may fit into one answer. */
static bool get(struct search *s, struct str index, const struct search_wish *wishes, size_t n,
                struct arena *a, struct search_document *out, struct err *err)
{
    const size_t half = n / 2;

    if (get_once(s, index, wishes, n, a, out, err))
        return true;
    if (!is_too_long(err) || half == 0)
        return false;
    *err = (struct err){0};
    return get(s, index, wishes, half, a, out, err) &&
           get(s, index, &wishes[half], n - half, a, &out[half], err);
}

/* No document has an empty `_id`, and an engine refuses to be asked for one. */
bool search_get_documents(struct search *s, struct str index, const struct search_wish *wishes,
                          size_t n, struct arena *a, struct search_document *out,
                          struct err *err)
{
    struct search_wish *asked = arena_alloc(a, n + 1, sizeof(*asked));
    struct search_document *found = arena_alloc(a, n + 1, sizeof(*found));
    size_t n_asked = 0, at = 0;

    for (size_t i = 0; i < n; i++)
        if (wishes[i].id.len > 0)
            asked[n_asked++] = wishes[i];
    if (n_asked > 0 && !get(s, index, asked, n_asked, a, found, err))
        return false;
    for (size_t i = 0; i < n; i++)
        out[i] = wishes[i].id.len > 0 ? found[at++] : (struct search_document){0};
    return true;
}

bool search_delete_document(struct search *s, struct str index, struct str id,
                            struct str routing, uint64_t version, struct err *err)
{
    struct buf path = {0};

    buf_append_char(&path, '/');
    search_append_path(&path, index);
    buf_append(&path, STR("/_doc/"));
    search_append_path(&path, id);
    buf_printf(&path, "?version_type=external&version=%" PRIu64, version);
    if (routing.len > 0) {
        buf_append(&path, STR("&routing="));
        search_append_path(&path, routing);
    }

    const bool ok = search_call(s, "DELETE", buf_str(&path), STR(""), NULL, err) ||
                    err->code == 404 || err->code == 409;

    if (ok)
        *err = (struct err){0};
    buf_free(&path);
    return ok;
}
