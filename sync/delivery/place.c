#include "config.h"

#include "sync/delivery/place.h"

#include "sync/delivery/request.h"
#include "sync/delivery/sender.h"

static const enum delivery_stage stages[N_DOCUMENT_STATES] = {
    [DOCUMENT_LOAD_WAIT] = STAGE_QUEUED, [DOCUMENT_LOADING] = STAGE_READING,
    [DOCUMENT_READY] = STAGE_QUEUED,     [DOCUMENT_IN_FLIGHT] = STAGE_SENT,
    [DOCUMENT_UNKNOWN] = STAGE_QUEUED,   [DOCUMENT_REFUSED] = STAGE_UNSTORED,
};

/* The least wall time of those who wait; 0: not known. */
static int64_t oldest(const struct write *w, int64_t ms)
{
    for (const struct waiter *x = w == NULL ? NULL : &w->waiter; x != NULL; x = x->next)
        if (x->commit_ms != 0 && (ms == 0 || x->commit_ms < ms))
            ms = x->commit_ms;
    return ms;
}

void place_find(struct sender *s, struct str index, struct str id, struct delivery_place *out)
{
    const struct index_queue *o = index_queues_find(&s->index_queues, index);
    struct document_cursor at = {0};
    const struct document *doc;

    if (o == NULL)
        return;
    while ((doc = document_table_next(s->table, &at)) != NULL) {
        const enum delivery_stage stage = stages[doc->state];

        if (doc->index_queue != o || stage < out->stage || !str_equal(write_id(doc->now), id))
            continue;
        *out = (struct delivery_place){
            .stage = stage,
            .version = doc->now->version,
            .attempts = doc->attempts,
            .is_followed = doc->later != NULL,
            .commit_ms = oldest(doc->later, oldest(doc->now, 0)),
            .sent_ms = stage == STAGE_SENT ? s->now_ms - request_sent_ms(s, doc) : 0,
        };
    }
}
