#include "config.h"

#include "rebalance/node.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/read_position.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void on_load(void *ctx, struct load_batch *batch)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, str_from(batch->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_load(p, batch);
    pthread_mutex_unlock(&co->lock);
    if (p != NULL)
        return;
    for (size_t i = 0; i < batch->n_items; i++) {
        batch->items[i].failed = true;
        err_set(&batch->items[i].err, ERR_RETRY, "topic %s does not run", batch->target->topic);
    }
    delivery_loaded(co->delivery, batch);
}

static void on_gone(void *ctx, const struct gone_row *row)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, str_from(row->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_gone(p, row);
    pthread_mutex_unlock(&co->lock);
    for (size_t i = 0; p == NULL && i < row->n_tickets; i++)
        ticket_release_abandoned(row->tickets[i]);
}

static const char *op_name(enum doc_op op)
{
    static const char *const names[] = {[DOC_INDEX] = "index",
                                        [DOC_DELETE] = "delete",
                                        [DOC_REFRESH] = "refresh",
                                        [DOC_UPDATE] = "update"};

    return names[op];
}

static struct stored_dead_letter letter_of(const struct dead_letter_note *note, int64_t now_ms)
{
    return (struct stored_dead_letter){
        .topic = str_from(note->target->topic),
        .table = str_from(note->target->table),
        .index = str_from(note->target->index),
        .doc_id = note->id,
        .routing = note->routing,
        .key = note->key,
        .op = str_from(op_name(note->op)),
        .reason = note->reason,
        .body = note->body,
        .version = note->version,
        .status = note->status,
        .attempts = note->attempts,
        .first_ms = now_ms,
        .last_ms = now_ms,
    };
}

static enum dead_reason reason_of(int status)
{
    if (status == 0)
        return DEAD_ROW;
    return status == 413 ? DEAD_TOO_LARGE : DEAD_REFUSED;
}

static void count_dead(struct coordinator *co, const struct stored_dead_letter *letters,
                       size_t n)
{
    pthread_mutex_lock(&co->lock);
    for (size_t i = 0; i < n; i++) {
        struct topic *t = node_topic(co, letters[i].topic);

        if (t != NULL)
            t->dead[reason_of((int)letters[i].status)]++;
    }
    pthread_mutex_unlock(&co->lock);
}

static bool has_room(struct coordinator *co, struct err *err)
{
    uint64_t n;

    if (!store_n_dead_letters(co->opt.store, STR(""), &n, err))
        return false;
    return n < co->opt.dead_letters_max ||
           err_set(err, ERR_REJECT,
                   "%" PRIu64 " dead letters are kept, and no more are (dead_letters.max); fix: "
                   "look at millrace dead-letter list, then replay or discard them",
                   n);
}

/* The transactions that they are of, as far as their topics know. */
static void name_transactions(struct coordinator *co, struct stored_dead_letter *letters,
                              size_t n, struct arena *a)
{
    struct buf gtid = {0};

    pthread_mutex_lock(&co->lock);
    for (size_t i = 0; i < n; i++) {
        const struct topic *t = node_topic(co, letters[i].topic);

        if (t == NULL || t->pipeline == NULL)
            continue;
        buf_clear(&gtid);
        read_position_gtid_at(pipeline_read_position(t->pipeline), letters[i].version, &gtid);
        letters[i].gtid = arena_copy(a, buf_str(&gtid));
    }
    pthread_mutex_unlock(&co->lock);
    buf_free(&gtid);
}

bool node_keep_dead_letters(struct coordinator *co, const struct dead_letter_note *notes,
                            size_t n, struct err *err)
{
    const int64_t now = clock_wall_ms();
    struct stored_dead_letter *letters = mem_alloc(n, sizeof(*letters));
    struct arena *a = arena_new();

    for (size_t i = 0; i < n; i++)
        letters[i] = letter_of(&notes[i], now);
    name_transactions(co, letters, n, a);

    FAILPOINT(letters_due);

    const bool ok = store_put_dead_letters(co->opt.store, letters, n, err);

    FAILPOINT(letters_stored);
    if (ok)
        count_dead(co, letters, n);
    free(letters);
    arena_free(a);
    return ok;
}

/* All of them take the place of others. */
static bool are_again(const struct dead_letter_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!notes[i].again)
            return false;
    return true;
}

static bool put_dead_letters(void *ctx, const struct dead_letter_note *notes, size_t n,
                             struct err *err)
{
    return (are_again(notes, n) || has_room(ctx, err)) && node_keep_dead_letters(ctx, notes, n, err);
}

static bool on_cleared(void *ctx, const struct target *target, struct str routing,
                       struct str id, uint64_t version, struct err *err)
{
    struct coordinator *co = ctx;

    FAILPOINT(letter_outlived);
    return store_delete_dead_letter_of(co->opt.store, str_from(target->index), routing, id,
                                       version, err);
}

static uint64_t on_stamp_max(void *ctx, const struct target *target)
{
    struct coordinator *co = ctx;
    uint64_t max =
        UINT64_MAX; /* between two pipelines: nothing is stored, and all comes again */

    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        max = pipeline_stamp_max(t->pipeline);
    pthread_mutex_unlock(&co->lock);
    return max;
}

static uint64_t on_area_floor(void *ctx, const struct target *target)
{
    struct coordinator *co = ctx;
    uint64_t floor = UINT64_MAX;

    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        floor = pipeline_area_floor(t->pipeline);
    pthread_mutex_unlock(&co->lock);
    return floor;
}

void node_drop_held(struct coordinator *co, const char *index)
{
    for (struct held_index **at = &co->held; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->index, index) == 0) {
            struct held_index *gone = *at;

            *at = gone->next;
            free(gone->index);
            free(gone);
            return;
        }
}

static void on_held(void *ctx, const struct target *target, bool held, int64_t since_ms,
                    const struct err *why)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);
    node_drop_held(co, target->index);
    if (held) {
        struct held_index *h = mem_alloc(1, sizeof(*h));

        *h = (struct held_index){.index = mem_copy(target->index),
                                 .why = *why,
                                 .since_ms = since_ms,
                                 .next = co->held};
        co->held = h;
    }
    pthread_mutex_unlock(&co->lock);
}

static void log_event(enum delivery_event what, const char *index, uint64_t n,
                      const struct err *why)
{
    switch (what) {
    case DELIVERY_BLOWN:
        log_failure(LOG_ERROR, why, "fuse blown: nothing is sent to the index for a while",
                    KV("index", index));
        return;
    case DELIVERY_HEALED: log_info("fuse healed", KV("index", index)); return;
    case DELIVERY_PURGED:
        log_warn("changes purged, their rows are read again later", KV("index", index),
                 KV("changes", n));
        return;
    case DELIVERY_DRAINED:
        if (why == NULL)
            log_info("drained", KV("ms", n));
        else
            log_failure(LOG_WARN, why, "not drained", KV("ms", n));
        return;
    case DELIVERY_HELD:
        log_failure(LOG_ERROR, why, "index held", KV("index", index));
        return;
    case DELIVERY_RELEASED: log_info("index goes on", KV("index", index)); return;
    case N_DELIVERY_EVENTS: return;
    }
}

static void on_event(void *ctx, enum delivery_event what, const struct target *target,
                     uint64_t n, const struct err *why)
{
    static const char *const names[N_DELIVERY_EVENTS] = {
        [DELIVERY_BLOWN] = "blown",     [DELIVERY_HEALED] = "healed",
        [DELIVERY_PURGED] = "purged",   [DELIVERY_DRAINED] = "drained",
        [DELIVERY_HELD] = "held",       [DELIVERY_RELEASED] = "released",
    };
    const char *index = target == NULL ? "" : target->index;
    const char *table = target == NULL ? "" : target->table;

    log_event(what, index, n, why);
    node_log(ctx, str_from(table), str_from(index), 0, names[what],
             why == NULL ? "" : why->msg);
}

struct delivery_options node_delivery_options(struct coordinator *co)
{
    struct delivery_options o = co->opt.delivery;

    o.ctx = co;
    o.load = on_load;
    o.gone = on_gone;
    o.dead = put_dead_letters;
    o.cleared = on_cleared;
    o.stamp_max = on_stamp_max;
    o.area_floor = on_area_floor;
    o.held = on_held;
    o.event = on_event;
    o.purged = node_put_purged;
    return o;
}
