/*
 * Every answer that there is to a batch of the index queue, given to the index queue and to its
 * model (index_queue_model.h): each document by itself, all of it again, split, searched for
 * what is malformed.
 */
#ifndef TESTS_UNIT_INDEX_QUEUE_ANSWERS_H
#define TESTS_UNIT_INDEX_QUEUE_ANSWERS_H

#include "tests/unit/index_queue_model.h"

/* Its operation has ended. */
static inline void end(struct world *w, struct document *doc, enum outcome how)
{
    const unsigned id = id_of(doc);

    if (how == OUTCOME_DELIVERED)
        w->delivered[id] = doc->now->version;
    w->lost[id] = 0;
    if (document_end(doc, how, &w->ends))
        place(w, doc, false);
    else
        document_table_remove(w->table, doc);
}

static inline void lose(struct world *w, struct document *doc)
{
    w->lost[id_of(doc)] = doc->now->version;
    document_lost_answer(doc);
}

/* Each document has an answer of its own. */
static inline void answer_items(struct world *w, struct batch *b)
{
    struct parked *p = NULL;

    for (size_t i = b->n; i-- > 0;) {
        struct document *doc = b->docs[i];
        const size_t what = below(w, 10);

        if (what < 7) {
            end(w, doc, what < 6 ? OUTCOME_DELIVERED : OUTCOME_DEAD);
            continue;
        }
        if (what < 8)
            document_not_applied(doc, &w->ends);
        else
            lose(w, doc);
        if (chance(w, 50)) {
            place(w, doc, true);
            continue;
        }
        p = p == NULL ? a_parking(w) : p;
        index_queue_park(w->index_queue, p->parking, doc);
        put(&p->docs, doc, false);
    }
    if (b->bisect != NULL)
        b->bisect->is_accepted = true;
}

static inline void split(struct world *w, struct batch *b, size_t from, size_t to)
{
    struct bisect *bisect = b->bisect == NULL ? NULL : bisect_open(b->bisect);

    index_queue_split(w->index_queue, b, from, to, bisect);
    add_part(w, b->docs + from, to - from, bisect);
}

static inline void split_in_two(struct world *w, struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        document_not_applied(b->docs[i], &w->ends);
    split(w, b, 0, b->n / 2);
    split(w, b, b->n / 2, b->n);
}

/* All of it again, as a whole. */
static inline void give_back(struct world *w, struct batch *b, bool is_lost)
{
    for (size_t i = b->n; i-- > 0;) {
        if (is_lost)
            lose(w, b->docs[i]);
        else
            document_not_applied(b->docs[i], &w->ends);
        if (b->bisect == NULL)
            place(w, b->docs[i], true);
    }
    if (b->bisect != NULL)
        split(w, b, 0, b->n);
}

static inline void give_up(struct world *w, struct batch *b)
{
    game_say("no document is to blame");
    for (size_t i = 0; i < b->n; i++) {
        document_not_applied(b->docs[i], &w->ends);
        place(w, b->docs[i], false);
    }
    index_queue_unsplit(w->index_queue, b->bisect, w->now_ms);
    b->bisect->is_given_up = true;
    for (size_t i = 0; i < w->n_parts;) {
        const struct queue docs = w->parts[i].docs;

        if (w->parts[i].bisect != b->bisect) {
            i++;
            continue;
        }
        remove_part(w, i);
        for (size_t k = 0; k < docs.n; k++)
            enter(w, docs.docs[k], false);
    }
}

static inline void refuse_all(struct world *w, struct batch *b)
{
    if (b->bisect == NULL)
        b->bisect = bisect_new(b->n);
    if (bisect_is_hopeless(b->bisect) || chance(w, 10)) {
        give_up(w, b);
    } else if (b->n > 1) {
        split_in_two(w, b);
    } else if (b->n == 1) {
        bisect_refuse(b->bisect, b->docs[0]);
        w->n_kept++;
    }
}

static inline void end_bisect(struct world *w, struct bisect *b, bool guarded)
{
    for (size_t i = 0; i < b->n_refused; i++) {
        w->n_kept--;
        if (!guarded) {
            end(w, b->refused[i], OUTCOME_DEAD);
            continue;
        }
        document_not_applied(b->refused[i], &w->ends);
        place(w, b->refused[i], false);
    }
    bisect_free(b);
}

static inline void end_batch(struct world *w, size_t at)
{
    struct batch b = w->batches[at];
    struct bisect *bisect = b.bisect;

    for (size_t i = 0; i < WORKERS_MAX; i++)
        if (w->in_flight[i] == b.serial)
            w->in_flight[i] = 0;
    w->n_batches--;
    memmove(&w->batches[at], &w->batches[at + 1], (w->n_batches - at) * sizeof(b));
    if (b.n_jobs > 0)
        guests_end(&w->guests);
    index_queue_end_batch(w->index_queue, &b);
    if (bisect != NULL && bisect_close(bisect))
        end_bisect(w, bisect,
                   bisect->is_given_up || index_queue_is_gone(w->index_queue) || chance(w, 30));
}

static inline void answer(struct world *w, bool calm)
{
    struct gate *gate = index_queue_gate(w->index_queue);
    const size_t what = calm ? 0 : below(w, 100);

    if (w->n_batches == 0)
        return;

    const size_t at = below(w, w->n_batches);
    struct batch *b = &w->batches[at];

    game_say("answer %zu to a batch of %zu", what, b->n);
    if (calm) {
        for (size_t i = 0; i < b->n; i++)
            end(w, b->docs[i], OUTCOME_DELIVERED);
    } else if (what < 60) {
        answer_items(w, b);
    } else if (what < 75) {
        give_back(w, b, what < 70);
        limiter_failed(&gate->limiter);
        gate_failed(gate, w->now_ms, w->now_ms, -1);
        if (what >= 70) /* it is busy */
            (void)fuse_good(&gate->fuse, w->now_ms);
        else if (gate->hold == HOLD_NONE &&
                 !(chance(w, 50) && fuse_excuses(&gate->fuse, 1 + below(w, 3), w->now_ms)))
            (void)fuse_count_failure(&gate->fuse, FAILURE_ANSWER, w->now_ms, w->now_ms);
    } else if (what < 85 && b->n > 1) {
        split_in_two(w, b);
    } else {
        refuse_all(w, b);
    }
    if (what < 60 || what >= 75) {
        limiter_good(&gate->limiter, gate->limiter.bytes, 0);
        gate_good(gate, w->now_ms);
        (void)fuse_good(&gate->fuse, w->now_ms);
    }
    end_batch(w, at);
}

#endif
