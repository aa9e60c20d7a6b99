/*
 * struct sender: everything that the delivery thread owns.
 *
 * The table of documents, an outlet for each index, dead letters, the HTTP client.  loads and
 * request move documents through it; here is what they share.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_SENDER_H
#define SYNC_DELIVERY_SENDER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/list.h"
#include "src/base/str.h"
#include "sync/delivery/budget.h"
#include "sync/delivery/bulk_response.h"
#include "sync/delivery/delivery_metric.h"
#include "sync/delivery/delivery_options.h"
#include "sync/delivery/delivery_settings.h"
#include "sync/delivery/document_table.h"
#include "sync/delivery/helpers.h"
#include "sync/delivery/letters.h"
#include "sync/delivery/mark.h"
#include "sync/delivery/outlets.h"
#include "sync/delivery/relief.h"
#include "sync/delivery/standing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

/* Statistics; written by the delivery thread. */
struct sender_counters {
    uint64_t requests, requests_failed, retries, busy, bad_responses, splits;
};

struct sender {
    struct delivery_options opt; /* with its defaults filled in */
    struct http_client *http;
    struct budget *budget;
    struct mark *mark;
    struct document_table *table;
    struct outlets outlets;
    struct standing standing;
    struct helpers helpers;
    struct letters *letters;
    struct relief *relief;
    struct late *late;
    struct write_ends ends;
    struct bulk_response response; /* of the answer being read */
    struct sender_counters count;
    struct delivery_metric *metric; /* borrowed */
    struct link requests;           /* in flight */
    struct link lookups;            /* of a document's stored version, in flight */
    struct link loads;              /* given to options.load */
    unsigned n_loads;
    int64_t now_ms;      /* of this turn */
    int64_t now_wall_ms; /* of this turn, for latencies */
    bool draining;
    bool stopping;
};

/* Takes over http.  budget, mark and metric are borrowed. */
struct sender *sender_new(const struct delivery_options *opt, struct http_client *http,
                          struct budget *budget, struct mark *mark,
                          struct delivery_metric *metric) RETURNS_NONNULL MUST_CHECK;

/* Look at the clocks: a turn begins, or an answer has come. */
void sender_look_at_clock(struct sender *s);
/* Gives up requests and abandons documents.  Batches that loaders have are theirs until then.
 */
void sender_free(struct sender *s);

/* Other settings from now on. */
void sender_set(struct sender *s, const struct delivery_settings *settings);
/* The mark has other workers now: what is here counts for them. */
void sender_move(struct sender *s);

/* Take over a write that was submitted. */
void sender_accept(struct sender *s, struct write *w);
/* delivery_forget(), delivery_drop(), delivery_put_back(), delivery_probe() and
 * delivery_end_astray(). */
void sender_forget(struct sender *s, struct str index, enum outcome how);
void sender_drop(struct sender *s, struct str index);
void sender_put_back(struct sender *s, struct str index, struct str routing, struct str id);
void sender_probe(struct sender *s);
void sender_end_astray(struct sender *s, struct str index);

/* doc's `now` has ended; what waited behind it is next. */
void sender_end(struct sender *s, struct document *doc, enum outcome how);
/* The same, and nothing was written. */
void sender_leave(struct sender *s, struct document *doc);
/* The same, counted by its target: it was written, or something newer is there. */
void sender_deliver(struct sender *s, struct document *doc);
void sender_supersede(struct sender *s, struct document *doc);
/*
 * doc's area cannot be read or written alone: the whole document is.  why: the engine does not
 * run the script, so for a while areas of this index are not tried; NULL: it does.
 */
void sender_widen(struct sender *s, struct document *doc, const struct err *why);
/* doc can never be written: its dead letter is on its way; of an area, the whole is tried. */
void sender_refuse(struct sender *s, struct document *doc, int status, struct str reason);
/* The answer to what was sent of doc was lost: a copy of it may come late. */
void sender_lose(struct sender *s, struct document *doc);
/* doc is to be sent again. */
void sender_count_retry(const struct document *doc);

/* Bring back what is due, store dead letters, settle the budget. */
void sender_turn(struct sender *s);
/* Those who submit learn how much is held now. */
void sender_settle(struct sender *s);
/* There are a helper and, unless nothing is in flight, memory for the body of one more request. */
bool sender_may_send(const struct sender *s);
/* One of them may send to that index. */
bool sender_may_send_to(const struct sender *s, const struct outlet *o);
/* Until sender_turn() has something to do that it has not now. */
int64_t sender_wait_ms(const struct sender *s, int64_t max_ms);

/* All that is left belongs to indexes that are held, or take nothing (or nothing is left). */
bool sender_is_stuck(const struct sender *s);

#endif
