#include "config.h"

#include "rebalance/verify/job.h"

#include "src/base/failpoint.h"
#include "src/search/search.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

#define PAGE 1000

void verify_documents_close(struct verify_job *j)
{
    if (j->pages_open)
        search_pages_close(&j->pages);
    j->pages_open = false;
    j->slice_hits = 0;
}

/* ---- their rows ---- */

/* The hits of one table whose rows are to be looked up. */
struct open_hits {
    const struct verify_key *hits; /* of all tables */
    bool *fine;                    /* of each: it lies where a row has its document */
    struct str *keys;              /* of those that are open, */
    size_t *at;                    /* and the place of each in hits */
    size_t n;
};

static struct open_hits find_open(struct arena *a, const struct target *t,
                                  const struct verify_key *hits, size_t n, bool *fine)
{
    struct open_hits o = {.hits = hits,
                          .fine = fine,
                          .keys = arena_alloc(a, n, sizeof(*o.keys)),
                          .at = arena_alloc(a, n, sizeof(*o.at))};

    for (size_t i = 0; i < n; i++)
        if (hits[i].target == t && hits[i].key.len > 0) {
            o.keys[o.n] = hits[i].key;
            o.at[o.n++] = i;
        }
    return o;
}

static void keep_open(struct open_hits *o, size_t *n, size_t i)
{
    o->keys[*n] = o->keys[i];
    o->at[(*n)++] = o->at[i];
}

/* Judges the first n_asked by their rows; those that were left stay open. */
static size_t judge_places(struct open_hits *o, const struct loaded *rows, size_t n_asked)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n; i++)
        if (i >= n_asked || rows[i].left)
            keep_open(o, &n, i);
        else
            o->fine[o->at[i]] =
                rows[i].placed && str_equal(rows[i].routing, o->hits[o->at[i]].hit);

    const size_t n_judged = o->n - n;

    o->n = n;
    return n_judged;
}

/*
 * Some are read at once, as many as are expected to fit, and are dropped. Documents without a
 * routing lie where their rows' keys say; of others, only the whole document says it.
 */
static bool find_places(struct verify_job *j, struct verify_run *run, const struct plan *p,
                        struct open_hits *o, struct err *err)
{
    struct loader_keys some = {.keys = o->keys,
                               .n = o->n < j->chunk ? o->n : j->chunk,
                               .bytes_max = VERIFY_CHUNK_BYTES};
    struct arena *a = arena_new();
    struct loaded *rows = arena_alloc(a, some.n, sizeof(*rows));
    const bool is_routed = plan_is_routed(p);
    const bool ok = is_routed ? loader_load(run->links.conns, p, &some, a, rows, err)
                              : loader_find_keys(run->links.conns[0], p, &some, rows, err);

    if (ok)
        verify_adapt_chunk(j, judge_places(o, rows, some.n),
                           is_routed ? arena_size(a) : some.bytes);
    arena_free(a);
    return ok;
}

static bool look_up(struct verify_job *j, struct verify_run *run, const struct target *t,
                    struct open_hits *o, struct err *err)
{
    const struct plan *p = ((struct reading *)t->plan)->plan;
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = find_places(j, run, p, o, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

/* Mark in `fine` the hits that lie where a row of the table has its document. */
static bool check_table(struct verify_job *j, struct verify_run *run, const struct target *t,
                        struct open_hits *o, struct err *err)
{
    while (o->n > 0) {
        if (look_up(j, run, t, o, err) || verify_ask_for_fewer(j, run, err))
            continue;
        read_links_close(&run->links);
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    return true;
}

/* ---- what is suspect ---- */

static const struct verify_copy *copy_at(const struct verify_look *look, struct str routing)
{
    for (size_t i = 0; i < look->n_copies; i++)
        if (str_equal(look->copies[i].routing, routing))
            return &look->copies[i];
    return NULL;
}

/* The pass over rows has told of a row whose document is not at its place, or not equal. */
static bool is_told_by_rows(const struct verify_key *k)
{
    if (!k->look.is_wanted)
        return false;
    for (size_t i = 0; i < k->n_told; i++)
        if (k->told[i].kind == VERIFY_MISSING || str_equal(k->told[i].routing, k->look.routing))
            return true;
    return !k->is_repaired && copy_at(&k->look, k->look.routing) == NULL;
}

/* Several copies of a document are one difference: that of the first hit. */
static bool is_first_copy(const struct verify_key *k)
{
    for (size_t i = 0; i < k->n_told; i++)
        if (!k->look.is_wanted || !str_equal(k->told[i].routing, k->look.routing))
            return str_equal(k->told[i].routing, k->hit);
    return true;
}

static bool is_news(const struct verify_key *k)
{
    return (k->state == VERIFY_DIFFERS || k->is_repaired || k->state == VERIFY_APART) &&
           !is_told_by_rows(k) && is_first_copy(k);
}

/*
 * A row whose document was found equal has another copy: until the end it is no longer equal,
 * and it is counted once.
 */
static void count_once(struct verify_job *j, const struct verify_key *k)
{
    if (k->look.is_wanted && j->result.documents > 0 && j->result.equal > 0) {
        j->result.documents--;
        j->result.equal--;
    }
}

static void add_news(struct verify_job *j, const struct verify_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_news(&keys[i])) {
            count_once(j, &keys[i]);
            verify_job_add(j, &keys[i], 1);
        }
}

bool verify_settle_hits(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                        size_t n, struct err *err)
{
    return verify_job_settle((struct verify_settling){j, j->repair && j->yes, add_news}, run,
                             keys, n, err);
}

/* ---- a page ---- */

static bool read_page(struct verify_job *j, struct verify_run *run, struct search_hit **hits,
                      size_t *n, struct err *err)
{
    bool ok;

    if (j->pages_open)
        return search_pages_next(&j->pages, run->arena, hits, n, err);
    if (!verify_run_find_shards(run, err) ||
        !search_refresh(run->co->opt.search, run->index, err))
        return false;
    j->n_slices = run->n_shards;
    ok = search_pages_open(&j->pages, run->co->opt.search, run->index,
                           STR("{\"match_all\":{}}"), job_limit_rows(j->rate, PAGE),
                           (struct search_slice){j->at.slice, j->n_slices}, run->arena, hits, n,
                           err);
    j->pages_open = ok;
    if (!ok)
        search_pages_close(&j->pages);
    return ok;
}

/* A scroll that is gone is no index that is gone, though both are 404. */
void verify_scroll_failed(struct err *err)
{
    const bool is_scroll = err->code != 404 || strstr(err->msg, "search_context") != NULL ||
                           strstr(err->msg, "search context") != NULL;

    if (err->kind == ERR_REJECT && is_scroll)
        err->kind = ERR_RETRY;
}

bool verify_read_hits(struct verify_job *j, struct verify_run *run, struct search_hit **hits,
                      size_t *n, struct err *err)
{
    if (read_page(j, run, hits, n, err)) {
        j->slice_hits += *n;
        return true;
    }
    verify_scroll_failed(err);
    return false;
}

bool verify_end_slice(struct verify_job *j)
{
    j->at.hits += j->slice_hits;
    j->at.slice++;

    const bool is_last = j->at.slice >= j->n_slices;

    if (is_last)
        j->at.slice = 0;
    verify_documents_close(j);
    return is_last;
}

static bool check_hits(struct verify_job *j, struct verify_run *run,
                       const struct search_hit *hits, size_t n, struct err *err)
{
    struct verify_key *keys = arena_alloc(run->arena, n, sizeof(*keys));
    bool *fine = arena_alloc(run->arena, n, sizeof(*fine));
    size_t n_suspects = 0;

    for (size_t i = 0; i < n; i++) {
        verify_run_name_document(run, hits[i].id, &keys[i]);
        keys[i].hit = hits[i].routing;
    }
    for (size_t i = 0; i < run->n_targets; i++) {
        struct open_hits o = find_open(run->arena, run->targets[i], keys, n, fine);

        if (!check_table(j, run, run->targets[i], &o, err))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!fine[i]) {
            verify_trees_note_suspect(j, keys[i].id);
            keys[n_suspects++] = keys[i];
        }
    return verify_settle_hits(j, run, keys, n_suspects, err);
}

bool verify_documents_step(struct verify_job *j, struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run;
    struct search_hit *hits = NULL;
    size_t n = 0;
    bool ok = verify_job_open(j, &run, a, err);

    j->chunk = j->chunk == 0 ? VERIFY_CHUNK_ROWS : j->chunk;
    ok = ok && verify_read_hits(j, &run, &hits, &n, err);
    if (ok && n > 0)
        ok = check_hits(j, &run, hits, n, err);
    else if (ok && verify_end_slice(j))
        j->at.pass = VERIFY_LISTED;
    if (ok && n == 0)
        FAILPOINT(verify_sliced);
    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}
