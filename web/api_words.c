#include "config.h"

#include "web/api.h"

#include "rebalance/words/words.h"
#include "src/base/mem.h"
#include "src/store/words/words.h"
#include "web/body.h"
#include "web/operation/operation.h"
#include "web/request.h"
#include "web/words/access.h"

#include <cJSON.h>
#include <stdlib.h>
#include <time.h>

#define PAGE_MAX         10000
#define DEFAULT_LIST     STR("ext")
#define DEFAULT_ANALYZER STR("ik_smart")
#define TEXT_TYPE        "text/plain; charset=utf-8"

/* ---- reading ---- */

static bool check_list(struct str list, struct err *err)
{
    return str_equal(list, STR("ext")) || str_equal(list, STR("stop")) ||
           err_set_code(err, ERR_REJECT, "http", 400, "\"list\" must be ext or stop");
}

static bool read_filter(const struct request_target *t, struct word_filter *f, struct err *err)
{
    const struct str list = request_param(t, "list"), state = request_param(t, "state");
    uint64_t limit = 0;

    if (!param_uint(t, "limit", &limit, err))
        return false;
    f->list = list.len > 0 ? list : DEFAULT_LIST;
    f->part = request_param(t, "part");
    f->after_word = request_param(t, "after");
    if (f->after_word.len > 0)
        f->after_list = f->list;
    f->limit = (size_t)(limit < PAGE_MAX ? limit : PAGE_MAX);
    f->only_new = str_equal(state, STR("init"));
    f->only_published = str_equal(state, STR("published"));
    return check_list(f->list, err) &&
           (state.len == 0 || f->only_new || f->only_published ||
            err_set_code(err, ERR_REJECT, "http", 400, "\"state\" must be init or published"));
}

void api_words(struct api_call *c)
{
    struct word_filter f = {0};
    struct err err = {0};
    const bool ok = read_filter(&c->req->target, &f, &err) &&
                    coordinator_list_words(c->api->coordinator, &f, &c->res->body, &err);

    answer(c, 200, ok, &err);
}

void api_word(struct api_call *c)
{
    const struct word_filter f = {.list = c->args[0], .word = c->args[1], .limit = 1};
    struct err err = {0};

    answer(c, 200, coordinator_list_words(c->api->coordinator, &f, &c->res->body, &err), &err);
}

void api_word_export(struct api_call *c)
{
    struct word_filter f = {0};
    struct err err = {0};
    const bool ok = read_filter(&c->req->target, &f, &err) &&
                    coordinator_export_words(c->api->coordinator, &f, &c->res->body, &err);

    c->res->type = TEXT_TYPE;
    answer(c, 200, ok, &err);
}

void api_word_status(struct api_call *c)
{
    struct err err = {0};

    answer(c, 200, coordinator_word_status(c->api->coordinator, &c->res->body, &err), &err);
}

/* ---- changing ---- */

typedef bool (*order_fn)(struct coordinator *co, const struct word_order *o, struct buf *json,
                         struct err *err);

/* Read the list of words.  The caller frees *out, on failure too. */
static bool read_words(const cJSON *body, struct str **out, size_t *n, struct err *err)
{
    const cJSON *item, *words = cJSON_GetObjectItemCaseSensitive(body, "words");
    const int count = cJSON_GetArraySize(words);

    *n = 0;
    *out = mem_alloc((size_t)count + 1, sizeof(**out));
    if (!cJSON_IsArray(words) || count == 0 || count > WORDS_OF_A_CALL_MAX)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "\"words\" must be a list of 1 to %d words", WORDS_OF_A_CALL_MAX);
    cJSON_ArrayForEach (item, words) {
        if (!cJSON_IsString(item))
            return err_set_code(err, ERR_REJECT, "http", 400,
                                "each of \"words\" must be a text");
        (*out)[(*n)++] = str_from(item->valuestring);
    }
    return true;
}

static bool run_order(struct api_call *c, const cJSON *body, order_fn fn, struct err *err)
{
    struct word_order o = {.list = DEFAULT_LIST, .dry_run = c->dry_run};
    struct str *words = NULL;
    bool all = false;
    bool ok = body_str(body, "list", &o.list, err) && check_list(o.list, err) &&
              body_bool(body, "publish", &o.publish, err) && body_bool(body, "all", &all, err);

    if (ok && all && cJSON_HasObjectItem(body, "words"))
        ok = err_set_code(err, ERR_REJECT, "http", 400,
                          "\"all\" and \"words\" exclude one another");
    ok = ok && (all || read_words(body, &words, &o.n, err));
    o.words = words;
    ok = ok && fn(c->api->coordinator, &o, &c->res->body, err);
    free(words);
    return ok;
}

static void act(struct api_call *c, order_fn fn)
{
    struct err err = {0};
    cJSON *body = NULL;
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) && run_order(c, body, fn, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_word_add(struct api_call *c)
{
    act(c, coordinator_add_words);
}

void api_word_publish(struct api_call *c)
{
    act(c, coordinator_publish_words);
}

void api_words_delete(struct api_call *c)
{
    act(c, coordinator_delete_words);
}

void api_word_delete(struct api_call *c)
{
    const struct word_order o = {
        .list = c->args[0], .words = &c->args[1], .n = 1, .dry_run = c->dry_run};
    struct err err = {0};

    answer(c, 200, coordinator_delete_words(c->api->coordinator, &o, &c->res->body, &err),
           &err);
}

static bool read_needed(const cJSON *body, const char *name, struct str *out, struct err *err)
{
    if (!cJSON_HasObjectItem(body, name))
        return err_set_code(err, ERR_REJECT, "http", 400, "\"%s\" is missing", name);
    return body_str(body, name, out, err);
}

void api_word_set(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    struct str into = STR("");
    const struct word_order o = {
        .list = c->args[0], .words = &c->args[1], .n = 1, .dry_run = c->dry_run};
    const bool ok = body_parse(&body, c->req, c->op->members, &err) &&
                    read_needed(body, "word", &into, &err) &&
                    coordinator_change_word(c->api->coordinator, &o, into, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_word_import(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    struct word_order o = {.list = DEFAULT_LIST, .dry_run = c->dry_run};
    struct str text = STR("");
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) &&
        body_str(body, "list", &o.list, &err) && check_list(o.list, &err) &&
        read_needed(body, "text", &text, &err) &&
        body_bool(body, "publish", &o.publish, &err) &&
        coordinator_import_words(c->api->coordinator, &o, text, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

void api_word_try(struct api_call *c)
{
    struct err err = {0};
    cJSON *body = NULL;
    struct str text = STR(""), analyzer = DEFAULT_ANALYZER;
    const bool ok =
        body_parse(&body, c->req, c->op->members, &err) &&
        read_needed(body, "text", &text, &err) && body_str(body, "analyzer", &analyzer, &err) &&
        coordinator_try_words(c->api->coordinator, analyzer, text, &c->res->body, &err);

    answer(c, 200, ok, &err);
    cJSON_Delete(body);
}

/* ---- for the analyzer ---- */

/* "ext" of "ext.dic"; empty: it is no name of a file. */
static struct str list_of_file(struct str file)
{
    const struct str end = STR(".dic");
    const size_t n = file.len > end.len ? file.len - end.len : 0;

    return n > 0 && str_equal((struct str){file.ptr + n, end.len}, end)
               ? (struct str){file.ptr, n}
               : STR("");
}

/* To whole seconds; an ETag tells apart what happens within one. */
static void tell_changed(struct response *res, int64_t changed_ms)
{
    const time_t seconds = (time_t)(changed_ms / 1000);
    char text[40];
    struct tm t;

    if (changed_ms > 0 && gmtime_r(&seconds, &t) != NULL &&
        strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &t) > 0)
        response_add_header(res, "Last-Modified", text);
}

static void answer_file(struct api_call *c, struct str list)
{
    const struct word_pull pull = {list, c->req->from, c->req->if_none_match, c->req->is_head};
    struct word_file file;
    struct err err = {0};
    const bool ok =
        coordinator_serve_words(c->api->coordinator, &pull, &file, &c->res->body, &err);

    c->res->type = TEXT_TYPE;
    if (ok) {
        response_add_header(c->res, "ETag", file.etag);
        tell_changed(c->res, file.changed_ms);
    }
    answer(c, ok && str_equal(pull.has, str_from(file.etag)) ? 304 : 200, ok, &err);
}

/* A wrong token and a wrong name look alike. */
void api_words_file(struct api_call *c)
{
    const struct str list = list_of_file(c->args[1]);

    if (c->api->words != NULL && list.len > 0 &&
        word_access_is_token(c->api->words, c->args[0]))
        answer_file(c, list);
    else
        response_set_problem(c->res, &(struct response_problem){
                                         .status = 404,
                                         .code = "no-such-route",
                                         .detail = STR("nothing is served at this address")});
}
