#include "config.h"

#include "rebalance/delayed/page.h"

#include "rebalance/delayed/builds.h"
#include "rebalance/delayed/level.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/mysql/mysql.h"
#include "src/store/later/whole_table.h"
#include "sync/checkpoint/read_position.h"
#include "sync/definition/delayed.h"
#include "sync/read/links.h"
#include "sync/read/stall_watchdog.h"
#include "sync/routing/routing.h"

#define LINKS_MS     4000 /* for a read to include what the stream has read */
#define VERSIONS_MAX 64   /* of one index that are written to */

/* Snapshots of one table, as they follow each other. */
struct page {
    struct stored_snapshot *list;
    size_t n;
    struct str table;
    struct top_relation *tops;
    size_t n_tops;
};

/* ---- what comes next ---- */

static bool load_page(const struct delayed_run *r, struct page *p, struct err *err)
{
    const struct snapshot_filter one = {.topic = r->owner.topic,
                                        .id = r->at.one,
                                        .after_id = r->at.after_id,
                                        .limit = 1},
                                 all = {.topic = r->owner.topic,
                                        .run = r->at.id,
                                        .status = STR(SNAPSHOT_RUNNING),
                                        .after_id = r->at.after_id,
                                        .limit = DELAYED_PAGE};
    size_t n;

    if (!store_load_snapshots(r->co->opt.store, r->arena, r->at.one != 0 ? &one : &all,
                              &p->list, &n, err))
        return false;
    p->table = n > 0 ? p->list[0].table : STR("");
    while (p->n < n && str_equal(p->list[p->n].table, p->table))
        p->n++;
    return true;
}

/* As the definitions are now; a table that is not delayed any more has none. */
static void find_tops(const struct delayed_run *r, struct page *p)
{
    struct definitions *d = coordinator_definitions(r->co);
    const struct table_definition *t = definitions_table(d, p->table);

    if (t != NULL && t->delayed)
        p->n_tops = top_relations_read(r->arena, t, &p->tops);
    definitions_unref(d);
}

/* ---- a top relation ---- */

struct job_list {
    struct stored_fan_out *jobs;
    size_t n, cap;
};

static struct stored_fan_out *add_job(const struct delayed_run *r, struct job_list *l,
                                      struct str table)
{
    struct stored_fan_out *job = &l->jobs[l->n++];

    *job = (struct stored_fan_out){
        .source = r->owner.topic, .table = table, .created_ms = clock_wall_ms()};
    return job;
}

static void add_keys(const struct delayed_run *r, struct job_list *l, const struct target *t,
                     struct str table, const struct level_page *found)
{
    const struct reading *reading = t->plan;
    const uint64_t read = read_position_version(pipeline_read_position(r->pipeline));

    for (size_t i = 0; i < found->n; i++) {
        struct stored_fan_out *job = add_job(r, l, table);

        job->topic = arena_copy(r->arena, str_from(t->topic));
        job->index = arena_copy(r->arena, str_from(reading->alias));
        job->version = reading->number;
        job->member = arena_copy(r->arena, str_from(t->table));
        job->by = found->by;
        job->key = found->keys[i];
        job->at_least = read;
    }
}

static size_t list_ids(const struct page *p, struct str *ids)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        if (!str_equal(p->list[i].op, STR("delete")) &&
            !str_equal(p->list[i].op, STR(WHOLE_TABLE_OP)))
            ids[n++] = p->list[i].row_id;
    return n;
}

static bool read_level(const struct delayed_run *r, struct read_links *links,
                       const struct level_query *q, struct level_page *found, struct err *err)
{
    uint64_t stamp;

    return read_links_open(links, q->target->plan, 0, &stamp, err) &&
           level_find_keys(links->conns[0], q, r->arena, found, err) &&
           read_links_end(links, err);
}

/* In a read that includes what the stream has read.  The end of the program interrupts it. */
static bool ask_level(const struct delayed_run *r, const struct level_query *q,
                      struct level_page *found, struct err *err)
{
    struct read_links links = pipeline_links(r->pipeline, &r->co->stop, LINKS_MS);

    r->asks(r, q->top->table);
    links.own.opt.watchdog = r->watchdog;
    stall_watchdog_begin(r->watchdog);

    const bool ok = read_level(r, &links, q, found, err);

    if (stall_watchdog_end(r->watchdog) && !ok && !stop_is_set(&r->co->stop))
        err_set(err, ERR_RETRY, "the server that runs `level_sql` does not answer");
    read_links_fini(&links);
    return ok;
}

/* Put one page of the top relation's keys for this version. */
static bool level_of(const struct delayed_run *r, const struct page *p, const struct target *t,
                     struct job_list *l, struct level_page *found, struct err *err)
{
    struct str *ids = arena_alloc(r->arena, p->n + 1, sizeof(*ids));
    struct level_query q = {.top = &p->tops[r->at.level],
                            .target = t,
                            .ids = ids,
                            .n_ids = list_ids(p, ids),
                            .after = r->at.level_after};

    if (found->keys == NULL && q.n_ids > 0 && !ask_level(r, &q, found, err))
        return false;
    add_keys(r, l, t, p->table, found);
    return true;
}

/*
 * The targets of all versions of the index that are written to.  ERR_RETRY: one of them is not
 * followed now.
 */
static bool find_targets(const struct delayed_run *r, struct str table, struct target **list,
                         size_t *n, struct err *err)
{
    struct definitions *d = coordinator_definitions(r->co);
    struct catalogue *c = coordinator_catalogue(r->co);
    const struct table_definition *t = definitions_table(d, table);
    bool ok = true;

    *n = 0;
    for (size_t i = 0; ok && t != NULL && i < c->n_versions && *n < VERSIONS_MAX; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        if (!str_equal(v->index, table_index(t)) || !catalogue_is_live(v))
            continue;
        coordinator_index_name(&name, v->index, v->number);
        list[*n] = pipeline_target(r->pipeline, buf_str(&name), table);
        ok = list[*n] != NULL || catalogue_stop(c, table) != NULL ||
             err_set(err, ERR_RETRY, "index %s is not followed now; fix: millrace status",
                     name.ptr);
        *n += list[*n] != NULL;
        buf_free(&name);
    }
    catalogue_unref(c);
    definitions_unref(d);
    return ok;
}

static bool put_level(struct delayed_run *r, const struct page *p, struct err *err)
{
    struct target *targets[VERSIONS_MAX] = {NULL};
    struct level_page found = {0};
    struct job_list l = {0};
    size_t n;

    r->at.from_id = r->at.after_id; /* no leads are forgotten yet */

    bool ok = find_targets(r, p->tops[r->at.level].table, targets, &n, err);

    l.jobs = arena_alloc(r->arena, n * LEVEL_KEYS + 1, sizeof(*l.jobs));
    for (size_t i = 0; ok && i < n; i++)
        ok = level_of(r, p, targets[i], &l, &found, err);
    for (size_t i = 0; i < n; i++)
        target_unref(targets[i]);
    if (!ok)
        return false;
    if (found.n == LEVEL_KEYS) {
        r->at.level_after = found.last;
    } else {
        r->at.level++;
        r->at.level_after = STR("");
    }
    return store_release_snapshots(r->co->opt.store, &r->owner, &r->at, l.jobs, l.n, err);
}

/* ---- what the rows led to ---- */

/* A top relation finds what a row leads to now, but not what it led to. */
static bool is_found_otherwise(const struct page *p, const struct snapshot_lead *lead)
{
    for (size_t i = 0; !lead->was && i < p->n_tops; i++)
        if (str_equal(p->tops[i].table, lead->job.member))
            return true;
    return false;
}

static bool is_in(const struct page *p, uint64_t snapshot)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].id == snapshot)
            return true;
    return false;
}

static bool put_leads(struct delayed_run *r, const struct page *p, struct err *err)
{
    struct snapshot_lead *leads;
    struct job_list l = {0};
    size_t n;

    if (!store_load_leads(r->co->opt.store, r->arena, p->list[0].id, p->list[p->n - 1].id,
                          &leads, &n, err))
        return false;
    l.jobs = arena_alloc(r->arena, n + 1, sizeof(*l.jobs));
    for (size_t i = 0; i < n; i++) {
        if (!is_in(p, leads[i].snapshot) || is_found_otherwise(p, &leads[i]) ||
            leads[i].job.place == WHOLE_TABLE_PLACE)
            continue;

        struct stored_fan_out *job = add_job(r, &l, p->table);
        const struct stored_fan_out blank = *job;

        *job = leads[i].job;
        job->source = blank.source;
        job->table = blank.table;
        job->created_ms = blank.created_ms;
    }
    r->at.from_id = r->at.after_id;
    r->at.after_id = p->list[p->n - 1].id;
    r->at.n_done += p->n;
    r->at.level = 0;
    return store_release_snapshots(r->co->opt.store, &r->owner, &r->at, l.jobs, l.n, err);
}

/* ---- a step ---- */

/* The fan-out of any topic may have them; in another process it looks by itself. */
static void wake_all(struct coordinator *co)
{
    lock_acquire(&co->topics->lock);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_wake_fan_out(t->pipeline);
    lock_release(&co->topics->lock);
}

static bool put_page(struct delayed_run *r, struct page *p, struct err *err)
{
    find_tops(r, p);
    r->at.updated_ms = clock_wall_ms();

    const bool ok = r->at.level < p->n_tops ? put_level(r, p, err) : put_leads(r, p, err);

    FAILPOINT(delayed_put);
    if (ok)
        wake_all(r->co);
    return ok;
}

static bool end_run(struct delayed_run *r, struct err *err)
{
    const bool ok =
        delayed_builds_count(r, err) &&
        store_end_snapshot_run(r->co->opt.store, &r->owner, r->at.id, clock_wall_ms(), err);

    FAILPOINT(delayed_ended);
    return ok;
}

bool delayed_run_step(struct delayed_run *r, enum delayed_step *how, struct err *err)
{
    struct page p = {0};

    *how = DELAYED_WAITS;
    if (!delayed_builds_step(r, err))
        return false;
    if (r->waits_for != NULL)
        return true;
    if (!store_count_released(r->co->opt.store, r->owner.topic, r->at.table, clock_wall_ms(),
                              &r->n_jobs, err))
        return false;
    if (r->n_jobs >= DELAYED_JOBS_MAX)
        return true;
    if (!load_page(r, &p, err))
        return false;
    if (p.n > 0) {
        *how = DELAYED_GOES_ON;
        return put_page(r, &p, err);
    }
    if (r->n_jobs > 0)
        return true;
    *how = DELAYED_ENDED;
    return end_run(r, err);
}
