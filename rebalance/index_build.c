#include "config.h"

#include "rebalance/index_build.h"

#include "rebalance/job.h"
#include "rebalance/tally.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "src/search.h"
#include "src/store.h"
#include "sync/binlog/position.h"
#include "sync/delivery/delivery.h"
#include "sync/document/loader.h"
#include "sync/pipeline.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/routing.h"
#include "sync/server_access.h"
#include "sync/server_info.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_FIRST     500
#define CHUNK_MAX       5000
#define CHUNK_BYTES     (4 << 20)
#define CHUNKS_OPEN_MAX 64
#define SAVE_MS         500
#define VIEW_MS         10000
#define RETRY_MS        1000
#define POLL_MS         20
#define STAND_POLL_MS   2
#define COUNT_TRIES     4
#define STRIKES         2 /* so many tallies must tell that something is missing */
#define OPEN_TRIES      8
#define GRAVES_PAGE     1000

/* Documents of one statement on their way; shared with the ticket that waits for them. */
struct chunk_note {
    struct chunk_note *next;
    struct buf cursor; /* key of its last row */
    uint64_t rows, dead;
    bool done;     /* atomic */
    unsigned refs; /* atomic */
};

struct index_build {
    struct index_build_options opt;
    char *alias, *index, *final_settings;
    struct stop stop;
    pthread_t thread;
    bool started;

    /* The thread's own. */
    struct mysql_conn *conn;
    struct buf after; /* key of the last row that was read */
    size_t chunk, asked; /* rows of a statement: what suits it, what the limit allows */
    struct chunk_note *open_first, **open_last;
    size_t n_open;
    struct job_limit limit;
    int64_t saved_ms;
    bool end; /* the last row was read */
    bool is_slow; /* counting takes longer than the stream may stand still */

    pthread_mutex_t lock;

    /* All guarded by lock. */
    struct arena *arena; /* the job's texts */
    struct stored_job job;
    struct buf cursor;
    struct job_pace pace;
    uint64_t rate_limit, dead;
    const char *phase;
    struct err why;
};

struct index_build *index_build_new(const struct index_build_options *opt,
                                    const struct stored_job *job)
{
    struct index_build *b = mem_alloc(1, sizeof(*b));

    b->opt = *opt;
    b->alias = mem_copy(opt->alias);
    b->index = mem_copy(opt->index);
    b->final_settings = mem_copy(opt->final_settings);
    b->chunk = CHUNK_FIRST;
    if (b->opt.chunk == 0 || b->opt.chunk > CHUNK_MAX)
        b->opt.chunk = CHUNK_MAX;
    b->open_last = &b->open_first;
    stop_init(&b->stop);
    pthread_mutex_init(&b->lock, NULL);
    b->arena = arena_new();
    b->job = *job;
    b->job.kind = arena_copy(b->arena, job->kind);
    b->job.index = arena_copy(b->arena, job->index);
    b->job.table = arena_copy(b->arena, job->table);
    b->job.parameters = arena_copy(b->arena, job->parameters);
    b->job.error = STR("");
    buf_append(&b->cursor, job->cursor);
    buf_append(&b->after, job->cursor);
    b->phase = "waiting";
    return b;
}

static void unref_note(struct chunk_note *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    buf_free(&n->cursor);
    free(n);
}

void index_build_free(struct index_build *b)
{
    if (b == NULL)
        return;
    for (struct chunk_note *n = b->open_first, *next; n != NULL; n = next) {
        next = n->next;
        unref_note(n);
    }
    mysql_conn_close(b->conn);
    arena_free(b->arena);
    buf_free(&b->after);
    buf_free(&b->cursor);
    pthread_mutex_destroy(&b->lock);
    stop_fini(&b->stop);
    free(b->alias);
    free(b->index);
    free(b->final_settings);
    free(b);
}

static void set_phase(struct index_build *b, const char *phase, const struct err *why)
{
    pthread_mutex_lock(&b->lock);
    b->phase = phase;
    b->why = why != NULL ? *why : (struct err){0};
    pthread_mutex_unlock(&b->lock);
}

/* ---- the cursor ---- */

static void on_chunk_done(void *ctx, enum outcome worst)
{
    struct chunk_note *n = ctx;

    (void)worst; /* a refused document is a dead letter, a newer one stands for itself */
    __atomic_store_n(&n->done, true, __ATOMIC_RELEASE);
    unref_note(n);
}

/* Chunks that are done, from the oldest on, move the cursor. */
static void collect(struct index_build *b)
{
    struct chunk_note *n;

    while ((n = b->open_first) != NULL && __atomic_load_n(&n->done, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&b->lock);
        buf_clear(&b->cursor);
        buf_append(&b->cursor, buf_str(&n->cursor));
        b->job.rows_done += n->rows;
        b->dead += n->dead;
        pthread_mutex_unlock(&b->lock);
        b->open_first = n->next;
        if (b->open_first == NULL)
            b->open_last = &b->open_first;
        b->n_open--;
        unref_note(n);
    }
    pthread_mutex_lock(&b->lock);
    job_pace_update(&b->pace, b->job.rows_done, clock_mono_ms());
    pthread_mutex_unlock(&b->lock);
}

static bool save_job(struct index_build *b, bool always, struct err *err)
{
    const int64_t now = clock_mono_ms();

    if (!always && now - b->saved_ms < SAVE_MS)
        return true;
    b->saved_ms = now;
    pthread_mutex_lock(&b->lock);

    struct stored_job job = b->job;
    struct buf cursor = {0};

    buf_append(&cursor, buf_str(&b->cursor));
    pthread_mutex_unlock(&b->lock);
    job.cursor = buf_str(&cursor);
    job.state = STR("running");
    job.updated_ms = clock_wall_ms();

    const bool ok = store_save_job(b->opt.store, b->opt.term, &job, err);

    buf_free(&cursor);
    return ok;
}

/* ---- one chunk ---- */

static bool open_read(struct index_build *b, uint64_t at_least, bool ahead, uint64_t *stamp,
                      struct err *err)
{
    struct server_access *server = pipeline_server(b->opt.pipeline);
    const struct read_view_options view = {
        .reader = pipeline_read_position(b->opt.pipeline),
        .gtid = pipeline_has_gtid(b->opt.pipeline),
        .ahead = ahead,
        .at_least = at_least,
        .timeout_ms = VIEW_MS,
        .stop = &b->stop,
    };

    if (b->conn == NULL && !mysql_conn_open(&b->conn, &server->options, err))
        return false;
    return read_view_open(b->conn, &view, stamp, err);
}

static struct chunk_note *note_chunk(struct index_build *b, const struct loaded *docs, size_t n)
{
    struct chunk_note *note = mem_alloc(1, sizeof(*note));

    note->refs = 2;
    note->rows = n;
    buf_append(&note->cursor, docs[n - 1].key);
    buf_clear(&b->after);
    buf_append(&b->after, docs[n - 1].key);
    *b->open_last = note;
    b->open_last = &note->next;
    b->n_open++;
    return note;
}

static void bury(struct index_build *b, struct target *t, const struct loaded *d)
{
    b->opt.dead(b->opt.ctx, &(struct dead_letter_note){.target = t,
                                                       .id = d->id,
                                                       .routing = d->routing,
                                                       .key = d->key,
                                                       .version = b->opt.start,
                                                       .op = DOC_INDEX,
                                                       .reason = str_from(d->err->msg),
                                                       .attempts = 1});
}

static bool submit(struct index_build *b, struct target *t, const struct loaded *docs, size_t n,
                   struct err *err)
{
    struct chunk_note *note = note_chunk(b, docs, n);
    struct ticket *ticket = ticket_new_cb(on_chunk_done, note);
    struct doc_write *writes = mem_alloc(n, sizeof(*writes));
    size_t n_writes = 0;

    for (size_t i = 0; i < n; i++) {
        if (docs[i].err != NULL) {
            bury(b, t, &docs[i]);
            note->dead++;
            continue;
        }
        if (docs[i].body.ptr == NULL)
            continue;
        writes[n_writes++] = (struct doc_write){.target = target_ref(t),
                                                .ticket = ticket_ref(ticket),
                                                .op = DOC_INDEX,
                                                .strict = true,
                                                .version = b->opt.start,
                                                .id = docs[i].id,
                                                .routing = docs[i].routing,
                                                .key = docs[i].key,
                                                .body = docs[i].body};
    }

    const bool ok = n_writes == 0 ||
                    delivery_submit_until(b->opt.delivery, &b->stop, writes, n_writes, err);

    for (size_t i = 0; !ok && i < n_writes; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    free(writes);
    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
    return ok;
}

static void adapt_chunk(struct index_build *b, size_t rows, size_t bytes)
{
    const size_t average = bytes / (rows == 0 ? 1 : rows) + 1;
    size_t fit = CHUNK_BYTES / average;

    if (fit > b->chunk * 2)
        fit = b->chunk * 2;
    if (fit > b->opt.chunk)
        fit = b->opt.chunk;
    b->chunk = fit < 1 ? 1 : fit;
}

/* Until the builder has taken the version, after a start or while the server is away, it waits.
 */
static struct target *find_target(struct index_build *b, struct err *err)
{
    const bool settled = pipeline_is_settled(b->opt.pipeline);
    struct target *t = pipeline_target(b->opt.pipeline, str_from(b->index));

    if (t == NULL && !settled) {
        err_set(err, ERR_RETRY, "its topic is not followed yet");
        return NULL;
    }
    if (t == NULL || __atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        target_unref(t);
        err_set(err, ERR_REJECT, "the table was stopped while its index was built");
        return NULL;
    }
    return t;
}

static bool fill_chunk(struct index_build *b, struct err *err)
{
    struct target *t = find_target(b, err);
    struct arena *a = arena_new();
    struct loaded *docs = NULL;
    size_t n = 0;
    uint64_t stamp;
    bool ok = t != NULL && open_read(b, b->opt.start, false, &stamp, err) &&
              loader_load_range(b->conn, ((struct reading *)t->plan)->plan, buf_str(&b->after),
                                b->asked, a, &docs, &n, err) &&
              read_view_close(b->conn, err);

    if (ok && n < b->asked)
        b->end = true;
    if (ok && n > 0) {
        adapt_chunk(b, n, arena_size(a));
        ok = submit(b, t, docs, n, err);
    }
    arena_free(a);
    target_unref(t);
    return ok;
}

/* ---- waiting ---- */

static bool stopping(struct index_build *b, struct err *err)
{
    return stop_is_set(&b->stop) && !err_set(err, ERR_STOP, "stopping");
}

/* Trouble that passes is waited for, the rest ends the build. */
static bool survive(struct index_build *b, struct err *err)
{
    mysql_conn_close(b->conn);
    b->conn = NULL;
    if (err->kind != ERR_RETRY)
        return false;
    set_phase(b, "waiting", err);
    log_failure(LOG_WARN, err, "the index build waits", KV("index", (const char *)b->index));
    stop_wait(&b->stop, RETRY_MS);
    return !stopping(b, err);
}

/* How many rows come next, once the limit allows them. */
static bool hold_rate(struct index_build *b, struct err *err)
{
    const uint64_t rate = __atomic_load_n(&b->rate_limit, __ATOMIC_RELAXED);

    b->asked = job_limit_rows(rate, b->chunk);

    const int64_t ms = job_limit_take(&b->limit, rate, b->asked, clock_mono_ms());

    if (ms > 0)
        stop_wait(&b->stop, ms);
    collect(b);
    if (!save_job(b, false, err) && err->kind == ERR_STOP)
        return false;
    return !stopping(b, err);
}

static bool wait_chunks(struct index_build *b, size_t at_most, struct err *err)
{
    for (;;) {
        collect(b);
        if (!save_job(b, false, err) && err->kind == ERR_STOP)
            return false;
        if (b->n_open <= at_most)
            return true;
        stop_wait(&b->stop, POLL_MS);
        if (stopping(b, err))
            return false;
    }
}

/* ---- the phases ---- */

static bool count_total(struct index_build *b, struct err *err)
{
    struct target *t = find_target(b, err);
    uint64_t stamp, total = 0;
    const bool ok = t != NULL && open_read(b, b->opt.start, false, &stamp, err) &&
                    loader_count(b->conn, ((struct reading *)t->plan)->plan, &total, err) &&
                    read_view_close(b->conn, err);

    target_unref(t);
    pthread_mutex_lock(&b->lock);
    if (ok)
        b->job.rows_total = total;
    pthread_mutex_unlock(&b->lock);
    return ok;
}

static bool fill(struct index_build *b, struct err *err)
{
    while (!count_total(b, err))
        if (!survive(b, err))
            return false;
    while (!b->end) {
        set_phase(b, "filling", NULL);
        if (stopping(b, err) || !wait_chunks(b, CHUNKS_OPEN_MAX, err) ||
            !hold_rate(b, err))
            return false;
        if (!fill_chunk(b, err) && !survive(b, err))
            return false;
    }
    return wait_chunks(b, 0, err);
}

/* Whatever was read of the log up to now must be in the new version before searches see it. */
static bool catch_up(struct index_build *b, uint64_t to, struct err *err)
{
    while (!pipeline_done_up_to(b->opt.pipeline, to)) {
        stop_wait(&b->stop, POLL_MS);
        if (stopping(b, err))
            return false;
    }
    return true;
}

/* Deletes that are repeated; shared with the ticket that waits for them. */
struct graves_note {
    bool done;     /* atomic */
    unsigned refs; /* atomic */
};

static void unref_graves(struct graves_note *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(n);
}

static void on_graves_done(void *ctx, enum outcome worst)
{
    struct graves_note *n = ctx;

    (void)worst;
    __atomic_store_n(&n->done, true, __ATOMIC_RELEASE);
    unref_graves(n);
}

static bool bury_again(struct index_build *b, struct ticket *ticket,
                       const struct stored_tombstone *graves, size_t n, struct err *err)
{
    struct target *t = find_target(b, err);
    struct doc_write *writes;
    size_t n_writes = 0;

    if (t == NULL)
        return false;
    writes = mem_alloc(n, sizeof(*writes));
    for (size_t i = 0; i < n; i++)
        if (graves[i].version >= b->opt.start)
            writes[n_writes++] = (struct doc_write){.target = target_ref(t),
                                                    .ticket = ticket_ref(ticket),
                                                    .op = DOC_DELETE,
                                                    .strict = true,
                                                    .version = graves[i].version,
                                                    .id = graves[i].id,
                                                    .routing = graves[i].routing};

    const bool ok = n_writes == 0 ||
                    delivery_submit_until(b->opt.delivery, &b->stop, writes, n_writes, err);

    for (size_t i = 0; !ok && i < n_writes; i++) {
        ticket_done(writes[i].ticket, OUTCOME_DEFERRED);
        target_unref(writes[i].target);
    }
    free(writes);
    target_unref(t);
    return ok;
}

static bool submit_graves(struct index_build *b, struct ticket *ticket, struct err *err)
{
    struct buf last = {0};
    size_t n = GRAVES_PAGE;
    bool ok = true;

    while (ok && n >= GRAVES_PAGE) {
        struct arena *a = arena_new();
        struct stored_tombstone *graves;

        ok = store_load_tombstones(b->opt.store, a, str_from(b->index), buf_str(&last),
                                   GRAVES_PAGE, &graves, &n, err);
        if (ok && n > 0) {
            buf_clear(&last);
            buf_append(&last, graves[n - 1].id);
            ok = bury_again(b, ticket, graves, n, err);
        }
        arena_free(a);
    }
    buf_free(&last);
    return ok;
}

/*
 * The engine forgets deletes; a fill that was read before one may have come after (rule 6).
 * Strictly: a row that took the key over in the same event has the delete's version.
 */
static bool repeat_deletes(struct index_build *b, struct err *err)
{
    struct graves_note *note = mem_alloc(1, sizeof(*note));

    note->refs = 2;

    struct ticket *ticket = ticket_new_cb(on_graves_done, note);
    bool ok = submit_graves(b, ticket, err);

    ticket_done(ticket, OUTCOME_DELIVERED);
    while (ok && !__atomic_load_n(&note->done, __ATOMIC_ACQUIRE)) {
        stop_wait(&b->stop, POLL_MS);
        ok = !stopping(b, err);
    }
    unref_graves(note);
    return ok;
}

static bool count_dead(struct index_build *b, uint64_t *dead, struct err *err)
{
    struct dead_letter_filter f = {.index = str_from(b->index), .limit = 1000};
    size_t n;

    *dead = 0;
    do {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;
        const bool ok = store_load_dead_letters(b->opt.store, a, &f, &list, &n, err);

        if (ok && n > 0)
            f.after_id = list[n - 1].id;
        arena_free(a);
        if (!ok)
            return false;
        *dead += n;
    } while (n == f.limit);
    return true;
}

/* Where the log ends now, as a version. */
static bool log_end(struct index_build *b, uint64_t *version, struct err *err)
{
    struct log_end end = {0};

    if (!server_log_end(b->conn, &end, err))
        return false;
    free(end.gtids);
    return position_version((struct position){str_from(end.file), end.offset},
                            pipeline_epoch(b->opt.pipeline), version, err);
}

/*
 * Open a read that shows everything up to *low and nothing beyond *high.  What stands still is
 * passed by the log meanwhile; only a read that nothing is stamped by may be ahead of it.
 */
static bool open_once(struct index_build *b, bool stands, uint64_t *low, uint64_t *high,
                      struct err *err)
{
    struct read_position *reader = pipeline_read_position(b->opt.pipeline);
    const uint64_t read = read_position_version(reader);

    if (!open_read(b, read > b->opt.start ? read : b->opt.start, stands, low, err) ||
        !log_end(b, high, err))
        return false;
    if (*high < *low)
        *high = *low;
    return true;
}

/* Where nothing was committed meanwhile, the snapshot is known to the transaction. */
static bool open_count(struct index_build *b, bool stands, uint64_t *low, uint64_t *high,
                       struct err *err)
{
    bool ok = open_once(b, stands, low, high, err);

    for (unsigned try = 1; ok && *low != *high && try < OPEN_TRIES; try++)
        ok = read_view_close(b->conn, err) && open_once(b, stands, low, high, err);
    return ok;
}

static bool count_documents(struct index_build *b, struct tally *out, struct err *err)
{
    const struct str index = str_from(b->index);

    return search_refresh(b->opt.search, index, err) &&
           search_count(b->opt.search, index, &out->documents, err) &&
           count_dead(b, &out->dead, err);
}

static bool count_table(struct index_build *b, uint64_t *rows, struct err *err)
{
    struct target *t = find_target(b, err);
    const bool ok = t != NULL &&
                    loader_count(b->conn, ((struct reading *)t->plan)->plan, rows, err) &&
                    read_view_close(b->conn, err);

    target_unref(t);
    return ok;
}

static bool wait_until(struct index_build *b, bool (*is_so)(struct pipeline *p),
                       struct err *err)
{
    while (!is_so(b->opt.pipeline)) {
        stop_wait(&b->stop, STAND_POLL_MS);
        if (stopping(b, err))
            return false;
    }
    return true;
}

/*
 * Documents that are read again are read as they are at that time: they may show what the
 * stream came to only after it had stood still, with so many changes.
 */
static bool add_seen(struct index_build *b, uint64_t changes, struct tally *out,
                     struct err *err)
{
    struct read_position *reader = pipeline_read_position(b->opt.pipeline);
    struct target *t = find_target(b, err);
    const bool is_flat = t != NULL && plan_is_flat(((struct reading *)t->plan)->plan);
    uint64_t end;

    target_unref(t);
    if (t == NULL || is_flat)
        return t != NULL;
    if (!log_end(b, &end, err))
        return false;
    while (read_position_version(reader) < end) {
        stop_wait(&b->stop, POLL_MS);
        if (stopping(b, err))
            return false;
    }
    out->moved += pipeline_changes(b->opt.pipeline) - changes;
    return true;
}

/*
 * The stream stands still at the position of one snapshot while rows and documents are counted,
 * so that the two can be compared exactly.
 */
static bool tally_standing(struct index_build *b, struct tally *out, struct err *err)
{
    struct pipeline *p = b->opt.pipeline;
    uint64_t low, high;

    while (!pipeline_stand(p)) {
        stop_wait(&b->stop, POLL_MS);
        if (stopping(b, err))
            return false;
    }

    bool ok = wait_until(b, pipeline_stands_here, err) &&
              open_count(b, true, &low, &high, err);

    if (ok)
        pipeline_stand_at(p, low, high);
    ok = ok && count_table(b, &out->rows, err) && wait_until(b, pipeline_stands_there, err) &&
         count_documents(b, out, err);

    const uint64_t changes = pipeline_changes(p);

    b->is_slow = !pipeline_go_on(p, &out->moved) && ok;
    return ok && (b->is_slow || tally_agrees_exactly(out) || add_seen(b, changes, out, err));
}

/* Counting takes too long for the stream to stand still: what changes meanwhile blurs it. */
static bool tally_running(struct index_build *b, struct tally *out, struct err *err)
{
    const uint64_t before = pipeline_changes(b->opt.pipeline);
    uint64_t low, high;
    const bool ok = open_count(b, false, &low, &high, err) &&
                    count_table(b, &out->rows, err) && catch_up(b, high, err) &&
                    count_documents(b, out, err);

    out->moved = pipeline_changes(b->opt.pipeline) - before;
    return ok;
}

static bool take_tally(struct index_build *b, struct tally *out, struct err *err)
{
    if (b->is_slow)
        return tally_running(b, out, err);
    return tally_standing(b, out, err) && (!b->is_slow || tally_running(b, out, err));
}

/* Counts that agree only because something moved between them are taken again. */
static bool count_rows(struct index_build *b, struct err *err)
{
    struct tally t = {0};
    unsigned strikes = 0;

    for (unsigned try = 0; try < COUNT_TRIES && strikes < STRIKES; try++) {
        while (!take_tally(b, &t, err))
            if (!survive(b, err))
                return false;
        if (tally_agrees_exactly(&t))
            return true;
        strikes += !tally_agrees(&t);
        stop_wait(&b->stop, POLL_MS * (int64_t)(try + 1));
        if (stopping(b, err))
            return false;
    }
    return strikes < STRIKES ||
           err_set(err, ERR_REJECT,
                   "the table has %" PRIu64 " rows but the index %" PRIu64
                   " documents and %" PRIu64 " dead letters; the alias was not moved",
                   t.rows, t.documents, t.dead);
}

static bool publish(struct index_build *b, struct err *err)
{
    return search_put_settings(b->opt.search, str_from(b->index), str_from(b->final_settings),
                               err) &&
           search_refresh(b->opt.search, str_from(b->index), err) &&
           search_move_alias(b->opt.search, str_from(b->alias), str_from(b->index), err) &&
           store_promote_version(b->opt.store, str_from(b->alias), b->opt.number,
                                 clock_wall_ms(), err);
}

static bool finish(struct index_build *b, struct err *err)
{
    set_phase(b, "finishing", NULL);
    if (!catch_up(b, read_position_version(pipeline_read_position(b->opt.pipeline)), err))
        return false;
    /* Also refreshed while the stream does not wait for it. */
    while (!repeat_deletes(b, err) || !search_refresh(b->opt.search, str_from(b->index), err))
        if (!survive(b, err))
            return false;
    if (!count_rows(b, err))
        return false;
    while (!publish(b, err))
        if (!survive(b, err))
            return false;
    return true;
}

static void *build_main(void *arg)
{
    struct index_build *b = arg;
    struct err err = {0}, saved = {0};

    log_info("index build runs", KV("index", (const char *)b->index),
             KV("start", b->opt.start));

    const bool ok = fill(b, &err) && finish(b, &err);

    if (!ok && err.kind == ERR_STOP && stop_is_set(&b->stop)) {
        if (!save_job(b, true, &saved))
            log_failure(LOG_INFO, &saved, "the cursor of the index build was not stored",
                        KV("index", (const char *)b->index));
        return NULL;
    }
    b->opt.done(b->opt.ctx, b, ok ? NULL : &err);
    return NULL;
}

void index_build_start(struct index_build *b)
{
    b->started = true;
    b->thread = thread_start("build", build_main, b);
}

void index_build_stop(struct index_build *b)
{
    stop_set(&b->stop);
    if (b->started)
        pthread_join(b->thread, NULL);
    b->started = false;
}

void index_build_ask_to_stop(struct index_build *b)
{
    stop_set(&b->stop);
}

struct pipeline *index_build_pipeline(const struct index_build *b)
{
    return b->opt.pipeline;
}

/* Kept with the job, so that it counts after a restart as well. */
void index_build_set_rate(struct index_build *b, uint64_t rows_per_second)
{
    struct buf parameters = {0};

    buf_printf(&parameters, "{\"rate\":%" PRIu64 ",\"chunk\":%zu}", rows_per_second,
               b->opt.chunk);
    pthread_mutex_lock(&b->lock);
    b->job.parameters = arena_copy(b->arena, buf_str(&parameters));
    pthread_mutex_unlock(&b->lock);
    buf_free(&parameters);
    __atomic_store_n(&b->rate_limit, rows_per_second, __ATOMIC_RELAXED);
}

const char *index_build_index(const struct index_build *b)
{
    return b->index;
}

const char *index_build_alias(const struct index_build *b)
{
    return b->alias;
}

uint64_t index_build_number(const struct index_build *b)
{
    return b->opt.number;
}

struct index_build_status index_build_status(struct index_build *b)
{
    pthread_mutex_lock(&b->lock);

    const struct index_build_status s = {
        .job_id = b->job.id,
        .number = b->opt.number,
        .rows_done = job_shown_done(b->job.rows_done, b->job.rows_total),
        .rows_total = b->job.rows_total,
        .dead = b->dead,
        .rate = b->pace.rate,
        .remaining_s = job_remaining_s(&b->pace, b->job.rows_done, b->job.rows_total),
        .rate_limit = __atomic_load_n(&b->rate_limit, __ATOMIC_RELAXED),
        .phase = b->phase,
        .why = b->why,
    };

    pthread_mutex_unlock(&b->lock);
    return s;
}
