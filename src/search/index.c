#include "config.h"

#include "src/search/search.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/net/http_client.h"
#include "src/search/engine_error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOVE_TRIES          3
#define SIMULATION_PRIORITY 1000000001 /* no other template may have the same */

void search_append_path(struct buf *b, struct str part)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < part.len; i++) {
        unsigned char c = (unsigned char)part.ptr[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '_' || c == '.') {
            buf_append_char(b, (char)c);
        } else {
            buf_append_char(b, '%');
            buf_append_char(b, hex[c >> 4]);
            buf_append_char(b, hex[c & 15]);
        }
    }
}

/* Accepts one concrete name, so that no call acts on more than we mean ("_all", "*", "a,b"). */
static bool check_name(struct str name, struct err *err)
{
    bool ok = name.len > 0 && strchr("_-+", name.ptr[0]) == NULL;

    for (size_t i = 0; i < name.len; i++)
        ok = ok && (unsigned char)name.ptr[i] > 0x20 &&
             strchr("*?,/\\\"<>|#:", name.ptr[i]) == NULL;
    return ok || err_set(err, ERR_REJECT, "\"%" STR_FMT "\" is not the name of an index",
                         STR_ARG(name));
}

/* Sends METHOD /prefix/name/suffix with the body, leaving out what is NULL. */
static bool call_named(struct search *s, const char *method, const char *prefix,
                       struct str name, const char *suffix, struct str body, struct buf *out,
                       struct err *err)
{
    struct buf path = {0};

    if (!check_name(name, err))
        return false;
    buf_append(&path, str_from(prefix));
    search_append_path(&path, name);
    buf_append(&path, str_from(suffix));

    bool ok = search_call(s, method, buf_str(&path), body, out, err);

    buf_free(&path);
    return ok;
}

/* The same, for a change. */
static bool change_named(struct search *s, const char *method, struct str name,
                         const char *suffix, struct str body, struct err *err)
{
    return search_may_change(s, name, err) &&
           call_named(s, method, "/", name, suffix, body, NULL, err);
}

bool search_create_index(struct search *s, struct str index, struct str body, struct err *err)
{
    return change_named(s, "PUT", index, "", body, err);
}

/* As a template, whose name no index of anybody has. */
static void put_simulation(struct buf *b, struct str body)
{
    struct json_writer w = {.out = b};

    json_open_object(&w);
    json_put_raw(&w, STR("index_patterns"), STR("[\"millrace-try\"]"));
    json_put_u64(&w, STR("priority"), SIMULATION_PRIORITY);
    json_put_raw(&w, STR("template"), body);
    json_close_object(&w);
}

bool search_try_index(struct search *s, struct str body, unsigned timeout_ms, struct err *err)
{
    struct buf template = {0}, answer = {0}, reason = {0};
    int status;

    put_simulation(&template, body);

    const struct http_request req = {.method = "POST",
                                     .path = STR("/_index_template/_simulate"),
                                     .body = buf_str(&template),
                                     .timeout_ms = timeout_ms};
    bool ok = search_send(s, &req, &status, &answer, err);

    if (ok && (status < 200 || status > 299)) {
        engine_error_append_cause(&reason, buf_str(&answer));
        ok = err_set_code(err, ERR_REJECT, "http", status, "%s", reason.ptr);
    }
    buf_free(&template);
    buf_free(&answer);
    buf_free(&reason);
    return ok;
}

bool search_delete_index(struct search *s, struct str index, struct err *err)
{
    return change_named(s, "DELETE", index, "", STR(""), err) ||
           (err->kind == ERR_REJECT && err->code == 404);
}

bool search_put_settings(struct search *s, struct str index, struct str body, struct err *err)
{
    return change_named(s, "PUT", index, "/_settings", body, err);
}

bool search_put_mapping(struct search *s, struct str index, struct str body, struct err *err)
{
    return change_named(s, "PUT", index, "/_mapping", body, err);
}

bool search_try_script(struct search *s, struct str index, struct err *err)
{
    return call_named(s, "POST", "/", index, "/_update/_millrace",
                      STR("{\"scripted_upsert\":true,\"upsert\":{},\"script\":{\"lang\":"
                          "\"painless\",\"source\":\"ctx.op = 'none'\"}}"),
                      NULL, err);
}

bool search_get_pipeline(struct search *s, struct str name, struct buf *out, struct err *err)
{
    struct buf path = {0};

    buf_append(&path, STR("/_ingest/pipeline/"));
    search_append_path(&path, name);

    const bool ok = search_call(s, "GET", buf_str(&path), STR(""), out, err);

    buf_free(&path);
    return ok;
}

bool search_refresh(struct search *s, struct str index, struct err *err)
{
    return call_named(s, "POST", "/", index, "/_refresh", STR(""), NULL, err);
}

/* Sends HEAD /prefix/name: exists or not. */
static bool ask_whether(struct search *s, const char *prefix, struct str name, bool *yes,
                        struct err *err)
{
    *yes = call_named(s, "HEAD", prefix, name, "", STR(""), NULL, err);
    return *yes || (err->kind == ERR_REJECT && err->code == 404);
}

bool search_index_exists(struct search *s, struct str name, bool *exists, bool *is_alias,
                         struct err *err)
{
    *is_alias = false;
    if (!ask_whether(s, "/", name, exists, err))
        return false;
    return !*exists || ask_whether(s, "/_alias/", name, is_alias, err);
}

static bool fail_unreadable(struct err *err, const char *what)
{
    return err_set(err, ERR_RETRY, "the search engine's answer to %s cannot be read", what);
}

/* Finds member name of the first member: {"orders_v2": {"mappings": VALUE}}. */
static bool find_in_first(struct str answer, struct str name, struct str *value)
{
    struct json_reader r;
    struct str key;

    json_reader_init(&r, answer);
    if (!json_enter_object(&r) || !json_next_member(&r, &key) || !json_enter_object(&r))
        return false;
    while (json_next_member(&r, &key))
        if (json_string_equal(key, name))
            return json_read_raw(&r, value);
    return false;
}

bool search_get_mapping(struct search *s, struct str index, struct buf *out, struct err *err)
{
    struct buf answer = {0};
    struct str mapping = {0};
    bool ok = call_named(s, "GET", "/", index, "/_mapping", STR(""), &answer, err);

    if (ok && !find_in_first(buf_str(&answer), STR("mappings"), &mapping))
        ok = fail_unreadable(err, "_mapping");
    if (ok)
        buf_append(out, mapping);
    buf_free(&answer);
    return ok;
}

/* The engine silently leaves out shards that no node holds just now. */
static bool is_of_all_shards(struct str answer, struct str index, struct err *err)
{
    uint64_t total, good;

    return !json_find_u64(answer, "/_shards/total", &total) ||
           !json_find_u64(answer, "/_shards/successful", &good) || good >= total ||
           err_set(err, ERR_RETRY,
                   "%" PRIu64 " of the %" PRIu64 " shards of %" STR_FMT
                   " do not answer, so Millrace cannot count its documents; is a node down?",
                   total - good, total, STR_ARG(index));
}

static bool call_count(struct search *s, const char *method, struct str index, struct str body,
                       uint64_t *count, struct err *err)
{
    struct buf answer = {0};
    bool ok = call_named(s, method, "/", index, "/_count", body, &answer, err) &&
              is_of_all_shards(buf_str(&answer), index, err);

    if (ok && !json_find_u64(buf_str(&answer), "/count", count))
        ok = fail_unreadable(err, "_count");
    buf_free(&answer);
    return ok;
}

bool search_count(struct search *s, struct str index, uint64_t *count, struct err *err)
{
    return call_count(s, "GET", index, STR(""), count, err);
}

bool search_count_others(struct search *s, struct str index, const struct str *ids, size_t n,
                         uint64_t *count, struct err *err)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};

    buf_append(&body, STR("{\"query\":{\"bool\":{\"must_not\":{\"ids\":{\"values\":"));
    json_open_array(&w);
    for (size_t i = 0; i < n; i++)
        json_write_string(&w, ids[i]);
    json_close_array(&w);
    buf_append(&body, STR("}}}}}"));

    const bool ok = call_count(s, "POST", index, buf_str(&body), count, err);

    buf_free(&body);
    return ok;
}

#define SHARDS_MAX   1024 /* the most that engines allow an index */
#define ROUTINGS_MAX 100000

/* Each shard is a list of its copies, empty if no node holds it just now. */
static bool read_shard(struct str index, struct str list, uint64_t *shard, struct err *err)
{
    struct str places;

    if (!json_find(list, "/0", &places))
        return fail_unreadable(err, "_search_shards");
    if (json_count_elements(places) == 0)
        return err_set(err, ERR_RETRY, "a shard of %" STR_FMT " is on no node; is a node down?",
                       STR_ARG(index));
    return json_find_u64(places, "/0/shard", shard) || fail_unreadable(err, "_search_shards");
}

/* Finds the shard that a routing leads to, and the number of shards. Empty routing: the first
 * shard. */
static bool ask_shard(struct search *s, struct str index, struct str routing, uint64_t *shard,
                      size_t *n, struct err *err)
{
    struct buf answer = {0}, call = {0};
    struct str list;

    buf_append(&call, STR("/_search_shards"));
    if (routing.len > 0)
        buf_printf(&call, "?routing=%" STR_FMT, STR_ARG(routing));

    bool ok = call_named(s, "GET", "/", index, call.ptr, STR(""), &answer, err);

    if (ok && !json_find(buf_str(&answer), "/shards", &list))
        ok = fail_unreadable(err, "_search_shards");
    if (ok)
        *n = json_count_elements(list);
    if (ok && *n == 0) /* the engine's answer for a missing index */
        ok = err_set_code(err, ERR_REJECT, "http", 404,
                          "index %" STR_FMT " is not in the search engine", STR_ARG(index));
    ok = ok && read_shard(index, list, shard, err);
    buf_free(&answer);
    buf_free(&call);
    return ok;
}

bool search_shard_routings(struct search *s, struct str index, struct buf *out, struct err *err)
{
    bool known[SHARDS_MAX] = {false};
    uint64_t shard;
    size_t n, one, n_known = 0;
    bool ok = ask_shard(s, index, STR(""), &shard, &n, err);

    for (unsigned i = 0; ok && n_known < n && i < ROUTINGS_MAX; i++) {
        char routing[16];

        snprintf(routing, sizeof(routing), "%u", i);
        ok = ask_shard(s, index, str_from(routing), &shard, &one, err);
        if (!ok || shard >= SHARDS_MAX || known[shard])
            continue;
        known[shard] = true;
        buf_printf(out, "%s%s", n_known++ > 0 ? " " : "", routing);
    }
    return ok && (n_known == n || fail_unreadable(err, "_search_shards"));
}

/* {"ACTION": {"index": INDEX, "alias": ALIAS}} */
static void put_alias_action(struct json_writer *w, struct str action, struct str index,
                             struct str alias)
{
    json_open_object(w);
    json_write_key(w, action);
    json_open_object(w);
    json_put_string(w, STR("index"), index);
    json_put_string(w, STR("alias"), alias);
    json_close_object(w);
    json_close_object(w);
}

/* Removes the alias from all holders (the answer of GET /_alias) but index, and adds it to
 * index. */
static void put_move(struct buf *b, struct str alias, struct str index, struct str holders)
{
    struct json_writer w = {.out = b};
    struct json_reader r;
    struct buf name = {0};
    struct str key;

    json_open_object(&w);
    json_write_key(&w, STR("actions"));
    json_open_array(&w);
    json_reader_init(&r, holders);
    if (holders.len > 0 && json_enter_object(&r)) {
        while (json_next_member(&r, &key)) {
            buf_clear(&name);
            json_unescape(&name, key);
            if (!str_equal(buf_str(&name), index))
                put_alias_action(&w, STR("remove"), buf_str(&name), alias);
        }
    }
    put_alias_action(&w, STR("add"), index, alias);
    json_close_array(&w);
    json_close_object(&w);
    buf_free(&name);
}

/* Returns true if index is the only holder. */
static bool is_only_holder(struct str index, struct str holders)
{
    struct json_reader r;
    struct str key;

    json_reader_init(&r, holders);
    return holders.len > 0 && json_enter_object(&r) && json_next_member(&r, &key) &&
           json_string_equal(key, index) && !json_next_member(&r, &key) && json_reader_ok(&r);
}

/*
 * Gets the answer of GET /_alias/ALIAS, {"INDEX": {...}, ...}; empty if nobody has the alias.
 */
static bool get_holders(struct search *s, struct str alias, struct buf *out, struct err *err)
{
    buf_clear(out);
    if (!call_named(s, "GET", "/_alias/", alias, "", STR(""), out, err))
        return err->kind == ERR_REJECT && err->code == 404;
    return json_valid(buf_str(out), err) || fail_unreadable(err, "_alias");
}

bool search_alias_leads_to(struct search *s, struct str alias, struct str index, bool *leads,
                           struct err *err)
{
    struct buf holders = {0};
    struct json_reader r;
    struct str key;

    *leads = false;
    if (!get_holders(s, alias, &holders, err)) {
        buf_free(&holders);
        return false;
    }
    json_reader_init(&r, buf_str(&holders));
    if (holders.len > 0 && json_enter_object(&r))
        while (json_next_member(&r, &key))
            *leads = *leads || json_string_equal(key, index);
    buf_free(&holders);
    return true;
}

bool search_get_aliases(struct search *s, struct str index, struct buf *out, struct err *err)
{
    struct buf answer = {0};
    struct str aliases;
    bool ok = call_named(s, "GET", "/", index, "/_alias", STR(""), &answer, err);

    if (ok && !find_in_first(buf_str(&answer), STR("aliases"), &aliases))
        ok = fail_unreadable(err, "_alias");
    if (ok)
        buf_append(out, aliases);
    buf_free(&answer);
    return ok;
}

/*
 * Names holders one by one instead of "*", because a user may have rights on our indexes only.
 * The holders can change between the question and the move: if an index is gone, the whole move
 * fails (404); the next question sees a new one.
 */
bool search_move_alias(struct search *s, struct str alias, struct str index, struct err *err)
{
    struct buf holders = {0}, body = {0};
    bool ok = check_name(index, err) && search_may_change(s, index, err), done = false;

    for (int i = 0; ok && !done && i <= MOVE_TRIES; i++) {
        ok = get_holders(s, alias, &holders, err);
        done = ok && is_only_holder(index, buf_str(&holders));
        if (!ok || done || i == MOVE_TRIES)
            break;
        buf_clear(&body);
        put_move(&body, alias, index, buf_str(&holders));
        ok = search_call(s, "POST", STR("/_aliases"), buf_str(&body), NULL, err) ||
             (err->code == 404 && i + 1 < MOVE_TRIES);
    }
    if (ok && !done)
        ok = err_set(err, ERR_RETRY, "alias %" STR_FMT " is being moved by somebody else",
                     STR_ARG(alias));
    buf_free(&holders);
    buf_free(&body);
    return ok;
}

static bool change_alias(struct search *s, struct str action, struct str alias,
                         struct str index, struct err *err)
{
    struct buf body = {0};
    struct json_writer w = {.out = &body};

    json_open_object(&w);
    json_write_key(&w, STR("actions"));
    json_open_array(&w);
    put_alias_action(&w, action, index, alias);
    json_close_array(&w);
    json_close_object(&w);

    const bool ok = search_call(s, "POST", STR("/_aliases"), buf_str(&body), NULL, err);

    buf_free(&body);
    return ok;
}

bool search_add_alias(struct search *s, struct str alias, struct str index, struct err *err)
{
    return check_name(index, err) && check_name(alias, err) &&
           search_may_change(s, index, err) && change_alias(s, STR("add"), alias, index, err);
}

/* Somebody may have put the alias on an index of anybody's. */
bool search_remove_alias(struct search *s, struct str alias, struct str index, struct err *err)
{
    return check_name(index, err) && check_name(alias, err) &&
           search_may_change(s, alias, err) &&
           change_alias(s, STR("remove"), alias, index, err);
}

static void put_copy(struct json_writer *w, const char *name, struct str from,
                     const char *pointer)
{
    struct str raw;

    json_write_key(w, str_from(name));
    if (json_find(from, pointer, &raw))
        json_write_raw(w, raw);
    else
        json_write_null(w);
}

/* Writes the fullest disk's row of [{"node": NAME, "disk.percent": "70"}, ...]. */
static void put_fullest_disk(struct json_writer *w, struct str rows)
{
    struct json_reader r;
    struct buf node = {0}, text = {0};
    struct str row;
    long worst = -1;

    json_reader_init(&r, rows);
    if (json_enter_array(&r)) {
        while (json_next_element(&r) && json_read_raw(&r, &row)) {
            buf_clear(&text);
            if (!json_find_text(row, "/disk.percent", &text))
                continue;
            if (strtol(text.ptr, NULL, 10) <= worst)
                continue;
            worst = strtol(text.ptr, NULL, 10);
            buf_clear(&node);
            (void)json_find_text(row, "/node", &node);
        }
    }
    if (worst >= 0) {
        json_put_i64(w, STR("disk_used_percent"), worst);
        json_put_string(w, STR("disk_node"), buf_str(&node));
    }
    buf_free(&node);
    buf_free(&text);
}

static const char *flavor_name(enum search_flavor flavor)
{
    switch (flavor) {
    case SEARCH_UNKNOWN: return "unknown";
    case SEARCH_OPENSEARCH: return "opensearch";
    case SEARCH_ELASTICSEARCH: return "elasticsearch";
    }
    return "unknown";
}

bool search_health(struct search *s, struct buf *out_json, struct err *err)
{
    struct json_writer w = {.out = out_json};
    struct buf health = {0}, disks = {0};
    struct err ignored = {0};

    if (!search_detect(s, err))
        return false;

    bool ok = search_call(s, "GET", STR("/_cluster/health"), STR(""), &health, err);

    if (ok) {
        json_open_object(&w);
        json_put_cstr(&w, STR("engine"), flavor_name(search_engine(s).flavor));
        json_put_cstr(&w, STR("version"), search_version_text(s));
        put_copy(&w, "cluster", buf_str(&health), "/cluster_name");
        put_copy(&w, "status", buf_str(&health), "/status");
        put_copy(&w, "nodes", buf_str(&health), "/number_of_nodes");
        put_copy(&w, "unassigned_shards", buf_str(&health), "/unassigned_shards");
        if (search_call(s, "GET", STR("/_cat/allocation?format=json&h=node,disk.percent"),
                        STR(""), &disks, &ignored))
            put_fullest_disk(&w, buf_str(&disks));
        json_close_object(&w);
    }
    buf_free(&health);
    buf_free(&disks);
    return ok;
}
