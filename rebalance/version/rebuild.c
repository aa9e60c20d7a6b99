#include "config.h"

#include "rebalance/version/rebuild.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"
#include "rebalance/version/index.h"
#include "rebalance/version/version_create.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 1000   /* one DDL statement is often followed by another */
#define FIRST_MS  1000   /* before the second attempt; then doubled ... */
#define MAX_MS    300000 /* ... up to this */
#define CALM_MS   600000 /* after so long, earlier attempts no longer count */

/*
 * The attempts to rebuild a table.  If a build fails, or the next DDL overtakes it, the next
 * attempt waits.
 */
struct rebuild_try {
    char *table;
    unsigned n;
    int64_t last_ms, next_ms; /* monotonic */
    struct err why;           /* of the last attempt; ERR_NONE: it runs or succeeded */
    bool waits;               /* it could not begin: a table or server is missing */
    struct rebuild_try *next;
};

/* Only the holder of admin_lock changes a try, and it reads without the lock. */
struct rebuilds {
    bool tables_changed; /* atomic: DDL came since the last tries */
    struct lock lock;
    struct rebuild_try *first; /* guarded by lock */
};

struct rebuilds *rebuilds_new(void)
{
    struct rebuilds *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    return all;
}

void rebuilds_free(struct rebuilds *all)
{
    if (all == NULL)
        return;
    while (all->first != NULL) {
        struct rebuild_try *r = all->first;

        all->first = r->next;
        free(r->table);
        free(r);
    }
    lock_fini(&all->lock);
    free(all);
}

static struct rebuild_try *find_try(const struct coordinator *co, struct str table)
{
    for (struct rebuild_try *r = co->rebuilds->first; r != NULL; r = r->next)
        if (str_equal(str_from(r->table), table))
            return r;
    return NULL;
}

static struct rebuild_try *get_try(struct coordinator *co, struct str table)
{
    struct rebuild_try *r = find_try(co, table);

    if (r != NULL)
        return r;
    r = mem_alloc(1, sizeof(*r));
    r->table = strndup(table.ptr, table.len);
    lock_acquire(&co->rebuilds->lock);
    r->next = co->rebuilds->first;
    co->rebuilds->first = r;
    lock_release(&co->rebuilds->lock);
    return r;
}

static int64_t pause_ms(unsigned n_tries)
{
    return n_tries > 8 ? MAX_MS : (int64_t)FIRST_MS << (n_tries - 1);
}

static void set_next(struct coordinator *co, struct rebuild_try *r, const struct err *why,
                     bool waits)
{
    lock_acquire(&co->rebuilds->lock);
    r->last_ms = clock_mono_ms();
    r->next_ms = r->last_ms + pause_ms(r->n);
    r->why = *why;
    r->waits = waits;
    lock_release(&co->rebuilds->lock);
}

void coordinator_note_build_failed(struct coordinator *co, struct str table,
                                   const struct err *why)
{
    struct rebuild_try *r = find_try(co, table);

    if (r != NULL)
        set_next(co, r, why, false);
}

void coordinator_delay_rebuild(struct coordinator *co, struct str table)
{
    struct rebuild_try *r = get_try(co, table);

    lock_acquire(&co->rebuilds->lock);
    r->next_ms = clock_mono_ms() + MAX_MS;
    lock_release(&co->rebuilds->lock);
}

void coordinator_on_tables_changed(void *ctx)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    __atomic_store_n(&co->rebuilds->tables_changed, true, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
}

/* After DDL the table's definition decides, after a gap in the log its topic's. */
static bool is_wanted(const struct definitions *d, const struct table_definition *t)
{
    const struct topic_definition *topic = definition_topic(d, t);

    return t->schema_changes == SCHEMA_CHANGES_FOLLOW ||
           (topic != NULL && topic->on_gap == ON_GAP_REBUILD);
}

/* ---- attempts ---- */

static bool is_due(const struct rebuild_try *r, const struct stored_rebuild *wish, bool changed)
{
    const int64_t age_ms = clock_wall_ms() - wish->at_ms;

    if (age_ms >= 0 && age_ms < SETTLE_MS)
        return false;
    return r == NULL || clock_mono_ms() >= r->next_ms || (changed && r->waits);
}

static void log_begun(struct coordinator *co, const struct table_definition *t, uint64_t number,
                      struct str reason)
{
    struct buf text = {0};

    buf_append(&text, reason);
    coordinator_log(co, table_name(t), table_index(t), number, "rebuilding",
                    reason.len > 0 ? text.ptr : "");
    buf_free(&text);
}

/* Create the new version; the caller starts its build.  Returns whether there is one. */
static bool begin(struct coordinator *co, const struct definitions *d,
                  const struct table_definition *t, const struct stored_rebuild *wish)
    NEEDS(co->admin_lock)
{
    const struct index_create_options opt = {.by_itself = true};
    struct rebuild_try *r = get_try(co, table_name(t));
    struct created_version created = {0};
    struct err err = {0};
    const bool again = r->waits;

    if (coordinator_create_version(co, d, t, &opt, &created, &err) &&
        coordinator_refresh(co, &err)) {
        log_info("rebuilding the index automatically", KV("index", table_index(t)),
                 KV("reason", wish->reason));
        log_begun(co, t, created.number, wish->reason);
    } else if (!again) {
        log_failure(LOG_WARN, &err, "cannot rebuild the index yet",
                    KV("index", table_index(t)));
    }
    r->n = clock_mono_ms() - r->last_ms > CALM_MS ? 1 : r->n + 1;
    set_next(co, r, &err, err.kind != ERR_NONE);
    return err.kind == ERR_NONE;
}

static bool try_one(struct coordinator *co, const struct definitions *d,
                    const struct catalogue *c, const struct stored_rebuild *wish, bool changed)
    NEEDS(co->admin_lock)
{
    const struct table_definition *t = definitions_table(d, wish->table);
    struct err err = {0};

    if (t == NULL) {
        if (!store_delete_rebuild(co->opt.store, wish->table, &err) ||
            !coordinator_refresh(co, &err))
            log_failure(LOG_WARN, &err, "could not drop the rebuild of an undefined table");
        return false;
    }
    const struct topic_definition *topic = definition_topic(d, t);

    return topic != NULL && coordinator_owns(co, topic->name) && is_wanted(d, t) &&
           catalogue_coming(c, table_index(t)) == NULL &&
           is_due(find_try(co, wish->table), wish, changed) && begin(co, d, t, wish);
}

void coordinator_rebuild_tables(struct coordinator *co)
{
    const bool changed =
        __atomic_exchange_n(&co->rebuilds->tables_changed, false, __ATOMIC_ACQ_REL);
    struct definitions *d;
    struct catalogue *c;
    bool began = false;

    c = coordinator_catalogue(co);
    if (c->n_rebuilds == 0) {
        catalogue_unref(c);
        return;
    }
    d = coordinator_definitions(co);
    for (size_t i = 0; i < c->n_rebuilds; i++)
        began = try_one(co, d, c, &c->rebuilds[i], changed) || began;
    if (began)
        coordinator_resume_builds(
            co); /* all at once: the first of a topic routes it for the others */
    catalogue_unref(c);
    definitions_unref(d);
}

/* ---- status ---- */

static void append_next_try(const struct coordinator *co, struct str table, struct buf *b)
{
    lock_acquire(&co->rebuilds->lock);

    const struct rebuild_try *r = find_try(co, table);

    if (r != NULL && r->next_ms > clock_mono_ms())
        buf_printf(b, " in %" PRId64 " s", (r->next_ms - clock_mono_ms()) / 1000 + 1);
    if (r != NULL && r->why.kind != ERR_NONE)
        buf_printf(b, " (%s: %s)", r->waits ? "not possible now" : "the last build failed",
                   r->why.msg);
    lock_release(&co->rebuilds->lock);
}

/* No command begins the build either.  Returns false if that is not so. */
static bool append_refused(const struct coordinator *co, struct str table, struct buf *b)
{
    lock_acquire(&co->rebuilds->lock);

    const struct rebuild_try *r = find_try(co, table);
    const bool is_refused = r != NULL && r->waits && r->why.kind == ERR_REJECT;

    if (is_refused)
        buf_printf(b, "no build can begin: %s; then it is rebuilt automatically", r->why.msg);
    lock_release(&co->rebuilds->lock);
    return is_refused;
}

void coordinator_append_rebuild_fix(const struct coordinator *co, const struct definitions *d,
                                    const struct catalogue *c, const struct table_definition *t,
                                    struct buf *b)
{
    const struct stored_version *coming = catalogue_coming(c, table_index(t));
    const struct stored_wait *wait = coming == NULL ? NULL : catalogue_wait(c, coming);

    if (wait != NULL) {
        buf_printf(b, "version %" PRIu64 " was built and waits: ", coming->number);
        coordinator_append_wait_fix(b, wait, table_name(t));
        return;
    }
    if (!is_wanted(d, t)) {
        buf_append(b, STR("millrace index create "));
        buf_append_word(b, table_name(t));
        return;
    }
    if (coming != NULL) {
        buf_append(b, STR("it is being rebuilt automatically"));
        return;
    }
    if (append_refused(co, table_name(t), b))
        return;
    buf_append(b, STR("it will be rebuilt automatically"));
    append_next_try(co, table_name(t), b);
    buf_append(b, STR(", or by millrace index create "));
    buf_append_word(b, table_name(t));
}
