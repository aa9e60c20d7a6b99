#include "config.h"

#include "rebalance/admin/table_metrics.h"

#include "rebalance/view/runs.h"
#include "rebalance/view/view.h"

#include "src/metric/metric.h"

/* What the series of one label value say. */
struct table_sample {
    struct str table;
    struct index_counts counts;
    bool knows_dead;
    uint64_t dead;                       /* letters */
    double lag_s;                        /* negative: unknown, or nothing to deliver to */
    double delivered_s;                  /* since 1970; 0: not since the start */
    const struct compared *compared;     /* NULL: never; borrowed */
    const struct table_trees *trees;     /* NULL: should have none; borrowed */
    const struct repair_counts *repairs; /* NULL: searches use none; borrowed */
    struct run_view runs[N_RUN_KINDS];
    const int64_t *expect_ms; /* by kind; borrowed */
};

/* Tables that share an index are counted once, by the first of them. */
static struct table_sample sample_of(const struct coordinator_view *v,
                                     const struct table_view *t)
{
    const bool leads = definition_lead(v->definitions, t->d) == t->d;
    struct table_sample s = {
        .table = table_name(t->d),
        .counts = leads ? t->counts : (struct index_counts){0},
        .knows_dead = v->stored != NULL,
        .dead = t->dead,
        .lag_s = t->available != NULL ? lag_seconds(t->lag, v->now_ms) : -1,
        .delivered_s = leads ? (double)t->delivered_ms / 1000 : 0,
        .compared = leads && t->is_compared ? &t->compared : NULL,
        .trees = leads && t->trees.are_wanted ? &t->trees : NULL,
        .repairs = leads && t->available != NULL ? &t->repairs : NULL,
        .expect_ms = v->expect_ms,
    };

    for (size_t i = 0; i < N_RUN_KINDS; i++)
        s.runs[i] = run_view_of(v, t, (enum run_kind)i);
    return s;
}

/* A child without parent is no difference, and what is of another lineage is never repaired. */
static bool is_repairable(size_t kind)
{
    return kind != VERIFY_ORPHAN && kind != VERIFY_LINEAGE;
}

static struct str word_of(size_t kind)
{
    return str_from(verify_kind_word((enum verify_kind)kind));
}

static void put_compared(struct buf *out, struct str table, const struct compared *c)
{
    metric_put_double(out, METRIC_TABLE_COMPARED, (double)c->at_ms / 1000, table);
    for (size_t i = 0; i < N_VERIFY_KINDS; i++)
        if (i != VERIFY_ORPHAN)
            metric_put_u64(out, METRIC_TABLE_DIFFERENCES, c->found.counts[i], table,
                           word_of(i));
    metric_put_u64(out, METRIC_TABLE_REPAIRED, c->found.repaired, table);
    for (size_t i = 0; i < N_VERIFY_KINDS; i++)
        if (is_repairable(i))
            metric_put_u64(out, METRIC_TABLE_REPAIRED_KINDS, c->found.repaired_counts[i], table,
                           word_of(i));
}

static void put_repairs(struct buf *out, struct str table, enum repairer by,
                        const uint64_t n[N_VERIFY_KINDS])
{
    for (size_t i = 0; i < N_VERIFY_KINDS; i++)
        if (is_repairable(i))
            metric_put_u64(out, METRIC_TABLE_REPAIRS, n[i], table, str_from(repairer_word(by)),
                           word_of(i));
}

static void put_trees(struct buf *out, struct str table, const struct trees_view *t)
{
    metric_put_u64(out, METRIC_TABLE_TREES, 1, table, str_from(trees_state_word(t->state)));
    metric_put_u64(out, METRIC_TABLE_TREES_ENTRIES, t->entries, table);
    metric_put_u64(out, METRIC_TABLE_TREES_BYTES, t->bytes, table);
    if (t->built_ms > 0)
        metric_put_double(out, METRIC_TABLE_TREES_BUILT, (double)t->built_ms / 1000, table);
}

static void put_exchanges(struct buf *out, struct str table, const struct exchanges *e)
{
    for (size_t i = 0; i < N_EXCHANGE_ENDS; i++)
        metric_put_u64(out, METRIC_TABLE_EXCHANGES, e->n[i], table,
                       str_from(exchange_end_word((enum exchange_end)i)));
    if (e->ended_ms > 0)
        metric_put_double(out, METRIC_TABLE_EXCHANGED, (double)e->ended_ms / 1000, table);
}

static void put_runs(struct buf *out, const struct table_sample *s)
{
    for (size_t i = 0; i < N_RUN_KINDS; i++) {
        const struct run_view *r = &s->runs[i];
        const struct str kind = run_word((enum run_kind)i);

        if (r->concerns && r->last_ms > 0)
            metric_put_double(out, METRIC_TABLE_RUN, (double)r->last_ms / 1000, s->table, kind);
        if (r->concerns && s->expect_ms[i] > 0)
            metric_put_u64(out, METRIC_TABLE_OVERDUE, r->is_overdue, s->table, kind);
    }
}

static void put_sample(struct buf *out, const struct table_sample *s)
{
    metric_put_u64(out, METRIC_TABLE_DOCUMENTS, s->counts.written, s->table, STR("written"));
    metric_put_u64(out, METRIC_TABLE_DOCUMENTS, s->counts.deleted, s->table, STR("deleted"));
    metric_put_u64(out, METRIC_TABLE_DOCUMENTS, s->counts.failed, s->table, STR("failed"));
    metric_put_u64(out, METRIC_TABLE_DOCUMENTS, s->counts.dropped, s->table, STR("dropped"));
    if (s->knows_dead)
        metric_put_u64(out, METRIC_TABLE_DEAD_LETTERS, s->dead, s->table);
    if (s->lag_s >= 0)
        metric_put_double(out, METRIC_TABLE_LAG, s->lag_s, s->table);
    if (s->delivered_s > 0)
        metric_put_double(out, METRIC_TABLE_DELIVERED, s->delivered_s, s->table);
    if (s->compared != NULL)
        put_compared(out, s->table, s->compared);
    put_runs(out, s);
    if (s->repairs != NULL)
        put_repairs(out, s->table, REPAIRER_CHECK, s->repairs->n[REPAIRER_CHECK]);
    if (s->trees != NULL && s->repairs != NULL)
        put_repairs(out, s->table, REPAIRER_EXCHANGE, s->repairs->n[REPAIRER_EXCHANGE]);
    if (s->trees != NULL) {
        put_trees(out, s->table, &s->trees->now);
        put_exchanges(out, s->table, &s->trees->exchanges);
    }
}

static void add_sample(struct table_sample *sum, const struct table_sample *s)
{
    sum->counts.written += s->counts.written;
    sum->counts.deleted += s->counts.deleted;
    sum->counts.failed += s->counts.failed;
    sum->counts.dropped += s->counts.dropped;
    sum->knows_dead = s->knows_dead;
    sum->dead += s->dead;
    if (s->lag_s > sum->lag_s)
        sum->lag_s = s->lag_s;
    if (s->delivered_s > sum->delivered_s)
        sum->delivered_s = s->delivered_s;
}

void coordinator_put_tables(struct buf *out, const struct coordinator_view *v, size_t max)
{
    struct table_sample other = {.table = STR("other"), .lag_s = -1};
    const size_t n = v->definitions->n_tables;

    for (size_t i = 0; i < n; i++) {
        const struct table_sample s = sample_of(v, &v->tables[i]);

        if (i >= max) {
            if (!v->tables[i].told.is_others)
                add_sample(&other, &s);
            continue;
        }
        if (!v->tables[i].told.is_others)
            put_sample(out, &s);
        metric_put_u64(out, METRIC_TABLE_STATE, 1, s.table, str_from(v->tables[i].is.state));
    }
    if (n > max)
        put_sample(out, &other);
}
