#include "config.h"

#include "sync/delivery/document/document.h"

#include <assert.h>

static bool is_same_area(const struct write *a, const struct write *b)
{
    return a->area == b->area && a->target == b->target && b->op == DOC_REFRESH;
}

/*
 * Tell whether a makes b, which came later, unnecessary.  A read covers everything older than
 * the version it must include; a write covers everything older than itself; both cover reads up
 * to their own version.  Of two writes at one version the later wins, unless only the later is
 * strict (a fill).  An operation on an area covers only reads of that area.  A fresh read is
 * covered only by a read that has not begun.
 */
static bool stands_for(const struct write *a, bool begun, const struct write *b)
{
    if (a->area > 0 && !is_same_area(a, b))
        return false;
    if (b->op == DOC_REFRESH && b->fresh &&
        (begun || a->op != DOC_REFRESH || a->target != b->target))
        return false;
    if (b->op == DOC_REFRESH)
        return b->version <= a->version;
    if (a->op == DOC_REFRESH || b->version != a->version)
        return b->version < a->version;
    return b->strict && !a->strict;
}

static enum document_state first_state(const struct write *w)
{
    return w->op == DOC_REFRESH ? DOCUMENT_LOAD_WAIT : DOCUMENT_READY;
}

/* The next operation was never sent. */
static void forget_failures(struct document *doc)
{
    doc->attempts = 0;
    doc->n_doubtful = 0;
    doc->n_too_large = 0;
    doc->is_suspect = false;
}

void document_begin(struct document *doc, struct write *w)
{
    doc->now = w;
    doc->later = NULL;
    doc->state = (uint8_t)first_state(w);
    forget_failures(doc);
    doc->n_untold = 0;
    doc->forgotten = false;
}

/* Tell whether `later`, which is newer, may take the place of `now`. */
static bool can_replace(const struct document *doc)
{
    if (doc->state == DOCUMENT_LOAD_WAIT)
        return true;
    /*
     * A pending read does not hold back a finished one, else a document that changes all the
     * time would never be written.
     */
    return doc->state == DOCUMENT_READY && doc->later->op != DOC_REFRESH &&
           doc->later->version >= doc->now->version;
}

/* Call before one of two waiting operations stands for both. */
static void widen_unlike(struct write *a, struct write *b)
{
    if (is_same_area(a, b))
        return;
    if (a->area > 0)
        write_widen(a);
    if (b->area > 0)
        write_widen(b);
}

static bool has_begun(const struct document *doc)
{
    return doc->state != DOCUMENT_LOAD_WAIT;
}

/* Reconcile `later` with `now`, after `now` or its state has changed. */
static void settle(struct document *doc, struct write_ends *ends)
{
    if (doc->later == NULL || doc->forgotten)
        return;
    if (doc->state == DOCUMENT_LOAD_WAIT)
        widen_unlike(doc->now, doc->later);
    if (stands_for(doc->now, has_begun(doc), doc->later)) {
        write_join(doc->now, doc->later, ends);
        doc->later = NULL;
    } else if (can_replace(doc)) {
        write_join(doc->later, doc->now, ends);
        document_begin(doc, doc->later);
    }
}

bool document_arrive(struct document *doc, struct write *w, struct write_ends *ends)
{
    const uint8_t before = doc->state;

    if (!doc->forgotten && stands_for(doc->now, has_begun(doc), w)) {
        write_join(doc->now, w, ends);
        return false;
    }
    if (doc->later != NULL)
        widen_unlike(doc->later, w);
    if (doc->later != NULL && stands_for(doc->later, false, w)) {
        write_join(doc->later, w, ends);
        return false;
    }
    if (doc->later != NULL)
        write_join(w, doc->later, ends);
    doc->later = w;
    settle(doc, ends);
    return doc->state != before;
}

bool document_is_for_job(const struct document *doc)
{
    return doc->now->gathered || (doc->later != NULL && doc->later->gathered);
}

void document_take(struct document *doc)
{
    if (doc->state == DOCUMENT_LOAD_WAIT) {
        doc->state = DOCUMENT_LOADING;
        return;
    }
    assert(doc->state == DOCUMENT_READY || doc->state == DOCUMENT_UNKNOWN);
    doc->state = DOCUMENT_IN_FLIGHT;
}

/* Return to a waiting state.  `later` may take over. */
static void return_to(struct document *doc, enum document_state state, struct write_ends *ends)
{
    doc->state = (uint8_t)state;
    if (doc->attempts < UINT16_MAX)
        doc->attempts++;
    settle(doc, ends);
}

void document_not_loaded(struct document *doc, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_LOADING && !doc->forgotten);
    return_to(doc, DOCUMENT_LOAD_WAIT, ends);
}

void document_left_out(struct document *doc, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_LOADING && !doc->forgotten);
    doc->state = DOCUMENT_LOAD_WAIT;
    settle(doc, ends);
}

void document_loaded(struct document *doc, uint64_t stamp, struct str body,
                     struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_LOADING && !doc->forgotten);
    if (stamp < doc->now->version) {
        document_not_loaded(doc, ends);
        return;
    }
    doc->now = write_of_read(doc->now, stamp, body, ends);
    doc->state = DOCUMENT_READY;
    forget_failures(doc);
    settle(doc, ends);
}

void document_is_elsewhere(struct document *doc, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_LOADING && !doc->forgotten);
    doc->now = write_of_read(doc->now, doc->now->version, (struct str){0}, ends);
    doc->now->strict = true;
    doc->state = DOCUMENT_READY;
    forget_failures(doc);
    settle(doc, ends);
}

void document_not_applied(struct document *doc, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_IN_FLIGHT);
    return_to(doc, doc->now->ambiguous ? DOCUMENT_UNKNOWN : DOCUMENT_READY, ends);
}

void document_drop(struct document *doc, struct write_ends *ends)
{
    assert(doc->now->op == DOC_INDEX);
    doc->now->op = DOC_DELETE;
    doc->now->body_len = 0;
    doc->now->dropped = true;
    document_not_applied(doc, ends);
    if (doc->now->dropped)
        forget_failures(doc);
}

void document_lost_answer(struct document *doc)
{
    assert(doc->state == DOCUMENT_IN_FLIGHT);
    doc->state = DOCUMENT_UNKNOWN;
    doc->now->ambiguous = true;
    if (doc->attempts < UINT16_MAX)
        doc->attempts++;
}

void document_read_again(struct document *doc, uint64_t at_least, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_IN_FLIGHT && doc->now->area == 0);
    assert(at_least > doc->now->version && doc->now->key_len > 0);
    doc->now->op = DOC_REFRESH;
    doc->now->reread = false;
    doc->now->dropped = false;
    doc->now->ambiguous = false; /* the answer is definite: the stored version is newer */
    doc->now->version = at_least;
    return_to(doc, DOCUMENT_LOAD_WAIT, ends);
}

void document_widen(struct document *doc, struct write_ends *ends)
{
    assert(doc->state == DOCUMENT_IN_FLIGHT || doc->state == DOCUMENT_LOADING);
    write_widen(doc->now);
    forget_failures(doc);
    return_to(doc, DOCUMENT_LOAD_WAIT, ends);
}

void document_refuse(struct document *doc)
{
    assert(doc->state == DOCUMENT_IN_FLIGHT || doc->state == DOCUMENT_LOADING);
    doc->state = DOCUMENT_REFUSED;
}

bool document_may_be_purged(const struct document *doc)
{
    const struct write *w = doc->now;

    if (doc->state != DOCUMENT_LOAD_WAIT && doc->state != DOCUMENT_READY &&
        doc->state != DOCUMENT_UNKNOWN)
        return false;
    if (w->strict && w->op != DOC_DELETE)
        return false;
    return !w->unfit && w->key_len > 0 && w->routing_len <= WRITE_ID_MAX;
}

void document_purge(struct document *doc)
{
    assert(document_may_be_purged(doc));
    doc->state = DOCUMENT_REFUSED;
}

/* Turn to the next operation; `now` is gone. */
static bool go_on(struct document *doc)
{
    doc->now = NULL;
    if (doc->later == NULL)
        return false;
    document_begin(doc, doc->later);
    return true;
}

/* The whole document must not hold an older state of an area than the update just written. */
static void read_after(struct write *later, const struct write *now)
{
    if (now->op == DOC_UPDATE && later->op == DOC_REFRESH && later->version < now->version)
        later->version = now->version;
}

bool document_end(struct document *doc, enum outcome how, struct write_ends *ends)
{
    if (doc->later != NULL) {
        if (doc->now->ambiguous)
            write_rise_above(doc->later, doc->now->version);
        read_after(doc->later, doc->now);
    }
    write_end(doc->now, how, ends);
    return go_on(doc);
}

bool document_forget(struct document *doc, enum outcome how, struct write_ends *ends)
{
    if (doc->later != NULL)
        write_end(doc->later, how, ends);
    doc->later = NULL;
    if (doc->state == DOCUMENT_IN_FLIGHT)
        return true;
    if (doc->state == DOCUMENT_LOADING) {
        write_release_waiters(doc->now, how, ends);
        doc->forgotten = true;
        return true;
    }
    return document_end(doc, how, ends);
}
