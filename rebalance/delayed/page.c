#include "config.h"

#include "rebalance/delayed/page.h"

#include "rebalance/delayed/builds.h"
#include "rebalance/delayed/parts.h"
#include "rebalance/fill/level.h"
#include "rebalance/version/buckets.h"

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

struct job_list {
    struct stored_fan_out *jobs;
    size_t n;
};

static bool release(const struct delayed_run *r, const struct job_list *l, struct parts *parts,
                    struct err *err)
{
    parts_finish(parts);

    const struct snapshot_release what = {
        .jobs = l->jobs, .n_jobs = l->n, .parts = parts->list, .n_parts = parts->n};

    return store_release_snapshots(r->co->opt.store, &r->owner, &r->at, &what, err);
}

/* ---- a top relation ---- */

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
                       const struct target *t, const struct level_query *q,
                       struct level_page *found, struct err *err)
{
    uint64_t stamp;

    return read_links_open(links, t->plan, 0, &stamp, err) &&
           level_find_keys(links->conns[0], q, r->known, r->arena, found, err) &&
           read_links_end(links, err);
}

/* In a read that includes what the stream has read.  The end of the program interrupts it. */
static bool ask_level(const struct delayed_run *r, const struct target *t,
                      const struct level_query *q, struct level_page *found, struct err *err)
{
    struct read_links links = pipeline_links(r->pipeline, &r->co->stop, LINKS_MS);

    r->asks(r, q->top->table);
    links.own.opt.watchdog = r->watchdog;
    stall_watchdog_begin(r->watchdog);

    const bool ok = read_level(r, &links, t, q, found, err);

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
                            .plan = ((const struct reading *)t->plan)->plan,
                            .ids = ids,
                            .n_ids = list_ids(p, ids),
                            .after = r->at.level_after};

    if (found->keys == NULL && q.n_ids > 0 && !ask_level(r, t, &q, found, err))
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

/* Leave the question to parts, if any node may write what comes of it. Else *some is false. */
static bool part_level(const struct delayed_run *r, const struct page *p, struct parts *parts,
                       struct target *const *targets, size_t n, bool *some, struct err *err)
{
    const struct spread **spreads = arena_alloc(r->arena, n + 1, sizeof(*spreads));
    struct str *ids = arena_alloc(r->arena, p->n + 1, sizeof(*ids));
    const size_t n_ids = list_ids(p, ids);

    *some = n > 0 && n_ids > 0 && r->at.level_after.len == 0;
    for (size_t i = 0; *some && i < n; i++) {
        const struct reading *reading = targets[i]->plan;
        const struct stored_fan_out lead = {.topic = str_from(targets[i]->topic),
                                            .index = str_from(reading->alias),
                                            .version = reading->number,
                                            .member = str_from(targets[i]->table)};

        if (!parts_find(parts, &lead, &spreads[i], err))
            return false;
        *some = spreads[i] != NULL;
    }
    for (size_t i = 0; *some && i < n; i++)
        parts_add_level(parts, spreads[i], (uint32_t)r->at.level, ids, n_ids);
    return true;
}

static bool put_level_of(struct delayed_run *r, const struct page *p, struct parts *parts,
                         struct target *const *targets, size_t n, struct err *err)
{
    struct level_page found = {0};
    struct job_list l = {.jobs = arena_alloc(r->arena, n * LEVEL_KEYS + 1, sizeof(*l.jobs))};
    bool some, ok = part_level(r, p, parts, targets, n, &some, err);

    for (size_t i = 0; ok && !some && i < n; i++)
        ok = level_of(r, p, targets[i], &l, &found, err);
    if (!ok)
        return false;
    if (found.n > 0 && !found.is_last) {
        r->at.level_after = arena_copy(r->arena, found.texts[found.n - 1]);
    } else {
        r->at.level++;
        r->at.level_after = STR("");
    }
    return release(r, &l, parts, err);
}

static bool put_level(struct delayed_run *r, const struct page *p, struct parts *parts,
                      struct err *err)
{
    struct target *targets[VERSIONS_MAX] = {NULL};
    size_t n;

    r->at.from_id = r->at.after_id; /* no leads are forgotten yet */

    const bool ok = find_targets(r, p->tops[r->at.level].table, targets, &n, err) &&
                    put_level_of(r, p, parts, targets, n, err);

    for (size_t i = 0; i < n; i++)
        target_unref(targets[i]);
    return ok;
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

static void add_lead(const struct delayed_run *r, struct job_list *l, const struct page *p,
                     const struct snapshot_lead *lead)
{
    struct stored_fan_out *job = add_job(r, l, p->table);
    const struct stored_fan_out blank = *job;

    *job = lead->job;
    job->source = blank.source;
    job->table = blank.table;
    job->created_ms = blank.created_ms;
}

static bool put_leads(struct delayed_run *r, const struct page *p, struct parts *parts,
                      struct err *err)
{
    struct snapshot_lead *leads;
    struct job_list l = {0};
    size_t n;

    if (!store_load_leads(r->co->opt.store, r->arena, p->list[0].id, p->list[p->n - 1].id,
                          &leads, &n, err))
        return false;
    l.jobs = arena_alloc(r->arena, n + 1, sizeof(*l.jobs));
    for (size_t i = 0; i < n; i++) {
        const struct spread *s;

        if (!is_in(p, leads[i].snapshot) || is_found_otherwise(p, &leads[i]) ||
            leads[i].job.place == WHOLE_TABLE_PLACE)
            continue;
        if (!parts_find(parts, &leads[i].job, &s, err))
            return false;
        if (s != NULL)
            parts_add_row(parts, s, &leads[i].job);
        else
            add_lead(r, &l, p, &leads[i]);
    }
    r->at.from_id = r->at.after_id;
    r->at.after_id = p->list[p->n - 1].id;
    r->at.n_done += p->n;
    r->at.level = 0;
    return release(r, &l, parts, err);
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
    coordinator_on_divided(co); /* parts are taken as buckets are */
}

static bool put_page(struct delayed_run *r, struct page *p, struct err *err)
{
    struct parts parts;

    find_tops(r, p);
    parts_init(&parts, r, p->list, p->n);
    r->at.updated_ms = clock_wall_ms();

    const bool ok =
        r->at.level < p->n_tops ? put_level(r, p, &parts, err) : put_leads(r, p, &parts, err);

    parts_fini(&parts);
    FAILPOINT(delayed_put);
    if (ok)
        wake_all(r->co);
    return ok;
}

static bool end_run(struct delayed_run *r, const struct parts_state *state, struct err *err)
{
    const bool ok =
        delayed_builds_count(r, err) && (state->n_done == 0 || parts_end(r, err)) &&
        store_end_snapshot_run(r->co->opt.store, &r->owner, r->at.id, clock_wall_ms(), err);

    FAILPOINT(delayed_ended);
    return ok;
}

static bool count(struct delayed_run *r, struct parts_state *parts, struct err *err)
{
    if (!store_count_released(r->co->opt.store, r->owner.topic, r->at.table, clock_wall_ms(),
                              &r->n_jobs, err) ||
        !parts_look(r, parts, err))
        return false;
    r->n_parts = parts->n_open;
    r->part_waits = parts->why;
    return true;
}

bool delayed_run_step(struct delayed_run *r, enum delayed_step *how, struct err *err)
{
    struct parts_state parts;
    struct page p = {0};

    *how = DELAYED_WAITS;
    if (!delayed_builds_step(r, err))
        return false;
    if (r->waits_for != NULL)
        return true;
    if (!count(r, &parts, err))
        return false;
    if (r->n_jobs >= DELAYED_JOBS_MAX || r->n_parts >= DELAYED_PARTS)
        return true;
    if (!load_page(r, &p, err))
        return false;
    if (p.n > 0) {
        *how = DELAYED_GOES_ON;
        return put_page(r, &p, err);
    }
    if (r->n_jobs > 0 || r->n_parts > 0)
        return true;
    *how = DELAYED_ENDED;
    return end_run(r, &parts, err);
}
