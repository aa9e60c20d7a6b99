#include "config.h"

#include "sync/delivery/outcome.h"

#include "src/base/log.h"
#include "sync/delivery/document/delete_repeater.h"
#include "sync/delivery/entries.h"

#define AREAS_OFF_MS 600000

static void end(struct sender *s, struct document *doc, enum outcome how)
{
    if (document_end(doc, how, &s->ends))
        index_queue_place(doc->index_queue, doc, s->now_ms);
    else
        document_table_remove(s->table, doc);
}

void outcome_end(struct sender *s, struct document *doc, enum outcome how)
{
    if ((how == OUTCOME_DELIVERED || how == OUTCOME_SUPERSEDED) && doc->now->area == 0)
        letters_written(s->letters, doc->now, s->now_ms);
    end(s, doc, how);
}

void outcome_leave(struct sender *s, struct document *doc)
{
    end(s, doc, OUTCOME_DELIVERED);
}

static void count_one(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static const enum metric_op ops[] = {[DOC_INDEX] = METRIC_INDEX,
                                     [DOC_REFRESH] = METRIC_INDEX,
                                     [DOC_DELETE] = METRIC_DELETE,
                                     [DOC_UPDATE] = METRIC_UPDATE};

static void count_result(const struct document *doc, enum document_result result)
{
    index_metric_count(index_queue_metric(doc->index_queue), ops[doc->now->op], result);
}

/* How long after its answer was lost a copy of a write may still come. */
static int64_t late_copy_ms(const struct sender *s)
{
    return DELIVERY_COPY_TIMEOUTS * (int64_t)s->opt.settings.request_timeout_ms;
}

void outcome_lose(struct sender *s, struct document *doc)
{
    delete_repeater_note(s->repeater, doc->now, s->now_ms, s->now_ms + late_copy_ms(s));
    document_lost_answer(doc);
}

/*
 * Purge a delete that is done but must be repeated, if there are many, or if it came from a
 * read, so that the store does not know it.  Its key goes to the store; as for any unanswered
 * write, its row is read again when no copy can come any more.
 */
static bool is_purged_to_repeat(struct sender *s, struct document *doc)
{
    const bool is_due = doc->now->reread || delete_repeater_is_full(s->repeater);

    if (!is_due || !load_shedding_can_purge(s->shedding) || doc->now->key_len == 0)
        return false;
    document_lost_answer(doc);
    load_shedding_purge(s->shedding, doc);
    return true;
}

void outcome_deliver(struct sender *s, struct document *doc)
{
    struct target_counters *count = &doc->now->target->count;

    count_one(doc->now->op == DOC_DELETE ? &count->deleted : &count->indexed);
    delivery_metric_count(s->metric, COUNT_INDEXED, 1);
    if (!doc->now->dropped) /* otherwise outcome_drop() has counted it */
        index_metric_done(index_queue_metric(doc->index_queue), ops[doc->now->op], RESULT_OK,
                          s->now_ms);
    entries_note_engine(s, doc);
    if (doc->now->op == DOC_DELETE &&
        delete_repeater_may_come(s->repeater, doc->now, s->now_ms)) {
        if (is_purged_to_repeat(s, doc))
            return;
        delete_repeater_repeat(s->repeater, doc->now, s->now_ms + late_copy_ms(s), &s->ends);
    }
    outcome_end(s, doc, OUTCOME_DELIVERED);
}

void outcome_drop(struct sender *s, struct document *doc)
{
    index_metric_done(index_queue_metric(doc->index_queue), METRIC_INDEX, RESULT_DROPPED,
                      s->now_ms);
    document_drop(doc, &s->ends);
    index_queue_place_first(doc->index_queue, doc, s->now_ms);
}

void outcome_supersede(struct sender *s, struct document *doc)
{
    count_one(&doc->now->target->count.superseded);
    count_result(doc, RESULT_STALE);
    entries_note_unknown(s, doc);
    outcome_end(s, doc, OUTCOME_SUPERSEDED);
}

void outcome_count_retry(const struct document *doc)
{
    count_one(&doc->now->target->count.retried);
    count_result(doc, RESULT_RETRIED);
}

void outcome_widen(struct sender *s, struct document *doc, const struct err *why)
{
    struct index_queue *o = doc->index_queue;

    index_metric_count(index_queue_metric(o), METRIC_UPDATE, RESULT_WHOLE);
    if (why != NULL && index_queue_takes_areas(o, s->now_ms)) {
        index_queue_refuse_areas(o, s->now_ms + AREAS_OFF_MS);
        log_failure(LOG_WARN, why,
                    "the search engine does not run the script that updates areas: writing "
                    "whole documents for a while",
                    KV("index", index_queue_index(o)));
    }
    document_widen(doc, &s->ends);
    index_queue_place(o, doc, s->now_ms);
}

void outcome_refuse(struct sender *s, struct document *doc, int status, struct str reason)
{
    if (doc->now->area > 0) {
        outcome_widen(s, doc, NULL);
        return;
    }
    if (index_queue_is_gone(doc->index_queue)) { /* whoever replaced the index has the row */
        outcome_end(s, doc, OUTCOME_DEFERRED);
        return;
    }
    document_refuse(doc);
    letters_refuse(s->letters, doc, status, reason);
    if (letters_are_full(s->letters) != NULL && !letters_know(s->letters, doc->now))
        index_health_hold(&s->health, doc->index_queue, CURE_LETTERS,
                          letters_are_full(s->letters));
}

void outcome_bury(struct sender *s, struct document *doc)
{
    count_one(&doc->now->target->count.dead);
    delivery_metric_count(s->metric, COUNT_FAILED_DOCUMENTS, 1);
    count_result(doc, RESULT_DEAD);
    entries_note_unknown(s, doc);
    outcome_end(s, doc, OUTCOME_DEAD);
}

void outcome_purge(struct sender *s, struct document *doc)
{
    index_queue_purged(doc->index_queue)->n++;
    delivery_metric_count(s->metric, COUNT_PURGED, 1);
    outcome_end(s, doc, OUTCOME_PURGED);
}
