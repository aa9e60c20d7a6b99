#include "config.h"

#include "rebalance/verify/job.h"
#include "rebalance/verify/part/sample_state.h"

#include "src/base/failpoint.h"
#include "src/search/search.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"
#include "sync/routing/routing.h"

/* ---- tables ---- */

/* Begin with the table's places; NULL: the sample is over. */
static void begin_table(struct verify_job *j, const struct target *t)
{
    struct verify_sample *s = j->sample;

    buf_clear(&j->at.table);
    key_set_fini(&s->places);
    s->places = (struct key_set){0};
    s->at = 0;
    s->is_read = false;
    s->part = SAMPLE_PLACES;
    if (t != NULL) {
        buf_append(&j->at.table, str_from(t->table));
        return;
    }
    j->at.pass = VERIFY_LISTED;
    sample_clear(s);
}

static bool begin(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct verify_sample *s = j->sample;

    sample_clear(s);
    if (!search_refresh(run->co->opt.search, run->index, err) || !verify_count(j, run, err))
        return false;
    s->sizes = sample_sizes(s->asked, j->at.total, run->n_targets);
    if (s->sizes.documents > 0)
        s->part = SAMPLE_DOCUMENTS;
    else
        begin_table(j, verify_next_table(j, run, ""));
    return true;
}

/* ---- documents ---- */

static bool read_page(struct verify_job *j, struct verify_run *run, struct search_hit **hits,
                      size_t *n, struct err *err)
{
    struct verify_sample *s = j->sample;
    struct buf query = {0};

    if (j->pages_open)
        return search_pages_next(&j->pages, run->arena, hits, n, err);
    sample_append_query(&query, s->sizes.documents, j->at.total,
                        (uint32_t)random_next(&s->random));
    j->pages_open =
        search_pages_open(&j->pages, run->co->opt.search, run->index, buf_str(&query),
                          VERIFY_CHUNK_ROWS, SEARCH_WHOLE, run->arena, hits, n, err);
    buf_free(&query);
    if (!j->pages_open)
        search_pages_close(&j->pages);
    return j->pages_open;
}

/* Keep about as many of the ids as there are places. */
static void keep_id(struct verify_sample *s, struct str id)
{
    if (s->n_hits++ % s->sizes.run == 0)
        (void)key_set_add(&s->met, id);
}

/* Sets *loaded to false if they are too many for one read; one alone is left to the looks. */
static bool load(struct verify_run *run, const struct target *t, const struct str *keys,
                 size_t n, struct loaded *rows, bool *loaded, struct err *err)
{
    struct loader_keys all = {.keys = keys, .n = n, .bytes_max = VERIFY_CHUNK_BYTES};
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;
    *loaded = loader_load(run->links.conns, ((struct reading *)t->plan)->plan, &all, run->arena,
                          rows, err);

    const bool ended = read_links_end(&run->links, *loaded ? err : &ignored);

    if (ended && *loaded)
        return true;
    read_links_close(&run->links);
    return !*loaded && err->kind == ERR_REJECT;
}

/* Moves the rows that were read, and their hits, to the front; the other keys stay in `of`. */
static size_t take_read(struct loaded *rows, struct str *hits, struct verify_key *of, size_t *n,
                        size_t n_asked)
{
    size_t n_read = 0, n_left = 0;

    for (size_t i = 0; i < *n; i++)
        if (i >= n_asked || rows[i].left) {
            of[n_left++] = of[i];
        } else {
            hits[n_read] = hits[i];
            rows[n_read++] = rows[i];
        }
    *n = n_left;
    return n_read;
}

/* As many of the keys as are expected to fit; *n: how many are left. */
static bool compare_some(struct verify_job *j, struct verify_run *run, struct target *t,
                         struct verify_key *of, size_t *n, struct err *err)
{
    const size_t some = *n < j->chunk ? *n : j->chunk;
    struct str *keys = arena_alloc(run->arena, some, sizeof(*keys)),
               *hits = arena_alloc(run->arena, some, sizeof(*hits));
    struct loaded *rows = arena_alloc(run->arena, some, sizeof(*rows));
    bool loaded;

    for (size_t i = 0; i < some; i++) {
        keys[i] = of[i].key;
        hits[i] = of[i].hit;
    }
    if (!load(run, t, keys, some, rows, &loaded, err))
        return false;
    if (!loaded && some == 1)
        return verify_settle_all(j, run, &of[--*n], 1, err);
    if (!loaded) {
        j->chunk = some / 2;
        return true;
    }

    const size_t n_read = take_read(rows, hits, of, n, some);

    verify_adapt_chunk(j, n_read, arena_size(run->arena));
    return verify_compare_rows(j, run, &(struct verify_rows){t, rows, hits, n_read}, err);
}

/* With memory of its own: what the run keeps in it goes with it. */
static bool compare_and_drop(struct verify_job *j, struct verify_run *run, struct target *t,
                             struct verify_key *of, size_t *n, struct err *err)
{
    struct arena *whole = run->arena;
    const size_t n_shards = run->n_shards;

    run->arena = arena_new();

    const bool ok = compare_some(j, run, t, of, n, err);

    arena_free(run->arena);
    run->arena = whole;
    run->n_shards = n_shards;
    run->n_keys = 0;
    return ok;
}

/* Compare those of the hits whose rows this table has. */
static bool compare_hits_of(struct verify_job *j, struct verify_run *run, struct target *t,
                            struct verify_key *all, size_t n_all, struct err *err)
{
    struct verify_key *of = arena_alloc(run->arena, n_all, sizeof(*of));
    size_t n = 0;

    for (size_t i = 0; i < n_all; i++)
        if (all[i].target == t && all[i].key.len > 0)
            of[n++] = all[i];
    while (n > 0)
        if (!compare_and_drop(j, run, t, of, &n, err))
            return false;
    return true;
}

/* What no table's row can have made. */
static bool compare_strangers(struct verify_job *j, struct verify_run *run,
                              struct verify_key *all, size_t n_all, struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < n_all; i++)
        if (all[i].key.len == 0)
            all[n++] = all[i];
    return verify_settle_all(j, run, all, n, err);
}

/* Several hits of an id are copies of its document: the first one is compared with its row. */
static bool compare_hits(struct verify_job *j, struct verify_run *run,
                         const struct search_hit *hits, size_t n_hits, struct err *err)
{
    struct verify_key *keys = arena_alloc(run->arena, n_hits, sizeof(*keys)),
                      *copies = arena_alloc(run->arena, n_hits, sizeof(*copies));
    size_t n = 0, n_copies = 0;

    for (size_t i = 0; i < n_hits; i++) {
        const bool is_first = sample_note(j->sample, hits[i].id);
        struct verify_key *k = is_first ? &keys[n++] : &copies[n_copies++];

        verify_run_name_document(run, hits[i].id, k);
        k->hit = hits[i].routing;
        if (is_first)
            keep_id(j->sample, hits[i].id);
    }
    j->at.hits += n_hits;
    for (size_t i = 0; i < run->n_targets; i++)
        if (!compare_hits_of(j, run, run->targets[i], keys, n, err))
            return false;
    return compare_strangers(j, run, keys, n, err) &&
           verify_settle_hits(j, run, copies, n_copies, err);
}

static bool compare_documents(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct search_hit *hits = NULL;
    size_t n = 0;

    if (!read_page(j, run, &hits, &n, err)) {
        verify_scroll_failed(err);
        return false;
    }
    if (n > 0)
        return compare_hits(j, run, hits, n, err);
    verify_documents_close(j);
    begin_table(j, verify_next_table(j, run, ""));
    return true;
}

/* ---- rows ---- */

/* The next run begins after this key. */
static void begin_run(struct verify_sample *s)
{
    buf_clear(&s->after);
    if (s->at < s->places.n)
        buf_append(&s->after, key_set_get(&s->places, s->at));
    s->left = s->sizes.run;
}

static void add_numbers(struct verify_sample *s, struct str least, struct str greatest)
{
    struct buf text = {0}, key = {0};

    for (uint64_t i = 1; i < s->sizes.places; i++) {
        buf_clear(&text);
        buf_clear(&key);
        if (sample_append_number(&text, least, greatest, &s->random)) {
            key_append_part(&key, buf_str(&text));
            (void)key_set_add(&s->places, buf_str(&key));
        }
    }
    buf_free(&text);
    buf_free(&key);
}

static void add_met(struct verify_run *run, const struct target *t, struct verify_sample *s)
{
    for (uint32_t i = 0; i < s->met.n && s->places.n < s->sizes.places; i++) {
        struct verify_key k;

        verify_run_name_document(run, key_set_get(&s->met, i), &k);
        if (k.target == t && k.key.len > 0)
            (void)key_set_add(&s->places, k.key);
    }
}

/* The table's first rows, and those after random keys. */
static bool choose_places(struct verify_run *run, const struct target *t,
                          struct verify_sample *s, struct err *err)
{
    struct buf least = {0}, greatest = {0};
    bool ok = true;

    (void)key_set_add(&s->places, STR(""));
    if (s->sizes.places > 1)
        ok = loader_bounds(run->links.conns[0], ((struct reading *)t->plan)->plan, &least,
                           &greatest, err);
    if (least.len > 0)
        add_numbers(s, buf_str(&least), buf_str(&greatest));
    else if (ok)
        add_met(run, t, s);
    begin_run(s);
    buf_free(&least);
    buf_free(&greatest);
    return ok;
}

/* Rows that were read together and not compared before. */
struct taken {
    struct loaded *rows;
    size_t n;
};

static void take(struct verify_sample *s, const struct loader_page *page, struct taken *out)
{
    for (size_t i = 0; i < page->n; i++)
        if (sample_note(s, page->docs[i].id))
            out->rows[out->n++] = page->docs[i];
}

/* Go on in the run, or with the next one. */
static void advance(struct verify_sample *s, const struct loader_page *page)
{
    s->is_read = s->sizes.is_whole && page->is_end;
    s->left -= page->n < s->left ? page->n : s->left;
    if (s->left > 0 && !page->is_end && page->n > 0) {
        buf_clear(&s->after);
        buf_append(&s->after, page->docs[page->n - 1].key);
        return;
    }
    s->at++;
    begin_run(s);
}

static bool read_run(struct verify_job *j, struct verify_run *run, const struct target *t,
                     struct taken *out, struct err *err)
{
    struct verify_sample *s = j->sample;
    struct loader_page page = {.after = buf_str(&s->after),
                               .rows_max = s->left < j->chunk ? (size_t)s->left : j->chunk,
                               .bytes_max = VERIFY_CHUNK_BYTES};

    if (!loader_load_range(run->links.conns, ((struct reading *)t->plan)->plan, &page,
                           run->arena, err))
        return false;
    take(s, &page, out);
    j->at.rows += page.n;
    advance(s, &page);
    return true;
}

/* Several runs in one snapshot. */
static bool read_runs(struct verify_job *j, struct verify_run *run, const struct target *t,
                      struct taken *out, struct err *err)
{
    const uint64_t before = j->at.rows;
    struct verify_sample *s = j->sample;

    if (s->places.n == 0 && !choose_places(run, t, s, err))
        return false;
    while (s->at < s->places.n && j->at.rows - before < VERIFY_CHUNK_ROWS &&
           arena_size(run->arena) < VERIFY_CHUNK_BYTES)
        if (!read_run(j, run, t, out, err))
            return false;
    return true;
}

static bool read_newest(struct verify_job *j, struct verify_run *run, const struct target *t,
                        struct taken *out, struct err *err)
{
    struct loader_page page = {.is_last = true,
                               .rows_max = j->chunk < VERIFY_NEWEST ? j->chunk : VERIFY_NEWEST,
                               .bytes_max = VERIFY_CHUNK_BYTES};

    if (!loader_load_range(run->links.conns, ((struct reading *)t->plan)->plan, &page,
                           run->arena, err))
        return false;
    take(j->sample, &page, out);
    j->at.rows += page.n;
    return true;
}

typedef bool read_fn(struct verify_job *j, struct verify_run *run, const struct target *t,
                     struct taken *out, struct err *err);

static bool compare_read(struct verify_job *j, struct verify_run *run, struct target *t,
                         read_fn *read, struct err *err)
{
    struct taken out = {.rows =
                            arena_alloc(run->arena, 2 * VERIFY_CHUNK_ROWS, sizeof(*out.rows))};
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = read(j, run, t, &out, err);

    if (!(read_links_end(&run->links, ok ? err : &ignored) && ok))
        return verify_ask_for_fewer(j, run, err) &&
               err_set(err, ERR_RETRY, "the rows of a sample do not fit into memory at once");
    return verify_compare_rows(j, run, &(struct verify_rows){t, out.rows, NULL, out.n}, err);
}

static bool compare_places(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct target *t = verify_present_table(j, run, err);

    if (t == NULL || !compare_read(j, run, t, read_runs, err))
        return false;
    if (j->sample->is_read)
        begin_table(j, verify_next_table(j, run, t->table));
    else if (j->sample->at >= j->sample->places.n)
        j->sample->part = SAMPLE_NEWEST;
    return true;
}

static bool compare_newest(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct target *t = verify_present_table(j, run, err);

    if (t == NULL || !compare_read(j, run, t, read_newest, err))
        return false;
    begin_table(j, verify_next_table(j, run, t->table));
    return true;
}

bool verify_sample_step(struct verify_job *j, struct err *err)
{
    static bool (*const parts[N_SAMPLE_PARTS])(struct verify_job * j, struct verify_run * run,
                                               struct err * err) = {
        [SAMPLE_BEGIN] = begin,
        [SAMPLE_DOCUMENTS] = compare_documents,
        [SAMPLE_PLACES] = compare_places,
        [SAMPLE_NEWEST] = compare_newest,
    };
    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    j->chunk = j->chunk == 0 ? VERIFY_CHUNK_ROWS : j->chunk;
    ok = ok && parts[j->sample->part](j, &run, err);
    verify_job_close(j, &run);
    FAILPOINT(verify_sampled);
    arena_free(a);
    return ok;
}
