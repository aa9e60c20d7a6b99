#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 1000    /* one DDL is soon followed by another */
#define FIRST_MS  1000    /* between an attempt and the next, doubled each time ... */
#define MAX_MS    300000  /* ... up to this */
#define CALM_MS   600000  /* after which the last attempts are forgotten */

/* How often a table was tried to be built again: a build that fails, or is overtaken by the next
 * DDL, is not begun again at once. */
struct rebuild_try {
    char *table;
    unsigned n;
    int64_t last_ms, next_ms; /* monotonic */
    struct err why;           /* of the last attempt; ERR_NONE: it goes on, or went well */
    bool waits;               /* it could not begin: for a table, or a server */
    struct rebuild_try *next;
};

static struct rebuild_try *find_try(const struct coordinator *co, struct str table)
{
    for (struct rebuild_try *r = co->rebuild_tries; r != NULL; r = r->next)
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
    pthread_mutex_lock(&co->lock);
    r->next = co->rebuild_tries;
    co->rebuild_tries = r;
    pthread_mutex_unlock(&co->lock);
    return r;
}

void node_free_rebuilds(struct coordinator *co)
{
    while (co->rebuild_tries != NULL) {
        struct rebuild_try *r = co->rebuild_tries;

        co->rebuild_tries = r->next;
        free(r->table);
        free(r);
    }
}

static int64_t pause_ms(unsigned n_tries)
{
    return n_tries > 8 ? MAX_MS : (int64_t)FIRST_MS << (n_tries - 1);
}

static void set_next(struct coordinator *co, struct rebuild_try *r, const struct err *why,
                     bool waits)
{
    pthread_mutex_lock(&co->lock);
    r->last_ms = clock_mono_ms();
    r->next_ms = r->last_ms + pause_ms(r->n);
    r->why = *why;
    r->waits = waits;
    pthread_mutex_unlock(&co->lock);
}

void node_note_build_failed(struct coordinator *co, struct str table, const struct err *why)
{
    struct rebuild_try *r = find_try(co, table);

    if (r != NULL)
        set_next(co, r, why, false);
}

void node_delay_rebuild(struct coordinator *co, struct str table)
{
    struct rebuild_try *r = get_try(co, table);

    pthread_mutex_lock(&co->lock);
    r->next_ms = clock_mono_ms() + MAX_MS;
    pthread_mutex_unlock(&co->lock);
}

void node_on_tables_changed(void *ctx)
{
    struct coordinator *co = ctx;

    __atomic_store_n(&co->tables_changed, true, __ATOMIC_RELEASE);
}

/* After DDL as its definition says, after a gap of the log as its topic's. */
static bool is_wanted(const struct coordinator *co, const struct table_definition *t)
{
    const struct topic_definition *topic = definition_topic(co->definitions, t);

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

static void begin(struct coordinator *co, const struct definitions *d,
                  const struct table_definition *t, const struct stored_rebuild *wish)
{
    const struct index_create_options opt = {0};
    struct rebuild_try *r = get_try(co, table_name(t));
    struct err err = {0};
    uint64_t job;
    const bool again = r->waits;

    if (node_create_version(co, d, t, &opt, &job, &err) && node_refresh(co, &err)) {
        log_info("the index is built again by itself", KV("index", table_index(t)),
                 KV("reason", wish->reason));
        node_log_text(co, table_name(t), table_index(t), "rebuilding", wish->reason);
        node_resume_builds(co);
    } else if (!again) {
        log_failure(LOG_WARN, &err, "the index cannot be built again yet",
                    KV("index", table_index(t)));
    }
    r->n = clock_mono_ms() - r->last_ms > CALM_MS ? 1 : r->n + 1;
    set_next(co, r, &err, err.kind != ERR_NONE);
}

static void try_one(struct coordinator *co, const struct definitions *d,
                    const struct catalogue *c, const struct stored_rebuild *wish, bool changed)
{
    const struct table_definition *t = definitions_table(d, wish->table);
    struct err err = {0};

    if (t == NULL) {
        if (!store_delete_rebuild(co->opt.store, wish->table, &err) || !node_refresh(co, &err))
            log_failure(LOG_WARN, &err, "a table that is not defined is still to be built");
        return;
    }
    if (is_wanted(co, t) &&
        catalogue_version(c, table_index(t), STR("changing")) == NULL &&
        is_due(find_try(co, wish->table), wish, changed))
        begin(co, d, t, wish);
}

void node_rebuild_tables(struct coordinator *co)
{
    const bool changed = __atomic_exchange_n(&co->tables_changed, false, __ATOMIC_ACQ_REL);
    struct definitions *d;
    struct catalogue *c;

    pthread_mutex_lock(&co->lock);

    const bool any = co->catalogue->n_rebuilds > 0;

    pthread_mutex_unlock(&co->lock);
    if (!any)
        return;
    d = node_definitions(co);
    c = node_catalogue(co);
    for (size_t i = 0; i < c->n_rebuilds; i++)
        try_one(co, d, c, &c->rebuilds[i], changed);
    node_catalogue_free(c);
    definitions_unref(d);
}

/* ---- telling ---- */

void node_append_rebuild_fix(const struct coordinator *co, const struct catalogue *c,
                             const struct table_definition *t, struct buf *b)
{
    const struct rebuild_try *r = find_try(co, table_name(t));

    if (!is_wanted(co, t)) {
        buf_append(b, STR("millrace index create "));
        buf_append_word(b, table_name(t));
        return;
    }
    if (catalogue_version(c, table_index(t), STR("changing")) != NULL) {
        buf_append(b, STR("it is being built again by itself"));
        return;
    }
    buf_append(b, STR("it is built again by itself"));
    if (r != NULL && r->next_ms > clock_mono_ms())
        buf_printf(b, " in %" PRId64 " s", (r->next_ms - clock_mono_ms()) / 1000 + 1);
    if (r != NULL && r->why.kind != ERR_NONE)
        buf_printf(b, " (%s: %s)", r->waits ? "now it cannot" : "the last build failed",
                   r->why.msg);
    buf_append(b, STR(", or by millrace index create "));
    buf_append_word(b, table_name(t));
}
