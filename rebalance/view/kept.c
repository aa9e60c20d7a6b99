#include "config.h"

#include "rebalance/view/look.h"

#include "rebalance/state/parts.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/schedule.h"
#include "src/base/clock.h"

#include <stdlib.h>

/* Add what the engine and the store last said of topics and tables. */

/* The table's dead letters. */
static uint64_t count_dead(const struct store_copy *s, const struct table_definition *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->n_dead; i++)
        sum += definition_names(t, s->dead[i].table) ? s->dead[i].count : 0;
    return sum;
}

/* Whether its definition takes effect with the next build. */
static bool is_pending(const struct store_copy *s, const struct table_view *t)
{
    struct str built;

    return t->available != NULL &&
           store_copy_find(s->pending, s->n_pending, "pending/", table_name(t->d), &built) &&
           t->available->number <= strtoull(built.ptr, NULL, 10);
}

/* 0: never. */
static int64_t due_ms(const struct coordinator *co, const struct coordinator_view *v,
                      const struct table_view *t)
{
    const int64_t ms =
        coordinator_comparison_due_ms(co, v->definitions, v->stored, t->available);

    return ms < INT64_MAX ? ms : 0;
}

static void look_at_kept_table(struct coordinator *co, const struct coordinator_view *v,
                               struct table_view *t)
{
    const struct store_copy *s = v->stored;
    struct buf index = {0};
    struct str compared;

    t->verify = STR("");
    if (s != NULL) {
        t->dead = count_dead(s, t->d);
        t->is_pending = is_pending(s, t);
    }
    if (t->available == NULL)
        return;
    coordinator_index_name(&index, t->available->index, t->available->number);
    coordinator_look_at_trees(co, v->definitions, t->available, buf_str(&index), &t->trees);
    t->repairs = verify_jobs_repairs(co->verifies, buf_str(&index));
    t->documents = engine_watch_count(co->engine_watch, buf_str(&index));
    if (s != NULL &&
        !store_copy_find(s->verify, s->n_verify, STORE_VERIFY, buf_str(&index), &t->verify))
        t->verify = STR("");
    t->is_compared = s != NULL &&
                     store_copy_find(s->compared, s->n_compared, STORE_COMPARED,
                                     buf_str(&index), &compared) &&
                     compared_read(compared, &t->compared);
    if (s != NULL)
        t->verify_due_ms = due_ms(co, v, t);
    buf_free(&index);
}

/* A topic that does not run stands at its stored checkpoint. */
static void look_at_kept_topic(const struct store_copy *s, struct topic_view *t)
{
    for (size_t i = 0; s != NULL && !t->runs && !t->told.is_others && i < s->n_checkpoints; i++)
        if (str_equal(s->checkpoints[i].topic, t->d->name)) {
            t->stored = &s->checkpoints[i];
            t->lag = (struct lag){.since_ms = t->stored->event_ms, .at_most = true};
        }
}

static void add_counts(void *ctx, const char *index, const struct index_counts *c)
{
    struct coordinator_view *v = ctx;
    uint64_t number;
    struct str alias;

    if (!coordinator_split_index_name(index, &alias, &number))
        return;
    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        struct index_counts *sum = &v->tables[i].counts;

        if (!str_equal(table_index(v->tables[i].d), alias))
            continue;
        sum->written += c->written;
        sum->deleted += c->deleted;
        sum->failed += c->failed;
        sum->dropped += c->dropped;
        sum->lately += c->lately;
        if (c->last_ms > sum->last_ms) {
            sum->last_ms = c->last_ms;
            v->tables[i].delivered_ms = v->now_ms - (clock_mono_ms() - c->last_ms);
        }
    }
}

void coordinator_look_at_kept(struct coordinator *co, struct coordinator_view *v)
{
    v->engine = engine_watch_heard(co->engine_watch);
    v->stored = store_watch_copy(co->store_watch);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        look_at_kept_topic(v->stored, &v->topics[i]);
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        look_at_kept_table(co, v, &v->tables[i]);
    if (co->delivery != NULL)
        delivery_each_index(co->delivery, add_counts, v);
}
