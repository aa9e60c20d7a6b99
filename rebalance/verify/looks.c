#include "config.h"

#include "rebalance/fill/bucket.h"
#include "rebalance/verify/look/copies.h"
#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "src/mysql/mysql.h"
#include "src/search/documents.h"
#include "src/store/later/fan_out.h"
#include "src/store/later/purged.h"
#include "src/store/later/snapshot.h"
#include "src/store/later/whole_table.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/loader.h"
#include "sync/position/position.h"
#include "sync/routing/routing.h"
#include "sync/server/server_info.h"

#include <stdlib.h>

#define LOOKS        3
#define POLL_MS      10
#define JOBS_POLL_MS 100 /* each asks the store */
#define SLICE_MAX    1000
#define GROUP_FIRST  1   /* key, while nobody knows how large documents are */
#define GROUP_MAX    100 /* keys */
#define GROUP_BYTES  (16 << 20)

/* ---- the documents ---- */

/* One wish a shard: a copy may lie in any. */
static struct search_wish *make_wishes(const struct verify_run *run, struct arena *a, size_t *n)
{
    struct search_wish *wishes = arena_alloc(a, run->n_keys * run->n_shards, sizeof(*wishes));

    *n = 0;
    for (size_t i = 0; i < run->n_keys; i++)
        for (size_t s = 0; run->keys[i].state == VERIFY_OPEN && s < run->n_shards; s++)
            wishes[(*n)++] = (struct search_wish){run->keys[i].id, run->shards[s], true};
    return wishes;
}

static bool get_documents(struct verify_run *run, struct err *err)
{
    size_t n, at = 0;

    if (run->n_shards == 0 && !verify_run_find_shards(run, err))
        return false;

    struct search_wish *wishes = make_wishes(run, run->arena, &n);
    struct search_document *documents = arena_alloc(run->arena, n, sizeof(*documents));

    verify_run_live(run);
    if (!search_get_documents(run->co->opt.search, run->index, wishes, n, run->arena, documents,
                              err)) {
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    for (size_t i = 0; i < run->n_keys; i++)
        if (run->keys[i].state == VERIFY_OPEN) {
            struct verify_look *seen = &run->keys[i].look;

            seen->copies =
                copies_take(&documents[at], run->n_shards, run->arena, &seen->n_copies);
            at += run->n_shards;
        }
    return true;
}

/* ---- the rows ---- */

static void take_no_row(struct verify_key *k)
{
    k->look.is_wanted = false;
    k->look.body = k->look.routing = STR("");
}

static void take_row(struct verify_key *k, const struct loaded *row)
{
    if (!str_equal(row->id, k->id)) { /* another writing of its key */
        k->key = STR("");
        take_no_row(k);
        return;
    }
    k->look.is_wanted = row->body.ptr != NULL;
    k->look.body = row->body.ptr == NULL ? STR("") : row->body;
    k->look.routing = k->look.is_wanted ? row->routing : STR("");
    if (row->err != NULL) {
        k->state = VERIFY_APART;
        k->reason = VERIFY_DEAD_LETTER;
    }
}

static bool load_rows(struct verify_run *run, const struct target *t, struct err *err)
{
    const struct plan *plan = ((struct reading *)t->plan)->plan;

    for (size_t i = 0; i < run->n_keys; i++) {
        struct verify_key *k = &run->keys[i];
        struct loader_keys one = {.keys = &k->key, .n = 1};
        struct loaded row;

        if (k->state != VERIFY_OPEN || k->target != t)
            continue;
        if (k->key.len == 0) {
            take_no_row(k);
            continue;
        }
        verify_run_live(run);
        if (!loader_load(run->links.conns, plan, &one, run->arena, &row, err))
            return false;
        take_row(k, &row);
    }
    return true;
}

/* One snapshot for all rows of a table. */
static bool read_table(struct verify_run *run, const struct target *t, struct err *err)
{
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = load_rows(run, t, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

static bool is_open(const struct verify_run *run, const struct target *t)
{
    for (size_t i = 0; i < run->n_keys; i++)
        if (run->keys[i].state == VERIFY_OPEN && (t == NULL || run->keys[i].target == t))
            return true;
    return false;
}

static bool read_rows(struct verify_run *run, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < run->n_targets; i++)
        ok = !is_open(run, run->targets[i]) || read_table(run, run->targets[i], err);
    if (ok)
        return true;
    read_links_close(&run->links);
    err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
    return false;
}

/* ---- a look ---- */

static void judge(struct verify_run *run, struct verify_key *k, const struct verify_look *last)
{
    k->found = arena_alloc(run->arena, k->look.n_copies + 1, sizeof(*k->found));
    k->n_found = verify_judge(&k->look, &run->rules, run->arena, k->found);
    for (size_t i = 0; k->key.len == 0 && i < k->n_found; i++)
        if (k->found[i].kind == VERIFY_EXTRA)
            k->found[i].kind = VERIFY_UNEXPLAINED;
    k->n_same = last != NULL && verify_look_equal(last, &k->look) ? k->n_same + 1 : 0;
    if (k->n_found == 0)
        k->state = VERIFY_EQUAL;
}

/*
 * Documents first: then a row is at least as new as its document, unless the document changes
 * from this look to the next.
 */
static bool look(struct verify_run *run, bool is_first, struct err *err)
{
    struct verify_look *last = arena_alloc(run->arena, run->n_keys, sizeof(*last));

    if (!is_open(run, NULL))
        return true;
    run->n_looks++;
    run->rules.version_max = pipeline_stamp_max(run->pipeline);
    for (size_t i = 0; i < run->n_keys; i++)
        last[i] = run->keys[i].look;
    if (!get_documents(run, err) || !read_rows(run, err))
        return false;
    for (size_t i = 0; i < run->n_keys; i++)
        if (run->keys[i].state == VERIFY_OPEN)
            judge(run, &run->keys[i], is_first ? NULL : &last[i]);
    return true;
}

/* ---- what is on its way ---- */

/* Everything that the look before can have seen of a log lies before its present end. */
static bool note_end(struct verify_end *e, struct err *err)
{
    struct log_end end = {0};

    if (e->conn == NULL && !pipeline_connect(e->pipeline, 0, &e->conn, err))
        return false;
    if (!server_log_end(e->conn, &end, err))
        return false;
    free(end.gtids);
    return position_version((struct position){str_from(end.file), end.offset},
                            pipeline_epoch(e->pipeline), &e->version, err);
}

static bool note_ends(struct verify_run *run, struct err *err)
{
    bool ok = true;

    verify_run_live(run);
    for (size_t i = 0; ok && i < run->n_ends; i++)
        ok = note_end(&run->ends[i], err);
    return ok;
}

static bool is_done(const struct verify_end *e)
{
    return read_position_version(pipeline_read_position(e->pipeline)) >= e->version &&
           pipeline_done_up_to(e->pipeline, e->version);
}

/* Returns false if changes before the noted ends are not delivered in time. */
static bool wait_for_ends(struct verify_run *run)
{
    const int64_t until_ms = clock_mono_ms() + run->patience.ends;

    for (size_t i = 0; i < run->n_ends; i++)
        while (!is_done(&run->ends[i])) {
            if (clock_mono_ms() > until_ms || stop_wait(run->stop, POLL_MS))
                return false;
            verify_run_live(run);
        }
    return true;
}

static void set_apart(struct verify_run *run, enum verify_reason reason)
{
    for (size_t i = 0; i < run->n_keys; i++)
        if (run->keys[i].state == VERIFY_OPEN) {
            run->keys[i].state = VERIFY_APART;
            run->keys[i].reason = reason;
        }
}

/* ---- why it may differ ---- */

/* A reason that concerns every document of the index, or N_VERIFY_REASONS. */
static enum verify_reason find_reason(const struct verify_run *run)
{
    struct hold hold;

    if (holds_find(run->co->holds, run->index, &hold))
        return VERIFY_HELD;
    if (run->lead->sync_every_s > 0)
        return VERIFY_BY_TIME;
    if (pipeline_cascades_wait_for(run->pipeline, run->index) ||
        pipeline_gone_may_stay(run->pipeline))
        return VERIFY_CASCADE;
    return N_VERIFY_REASONS;
}

/* Ask the store: a topic may have put a job there that the root's has not seen yet. */
static bool has_job(const struct verify_run *run, struct arena *a, bool *has, struct err *err)
{
    struct fan_out_sum *list;
    size_t n = 0;
    const bool ok = store_sum_fan_outs(run->co->opt.store, a, clock_wall_ms(), &list, &n, err);

    for (size_t i = 0; ok && i < n; i++)
        *has = *has || (list[i].version == run->number &&
                        str_equal(list[i].index, table_index(run->lead)));
    return ok;
}

/* Parts of a delayed run, on whichever node. */
static bool has_part(const struct verify_run *run, struct arena *a, bool *has, struct err *err)
{
    struct stored_job *list;
    size_t n = 0;
    const bool ok = store_load_jobs(run->co->opt.store, a, &list, &n, err);

    for (size_t i = 0; ok && i < n; i++)
        *has = *has || (str_equal(list[i].kind, STR(JOB_PART)) && bucket_is_open(&list[i]) &&
                        list[i].version == run->number &&
                        str_equal(list[i].index, table_index(run->lead)));
    return ok;
}

static bool has_fan_out(const struct verify_run *run, bool *has, struct err *err)
{
    struct arena *a = arena_new();
    bool ok;

    *has = false;
    ok = has_job(run, a, has, err) && (*has || has_part(run, a, has, err));
    arena_free(a);
    return ok;
}

static bool set_fanned_out_apart(struct verify_run *run, struct err *err)
{
    bool has;

    if (!has_fan_out(run, &has, err))
        return false;
    if (has)
        set_apart(run, VERIFY_FAN_OUT);
    return true;
}

/* Jobs of very many documents and cascades may write the documents soon: wait for them. */
static bool wait_for_jobs(const struct verify_run *run, struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + run->patience.jobs;
    bool has;

    do {
        verify_run_live(run);
        if (!has_fan_out(run, &has, err))
            return false;
    } while ((has || find_reason(run) == VERIFY_CASCADE) && clock_mono_ms() < until_ms &&
             !stop_wait(run->stop, JOBS_POLL_MS));
    return true;
}

static void set_apart_of(struct verify_run *run, struct str id, enum verify_reason reason)
{
    for (size_t i = 0; i < run->n_keys; i++)
        if (run->keys[i].state == VERIFY_OPEN && str_equal(run->keys[i].id, id)) {
            run->keys[i].state = VERIFY_APART;
            run->keys[i].reason = reason;
        }
}

static bool set_letters_apart(struct verify_run *run, struct err *err)
{
    struct dead_letter_filter f = {.index = run->index, .limit = SLICE_MAX};
    size_t n = 0;
    bool ok;

    do {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;

        ok = store_load_dead_letters(run->co->opt.store, a, &f, &list, &n, err);
        for (size_t i = 0; ok && i < n; i++) {
            set_apart_of(run, list[i].doc_id, VERIFY_DEAD_LETTER);
            f.after_id = list[i].id;
        }
        arena_free(a);
    } while (ok && n == SLICE_MAX);
    return ok;
}

static bool set_purged_apart(struct verify_run *run, struct err *err)
{
    struct purged_filter f = {.settled_ms = INT64_MAX, .ahead_ms = INT64_MAX};
    size_t n = 0;
    bool ok;

    do {
        struct arena *a = arena_new();
        struct stored_purged *list;

        ok = store_load_purged(run->co->opt.store, a, run->index, f, SLICE_MAX, &list, &n, err);
        for (size_t i = 0; ok && i < n; i++) {
            set_apart_of(run, list[i].doc_id, VERIFY_PURGED);
            f.after_id = list[i].id;
        }
        arena_free(a);
    } while (ok && n == SLICE_MAX);
    return ok;
}

static bool is_unfollowed(const struct verify_run *run, const struct verify_key *k)
{
    const struct table_definition *t =
        definitions_table(run->definitions, str_from(k->target->table));
    const struct verify_finding *f = &k->found[0];

    t = t == NULL ? run->lead : t;
    if (k->n_found > 1 || f->kind != VERIFY_DIFFERENT || f->n_paths < f->n_paths_all)
        return false;
    for (size_t i = 0; i < f->n_paths; i++)
        if (!verify_path_is_unfollowed(f->paths[i].path, t->relations, t->n_relations))
            return false;
    return true;
}

static bool shows_delayed(const struct reading *r, struct str table)
{
    for (size_t place = 0; place < plan_n_places(r->plan); place++)
        if (str_equal(r->delayed[place], table))
            return true;
    return false;
}

/* The delayed tables whose changes wait, of those that documents of the target show. */
static struct verify_tables find_waiting(const struct verify_run *run, const struct target *t,
                                         const struct snapshot_place *places, size_t n)
{
    const struct reading *reading = t->plan;
    struct str *names = arena_alloc(run->arena, n + 1, sizeof(*names));
    struct verify_tables out = {names, 0};

    for (size_t i = 0; reading->delayed != NULL && i < n; i++)
        if (places[i].place == WHOLE_TABLE_PLACE && shows_delayed(reading, places[i].member))
            names[out.n++] = places[i].member;
        else if (str_equal(places[i].member, str_from(t->table)) &&
                 places[i].place < plan_n_places(reading->plan) &&
                 reading->delayed[places[i].place].len > 0)
            names[out.n++] = reading->delayed[places[i].place];
    return out;
}

static bool is_delayed(const struct verify_run *run, const struct verify_key *k,
                       const struct verify_tables *waiting)
{
    const struct table_definition *t =
        definitions_table(run->definitions, str_from(k->target->table));
    const struct verify_finding *f = &k->found[0];

    t = t == NULL ? run->lead : t;
    if (k->n_found != 1 || f->kind != VERIFY_DIFFERENT || f->n_paths < f->n_paths_all)
        return false;
    for (size_t i = 0; i < f->n_paths; i++)
        if (!verify_path_shows(f->paths[i].path, t->relations, t->n_relations, waiting))
            return false;
    return true;
}

/* Their documents show the old rows until a run. */
static bool set_delayed_apart(struct verify_run *run, struct err *err)
{
    struct snapshot_place *places;
    size_t n;

    if (!is_open(run, NULL))
        return true;
    if (!store_load_snapshot_places(run->co->opt.store, run->arena, table_index(run->lead),
                                    run->number, &places, &n, err))
        return false;
    for (size_t i = 0; n > 0 && i < run->n_keys; i++) {
        struct verify_key *k = &run->keys[i];
        const struct verify_tables waiting = k->target == NULL
                                                 ? (struct verify_tables){NULL, 0}
                                                 : find_waiting(run, k->target, places, n);

        if (k->state != VERIFY_OPEN || waiting.n == 0 || !is_delayed(run, k, &waiting))
            continue;
        k->state = VERIFY_APART;
        k->reason = VERIFY_DELAYED;
    }
    return true;
}

/* A pipeline says of no document that it dropped it. */
static bool is_dropped(bool is_piped, const struct verify_key *k)
{
    return is_piped && k->n_found == 1 && k->found[0].kind == VERIFY_MISSING;
}

static void set_wished_apart(struct verify_run *run)
{
    const bool is_piped = verify_run_is_piped(run);

    for (size_t i = 0; i < run->n_keys; i++) {
        struct verify_key *k = &run->keys[i];
        const bool open = k->state == VERIFY_OPEN;

        if (open && is_dropped(is_piped, k))
            k->reason = VERIFY_DROPPED;
        else if (open && is_unfollowed(run, k))
            k->reason = VERIFY_NOT_FOLLOWED;
        else
            continue;
        k->state = VERIFY_APART;
    }
}

static void set_index_apart(struct verify_run *run)
{
    const enum verify_reason reason = find_reason(run);

    if (reason != N_VERIFY_REASONS)
        set_apart(run, reason);
}

/*
 * Before the last look, and after what is on its way: a reason that ends before we ask changes
 * the document from the look before to that one.
 */
static bool set_excused_apart(struct verify_run *run, struct err *err)
{
    set_wished_apart(run);
    set_index_apart(run);
    verify_run_live(run);
    return set_delayed_apart(run, err) && set_fanned_out_apart(run, err) &&
           set_letters_apart(run, err) && set_purged_apart(run, err);
}

static bool prepare_look(struct verify_run *run, bool is_last, struct err *err)
{
    if (find_reason(run) != VERIFY_CASCADE)
        set_index_apart(run);
    run->has_waited = run->has_waited || is_open(run, NULL);
    if (is_open(run, NULL) && !wait_for_ends(run))
        set_apart(run, VERIFY_NOT_DELIVERED);
    return !is_last || !is_open(run, NULL) ||
           (wait_for_jobs(run, err) && set_excused_apart(run, err));
}

/* Open keys that all looks saw alike differ. */
static void end_looks(struct verify_run *run)
{
    for (size_t i = 0; i < run->n_keys; i++) {
        struct verify_key *k = &run->keys[i];

        if (k->state == VERIFY_OPEN && k->n_same == LOOKS - 1)
            k->state = VERIFY_DIFFERS;
        if (k->n_told == 0) {
            k->told = k->found;
            k->n_told = k->n_found;
        }
    }
    set_apart(run, VERIFY_CHANGING);
}

bool verify_run_settle(struct verify_run *run, struct err *err)
{
    for (unsigned i = 0; i < LOOKS && is_open(run, NULL); i++)
        if ((i > 0 && !prepare_look(run, i == LOOKS - 1, err)) || !look(run, i == 0, err) ||
            !note_ends(run, err))
            return false;
    end_looks(run);
    return true;
}

/* ---- groups ---- */

static size_t count_fitting(const struct verify_run *run, size_t bytes)
{
    const size_t fit = GROUP_BYTES / (bytes / run->n_keys + 1);
    const size_t most = run->group * 2 < GROUP_MAX ? run->group * 2 : GROUP_MAX;

    return fit < 1 ? 1 : fit < most ? fit : most;
}

static bool settle_group(struct verify_run *run, verify_settle_fn *settle, void *ctx,
                         struct err *err)
{
    struct arena *whole = run->arena;
    const unsigned n_looks = run->n_looks;

    run->arena = arena_new();
    run->n_looks = 0;
    run->has_waited = false;

    const bool ok = settle(run, ctx, err);

    run->n_looks = run->n_looks > n_looks ? run->n_looks : n_looks;
    run->group = count_fitting(run, arena_size(run->arena));
    if (run->has_waited && run->patience.ends > VERIFY_LATER.ends)
        run->patience = VERIFY_LATER;
    arena_free(run->arena);
    run->arena = whole;
    return ok;
}

bool verify_run_each_group(struct verify_run *run, struct verify_key *keys, size_t n,
                           verify_settle_fn *settle, void *ctx, struct err *err)
{
    bool ok = n == 0 || run->n_shards > 0 || verify_run_find_shards(run, err);

    run->group = run->group == 0 ? GROUP_FIRST : run->group;
    for (size_t at = 0; ok && at < n; at += run->n_keys) {
        run->keys = keys + at;
        run->n_keys = n - at < run->group ? n - at : run->group;
        ok = settle_group(run, settle, ctx, err);
    }
    run->keys = NULL;
    run->n_keys = 0;
    return ok;
}
