#include "config.h"

#include "rebalance/verify/schedule.h"

#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/verify/compared.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/verify.h"

#include "src/base/clock.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <stdlib.h>

#define AGAIN_MS 3600000

struct verify_schedule {
    struct map *next; /* orders_v2 -> int64_t: not before, steady time; guarded by admin_lock */
};

struct verify_schedule *verify_schedule_new(void)
{
    struct verify_schedule *s = mem_alloc(1, sizeof(*s));

    s->next = map_new();
    return s;
}

void verify_schedule_free(struct verify_schedule *s)
{
    if (s == NULL)
        return;
    map_free(s->next, free);
    free(s);
}

int64_t verify_due_ms(struct str index, int64_t last_ms, int64_t every_ms)
{
    const int64_t part = every_ms / 4 + 1;

    return last_ms + every_ms - (int64_t)(hash_bytes(index, 0) % (uint64_t)part);
}

int64_t verify_last_ms(const struct store_copy *s, const struct stored_version *v)
{
    struct buf name = {0};
    struct str json;
    struct compared c;
    int64_t last_ms = v->finished_ms;

    coordinator_index_name(&name, v->index, v->number);
    if (s != NULL &&
        store_copy_find(s->compared, s->n_compared, STORE_COMPARED, buf_str(&name), &json) &&
        compared_read(json, &c) && c.at_ms > last_ms)
        last_ms = c.at_ms;
    buf_free(&name);
    return last_ms;
}

/* ---- which ---- */

/* An index that takes nothing, or is about to be replaced, is not compared now. */
static bool is_at_hand(struct coordinator *co, const struct catalogue *c,
                       const struct stored_version *v, struct str name)
{
    struct hold ignored;
    const int64_t *next = map_find(co->schedule->next, name);

    return str_equal(v->state, STR("available")) && v->error.len == 0 &&
           catalogue_coming(c, v->index) == NULL &&
           catalogue_pause(c, PAUSE_INDEX, v->index) == NULL &&
           catalogue_pause(c, PAUSE_TOPIC, v->topic) == NULL &&
           !holds_find(co->holds, name, &ignored) &&
           (next == NULL || clock_steady_ms() >= *next);
}

/* Returns the version whose comparison is due for longest, or NULL. */
static const struct stored_version *find_due(struct coordinator *co, const struct catalogue *c,
                                             const struct store_copy *s)
{
    const struct stored_version *found = NULL;
    int64_t oldest_ms = clock_wall_ms();

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        coordinator_index_name(&name, v->index, v->number);
        if (is_at_hand(co, c, v, buf_str(&name))) {
            const int64_t due_ms =
                verify_due_ms(buf_str(&name), verify_last_ms(s, v), co->opt.verify_every_ms);

            if (due_ms <= oldest_ms) {
                oldest_ms = due_ms;
                found = v;
            }
        }
        buf_free(&name);
    }
    return found;
}

/* ---- starting ---- */

static void note_tried(struct coordinator *co, const struct stored_version *v)
{
    int64_t *next = mem_alloc(1, sizeof(*next));
    struct buf name = {0};

    *next = clock_steady_ms() +
            (co->opt.verify_every_ms < AGAIN_MS ? co->opt.verify_every_ms : AGAIN_MS);
    coordinator_index_name(&name, v->index, v->number);
    free(map_put(co->schedule->next, buf_str(&name), next));
    buf_free(&name);
}

/* Returns the first table of the index; empty: no definition names the index any more. */
static struct str first_table(const struct definitions *d, struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), index))
            return table_name(&d->tables[i]);
    return STR("");
}

static void start(struct coordinator *co, const struct stored_version *v)
{
    struct definitions *d = coordinator_definitions(co);
    const struct verify_order o = {.table = first_table(d, v->index),
                                   .version = v->number,
                                   .repair = true,
                                   .rate = co->opt.verify_rate};
    struct buf answer = {0};
    struct err err = {0};

    note_tried(co, v);
    if (o.table.len > 0 && coordinator_order_verify(co, &o, &answer, &err))
        log_info("a comparison of a whole index starts, as index.verify_every asks for",
                 KV("table", o.table), KV("index", v->index));
    else if (o.table.len > 0)
        log_failure(LOG_WARN, &err, "the comparison of an index cannot start yet",
                    KV("index", v->index));
    buf_free(&answer);
    definitions_unref(d);
}

void coordinator_verify_due(struct coordinator *co)
{
    if (co->opt.verify_every_ms == 0 || verify_jobs_n(co->verifies) > 0)
        return;

    struct store_copy *s = store_watch_copy(co->store_watch);
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = s == NULL ? NULL : find_due(co, c, s);

    if (v != NULL)
        start(co, v);
    catalogue_unref(c);
    store_copy_unref(s);
}
