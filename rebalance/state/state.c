#include "config.h"

#include "rebalance/state/parts.h"
#include "rebalance/watch/findings.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
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

    lock_init(&s->reading, LOCK_refresh_lock);
    lock_init(&s->lock, LOCK_state_lock);
    return s;
}

void stored_state_free(struct stored_state *s)
{
    if (s == NULL)
        return;
    definitions_unref(s->definitions);
    catalogue_unref(s->catalogue);
    lock_fini(&s->lock);
    lock_fini(&s->reading);
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

bool coordinator_is_daemon(const struct coordinator *co, const char *what, struct err *err)
{
    return co->delivery != NULL ||
           refuse(err, 503, "%s needs the running daemon; fix: start it with millrace run",
                  what);
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
    else
        d->revision = *revision;
    return d;
}

struct definitions *coordinator_definitions(struct coordinator *co)
{
    lock_acquire(&co->stored->lock);

    struct definitions *d = definitions_ref(co->stored->definitions);

    lock_release(&co->stored->lock);
    return d;
}

/* ---- versions and stops ---- */

/* Replace the catalogue and, unless d is NULL, the definitions. */
static void replace(struct coordinator *co, struct definitions *d, struct catalogue *c)
{
    lock_acquire(&co->stored->lock);

    struct catalogue *old = co->stored->catalogue;
    struct definitions *before = d == NULL ? NULL : co->stored->definitions;

    co->stored->catalogue = c;
    if (d != NULL)
        co->stored->definitions = d;
    lock_release(&co->stored->lock);
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
    lock_acquire(&co->stored->reading);

    struct catalogue *fresh = catalogue_load(co->opt.store, err);

    if (fresh != NULL)
        replace(co, NULL, fresh);
    else
        __atomic_store_n(&co->stored->due, true, __ATOMIC_RELEASE);
    lock_release(&co->stored->reading);
    if (fresh != NULL)
        tell_refreshed(co);
    return fresh != NULL;
}

struct catalogue *coordinator_catalogue(struct coordinator *co)
{
    lock_acquire(&co->stored->lock);

    struct catalogue *c = catalogue_ref(co->stored->catalogue);

    lock_release(&co->stored->lock);
    return c;
}

void coordinator_load_soon(struct coordinator *co)
{
    __atomic_store_n(&co->stored->due, true, __ATOMIC_RELEASE);
}

bool coordinator_is_load_due(const struct coordinator *co)
{
    return __atomic_load_n(&co->stored->due, __ATOMIC_ACQUIRE) ||
           store_doubts(co->opt.store) !=
               __atomic_load_n(&co->stored->doubts, __ATOMIC_RELAXED);
}

/* Read `doubts` first: a doubt that arises during the load makes another load due. */
bool coordinator_load(struct coordinator *co, struct err *err)
{
    const uint64_t doubts = store_doubts(co->opt.store);
    struct catalogue *c = NULL;
    struct definitions *d;
    uint64_t revision;

    lock_acquire(&co->stored->reading);
    __atomic_store_n(&co->stored->due, false, __ATOMIC_RELEASE);
    d = load_definitions(co, &revision, err);
    if (d != NULL)
        c = catalogue_load(co->opt.store, err);
    if (c != NULL) {
        co->stored->revision = revision;
        __atomic_store_n(&co->stored->doubts, doubts, __ATOMIC_RELAXED);
        replace(co, d, c);
    } else {
        __atomic_store_n(&co->stored->due, true, __ATOMIC_RELEASE);
        definitions_unref(d);
    }
    lock_release(&co->stored->reading);
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

static void format_time(char *text, size_t cap, int64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    text[0] = '\0';
    if (ms != 0 && gmtime_r(&seconds, &tm) != NULL)
        strftime(text, cap, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

struct str coordinator_time(struct arena *a, int64_t ms)
{
    char text[40];

    format_time(text, sizeof(text), ms);
    return arena_copy(a, str_from(text));
}

void coordinator_put_time(struct json_writer *w, struct str key, int64_t ms)
{
    char text[40];

    format_time(text, sizeof(text), ms);
    json_put_cstr(w, key, ms == 0 ? NULL : text);
}
