#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/watch/findings.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/definition/export.h"
#include "sync/definition/parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stored_state *stored_state_new(void)
{
    struct stored_state *s = mem_alloc(1, sizeof(*s));

    lock_init(&s->lock, LOCK_refresh_lock);
    return s;
}

void stored_state_free(struct stored_state *s)
{
    if (s != NULL)
        lock_fini(&s->lock);
    free(s);
}

bool refuse(struct err *err, int status, const char *fmt, ...)
{
    char msg[ERR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    return err_set_code(err, ERR_REJECT, "http", status, "%s", msg);
}

/* Refuse changes while stopping: the API answers requests until the very end. */
bool coordinator_begin(struct coordinator *co, struct err *err)
{
    lock_acquire(&co->admin_lock);
    if (!stop_is_set(&co->stop))
        return true;
    lock_release(&co->admin_lock);
    return refuse(err, 503, "the daemon is stopping");
}

/* ---- definitions ---- */

struct definitions *coordinator_parse_stored(const struct stored_definition *stored, size_t n,
                                             struct err *err)
{
    struct problems *problems = problems_new();
    struct definitions *d = definition_from_store(stored, n, problems);
    struct buf text = {0};

    if (d == NULL) {
        problems_append_text(problems, &text);
        err_set(err, ERR_FATAL, "%s", text.ptr);
    }
    buf_free(&text);
    problems_free(problems);
    return d;
}

static struct definitions *load_definitions(struct coordinator *co, uint64_t *revision,
                                            struct err *err)
{
    struct arena *a = arena_new();
    struct stored_definition *stored;
    struct definitions *d = NULL;
    size_t n;

    if (store_load_definitions(co->opt.store, a, &stored, &n, revision, err))
        d = coordinator_parse_stored(stored, n, err);
    arena_free(a);
    if (d == NULL)
        err_wrap(err, "stored definitions");
    return d;
}

struct definitions *coordinator_definitions(struct coordinator *co)
{
    lock_acquire(&co->state_lock);

    struct definitions *d = definitions_ref(co->definitions);

    lock_release(&co->state_lock);
    return d;
}

/* ---- versions and stops ---- */

/* Replace the catalogue and, unless d is NULL, the definitions. */
static void replace(struct coordinator *co, struct definitions *d, struct catalogue *c)
{
    lock_acquire(&co->state_lock);

    struct catalogue *old = co->catalogue;
    struct definitions *before = d == NULL ? NULL : co->definitions;

    co->catalogue = c;
    if (d != NULL)
        co->definitions = d;
    lock_release(&co->state_lock);
    catalogue_unref(old);
    definitions_unref(before);
}

static void tell_refreshed(struct coordinator *co)
{
    store_watch_read(co->store_watch);
    findings_ask_soon(co->findings);
    stop_nudge(&co->stop);
}

bool coordinator_refresh(struct coordinator *co, struct err *err)
{
    lock_acquire(&co->stored->lock);

    struct catalogue *fresh = catalogue_load(co->opt.store, err);

    if (fresh != NULL)
        replace(co, NULL, fresh);
    else
        __atomic_store_n(&co->stored->due, true, __ATOMIC_RELEASE);
    lock_release(&co->stored->lock);
    if (fresh != NULL)
        tell_refreshed(co);
    return fresh != NULL;
}

struct catalogue *coordinator_catalogue(struct coordinator *co)
{
    lock_acquire(&co->state_lock);

    struct catalogue *c = catalogue_ref(co->catalogue);

    lock_release(&co->state_lock);
    return c;
}

void coordinator_index_name(struct buf *b, struct str alias, uint64_t number)
{
    buf_printf(b, "%" STR_FMT "_v%" PRIu64, STR_ARG(alias), number);
}

void coordinator_write_alias(struct buf *b, struct str alias, uint64_t number)
{
    coordinator_index_name(b, alias, number);
    buf_append(b, STR("_write"));
}

bool coordinator_split_index_name(const char *index, struct str *alias, uint64_t *number)
{
    const struct str name = str_from(index);
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    if (at == name.len || at < 3 || memcmp(name.ptr + at - 2, "_v", 2) != 0)
        return false;
    *alias = (struct str){name.ptr, at - 2};
    *number = strtoull(name.ptr + at, NULL, 10);
    return true;
}

/* ---- who we are ---- */

static void make_uuid(char out[37])
{
    uint8_t b[16];

    random_bytes(b, sizeof(b));
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (size_t i = 0, at = 0; i < sizeof(b); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        snprintf(out + at, 3, "%02x", b[i]);
        at += 2;
    }
    out[36] = '\0';
}

/* Make a replication server id, high enough not to collide with one that a person chose. */
static uint32_t make_server_id(void)
{
    uint32_t id;

    random_bytes(&id, sizeof(id));
    return 0x60000000u | (id & 0x1fffffffu);
}

static bool load_identity(struct coordinator *co, struct err *err)
{
    struct buf b = {0};
    bool found;
    bool ok = store_get_value(co->opt.store, STR("uuid"), &b, &found, err);

    if (ok && found && b.len == 36) {
        memcpy(co->uuid, b.ptr, 37);
    } else if (ok) {
        make_uuid(co->uuid);
        ok = store_put_value(co->opt.store, STR("uuid"), str_from(co->uuid), err);
    }
    buf_free(&b);
    return ok;
}

/* All nodes that share a store are one owner of its indexes. */
static bool load_owner(struct coordinator *co, struct err *err)
{
    char fresh[37];
    struct buf b = {0};

    make_uuid(fresh);

    bool ok = store_keep_value(co->opt.store, STR("owner"), str_from(fresh), &b, err);

    if (ok)
        snprintf(co->owner, sizeof(co->owner), "%s", b.ptr);
    buf_free(&b);
    return ok;
}

static bool load_server_id(struct coordinator *co, struct str topic, uint32_t *out,
                           struct err *err)
{
    struct buf name = {0}, b = {0};
    bool found;

    buf_printf(&name, "server_id/%" STR_FMT, STR_ARG(topic));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &b, &found, err);

    if (ok && found) {
        *out = (uint32_t)strtoul(b.ptr, NULL, 10);
    } else if (ok) {
        *out = make_server_id();
        buf_clear(&b);
        buf_printf(&b, "%" PRIu32, *out);
        ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&b), err);
    }
    buf_free(&b);
    buf_free(&name);
    return ok;
}

bool coordinator_replica_identity(struct coordinator *co, const struct topic_definition *d,
                                  struct replica_identity *out, struct err *err)
{
    out->server_id = d->server_id;
    if (out->server_id == 0 && !load_server_id(co, d->name, &out->server_id, err))
        return false;
    /* The node's uuid with the id as its last 8 digits. */
    snprintf(out->uuid, sizeof(out->uuid), "%.28s%08" PRIx32, co->uuid, out->server_id);
    return true;
}

bool coordinator_load_names(struct coordinator *co, struct err *err)
{
    return load_identity(co, err) && load_owner(co, err);
}

bool coordinator_is_load_due(const struct coordinator *co)
{
    return __atomic_load_n(&co->stored->due, __ATOMIC_ACQUIRE) ||
           store_doubts(co->opt.store) != co->stored->doubts;
}

/* Read `doubts` first: a doubt that arises during the load makes another load due. */
bool coordinator_load(struct coordinator *co, struct err *err)
{
    const uint64_t doubts = store_doubts(co->opt.store);
    struct catalogue *c = NULL;
    struct definitions *d;
    uint64_t revision;

    lock_acquire(&co->stored->lock);
    __atomic_store_n(&co->stored->due, false, __ATOMIC_RELEASE);
    d = load_definitions(co, &revision, err);
    if (d != NULL)
        c = catalogue_load(co->opt.store, err);
    if (c != NULL) {
        co->stored->revision = revision;
        co->stored->doubts = doubts;
        replace(co, d, c);
    } else {
        __atomic_store_n(&co->stored->due, true, __ATOMIC_RELEASE);
        definitions_unref(d);
    }
    lock_release(&co->stored->lock);
    if (c != NULL)
        tell_refreshed(co);
    return c != NULL;
}

static void add_log(struct coordinator *co, struct str table, struct str index,
                    uint64_t version, const char *event, struct str detail)
{
    struct buf json = {0};
    struct json_writer w = {.out = &json};
    struct err err = {0};

    json_open_object(&w);
    json_put_string(&w, STR("text"), detail);
    json_close_object(&w);

    const struct stored_log l = {.at_ms = clock_wall_ms(),
                                 .table = table,
                                 .index = index,
                                 .version = version,
                                 .event = str_from(event),
                                 .detail = buf_str(&json)};

    if (!store_add_log(co->opt.store, &l, &err))
        log_failure(LOG_WARN, &err, "could not write the sync log", KV("table", table),
                    KV("event", event));
    buf_free(&json);
}

void coordinator_log(struct coordinator *co, struct str table, struct str index,
                     uint64_t version, const char *event, const char *detail)
{
    add_log(co, table, index, version, event, str_from(detail));
}

void coordinator_log_text(struct coordinator *co, struct str table, struct str index,
                          const char *event, struct str detail)
{
    add_log(co, table, index, 0, event, detail);
}

void coordinator_put_time(struct json_writer *w, struct str key, int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[40] = "";

    if (ms != 0 && gmtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_put_cstr(w, key, ms == 0 ? NULL : text);
}

const struct table_definition *coordinator_find_table(const struct definitions *d,
                                                      struct str name, struct err *err)
{
    const struct table_definition *t = definitions_table(d, name);

    if (t == NULL)
        t = definition_lead_of(d, name);
    for (size_t i = 0; t == NULL && i < d->n_tables; i++)
        if (definition_names(&d->tables[i], name))
            t = &d->tables[i];
    if (t != NULL)
        return t;
    refuse(err, 404, "no table or index %" STR_FMT " is defined; fix: see millrace table list",
           STR_ARG(name));
    return NULL;
}

void coordinator_stored_view(struct coordinator *co, struct stored_view *v)
{
    struct arena *a = arena_new();
    struct stored_version *versions;

    v->arena = a;
    v->catalogue = coordinator_catalogue(co);
    v->definitions = coordinator_definitions(co);
    versions = arena_alloc(a, v->catalogue->n_versions + 1, sizeof(*versions));
    for (size_t i = 0; i < v->catalogue->n_versions; i++)
        versions[i] = v->catalogue->versions[i];
    v->facts = (struct stored_facts){
        .owner = str_from(co->owner),
        .versions = versions,
        .n_versions = v->catalogue->n_versions,
        .wanted = arena_alloc(a, v->definitions->n_tables + 1, sizeof(struct wanted_index)),
        .n_wanted = v->definitions->n_tables,
    };
    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        const struct table_definition *t = &v->definitions->tables[i];

        v->facts.wanted[i] = (struct wanted_index){
            table_index(t), table_name(definition_lead(v->definitions, t))};
    }
    stored_facts_order(&v->facts);
}

void coordinator_stored_view_free(struct stored_view *v)
{
    arena_free(v->arena);
    catalogue_unref(v->catalogue);
    definitions_unref(v->definitions);
}
