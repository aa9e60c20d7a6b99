#include "config.h"

#include "rebalance/build/build.h"
#include "rebalance/build/reads.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/delivery/delivery.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"
#include "sync/pipeline/pipeline.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

#define CHUNK_FIRST     500
#define CHUNK_BYTES     (4 << 20)
#define CHUNKS_OPEN_MAX 64

/* One statement's documents in flight; shared with the ticket that waits for them. */
struct chunk_note {
    enum magic magic;
    struct chunk_note *next;
    struct buf cursor; /* table and key of the chunk's last row */
    uint64_t rows, dead;
    bool done;     /* atomic */
    unsigned refs; /* atomic */
};

static void unref_note(struct chunk_note *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    buf_free(&n->cursor);
    MAGIC_END(chunk_note, n);
    free(n);
}

static void on_chunk_done(void *ctx, enum outcome worst)
{
    struct chunk_note *n = MAGIC_CAST(chunk_note, ctx);

    (void)worst; /* a refused document is a dead letter; a newer one replaces ours */
    __atomic_store_n(&n->done, true, __ATOMIC_RELEASE);
    unref_note(n);
}

static void on_chunk_abandoned(void *ctx)
{
    unref_note(MAGIC_CAST(chunk_note, ctx));
}

/* Move the cursor past completed chunks, from the oldest on. */
static void collect(struct index_build *b)
{
    struct chunk_note *n;

    while ((n = b->open_first) != NULL && __atomic_load_n(&n->done, __ATOMIC_ACQUIRE)) {
        lock_acquire(&b->lock);
        buf_clear(&b->cursor);
        buf_append(&b->cursor, buf_str(&n->cursor));
        b->job.rows_done += n->rows;
        b->dead += n->dead;
        lock_release(&b->lock);
        b->open_first = n->next;
        if (b->open_first == NULL)
            b->open_last = &b->open_first;
        b->n_open--;
        unref_note(n);
    }
    lock_acquire(&b->lock);
    job_pace_update(&b->pace, b->job.rows_done, clock_mono_ms());
    lock_release(&b->lock);
}

static struct chunk_note *note_chunk(struct index_build *b, const struct loaded *docs, size_t n)
{
    struct chunk_note *note = mem_alloc(1, sizeof(*note));

    note->magic = MAGIC_chunk_note;
    note->refs = 2;
    note->rows = n;
    key_append_part(&note->cursor, str_from(b->tables[b->at_table]));
    buf_append(&note->cursor, docs[n - 1].key);
    buf_clear(&b->after);
    buf_append(&b->after, docs[n - 1].key);
    *b->open_last = note;
    b->open_last = &note->next;
    b->n_open++;
    return note;
}

/*
 * Returns false if the daemon stops before the dead letter is kept: the cursor must not pass
 * its row.
 */
static bool bury(struct index_build *b, struct target *t, const struct loaded *d)
{
    return b->opt.dead(b->opt.ctx, &(struct dead_letter_note){.target = t,
                                                              .id = d->id,
                                                              .routing = d->routing,
                                                              .key = d->key,
                                                              .version = b->opt.start,
                                                              .op = DOC_INDEX,
                                                              .reason = str_from(d->err->msg),
                                                              .attempts = 1});
}

/* The pass through the index's turnstile: cascades wait for reads that began earlier. */
struct pass {
    struct grace_period *grace_period;
    unsigned side;
};

/* Takes over the pass. */
static bool submit(struct index_build *b, struct target *t, const struct loaded *docs, size_t n,
                   const struct pass *pass, struct err *err)
{
    struct chunk_note *note = note_chunk(b, docs, n);
    struct ticket *ticket = ticket_new_cb(on_chunk_done, note);
    struct doc_write *writes = mem_alloc(n, sizeof(*writes));
    size_t n_writes = 0;
    bool ok = true;

    ticket_on_abandon(ticket, on_chunk_abandoned);
    ticket_pass(ticket, pass->grace_period, pass->side);
    for (size_t i = 0; ok && i < n; i++) {
        if (docs[i].err != NULL) {
            ok = bury(b, t, &docs[i]) || err_set(err, ERR_STOP, "stopping");
            note->dead++;
            continue;
        }
        if (docs[i].body.ptr == NULL)
            continue;
        writes[n_writes++] = (struct doc_write){.target = target_ref(t),
                                                .ticket = ticket_ref(ticket),
                                                .op = DOC_INDEX,
                                                .strict = true,
                                                .gathered = true,
                                                .version = b->opt.start,
                                                .id = docs[i].id,
                                                .routing = docs[i].routing,
                                                .key = docs[i].key,
                                                .body = docs[i].body};
    }

    ok = ok && (n_writes == 0 ||
                delivery_submit_until(b->opt.delivery, &b->stop, writes, n_writes, err));
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

/* A page that was cut holds as many rows as fit. */
static void adapt_chunk(struct index_build *b, const struct loader_page *page, size_t bytes)
{
    const bool is_cut = !page->is_end && page->n < b->asked;
    const size_t most = is_cut ? page->n : b->chunk * 2;
    size_t fit = CHUNK_BYTES / (bytes / page->n + 1);

    if (fit > most)
        fit = most;
    if (fit > b->opt.chunk)
        fit = b->opt.chunk;
    b->chunk = fit < 1 ? 1 : fit;
}

/* The read must include the turnstile's floor and the start. */
static uint64_t read_from(const struct index_build *b, const struct pass *pass)
{
    const uint64_t floor = grace_period_floor(pass->grace_period);

    return floor > b->opt.start ? floor : b->opt.start;
}

static bool read_chunk(struct index_build *b, const struct target *t, const struct pass *pass,
                       struct loader_page *page, struct arena *a, struct err *err)
{
    struct reading *from = t->plan;
    uint64_t stamp;

    return read_links_open(&b->links, from, read_from(b, pass), &stamp, err) &&
           loader_load_range(b->links.conns, from->plan, page, a, err) &&
           read_links_end(&b->links, err);
}

/* Retry a refused read with half the rows: they may fit into memory. */
static bool asks_for_fewer(struct index_build *b, struct err *err)
{
    if (err->kind != ERR_REJECT || b->asked <= 1)
        return false;
    b->chunk = b->asked / 2;
    read_links_close(&b->links);
    *err = (struct err){0};
    return true;
}

static bool fill_chunk(struct index_build *b, struct err *err)
{
    struct target *t = build_target(b, str_from(b->tables[b->at_table]), err);
    struct pass pass = {pipeline_grace_period(b->opt.pipeline, str_from(b->index)), 0};
    struct loader_page page = {
        .after = buf_str(&b->after), .rows_max = b->asked, .bytes_max = CHUNK_BYTES};
    struct arena *a = arena_new();

    pass.side = grace_period_enter(pass.grace_period);

    bool ok = t != NULL && read_chunk(b, t, &pass, &page, a, err);

    if (ok)
        b->end = page.is_end;
    else if (page.n > 0)
        b->asked = page.n;
    if (ok && page.n > 0) {
        adapt_chunk(b, &page, arena_size(a));
        ok = submit(b, t, page.docs, page.n, &pass, err);
        FAILPOINT(chunk_submitted);
    } else {
        grace_period_leave(pass.grace_period, pass.side);
    }
    arena_free(a);
    target_unref(t);
    return ok;
}

/* Set the size of the next chunk and wait until the rate limit allows it. */
static bool hold_rate(struct index_build *b, struct err *err)
{
    const uint64_t rate = __atomic_load_n(&b->rate_limit, __ATOMIC_RELAXED);

    b->asked = job_limit_rows(rate, b->chunk);

    const int64_t ms = job_limit_take(&b->limit, rate, b->asked, clock_mono_ms());

    if (ms > 0)
        stop_wait(&b->stop, ms);
    collect(b);
    if (!build_save(b, false, err) && err->kind == ERR_STOP)
        return false;
    return !build_is_stopping(b, err);
}

static bool wait_chunks(struct index_build *b, size_t at_most, struct err *err)
{
    for (;;) {
        collect(b);
        if (!build_save(b, false, err) && err->kind == ERR_STOP)
            return false;
        if (b->n_open <= at_most)
            return true;
        if (!build_wait(b, err))
            return false;
    }
}

static bool count_total(struct index_build *b, struct err *err)
{
    uint64_t total = 0;
    const bool ok = build_open_read(b, b->opt.start, err) &&
                    build_count_tables(b, &total, err) && read_view_close(b->conn, err);

    lock_acquire(&b->lock);
    if (ok)
        b->job.rows_total = b->rows = total;
    lock_release(&b->lock);
    return ok;
}

/* Find the tables to read, and the cursor's place among them. */
static bool find_tables(struct index_build *b, struct err *err)
{
    struct str key = buf_str(&b->cursor), table = {0};
    const bool begun = key_next(&key, &table);
    size_t n;
    struct target **list = build_targets(b, &n, err);

    b->tables = mem_alloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        b->tables[b->n_tables++] = mem_copy(list[i]->table);
        if (begun && str_equal(table, str_from(list[i]->table))) {
            b->at_table = i;
            buf_append(&b->after, key);
        }
    }
    build_targets_free(list, n);
    if (n > 0 && (!begun || b->after.len > 0))
        return true;
    for (size_t i = 0; i < b->n_tables; i++)
        free(b->tables[i]);
    free(b->tables);
    b->tables = NULL;
    b->n_tables = 0;
    return n > 0 ? err_set(err, ERR_REJECT,
                           "table %" STR_FMT " does not belong to the index any more; fix: "
                           "millrace index create %s",
                           STR_ARG(table), b->alias)
                 : false;
}

static bool fill_table(struct index_build *b, struct err *err)
{
    b->end = false;
    while (!b->end) {
        build_set_phase(b, "filling", NULL);
        if (build_is_stopping(b, err) || !wait_chunks(b, CHUNKS_OPEN_MAX, err) ||
            !hold_rate(b, err))
            return false;
        if (!fill_chunk(b, err) && !asks_for_fewer(b, err) && !build_survive(b, err))
            return false;
    }
    return true;
}

bool build_fill(struct index_build *b, struct err *err)
{
    b->chunk = CHUNK_FIRST;
    while (!count_total(b, err) || !find_tables(b, err))
        if (!build_survive(b, err))
            return false;
    for (; b->at_table < b->n_tables; b->at_table++) {
        if (!fill_table(b, err))
            return false;
        buf_clear(&b->after);
    }
    if (!wait_chunks(b, 0, err))
        return false;
    lock_acquire(&b->lock);
    b->job.rows_total = b->job.rows_done; /* rows may have gone since they were counted */
    lock_release(&b->lock);
    return true;
}

void build_forget_chunks(struct index_build *b)
{
    for (struct chunk_note *n = b->open_first, *next; n != NULL; n = next) {
        next = n->next;
        unref_note(n);
    }
    b->open_first = NULL;
    b->open_last = &b->open_first;
    b->n_open = 0;
}
