#include "config.h"

#include "tests/fakes/fake_routes.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/format/json.h"
#include "tests/fakes/fake_answer.h"
#include "tests/fakes/fake_list.h"
#include "tests/fakes/fake_voice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The parts of "/a/b/c"; those that are not there are empty. */
struct parts {
    struct str of[3];
};

static struct parts parts_of(struct str path)
{
    struct parts p = {{STR(""), STR(""), STR("")}};
    size_t n = 0;

    for (size_t from = 1; from < path.len && n < ARRAY_LEN(p.of); n++) {
        const char *slash =
            n + 1 < ARRAY_LEN(p.of) ? memchr(path.ptr + from, '/', path.len - from) : NULL;
        const size_t to = slash == NULL ? path.len : (size_t)(slash - path.ptr);

        p.of[n] = (struct str){path.ptr + from, to - from};
        from = to + 1;
    }
    return p;
}

static bool is(struct str s, const char *text)
{
    return str_equal(s, str_from(text));
}

/* Of a search: nothing was found, and its scroll. */
#define NO_HITS                                                             \
    "{\"_scroll_id\":\"s\",\"timed_out\":false,\"_shards\":{\"failed\":0}," \
    "\"hits\":{\"hits\":[]}}"

static void acknowledge(struct fake_http_answer *answer)
{
    buf_append(&answer->body, STR("{\"acknowledged\":true}"));
}

static void not_found(struct fake_http_answer *answer)
{
    fake_refuse(answer, 404, "index_not_found_exception", "no such index");
}

static void keep_mapping(struct fake_search *f, struct str index, struct str mapping)
{
    struct buf text = {0};

    buf_append(&text, mapping);
    free(map_put(f->mappings, index, text.ptr));
}

static void create_index(struct fake_search *f, struct str index, struct str body,
                         struct fake_http_answer *answer)
{
    struct fake_engine *e = f->engine;
    struct json_reader j;
    struct str key, raw;

    if (f->voice != NULL && !fake_voice_takes_index(f->voice, body, answer))
        return;
    if (!fake_engine_create(e, index)) {
        fake_refuse(answer, 400, "resource_already_exists_exception", "index already exists");
        return;
    }
    if (json_find(body, "/mappings", &raw))
        keep_mapping(f, index, raw);
    if (json_find(body, "/aliases", &raw)) {
        json_reader_init(&j, raw);
        if (json_enter_object(&j))
            while (json_next_member(&j, &key))
                fake_engine_alias(e, key, index, false);
    }
    acknowledge(answer);
}

/* {"template": {"settings": ..., "mappings": ...}}, which is only looked at */
static void simulate(struct fake_search *f, struct str body, struct fake_http_answer *answer)
{
    struct str template;

    if (!json_find(body, "/template", &template))
        template = STR("{}");
    if (f->voice == NULL || fake_voice_takes_index(f->voice, template, answer))
        buf_append(&answer->body, STR("{\"template\":{},\"overlapping\":[]}"));
}

/* {"add": {"index": ..., "alias": ...}} or remove */
static void move_alias(struct fake_engine *e, struct json_reader *j)
{
    struct str action;
    struct buf index = {0}, alias = {0};

    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &action)) {
        struct str raw;

        if (!json_read_raw(j, &raw))
            return;
        if (json_find_text(raw, "/index", &index) && json_find_text(raw, "/alias", &alias))
            fake_engine_alias(e, buf_str(&alias), buf_str(&index), !is(action, "add"));
        buf_free(&index);
        buf_free(&alias);
    }
}

static void move_aliases(struct fake_engine *e, struct str body,
                         struct fake_http_answer *answer)
{
    struct json_reader j;
    struct str raw;

    if (json_find(body, "/actions", &raw)) {
        json_reader_init(&j, raw);
        if (json_enter_array(&j))
            while (json_next_element(&j))
                move_alias(e, &j);
    }
    acknowledge(answer);
}

/* The one holder: {"INDEX": {"aliases": {"ALIAS": {}}}} */
static void get_alias(struct fake_engine *e, struct str alias, struct fake_http_answer *answer)
{
    const struct str index = fake_engine_resolve(e, alias);
    struct json_writer w = {.out = &answer->body};

    answer->status = index.ptr != NULL ? 200 : 404;
    json_open_object(&w);
    if (index.ptr == NULL) {
        json_put_cstr(&w, STR("error"), "alias is missing");
        json_put_i64(&w, STR("status"), 404);
    } else {
        json_write_key(&w, index);
        json_open_object(&w);
        json_write_key(&w, STR("aliases"));
        json_open_object(&w);
        json_put_raw(&w, alias, STR("{}"));
        json_close_object(&w);
        json_close_object(&w);
    }
    json_close_object(&w);
}

static void get_document(struct fake_search *f, struct str index, struct str id,
                         struct fake_http_answer *answer)
{
    struct fake_engine *e = f->engine;
    const struct str concrete = fake_engine_resolve(e, index);
    struct json_writer w = {.out = &answer->body};
    struct buf body = {0};
    uint64_t version = 0;
    const bool found =
        fake_engine_get(e, concrete.ptr == NULL ? index : concrete, id, &version, &body);

    answer->status = found ? 200 : 404;
    json_open_object(&w);
    if (f->voice != NULL && f->voice->tells_types)
        json_put_cstr(&w, STR("_type"), "_doc");
    json_put_string(&w, STR("_id"), id);
    json_put_bool(&w, STR("found"), found);
    if (found) {
        json_put_u64(&w, STR("_version"), version);
        json_put_raw(&w, STR("_source"), buf_str(&body));
    }
    json_close_object(&w);
    buf_free(&body);
}

static void count(struct fake_engine *e, struct str index, struct fake_http_answer *answer)
{
    const struct str concrete = fake_engine_resolve(e, index);

    buf_printf(&answer->body, "{\"count\":%zu}",
               fake_engine_count(e, concrete.ptr == NULL ? index : concrete));
}

/* {"INDEX": {"mappings": MAPPING}} */
static void get_mapping(struct fake_search *f, struct str name, struct fake_http_answer *answer)
{
    const struct str behind = fake_engine_resolve(f->engine, name);
    const struct str index = behind.ptr != NULL ? behind : name;
    const char *mapping = map_find(f->mappings, index);

    if (mapping == NULL)
        not_found(answer);
    else
        buf_printf(&answer->body, "{\"%.*s\":{\"mappings\":%s}}", STR_ARG(index), mapping);
}

static void put_mapping(struct fake_search *f, struct str index, struct str body,
                        struct fake_http_answer *answer)
{
    if (f->voice != NULL && !fake_voice_takes_mapping(f->voice, body, answer))
        return;
    keep_mapping(f, index, body);
    acknowledge(answer);
}

/* Of another program's index, and of one that every test has. */
static void get_node_stats(const struct fake_search *f, struct fake_http_answer *answer)
{
    if (f->others < 0)
        fake_refuse(answer, 403, "security_exception", "no permissions");
    else
        buf_printf(&answer->body,
                   "{\"_nodes\":{\"failed\":0},\"nodes\":{\"n1\":{\"indices\":{\"indices\":{"
                   "\"others\":{\"indexing\":{\"index_total\":%" PRId64 ",\"delete_total\":0}},"
                   "\"orders_v1\":{\"indexing\":{\"index_total\":%zu,\"delete_total\":0}}}}}}}",
                   f->others, f->n_items);
}

static void handle_index(struct fake_search *f, const struct fake_http_request *req,
                         const struct parts *p, struct fake_http_answer *answer)
{
    struct fake_engine *e = f->engine;
    const struct str index = p->of[0];

    if (is(p->of[1], "_doc"))
        get_document(f, index, p->of[2], answer);
    else if (is(p->of[1], "_count"))
        count(e, index, answer);
    else if (is(p->of[1], "_mapping") && is(req->method, "PUT"))
        put_mapping(f, index, req->body, answer);
    else if (is(p->of[1], "_mapping"))
        get_mapping(f, index, answer);
    else if (is(p->of[1], "_search"))
        buf_append(&answer->body, STR(NO_HITS));
    else if (p->of[1].len > 0)
        acknowledge(answer); /* _refresh, _settings, _update */
    else if (is(req->method, "PUT"))
        create_index(f, index, req->body, answer);
    else if (is(req->method, "DELETE") && fake_engine_delete(e, index))
        acknowledge(answer);
    else if (fake_is_list(req))
        fake_list_indexes(f, index, answer);
    else if (fake_engine_exists(e, index) || fake_engine_resolve(e, index).ptr != NULL)
        buf_append(&answer->body, STR("{}"));
    else
        not_found(answer);
}

/* --- the script --- */

static const char *const acts[N_FAKE_ACTS] = {
    [FAKE_ANSWER] = "answer",
    [FAKE_STATUS] = "status",
    [FAKE_RESET] = "reset",
    [FAKE_CUT] = "cut",
    [FAKE_SILENT] = "silent",
    [FAKE_TRUNCATED] = "truncated",
    [FAKE_ITEM_LESS] = "item_less",
    [FAKE_ITEM_MORE] = "item_more",
    [FAKE_ITEMS_MIXED] = "items_mixed",
    [FAKE_ZOMBIE] = "zombie",
};

static uint64_t number(struct str body, const char *pointer)
{
    uint64_t v = 0;

    return json_find_u64(body, pointer, &v) ? v : 0;
}

static const char *text(struct str body, const char *pointer, struct buf *into)
{
    return json_find_text(body, pointer, into) ? into->ptr : NULL;
}

/* {"act": "status", "index": ..., "id": ..., "skip": ..., "times": ..., ...}, all optional */
static void add_rule(struct fake_search *f, struct str body, struct fake_http_answer *answer)
{
    struct buf act = {0}, index = {0}, id = {0}, type = {0}, reason = {0};
    struct fake_rule rule = {
        .index = text(body, "/index", &index),
        .id = text(body, "/id", &id),
        .type = text(body, "/type", &type),
        .reason = text(body, "/reason", &reason),
        .skip = (unsigned)number(body, "/skip"),
        .times = (unsigned)number(body, "/times"),
        .delay_ms = (int64_t)number(body, "/delay_ms"),
        .late_ms = (int64_t)number(body, "/late_ms"),
        .body_max = number(body, "/body_max"),
        .status = (int)number(body, "/status"),
        .retry_after_s = (unsigned)number(body, "/retry_after_s"),
    };

    json_find_bool(body, "/applied", &rule.applied);
    if (text(body, "/act", &act) != NULL)
        while (rule.act < N_FAKE_ACTS && strcmp(acts[rule.act], act.ptr) != 0)
            rule.act++;
    if (rule.act == N_FAKE_ACTS) {
        fake_refuse(answer, 400, "illegal_argument_exception", "no such act");
    } else {
        fake_search_add_rule(f, &rule);
        acknowledge(answer);
    }
    buf_free(&act);
    buf_free(&index);
    buf_free(&id);
    buf_free(&type);
    buf_free(&reason);
}

static void write_ledger(struct fake_search *f, struct fake_http_answer *answer)
{
    struct json_writer w = {.out = &answer->body};
    const size_t n = fake_search_items(f);

    json_open_array(&w);
    for (size_t i = 0; i < n; i++) {
        const struct fake_item item = fake_search_item(f, i);

        json_open_object(&w);
        json_put_u64(&w, STR("request"), item.request);
        json_put_cstr(&w, STR("index"), item.index);
        json_put_cstr(&w, STR("id"), item.id);
        json_put_cstr(&w, STR("op"), item.is_delete ? "delete" : "index");
        json_put_u64(&w, STR("version"), item.version);
        json_put_i64(&w, STR("status"), item.status);
        json_close_object(&w);
    }
    json_close_array(&w);
}

static void handle_script(struct fake_search *f, const struct fake_http_request *req,
                          const struct parts *p, struct fake_http_answer *answer)
{
    const bool is_script = is(p->of[1], "script");

    if (is_script && is(req->method, "POST")) {
        add_rule(f, req->body, answer);
    } else if (is_script && is(req->method, "DELETE")) {
        fake_search_clear_rules(f);
        acknowledge(answer);
    } else if (is(p->of[1], "restart_shards")) {
        fake_search_restart_shards(f);
        acknowledge(answer);
    } else if (is(p->of[1], "ledger")) {
        write_ledger(f, answer);
    } else {
        not_found(answer);
    }
}

static void greet(struct fake_search *f, struct fake_http_answer *answer)
{
    fake_search_lock(f);
    buf_append(&answer->body,
               str_from(f->voice != NULL ? f->voice->greeting : fake_opensearch_2.greeting));
    fake_search_unlock(f);
}

void fake_routes_handle(struct fake_search *f, const struct fake_http_request *req,
                        struct fake_http_answer *answer)
{
    const struct parts p = parts_of(req->path);

    if (p.of[0].len == 0) {
        greet(f, answer);
    } else if (is(p.of[0], "_fake")) {
        handle_script(f, req, &p, answer);
    } else if (is(p.of[0], "_search")) {
        buf_append(&answer->body, STR(NO_HITS)); /* of a scroll, or that it is ended */
    } else if (is(p.of[0], "_cat")) {
        buf_append(&answer->body, STR("[{\"node\":\"n\",\"disk.percent\":\"40\"}]"));
    } else if (is(p.of[0], "_cluster")) {
        buf_append(&answer->body, STR("{\"status\":\"green\"}"));
    } else {
        struct fake_engine *e = fake_search_lock(f);
        const int failure = is(p.of[1], "_doc") ? fake_search_get_failure(f) : 0;

        if (failure != 0)
            answer->status = failure;
        else if (is(p.of[0], "_aliases"))
            move_aliases(e, req->body, answer);
        else if (is(p.of[0], "_index_template"))
            simulate(f, req->body, answer);
        else if (is(p.of[0], "_nodes"))
            get_node_stats(f, answer);
        else if (is(p.of[0], "_alias"))
            get_alias(e, p.of[1], answer);
        else
            handle_index(f, req, &p, answer);
        fake_search_unlock(f);
    }
}
