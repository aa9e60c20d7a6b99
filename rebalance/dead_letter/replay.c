#include "config.h"

#include "rebalance/dead_letter/replay.h"

#include "rebalance/dead_letter/dead.h"
#include "rebalance/dead_letter/orders.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"

#include <inttypes.h>
#include <stdlib.h>

#define PAGE       500
#define LATER      503  /* the HTTP status of a refusal that a later try may not meet */
#define REPLAYS_MS 5000 /* before a failed replay is tried again */

/*
 * The version of a write that does not come from the log (docs/adr/0021), no lower than that of
 * the refused one.
 */
static uint64_t version_for(const struct topic *t, const struct stored_dead_letter *d)
{
    const uint64_t read = read_position_version(pipeline_read_position(t->pipeline));

    return d->version > read && d->version <= read + READ_POSITION_GAP ? d->version : read + 1;
}

/* Whether the index belongs to a version that is being built or searched. */
static bool is_alive(struct coordinator *co, struct str index)
{
    struct catalogue *c = coordinator_catalogue(co);
    struct buf name = {0};
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++) {
        const struct stored_version *v = &c->versions[i];

        buf_clear(&name);
        coordinator_index_name(&name, v->index, v->number);
        found = str_equal(buf_str(&name), index) && catalogue_is_live(v);
    }
    buf_free(&name);
    catalogue_unref(c);
    return found;
}

/* Write the row as it is now, at the present position.  Success removes the letter. */
static bool make_write(struct coordinator *co, const struct stored_dead_letter *d,
                       struct doc_write *out, struct err *err)
{
    struct topic *t = topics_find(co->topics, d->topic);
    const bool settled = t != NULL && t->pipeline != NULL && pipeline_is_settled(t->pipeline);
    struct target *target = t == NULL || t->pipeline == NULL
                                ? NULL
                                : pipeline_target(t->pipeline, d->index, d->table);

    if (target == NULL && !settled && is_alive(co, d->index))
        return refuse(err, LATER,
                      "topic %" STR_FMT " of dead letter %" PRIu64
                      " is not running yet; fix: replay it "
                      "once millrace status shows that it is",
                      STR_ARG(d->topic), d->id);
    if (target == NULL)
        return refuse(err, 409,
                      "Millrace no longer writes to index %" STR_FMT " of dead letter %" PRIu64
                      "; fix: millrace dead-letter discard, the newer version has the row",
                      STR_ARG(d->index), d->id);
    if (d->key.len == 0) {
        target_unref(target);
        return refuse(err, 409,
                      "dead letter %" PRIu64
                      " has no key by which to read its row; fix: change the "
                      "row, or discard the dead letter",
                      d->id);
    }
    *out = (struct doc_write){.target = target,
                              .op = DOC_REFRESH,
                              .fresh = true,
                              .gathered = true,
                              .version = version_for(t, d),
                              .id = d->doc_id,
                              .routing = d->routing,
                              .key = d->key};
    return true;
}

/*
 * Make the writes for one page of letters.  err gets a reason why some cannot be replayed; a
 * reason that passes wins over others.
 */
static size_t make_writes(struct coordinator *co, const struct stored_dead_letter *list,
                          size_t n, struct doc_write *writes, struct err *err)
{
    size_t n_writes = 0;

    if (!coordinator_begin(co, err))
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct stored_dead_letter *d = &list[i];
        struct err why = {0};

        if (!make_write(co, d, &writes[n_writes], &why)) {
            if (err->kind == ERR_NONE || why.code == LATER)
                *err = why;
            continue;
        }
        n_writes++;
        delivery_note_dead(co->delivery, d->index, d->routing, d->doc_id, d->version);
    }
    lock_release(&co->admin_lock);
    return n_writes;
}

/*
 * Submits without a lock: delivery may stay full for long, and only this caller may wait for
 * it.
 */
static bool replay_page(struct coordinator *co, struct dead_letter_filter *f, bool dry_run,
                        uint64_t *done, size_t *n, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_dead_letter *list;
    bool ok = store_load_dead_letters(co->opt.store, a, f, &list, n, err);

    if (ok && *n > 0) {
        struct doc_write *writes = arena_alloc(a, *n, sizeof(*writes));
        const size_t n_writes = make_writes(co, list, *n, writes, err);
        const bool taken =
            n_writes == 0 || dry_run ||
            delivery_submit_until(co->delivery, &co->stop, writes, n_writes, err);

        for (size_t i = 0; (!taken || dry_run) && i < n_writes; i++)
            target_unref(writes[i].target);
        ok = taken;
        f->after_id = list[*n - 1].id;
        *done += taken ? n_writes : 0;
    }
    arena_free(a);
    return ok;
}

bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    bool dry_run, struct buf *json, struct err *err)
{
    struct dead_letter_filter page = *f;
    uint64_t done = 0;
    size_t n;
    bool ok;

    if (!coordinator_is_daemon(co, "replay", err))
        return false;
    page.limit = PAGE;
    do
        ok = replay_page(co, &page, dry_run, &done, &n, err);
    while (ok && n == PAGE);
    if (err->kind != ERR_NONE)
        return done == 0 ? false
                         : err_wrap(err,
                                    dry_run ? "%" PRIu64 " could be replayed, the others not"
                                            : "%" PRIu64 " were replayed, the others not",
                                    done);
    coordinator_answer_letters(json, "millrace/dead-letter-replay/1", done, dry_run);
    return true;
}

/* ---- after a change of the mapping ---- */

struct replays {
    int64_t
        next_ms; /* atomic, monotonic: when to look for requests; INT64_MAX: there is none */
};

struct replays *replays_new(void)
{
    return mem_alloc(1, sizeof(struct replays));
}

void replays_free(struct replays *r)
{
    free(r);
}

static void name_replay(struct buf *name, struct str index)
{
    buf_clear(name);
    buf_printf(name, STORE_REPLAY "%" STR_FMT, STR_ARG(index));
}

void coordinator_look_for_replays(struct coordinator *co)
{
    __atomic_store_n(&co->replays->next_ms, 0, __ATOMIC_RELAXED);
    stop_nudge(&co->stop);
}

bool coordinator_want_replay(struct coordinator *co, struct str index, struct err *err)
{
    struct buf name = {0}, wish = {0};

    name_replay(&name, index);
    buf_printf(&wish, "%" PRId64, clock_wall_ms());

    const bool ok = store_put_value(co->opt.store, buf_str(&name), buf_str(&wish), err);

    coordinator_look_for_replays(co);
    FAILPOINT(replay_wanted);
    buf_free(&name);
    buf_free(&wish);
    return ok;
}

/* Returns false if it must be tried again. */
static bool replay_index(struct coordinator *co, struct str index, struct err *err)
{
    const struct dead_letter_filter of_index = {.index = index};
    struct buf json = {0};
    const bool ok = coordinator_dead_letter_replay(co, &of_index, false, &json, err);

    buf_free(&json);
    if (ok)
        return true;
    if (err->kind == ERR_RETRY || err->code == LATER || stop_is_set(&co->stop))
        return false;
    log_failure(LOG_WARN, err,
                "could not replay all dead letters after a change of the mapping; fix: "
                "millrace dead-letter replay",
                KV("index", index));
    return true;
}

/* Clear the request, unless the mapping changed while we replayed. */
static bool end_wish(struct coordinator *co, struct str name, struct str wish, struct err *err)
{
    struct buf now = {0};
    bool found;

    if (!coordinator_begin(co, err))
        return false;

    bool ok = store_get_value(co->opt.store, name, &now, &found, err);

    if (ok && str_equal(buf_str(&now), wish))
        ok = store_put_value(co->opt.store, name, STR(""), err);
    lock_release(&co->admin_lock);
    buf_free(&now);
    return ok;
}

/* Returns false if it must be tried again. */
static bool replay_version(struct coordinator *co, const struct stored_version *v,
                           struct err *err)
{
    struct buf index = {0}, name = {0}, wish = {0};
    bool found;

    coordinator_index_name(&index, v->index, v->number);
    name_replay(&name, buf_str(&index));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &wish, &found, err);

    if (ok && found && wish.len > 0)
        ok = replay_index(co, buf_str(&index), err) &&
             end_wish(co, buf_str(&name), buf_str(&wish), err);
    buf_free(&index);
    buf_free(&name);
    buf_free(&wish);
    return ok;
}

int64_t coordinator_replay_due_in_ms(const struct coordinator *co)
{
    const int64_t next_ms = __atomic_load_n(&co->replays->next_ms, __ATOMIC_RELAXED);
    const int64_t now_ms = clock_mono_ms();

    return next_ms < now_ms ? 0 : next_ms - now_ms;
}

void coordinator_replay_wanted(struct coordinator *co)
{
    bool ok = true;

    if (coordinator_replay_due_in_ms(co) > 0)
        return;
    __atomic_store_n(&co->replays->next_ms, INT64_MAX, __ATOMIC_RELAXED);

    struct catalogue *c = coordinator_catalogue(co);

    for (size_t i = 0; i < c->n_versions && !stop_is_set(&co->stop); i++) {
        struct err err = {0};

        if (!coordinator_owns(co, c->versions[i].topic) ||
            replay_version(co, &c->versions[i], &err))
            continue;
        log_failure(LOG_DEBUG, &err, "dead letters wait to be replayed",
                    KV("index", c->versions[i].index));
        ok = false;
    }
    catalogue_unref(c);
    if (!ok)
        __atomic_store_n(&co->replays->next_ms, clock_mono_ms() + REPLAYS_MS, __ATOMIC_RELAXED);
}
