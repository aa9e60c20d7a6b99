#include "config.h"

#include "rebalance/verify/schedule.h"

#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/trees/trees.h"
#include "rebalance/verify/compared.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/verify.h"
#include "rebalance/version/trees.h"

#include "src/base/clock.h"
#include "src/base/hash.h"
#include "src/base/log.h"

#define TREES_MS 5000  /* between a comparison and the next one, if it left no trees */
#define SOON_MS  20000 /* for another topic that does not run yet, or the store */
#define DAY_MS   (24 * 3600000L)

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
static bool is_at_hand(struct coordinator *co, const struct definitions *d,
                       const struct catalogue *c, const struct stored_version *v,
                       struct str name)
{
    struct hold ignored;

    return !definitions_index_is_piped(d, v->index) && str_equal(v->state, STR("available")) &&
           v->error.len == 0 && catalogue_coming(c, v->index) == NULL &&
           catalogue_pause(c, PAUSE_INDEX, v->index) == NULL &&
           catalogue_pause(c, PAUSE_TOPIC, v->topic) == NULL &&
           !holds_find(co->holds, name, &ignored) && !verify_jobs_run_for(co->verifies, name) &&
           !verify_jobs_are_put_off(co->verifies, name);
}

/* Trees are made at once, but for an index of which a person must decide. */
static bool must_make_trees(const struct coordinator *co, const struct definitions *d,
                            const struct store_copy *s, const struct stored_version *v,
                            struct str name)
{
    struct str ignored;

    return co->trees != NULL && coordinator_wants_trees(co, d, v) &&
           trees_look(co->trees, name).state != TREES_COMPLETE &&
           !store_copy_find(s->verify, s->n_verify, STORE_VERIFY, name, &ignored);
}

/* When its age asks for a comparison, trees apart. */
static int64_t old_ms(const struct coordinator *co, const struct definitions *d,
                      const struct store_copy *s, const struct stored_version *v,
                      struct str name)
{
    const int64_t every_ms = coordinator_compare_settings(co, d, v->index).every_ms;

    return every_ms > 0 && !definitions_index_is_piped(d, v->index)
               ? verify_due_ms(name, verify_last_ms(s, v), every_ms)
               : INT64_MAX;
}

int64_t coordinator_comparison_due_ms(const struct coordinator *co, const struct definitions *d,
                                      const struct store_copy *s,
                                      const struct stored_version *v)
{
    struct buf name = {0};

    coordinator_index_name(&name, v->index, v->number);

    const int64_t due_ms = must_make_trees(co, d, s, v, buf_str(&name))
                               ? verify_last_ms(s, v) + TREES_MS
                               : old_ms(co, d, s, v, buf_str(&name));

    buf_free(&name);
    return due_ms;
}

static int64_t exchange_due_ms(const struct coordinator *co, const struct definitions *d,
                               const struct stored_version *v, struct str name)
{
    const int64_t every_ms = coordinator_compare_settings(co, d, v->index).exchange_every_ms;
    const struct trees_view trees = trees_look(co->trees, name);
    const int64_t last_ms =
        trees.exchanged_ms > trees.since_ms ? trees.exchanged_ms : trees.since_ms;

    return trees.state == TREES_COMPLETE ? last_ms + every_ms : INT64_MAX;
}

/* Whether its topic runs, with this index: not yet right after a start. */
static bool is_followed(struct coordinator *co, struct str topic, struct str name)
{
    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, topic);
    struct target *target =
        t == NULL || t->pipeline == NULL ? NULL : pipeline_target(t->pipeline, name, STR(""));

    lock_release(&co->topics->lock);
    if (target == NULL)
        return false;
    target_unref(target);
    return true;
}

/* Returns the version whose comparison, or exchange, is due for longest, or NULL. */
static const struct stored_version *find_due(struct coordinator *co,
                                             const struct definitions *d,
                                             const struct catalogue *c,
                                             const struct store_copy *s, bool exchange)
{
    const struct stored_version *found = NULL;
    int64_t oldest_ms = clock_wall_ms();

    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        coordinator_index_name(&name, v->index, v->number);
        if (is_at_hand(co, d, c, v, buf_str(&name))) {
            const int64_t due_ms = exchange ? exchange_due_ms(co, d, v, buf_str(&name))
                                            : coordinator_comparison_due_ms(co, d, s, v);

            if (due_ms <= oldest_ms && is_followed(co, v->topic, buf_str(&name))) {
                oldest_ms = due_ms;
                found = v;
            }
        }
        buf_free(&name);
    }
    return found;
}

/* ---- starting ---- */

/* Returns the first table of the index; empty: no definition names the index any more. */
static struct str first_table(const struct definitions *d, struct str index)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), index))
            return table_name(&d->tables[i]);
    return STR("");
}

/* Returns false, with err, if the comparison cannot start. */
static bool order(struct coordinator *co, const struct definitions *d,
                  const struct stored_version *v, bool exchange, bool for_trees,
                  struct err *err)
{
    const struct verify_order o = {.table = first_table(d, v->index),
                                   .version = v->number,
                                   .repair = true,
                                   .exchange = exchange,
                                   .by_itself = true,
                                   .for_trees = for_trees,
                                   .rate = coordinator_compare_settings(co, d, v->index).rate};
    struct buf answer = {0};
    const bool ok = o.table.len > 0 ? coordinator_order_verify(co, &o, &answer, err)
                                    : err_set(err, ERR_REJECT, "no table has this index");

    if (ok && !exchange)
        log_info("a comparison of a whole index starts by itself", KV("table", o.table),
                 KV("index", v->index));
    buf_free(&answer);
    return ok;
}

/* What is refused is refused again until something changes. */
static int64_t when_refused(const struct err *err, int64_t every_ms)
{
    if (err->kind == ERR_RETRY)
        return SOON_MS;
    return err->kind != ERR_REJECT ? verify_jobs_again_ms(every_ms)
           : every_ms > 0          ? every_ms
                                   : DAY_MS;
}

static void start(struct coordinator *co, const struct definitions *d,
                  const struct store_copy *copy, const struct stored_version *v, bool exchange)
{
    const struct compare_settings s = coordinator_compare_settings(co, d, v->index);
    struct buf name = {0};
    struct err err = {0};

    coordinator_index_name(&name, v->index, v->number);

    const bool for_trees =
        !exchange && old_ms(co, d, copy, v, buf_str(&name)) > clock_wall_ms();

    if (!order(co, d, v, exchange, for_trees, &err)) {
        log_failure(LOG_WARN, &err, "the comparison of an index cannot start",
                    KV("index", v->index));
        verify_jobs_put_off(co->verifies, buf_str(&name),
                            when_refused(&err, exchange ? s.exchange_every_ms : s.every_ms));
        if (exchange)
            verify_jobs_note_exchange(co->verifies, buf_str(&name), NULL, 0, &err);
        else if (for_trees)
            verify_jobs_note_whole(co->verifies, buf_str(&name), &err);
    }
    buf_free(&name);
}

/* One of a kind at a time. */
static void start_due(struct coordinator *co, const struct definitions *d,
                      const struct catalogue *c, const struct store_copy *s, bool exchange)
{
    const struct stored_version *v =
        verify_jobs_run(co->verifies, exchange ? JOB_EXCHANGE : JOB_COMPARE)
            ? NULL
            : find_due(co, d, c, s, exchange);

    if (v != NULL)
        start(co, d, s, v, exchange);
}

void coordinator_verify_due(struct coordinator *co)
{
    if (!__atomic_load_n(&co->verifies_run, __ATOMIC_ACQUIRE) ||
        verify_jobs_are_ordered(co->verifies))
        return;

    struct store_copy *s = store_watch_copy(co->store_watch);
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);

    if (s != NULL)
        start_due(co, d, c, s, false);
    if (s != NULL && co->trees != NULL)
        start_due(co, d, c, s, true);
    catalogue_unref(c);
    definitions_unref(d);
    store_copy_unref(s);
}

void coordinator_verify_next(struct coordinator *co)
{
    if (verify_jobs_take_ended(co->verifies))
        coordinator_verify_due(co);
}
