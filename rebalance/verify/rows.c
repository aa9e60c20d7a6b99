#include "config.h"

#include "rebalance/verify/condition.h"
#include "rebalance/verify/job.h"

#include "src/search/documents.h"
#include "src/search/search.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

#include <string.h>

static const struct plan *plan_of(const struct target *t)
{
    return ((struct reading *)t->plan)->plan;
}

/* The tables in the order of their names, which no change of a definition shuffles. */
struct target *verify_next_table(const struct verify_job *j, const struct verify_run *run,
                                 const char *after)
{
    struct target *next = NULL;

    for (size_t i = 0; i < run->n_targets; i++) {
        struct target *t = run->targets[i];

        if (j->where.len > 0 && !condition_concerns(run, t))
            continue;
        if (strcmp(t->table, after) > 0 && (next == NULL || strcmp(t->table, next->table) < 0))
            next = t;
    }
    return next;
}

struct target *verify_present_table(const struct verify_job *j, const struct verify_run *run,
                                    struct err *err)
{
    for (size_t i = 0; i < run->n_targets; i++)
        if (str_equal(str_from(run->targets[i]->table), buf_str(&j->at.table)))
            return run->targets[i];
    err_set(err, ERR_REJECT,
            "table %" STR_FMT " does not belong to the index any more; fix: begin again: "
            "millrace verify %" STR_FMT,
            STR_ARG(buf_str(&j->at.table)), STR_ARG(j->job.table));
    return NULL;
}

static void begin_table(struct verify_job *j, const struct target *t)
{
    buf_clear(&j->at.table);
    buf_clear(&j->at.after);
    if (t != NULL)
        buf_append(&j->at.table, str_from(t->table));
    else
        j->at.pass = j->where.len > 0 ? VERIFY_LISTED : VERIFY_DOCUMENTS;
}

/* ---- the beginning ---- */

bool verify_count(struct verify_job *j, struct verify_run *run, struct err *err)
{
    if (!search_count(run->co->opt.search, run->index, &j->at.total, err)) {
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    j->at.from = read_position_version(pipeline_read_position(run->pipeline));
    return true;
}

static bool begin_rows(struct verify_job *j, struct verify_run *run, struct err *err)
{
    if (!verify_count(j, run, err))
        return false;
    if (!verify_trees_begin(j, run, err))
        return false;
    if (j->feeds)
        verify_jobs_note_whole(j->co->verifies, run->index, NULL);
    begin_table(j, verify_next_table(j, run, ""));
    return true;
}

/* ---- a chunk ---- */

static bool read_chunk(struct verify_run *run, const struct target *t, struct loader_page *page,
                       struct err *err)
{
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = loader_load_range(run->links.conns, plan_of(t), page, run->arena, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

static bool makes_document(const struct loaded *row)
{
    return row->body.ptr != NULL && row->err == NULL;
}

static bool get_documents(struct verify_run *run, const struct loaded *rows, size_t n,
                          struct search_document *out, struct err *err)
{
    struct search_wish *wishes = arena_alloc(run->arena, n, sizeof(*wishes));
    size_t n_wishes = 0;

    for (size_t i = 0; i < n; i++)
        if (makes_document(&rows[i]))
            wishes[n_wishes++] = (struct search_wish){rows[i].id, rows[i].routing, true};
    if (n_wishes == 0 || search_get_documents(run->co->opt.search, run->index, wishes, n_wishes,
                                              run->arena, out, err))
        return true;
    err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
    return false;
}

/* Only the document's own place: a copy elsewhere is what the other pass finds. */
static bool is_equal(const struct verify_run *run, const struct loaded *row,
                     const struct search_document *d)
{
    const struct verify_copy copy = {d->routing, d->version, d->source};
    const struct verify_look look = {true, row->routing, row->body, &copy, d->found};
    struct verify_finding found[2];

    return verify_judge(&look, &run->rules, run->arena, found) == 0;
}

/*
 * Rows of a range make documents, or none that anybody looks for unless it writes them all;
 * hits must have a row.
 */
static bool is_suspect(const struct verify_job *j, const struct loaded *row,
                       const struct str *hits)
{
    return row->body.ptr != NULL || row->err != NULL || hits != NULL || j->rewrites;
}

/* The keys of rows by what their documents are at first sight. */
struct sorted_keys {
    struct verify_key *suspects; /* must go through the looks */
    struct verify_key *equal;    /* only if what is equal is written again */
    size_t n_suspects, n_equal;
};

static void add_equal(struct verify_job *j, struct verify_run *run, struct target *target,
                      const struct loaded *row, const struct search_document *d,
                      struct sorted_keys *out)
{
    struct verify_copy *copy;

    j->result.documents++;
    j->result.equal++;
    verify_trees_note_equal(j, row->id, row->routing, row->body);
    if (!j->rewrites)
        return;
    copy = arena_alloc(run->arena, 1, sizeof(*copy));
    *copy = (struct verify_copy){d->routing, d->version, d->source};
    out->equal[out->n_equal++] =
        (struct verify_key){.id = row->id,
                            .key = row->key,
                            .target = target,
                            .state = VERIFY_EQUAL,
                            .look = {true, row->routing, row->body, copy, 1}};
}

static void sort_rows(struct verify_job *j, struct verify_run *run, const struct verify_rows *r,
                      const struct search_document *documents, struct sorted_keys *out)
{
    *out = (struct sorted_keys){
        .suspects = arena_alloc(run->arena, r->n, sizeof(*out->suspects)),
        .equal = arena_alloc(run->arena, j->rewrites ? r->n : 1, sizeof(*out->equal))};
    run->rules.version_max = pipeline_stamp_max(run->pipeline);
    for (size_t i = 0; i < r->n; i++) {
        const struct loaded *row = &r->rows[i];
        const bool is_place = r->hits == NULL || str_equal(r->hits[i], row->routing);

        if (makes_document(row) && is_equal(run, row, documents++) && is_place) {
            add_equal(j, run, r->target, row, documents - 1, out);
        } else if (is_suspect(j, row, r->hits)) {
            verify_trees_note_suspect(j, row->id);
            out->suspects[out->n_suspects++] =
                (struct verify_key){.id = row->id, .key = row->key, .target = r->target};
        }
    }
}

bool verify_settle_all(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                       size_t n, struct err *err)
{
    return verify_job_settle((struct verify_settling){j, j->repair && j->yes, verify_job_add},
                             run, keys, n, err);
}

bool verify_compare_rows(struct verify_job *j, struct verify_run *run,
                         const struct verify_rows *r, struct err *err)
{
    struct search_document *documents = arena_alloc(run->arena, r->n + 1, sizeof(*documents));
    struct sorted_keys keys;

    if (!get_documents(run, r->rows, r->n, documents, err))
        return false;
    sort_rows(j, run, r, documents, &keys);
    return verify_job_rewrite(j, run, keys.equal, keys.n_equal, err) &&
           verify_settle_all(j, run, keys.suspects, keys.n_suspects, err) &&
           verify_find_orphans(j, run, r, err);
}

void verify_adapt_chunk(struct verify_job *j, size_t rows, size_t bytes)
{
    const size_t fit = VERIFY_CHUNK_BYTES / (bytes / (rows == 0 ? 1 : rows) + 1);
    const size_t most = j->chunk * 2 < VERIFY_CHUNK_ROWS ? j->chunk * 2 : VERIFY_CHUNK_ROWS;

    j->chunk = fit < 1 ? 1 : fit < most ? fit : most;
}

bool verify_ask_for_fewer(struct verify_job *j, struct verify_run *run, struct err *err)
{
    if (err->kind != ERR_REJECT || j->chunk <= 1)
        return false;
    j->chunk /= 2;
    read_links_close(&run->links);
    *err = (struct err){0};
    return true;
}

static bool compare_chunk(struct verify_job *j, struct verify_run *run, struct target *t,
                          struct err *err)
{
    struct loader_page page = {.after = buf_str(&j->at.after),
                               .where = j->where,
                               .rows_max = job_limit_rows(j->rate, j->chunk),
                               .bytes_max = VERIFY_CHUNK_BYTES};

    if (!read_chunk(run, t, &page, err))
        return verify_ask_for_fewer(j, run, err);

    verify_adapt_chunk(j, page.n, arena_size(run->arena));
    if (!verify_compare_rows(j, run, &(struct verify_rows){t, page.docs, NULL, page.n}, err))
        return false;
    j->at.rows += page.n;
    if (page.is_end) {
        begin_table(j, verify_next_table(j, run, t->table));
    } else {
        buf_clear(&j->at.after);
        buf_append(&j->at.after, page.docs[page.n - 1].key);
    }
    return true;
}

bool verify_rows_step(struct verify_job *j, struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    j->chunk = j->chunk == 0 ? VERIFY_CHUNK_ROWS : j->chunk;
    if (ok && j->at.table.len == 0) {
        ok = begin_rows(j, &run, err);
    } else if (ok) {
        struct target *t = verify_present_table(j, &run, err);

        ok = t != NULL && compare_chunk(j, &run, t, err);
    }
    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}
