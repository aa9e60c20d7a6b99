#include "config.h"

#include "tests/fakes/fake_search.h"

#include "src/base/clock.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "tests/fakes/fake_answer.h"
#include "tests/fakes/fake_routes.h"
#include "tests/fakes/fake_signature.h"
#include "tests/fakes/fake_voice.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fake_search_keep(struct fake_search *f, struct str s)
{
    char *text = arena_alloc(f->strings, s.len + 1, 1);

    if (s.len > 0)
        memcpy(text, s.ptr, s.len);
    return text;
}

static const char *keep_text(struct fake_search *f, const char *text)
{
    return text == NULL ? NULL : fake_search_keep(f, str_from(text));
}

static void lock(struct fake_search *f)
{
    pthread_mutex_lock(&f->lock);
    fake_answer_raise_zombies(f, clock_mono_ms());
}

static bool is_understood(struct fake_search *f, const struct fake_http_request *req,
                          struct fake_http_answer *answer)
{
    lock(f);

    const bool ok = f->voice == NULL || fake_voice_takes(f->voice, req, answer);

    f->n_refused += !ok;
    pthread_mutex_unlock(&f->lock);
    return ok;
}

static bool is_signed(struct fake_search *f, const struct fake_http_request *req,
                      struct fake_http_answer *answer)
{
    lock(f);

    const struct fake_key *key = f->key;
    const int64_t now_ms = clock_wall_ms() + f->ahead_ms;
    const bool ok = key == NULL || fake_signature_check(key, req, now_ms, answer);

    f->n_refused += !ok;
    pthread_mutex_unlock(&f->lock);
    return ok;
}

static void handle(void *ctx, const struct fake_http_request *req,
                   struct fake_http_answer *answer)
{
    static const struct str bulk = STR("/_bulk");
    struct fake_search *f = ctx;

    if (!is_signed(f, req, answer) || !is_understood(f, req, answer))
        return;
    if (req->path.len >= bulk.len &&
        memcmp(req->path.ptr + req->path.len - bulk.len, bulk.ptr, bulk.len) == 0) {
        struct str alias = {req->path.ptr + 1, req->path.len - bulk.len};

        alias.len -= alias.len > 0;
        fake_answer_bulk(f, req, alias, answer);
        return;
    }
    fake_routes_handle(f, req, answer);
}

/* --- for tests --- */

void fake_search_want_signatures(struct fake_search *f, const struct fake_key *key,
                                 int64_t ahead_ms)
{
    lock(f);
    f->key = key;
    f->ahead_ms = ahead_ms;
    pthread_mutex_unlock(&f->lock);
}

void fake_search_speak(struct fake_search *f, const struct fake_voice *voice)
{
    lock(f);
    f->voice = voice;
    pthread_mutex_unlock(&f->lock);
}

uint64_t fake_search_refused(struct fake_search *f)
{
    lock(f);

    const uint64_t n = f->n_refused;

    pthread_mutex_unlock(&f->lock);
    return n;
}

void fake_search_add_rule(struct fake_search *f, const struct fake_rule *rule)
{
    struct rule *r = mem_alloc(1, sizeof(*r));
    struct rule **at = &f->rules;

    lock(f);
    r->is = *rule;
    r->is.index = keep_text(f, rule->index);
    r->is.id = keep_text(f, rule->id);
    r->is.type = keep_text(f, rule->type);
    r->is.reason = keep_text(f, rule->reason);
    r->is.cause_type = keep_text(f, rule->cause_type);
    r->is.cause_reason = keep_text(f, rule->cause_reason);
    r->is.page = keep_text(f, rule->page);
    while (*at != NULL)
        at = &(*at)->next;
    *at = r;
    pthread_mutex_unlock(&f->lock);
}

void fake_search_say_others(struct fake_search *f, uint64_t documents)
{
    pthread_mutex_lock(&f->lock);
    f->others = (int64_t)documents;
    pthread_mutex_unlock(&f->lock);
}

void fake_search_fail_gets(struct fake_search *f, unsigned n, int status)
{
    pthread_mutex_lock(&f->lock);
    f->get_fails = n;
    f->get_status = status;
    pthread_mutex_unlock(&f->lock);
}

int fake_search_get_failure(struct fake_search *f)
{
    if (f->get_fails == 0)
        return 0;
    f->get_fails--;
    return f->get_status;
}

void fake_search_clear_rules(struct fake_search *f)
{
    lock(f);
    while (f->rules != NULL) {
        struct rule *r = f->rules;

        f->rules = r->next;
        free(r);
    }
    f->n_cleared++;
    pthread_mutex_unlock(&f->lock);
}

struct fake_search *fake_search_start(uint16_t port)
{
    struct fake_search *f = mem_alloc(1, sizeof(*f));

    pthread_mutex_init(&f->lock, NULL);
    f->engine = fake_engine_new();
    f->others = -1;
    f->strings = arena_new();
    f->mappings = map_new();
    f->http = fake_http_start(port, handle, f);
    snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u", fake_http_port(f->http));
    return f;
}

void fake_search_stop(struct fake_search *f)
{
    fake_http_stop(f->http);
    fake_search_clear_rules(f);
    fake_answer_forget_zombies(f);
    fake_engine_free(f->engine);
    map_free(f->mappings, free);
    arena_free(f->strings);
    free(f->items);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

const char *fake_search_url(const struct fake_search *f)
{
    return f->url;
}

struct fake_engine *fake_search_lock(struct fake_search *f)
{
    lock(f);
    return f->engine;
}

void fake_search_unlock(struct fake_search *f)
{
    pthread_mutex_unlock(&f->lock);
}

void fake_search_create(struct fake_search *f, const char *index, const char *alias)
{
    lock(f);
    fake_engine_create(f->engine, str_from(index));
    if (alias != NULL)
        fake_engine_alias(f->engine, str_from(alias), str_from(index), false);
    pthread_mutex_unlock(&f->lock);
}

void fake_search_delete(struct fake_search *f, const char *index)
{
    lock(f);
    fake_engine_delete(f->engine, str_from(index));
    pthread_mutex_unlock(&f->lock);
}

void fake_search_restart_shards(struct fake_search *f)
{
    lock(f);
    fake_engine_restart_shards(f->engine);
    pthread_mutex_unlock(&f->lock);
}

void fake_search_set_gc_deletes(struct fake_search *f, int64_t ms)
{
    lock(f);
    fake_engine_set_gc_deletes(f->engine, ms);
    pthread_mutex_unlock(&f->lock);
}

size_t fake_search_raise_zombies(struct fake_search *f)
{
    pthread_mutex_lock(&f->lock);

    const size_t n = fake_answer_raise_zombies(f, INT64_MAX);

    pthread_mutex_unlock(&f->lock);
    return n;
}

struct fake_document fake_search_get(struct fake_search *f, const char *index, const char *id)
{
    struct fake_document doc = {0};

    lock(f);
    doc.found =
        fake_engine_get(f->engine, str_from(index), str_from(id), &doc.version, &doc.body);
    pthread_mutex_unlock(&f->lock);
    return doc;
}

void fake_search_put(struct fake_search *f, const char *index, const char *id, uint64_t version,
                     const char *body)
{
    const struct fake_op op = {.id = str_from(id),
                               .version_type = FAKE_EXTERNAL_GTE,
                               .version = version,
                               .body = str_from(body)};
    uint64_t stored;

    lock(f);
    fake_engine_apply(f->engine, str_from(index), &op, clock_mono_ms(), &stored);
    pthread_mutex_unlock(&f->lock);
}

size_t fake_search_count(struct fake_search *f, const char *index)
{
    lock(f);

    size_t n = fake_engine_count(f->engine, str_from(index));

    pthread_mutex_unlock(&f->lock);
    return n;
}

size_t fake_search_items(struct fake_search *f)
{
    lock(f);

    size_t n = f->n_items;

    pthread_mutex_unlock(&f->lock);
    return n;
}

struct fake_item fake_search_item(struct fake_search *f, size_t i)
{
    lock(f);
    assert(i < f->n_items);

    struct fake_item item = f->items[i];

    pthread_mutex_unlock(&f->lock);
    return item;
}

uint64_t fake_search_requests(struct fake_search *f)
{
    lock(f);

    uint64_t n = f->n_requests;

    pthread_mutex_unlock(&f->lock);
    return n;
}

unsigned fake_search_most_at_once(struct fake_search *f)
{
    lock(f);

    unsigned n = f->n_most;

    pthread_mutex_unlock(&f->lock);
    return n;
}

void fake_search_count_anew(struct fake_search *f)
{
    lock(f);
    f->n_most = f->n_now;
    pthread_mutex_unlock(&f->lock);
}

size_t fake_search_largest_body(struct fake_search *f)
{
    lock(f);

    size_t n = f->largest_body;

    pthread_mutex_unlock(&f->lock);
    return n;
}
