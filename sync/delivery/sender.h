/*
 * struct sender: everything that the delivery thread owns.
 *
 * That is the table of documents, a queue for each index, dead letters and the HTTP client.
 * read_batcher and request move documents by calling it.
 *
 * @thread delivery's
 */
#ifndef SYNC_DELIVERY_SENDER_H
#define SYNC_DELIVERY_SENDER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/list.h"
#include "src/base/magic.h"
#include "src/base/str.h"
#include "sync/delivery/bulk/bulk_response.h"
#include "sync/delivery/document/budget.h"
#include "sync/delivery/document/document_table.h"
#include "sync/delivery/helpers.h"
#include "sync/delivery/index/guests.h"
#include "sync/delivery/index/headroom.h"
#include "sync/delivery/index/health.h"
#include "sync/delivery/index/index_queues.h"
#include "sync/delivery/index/load_shedding.h"
#include "sync/delivery/index/metric.h"
#include "sync/delivery/index/neighbours.h"
#include "sync/delivery/index/options.h"
#include "sync/delivery/index/worker_backlog.h"
#include "sync/delivery/letters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

/* Written by the delivery thread. */
struct sender_counters {
    uint64_t requests, requests_failed, retries, busy, bad_responses, splits;
};

struct sender {
    enum magic magic;
    struct delivery_options opt;
    struct http_client *http;
    struct budget *budget;
    struct worker_backlog *backlog;
    struct document_table *table;
    struct index_queues index_queues;
    struct index_health health;
    struct helpers helpers;
    struct guests guests;
    struct neighbours neighbours;
    uint64_t went[N_LINES];   /* documents sent since jobs last had none that could go */
    struct headroom headroom; /* the engine's */
    struct letters *letters;
    struct load_shedding *shedding;
    struct delete_repeater *repeater;
    struct map *paused; /* index name -> struct err *: why a person paused it */
    struct write_ends ends;
    struct bulk_response response; /* to the answer being read */
    struct sender_counters count;
    struct delivery_metric *metric; /* borrowed */
    struct link requests;           /* struct bulk_request, in flight */
    struct link lookups;            /* lookups of stored versions, in flight */
    struct link loads;              /* batches given to options.load */
    unsigned n_loads;
    size_t loading;          /* bytes that they should bring, going by the reads before */
    unsigned n_without_room; /* requests in flight whose bodies had no room when sent */
    int64_t now_ms;          /* of this turn */
    int64_t now_wall_ms;     /* of this turn, for latencies */
    bool draining;           /* what is queued goes without waiting for more, */
    const struct index_queue *drains; /* of this index; NULL: of all */
    bool stopping;
};

/* Takes over http.  Borrows budget, backlog and metric. */
struct sender *sender_new(const struct delivery_options *opt, struct http_client *http,
                          struct budget *budget, struct worker_backlog *backlog,
                          struct delivery_metric *metric) RETURNS_NONNULL MUST_CHECK;

/* Read the clocks.  Call when a turn begins or an answer comes. */
void sender_look_at_clock(struct sender *s);
/*
 * Abandons all documents.  Requests and lookups must be given up, and loaders must have
 * returned their batches, before.
 */
void sender_free(struct sender *s);

/* Change the settings. */
void sender_set(struct sender *s, const struct delivery_settings *settings);
/* The backlog's number of workers has changed: move all writes. */
void sender_move(struct sender *s);

/* Take over a submitted write. */
void sender_accept(struct sender *s, struct write *w);
/*
 * See delivery_forget(), delivery_drop(), delivery_put_back(), delivery_probe(),
 * delivery_end_astray(), delivery_end_hold(), delivery_pause() and delivery_unpause().
 */
void sender_forget(struct sender *s, struct str index, enum outcome how);
void sender_drop(struct sender *s, struct str index);
void sender_put_back(struct sender *s, struct str index, struct str routing, struct str id);
void sender_probe(struct sender *s);
void sender_end_astray(struct sender *s, struct str index);
void sender_end_hold(struct sender *s, struct str index);
void sender_pause(struct sender *s, struct str index, struct str why);
void sender_unpause(struct sender *s, struct str index);

#endif
