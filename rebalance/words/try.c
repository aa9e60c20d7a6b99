#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/words/words.h"

#define TEXT_MAX 10000 /* bytes: the engine refuses a text of more than 10,000 tokens */

struct word_try {
    struct search *search;
    struct str body;
};

static bool ask_engine(struct errand *e, struct err *err)
{
    const struct word_try *t = e->ctx;

    return search_call(t->search, "POST", STR("/_analyze"), t->body, &e->text, err);
}

static void write_body(struct buf *out, struct str analyzer, struct str text)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_string(&w, STR("analyzer"), analyzer);
    json_put_string(&w, STR("text"), text);
    json_close_object(&w);
}

static bool write_token(struct json_writer *w, struct str token)
{
    struct str text, type;
    uint64_t start, end;

    if (!json_find(token, "/token", &text) || !json_find(token, "/type", &type) ||
        !json_find_u64(token, "/start_offset", &start) ||
        !json_find_u64(token, "/end_offset", &end))
        return false;
    json_open_object(w);
    json_put_raw(w, STR("token"), text);
    json_put_u64(w, STR("start"), start);
    json_put_u64(w, STR("end"), end);
    json_put_raw(w, STR("type"), type);
    json_close_object(w);
    return true;
}

static bool write_tokens(struct json_writer *w, struct str answer)
{
    struct json_reader r;
    struct str list, token;
    bool ok = json_find(answer, "/tokens", &list);

    json_reader_init(&r, list);
    if (!ok || !json_enter_array(&r))
        return false;
    json_write_key(w, STR("tokens"));
    json_open_array(w);
    while (ok && json_next_element(&r) && json_read_raw(&r, &token))
        ok = write_token(w, token);
    json_close_array(w);
    return ok;
}

static bool write_answer(struct str analyzer, struct str answer, struct buf *json,
                         struct err *err)
{
    struct buf whole = {0};
    struct json_writer w = {.out = &whole};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/word-try/1");
    json_put_string(&w, STR("analyzer"), analyzer);

    const bool ok = write_tokens(&w, answer);

    json_close_object(&w);
    if (ok)
        buf_append(json, buf_str(&whole));
    buf_free(&whole);
    return ok || err_set(err, ERR_RETRY, "the search engine's answer has no tokens");
}

bool coordinator_try_words(struct coordinator *co, struct str analyzer, struct str text,
                           struct buf *json, struct err *err)
{
    struct buf body = {0};
    struct errand *e;
    struct word_try *t;

    if (text.len == 0 || text.len > TEXT_MAX)
        return refuse(err, 422, "a text to try has 1 to %d bytes, this one has %zu", TEXT_MAX,
                      text.len);
    write_body(&body, analyzer, text);
    e = errand_new("the search engine", sizeof(*t));
    t = e->ctx;
    t->search = co->opt.search;
    t->body = arena_copy(e->arena, buf_str(&body));
    buf_free(&body);

    const bool ok = errand_run(co->errands, e, ask_engine, err) &&
                    write_answer(analyzer, buf_str(&e->text), json, err);

    errand_leave(e);
    return ok;
}
