#include "config.h"

#include "rebalance/dead_letter/purged_slice.h"
#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/search/documents.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>

#define WAIT_MS 20000 /* for rows that are read again */
#define POLL_MS 10

/* Documents that are handed over together, each for itself. */
struct repairs {
    struct doc_write *writes;
    struct purged_slice *slice;
    size_t n;
};

/* What is of another lineage is never overwritten: only a new version of the index helps. */
bool verify_may_be_repaired(const struct verify_key *k)
{
    for (size_t i = 0; i < k->n_found; i++)
        if (k->found[i].kind == VERIFY_LINEAGE)
            return false;
    return k->state == VERIFY_DIFFERS ||
           (k->state == VERIFY_APART && k->reason == VERIFY_DROPPED);
}

static bool is_repaired_now(const struct verify_run *run, const struct verify_key *k)
{
    return verify_may_be_repaired(k) && !(run->counts_only && k->state == VERIFY_DIFFERS);
}

/*
 * Have the row read again for the document at this routing, whose stored version is `stored`.
 * Does nothing if the stream must first come further: the write would wait for that.
 */
static void add(const struct verify_run *run, struct repairs *r, const struct verify_key *k,
                struct str routing, uint64_t stored)
{
    const uint64_t read = read_position_version(pipeline_read_position(run->pipeline));
    const uint64_t version = stored > read ? stored : read + 1;

    if (version > read + READ_POSITION_GAP)
        return;
    r->writes[r->n] = (struct doc_write){.target = target_ref(k->target),
                                         .ticket = purged_slice_ticket(r->slice, r->n),
                                         .op = DOC_REFRESH,
                                         .fresh = true,
                                         .gathered = run->errand == NULL,
                                         .version = version,
                                         .id = k->id,
                                         .routing = routing,
                                         .key = k->key};
    r->n++;
}

static uint64_t version_at(const struct verify_look *look, struct str routing)
{
    uint64_t version = 0;

    for (size_t i = 0; i < look->n_copies; i++)
        if (str_equal(look->copies[i].routing, routing) && look->copies[i].version > version)
            version = look->copies[i].version;
    return version;
}

/*
 * What no row can have made is deleted above its version, so that a delete that comes late hits
 * nothing newer. Delivery could not read it again by a key.
 */
static bool delete_unexplained(const struct verify_run *run, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < run->n_keys; i++) {
        const struct verify_key *k = &run->keys[i];

        for (size_t c = 0;
             ok && k->key.len == 0 && is_repaired_now(run, k) && c < k->look.n_copies; c++) {
            verify_run_live(run);
            ok = search_delete_document(run->co->opt.search, run->index, k->id,
                                        k->look.copies[c].routing,
                                        k->look.copies[c].version + 1, err);
        }
    }
    return ok;
}

/*
 * A row's document is written at its place first: in the same shard it replaces a copy under
 * another routing. What is left then is asked for at its own routing, and so deleted there, by
 * a delete that needs a higher version than the copy's.
 */
static void add_key(const struct verify_run *run, struct repairs *r, const struct verify_key *k,
                    bool is_first)
{
    const struct verify_look *look = &k->look;

    if (!is_repaired_now(run, k) || k->key.len == 0)
        return;
    if (look->is_wanted && is_first)
        add(run, r, k, look->routing, version_at(look, look->routing));
    else
        for (size_t i = 0; i < look->n_copies; i++)
            if (!look->is_wanted || !str_equal(look->copies[i].routing, look->routing))
                add(run, r, k, look->copies[i].routing, look->copies[i].version + 1);
}

static size_t count_room(const struct verify_run *run)
{
    size_t n = 0;

    for (size_t i = 0; i < run->n_keys; i++)
        n += run->keys[i].look.n_copies + 1;
    return n;
}

/* Returns false if they are not written in time. */
static bool wait_for(const struct verify_run *run, const struct repairs *r)
{
    const int64_t until_ms = clock_mono_ms() + WAIT_MS;

    while (!purged_slice_is_over(r->slice)) {
        if (clock_mono_ms() > until_ms || stop_wait(run->stop, POLL_MS))
            return false;
        verify_run_live(run);
    }
    return true;
}

static bool submit(const struct verify_run *run, const struct repairs *r, struct err *err)
{
    if (delivery_submit_until(run->co->delivery, run->stop, r->writes, r->n, err)) {
        FAILPOINT(repair_submitted);
        return true;
    }
    for (size_t i = 0; i < r->n; i++) {
        ticket_abandon(r->writes[i].ticket);
        target_unref(r->writes[i].target);
    }
    return false;
}

static void open_again(struct verify_run *run)
{
    for (size_t i = 0; i < run->n_keys; i++)
        if (is_repaired_now(run, &run->keys[i])) {
            run->keys[i].was_different = run->keys[i].state == VERIFY_DIFFERS;
            run->keys[i].state = VERIFY_OPEN;
        }
}

/* What the engine refuses becomes a dead letter, and stays different. */
static void note_repaired(struct verify_run *run)
{
    for (size_t i = 0; i < run->n_keys; i++) {
        struct verify_key *k = &run->keys[i];

        k->is_repaired = k->n_told > 0 && k->state == VERIFY_EQUAL;
        k->is_refused =
            k->was_different && k->state == VERIFY_APART && k->reason == VERIFY_DEAD_LETTER;
        if (k->is_refused)
            k->state = VERIFY_DIFFERS;
    }
}

bool verify_run_has_repairs(const struct verify_run *run)
{
    for (size_t i = 0; i < run->n_keys; i++)
        if (is_repaired_now(run, &run->keys[i]))
            return true;
    return false;
}

static bool repair(struct verify_run *run, bool is_first, struct err *err)
{
    if (!verify_run_has_repairs(run))
        return true;

    const size_t room = count_room(run);
    struct repairs r = {.writes = mem_alloc(room, sizeof(*r.writes)),
                        .slice = purged_slice_new(room)};

    for (size_t i = 0; i < run->n_keys; i++)
        add_key(run, &r, &run->keys[i], is_first);

    bool ok = delete_unexplained(run, err) && (r.n == 0 || submit(run, &r, err));

    if (ok && wait_for(run, &r)) {
        FAILPOINT(verify_repaired);
        open_again(run);
        ok = verify_run_settle(run, err);
    }
    purged_slice_leave(r.slice);
    free(r.writes);
    return ok;
}

bool verify_run_repair(struct verify_run *run, struct err *err)
{
    const bool ok = repair(run, true, err) && repair(run, false, err);

    note_repaired(run);
    return ok;
}

/* ---- what is equal ---- */

/* Returns false unless all of them are written, or are dead letters. */
static bool are_written(const struct verify_run *run, const struct repairs *r, struct err *err)
{
    bool ok = wait_for(run, r);

    for (size_t i = 0; ok && i < r->n; i++)
        ok = purged_slice_state(r->slice, i) == PURGED_WRITTEN;
    return ok || err_set(err, ERR_RETRY,
                         "index %" STR_FMT " did not take documents that were read again; fix: "
                         "millrace status says why",
                         STR_ARG(run->index));
}

bool verify_run_rewrite(struct verify_run *run, uint64_t *n, struct err *err)
{
    const size_t room = count_room(run);
    struct repairs r = {.writes = mem_alloc(room + 1, sizeof(*r.writes)),
                        .slice = purged_slice_new(room)};

    for (size_t i = 0; i < run->n_keys; i++) {
        const struct verify_key *k = &run->keys[i];

        if (k->state == VERIFY_EQUAL && k->look.is_wanted && !k->is_repaired)
            add(run, &r, k, k->look.routing, version_at(&k->look, k->look.routing));
    }

    const bool ok = r.n == 0 || (submit(run, &r, err) && are_written(run, &r, err));

    *n += ok ? r.n : 0;
    purged_slice_leave(r.slice);
    free(r.writes);
    return ok;
}
