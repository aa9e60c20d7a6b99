#include "config.h"

#include "rebalance/dead_letter/letters.h"

#include "rebalance/state/parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"

#include <stdlib.h>

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
    lock_acquire(&co->topics->lock);
    for (size_t i = 0; i < n; i++) {
        struct topic *t = topics_find(co->topics, letters[i].topic);

        if (t != NULL)
            t->dead[reason_of((int)letters[i].status)]++;
    }
    lock_release(&co->topics->lock);
}

/* Fill in the GTID of each letter's transaction, if its topic still knows it. */
static void name_transactions(struct coordinator *co, struct stored_dead_letter *letters,
                              size_t n, struct arena *a)
{
    struct buf gtid = {0};

    lock_acquire(&co->topics->lock);
    for (size_t i = 0; i < n; i++) {
        const struct topic *t = topics_find(co->topics, letters[i].topic);

        if (t == NULL || t->pipeline == NULL)
            continue;
        buf_clear(&gtid);
        read_position_gtid_at(pipeline_read_position(t->pipeline), letters[i].version, &gtid);
        letters[i].gtid = arena_copy(a, buf_str(&gtid));
    }
    lock_release(&co->topics->lock);
    buf_free(&gtid);
}

bool coordinator_keep_dead_letters(struct coordinator *co, const struct dead_letter_note *notes,
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
    if (ok) {
        count_dead(co, letters, n);
        store_watch_want(co->store_watch);
    }
    free(letters);
    arena_free(a);
    return ok;
}

bool coordinator_note_letters(struct coordinator *co, struct str topic, struct err *err)
{
    struct dead_letter_filter f = {.topic = topic, .limit = 1000};
    size_t n;

    do {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;
        const bool ok = store_load_dead_letters(co->opt.store, a, &f, &list, &n, err);

        for (size_t i = 0; ok && i < n; i++) {
            delivery_note_dead(co->delivery, list[i].index, list[i].routing, list[i].doc_id,
                               list[i].version);
            f.after_id = list[i].id;
        }
        arena_free(a);
        if (!ok)
            return err_wrap(err, "reading the dead letters");
    } while (n == f.limit);
    return true;
}
