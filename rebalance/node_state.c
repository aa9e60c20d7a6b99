#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/model/definition_export.h"
#include "sync/model/definition_parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool refuse(struct err *err, int status, const char *fmt, ...)
{
    char msg[ERR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    return err_set_code(err, ERR_REJECT, "http", status, "%s", msg);
}

/* The commands outlive what they would change: the API answers until the very end. */
bool node_begin(struct coordinator *co, struct err *err)
{
    pthread_mutex_lock(&co->doing);
    if (!stop_is_set(&co->stop))
        return true;
    pthread_mutex_unlock(&co->doing);
    return refuse(err, 503, "the daemon is stopping");
}

/* ---- definitions ---- */

struct definitions *node_parse_stored(const struct stored_definition *stored, size_t n,
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

static bool load_definitions(struct coordinator *co, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_definition *stored;
    struct definitions *d = NULL;
    uint64_t revision;
    size_t n;
    bool ok = store_load_definitions(co->opt.store, a, &stored, &n, &revision, err);

    if (ok) {
        d = node_parse_stored(stored, n, err);
        ok = d != NULL;
    }
    arena_free(a);
    if (!ok)
        return err_wrap(err, "stored definitions");
    co->revision = revision;
    pthread_mutex_lock(&co->lock);
    definitions_unref(co->definitions);
    co->definitions = d;
    pthread_mutex_unlock(&co->lock);
    return true;
}

struct definitions *node_definitions(struct coordinator *co)
{
    pthread_mutex_lock(&co->lock);

    struct definitions *d = definitions_ref(co->definitions);

    pthread_mutex_unlock(&co->lock);
    return d;
}

/* ---- versions and stops ---- */

void node_catalogue_free(struct catalogue *c)
{
    if (c == NULL)
        return;
    arena_free(c->arena);
    free(c);
}

static struct catalogue *load_catalogue(struct coordinator *co, struct err *err)
{
    struct catalogue *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    if (store_load_versions(co->opt.store, c->arena, STR(""), &c->versions, &c->n_versions,
                            err) &&
        store_load_stops(co->opt.store, c->arena, &c->stops, &c->n_stops, err) &&
        store_load_rebuilds(co->opt.store, c->arena, &c->rebuilds, &c->n_rebuilds, err))
        return c;
    node_catalogue_free(c);
    return NULL;
}

bool node_refresh(struct coordinator *co, struct err *err)
{
    pthread_mutex_lock(&co->refreshing);

    struct catalogue *fresh = load_catalogue(co, err);

    if (fresh == NULL) {
        pthread_mutex_unlock(&co->refreshing);
        return err_wrap(err, "reading the index versions");
    }
    pthread_mutex_lock(&co->lock);

    struct catalogue *old = co->catalogue;

    co->catalogue = fresh;
    pthread_mutex_unlock(&co->lock);
    pthread_mutex_unlock(&co->refreshing);
    node_catalogue_free(old);
    return true;
}

static struct stored_version copy_version(struct arena *a, const struct stored_version *v)
{
    struct stored_version c = *v;

    c.index = arena_copy(a, v->index);
    c.state = arena_copy(a, v->state);
    c.topic = arena_copy(a, v->topic);
    c.definition = arena_copy(a, v->definition);
    c.error = arena_copy(a, v->error);
    return c;
}

static struct stored_stop copy_stop(struct arena *a, const struct stored_stop *s)
{
    struct stored_stop c = *s;

    c.table = arena_copy(a, s->table);
    c.reason = arena_copy(a, s->reason);
    c.way_out = arena_copy(a, s->way_out);
    c.file = arena_copy(a, s->file);
    return c;
}

static struct stored_rebuild copy_rebuild(struct arena *a, const struct stored_rebuild *r)
{
    struct stored_rebuild c = *r;

    c.table = arena_copy(a, r->table);
    c.reason = arena_copy(a, r->reason);
    return c;
}

struct catalogue *node_catalogue(struct coordinator *co)
{
    struct catalogue *c = mem_alloc(1, sizeof(*c));

    c->arena = arena_new();
    pthread_mutex_lock(&co->lock);
    c->n_versions = co->catalogue->n_versions;
    c->n_stops = co->catalogue->n_stops;
    c->n_rebuilds = co->catalogue->n_rebuilds;
    c->versions = arena_alloc(c->arena, c->n_versions + 1, sizeof(*c->versions));
    c->stops = arena_alloc(c->arena, c->n_stops + 1, sizeof(*c->stops));
    c->rebuilds = arena_alloc(c->arena, c->n_rebuilds + 1, sizeof(*c->rebuilds));
    for (size_t i = 0; i < c->n_versions; i++)
        c->versions[i] = copy_version(c->arena, &co->catalogue->versions[i]);
    for (size_t i = 0; i < c->n_stops; i++)
        c->stops[i] = copy_stop(c->arena, &co->catalogue->stops[i]);
    for (size_t i = 0; i < c->n_rebuilds; i++)
        c->rebuilds[i] = copy_rebuild(c->arena, &co->catalogue->rebuilds[i]);
    pthread_mutex_unlock(&co->lock);
    return c;
}

bool catalogue_is_live(const struct stored_version *v)
{
    return str_equal(v->state, STR("changing")) || str_equal(v->state, STR("available"));
}

const struct stored_version *catalogue_version(const struct catalogue *c, struct str index,
                                               struct str state)
{
    for (size_t i = c->n_versions; i-- > 0;)
        if (str_equal(c->versions[i].index, index) && str_equal(c->versions[i].state, state))
            return &c->versions[i];
    return NULL;
}

const struct stored_version *catalogue_number(const struct catalogue *c, struct str index,
                                              uint64_t number)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (str_equal(c->versions[i].index, index) && c->versions[i].number == number)
            return &c->versions[i];
    return NULL;
}

const struct stored_rebuild *catalogue_rebuild(const struct catalogue *c, struct str table)
{
    for (size_t i = 0; i < c->n_rebuilds; i++)
        if (str_equal(c->rebuilds[i].table, table))
            return &c->rebuilds[i];
    return NULL;
}

const struct stored_stop *catalogue_stop(const struct catalogue *c, struct str table)
{
    for (size_t i = 0; i < c->n_stops; i++)
        if (str_equal(c->stops[i].table, table))
            return &c->stops[i];
    return NULL;
}

void node_index_name(struct buf *b, struct str alias, uint64_t number)
{
    buf_printf(b, "%" STR_FMT "_v%" PRIu64, STR_ARG(alias), number);
}

void node_write_alias(struct buf *b, struct str alias, uint64_t number)
{
    node_index_name(b, alias, number);
    buf_append(b, STR("_write"));
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

/* Our replication server id: made once, high enough not to meet a person's own choice. */
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

bool node_replica_identity(struct coordinator *co, const struct topic_definition *d,
                           struct replica_identity *out, struct err *err)
{
    out->server_id = d->server_id;
    if (out->server_id == 0 && !load_server_id(co, d->name, &out->server_id, err))
        return false;
    /* The node's uuid, ending in the id. */
    snprintf(out->uuid, sizeof(out->uuid), "%.28s%08" PRIx32, co->uuid, out->server_id);
    return true;
}

bool node_load(struct coordinator *co, struct err *err)
{
    return load_identity(co, err) && load_definitions(co, err) && node_refresh(co, err);
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
        log_failure(LOG_WARN, &err, "the sync log was not written", KV("table", table),
                    KV("event", event));
    buf_free(&json);
}

void node_log(struct coordinator *co, struct str table, struct str index, uint64_t version,
              const char *event, const char *detail)
{
    add_log(co, table, index, version, event, str_from(detail));
}

void node_log_text(struct coordinator *co, struct str table, struct str index,
                   const char *event, struct str detail)
{
    add_log(co, table, index, 0, event, detail);
}

void node_put_time(struct json_writer *w, struct str key, int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[40] = "";

    if (ms != 0 && gmtime_r(&seconds, &tm) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_put_cstr(w, key, ms == 0 ? NULL : text);
}

const struct table_definition *node_find_table(const struct definitions *d, struct str name,
                                               struct err *err)
{
    const struct table_definition *t = definitions_table(d, name);

    if (t == NULL)
        t = definition_lead_of(d, name);
    for (size_t i = 0; t == NULL && i < d->n_tables; i++)
        if (definition_names(&d->tables[i], name))
            t = &d->tables[i];
    if (t != NULL)
        return t;
    refuse(err, 404,
           "no table or index %" STR_FMT " is defined; fix: millrace table list shows what is",
           STR_ARG(name));
    return NULL;
}
