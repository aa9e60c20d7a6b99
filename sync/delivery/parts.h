/*
 * Shared by the files of struct delivery only; everybody else includes delivery.h.
 *
 * thread  the thread that owns all state: takes messages, takes turns
 * calls   the calls that other threads make
 * make    creates, starts, stops and frees it
 */
#ifndef SYNC_DELIVERY_PARTS_H
#define SYNC_DELIVERY_PARTS_H

#include "src/base/base.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/draining.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct delivery_metric;
struct http_client;
struct worker_backlog;
struct sender;
struct dirty_set;
struct write;

/* Messages from other threads to the delivery thread, in order. */
enum message_kind {
    MESSAGE_WRITES = 0,
    MESSAGE_LOADED,
    MESSAGE_FORGET,
    MESSAGE_DROP,
    MESSAGE_PUT_BACK,
    MESSAGE_PROBE,
    MESSAGE_END_ASTRAY,
    MESSAGE_END_HOLD,
    MESSAGE_PAUSE, /* the reason as routing */
    MESSAGE_UNPAUSE,
    MESSAGE_NOTE_DEAD,
    MESSAGE_DISCARD_DEAD,
    MESSAGE_SETTINGS,
    MESSAGE_FIND, /* index, id */
};

/* A question of delivery_find().  Guarded by the lock; whoever is last to use it frees it. */
struct place_question {
    bool is_answered, is_left;
    struct delivery_place place;
};

struct message {
    struct message *next;
    enum message_kind kind;
    enum outcome how;                /* FORGET */
    struct write *writes;            /* WRITES: linked by next */
    struct load_batch *batch;        /* LOADED */
    uint64_t version;                /* NOTE_DEAD, DISCARD_DEAD */
    struct place_question *question; /* FIND */
    struct delivery_settings settings;
    size_t index_len, routing_len, id_len;
    char names[]; /* FORGET, DROP, PUT_BACK, NOTE_DEAD, DISCARD_DEAD: index, routing, id */
};

/* A drain with a waiting caller. */
enum order { ORDER_NONE = 0, ORDER_ASKED, ORDER_GOING, ORDER_OVER };

struct drain_order {
    enum order state;
    unsigned partition;
    char index[INDEX_NAME_MAX + 1]; /* of DRAIN_INDEX */
    int64_t timeout_ms;
    bool cancel;
    enum drain_end end; /* OVER */
};

struct delivery {
    enum magic magic;
    struct budget *budget;
    struct worker_backlog *backlog;
    struct delivery_metric *metric;
    struct http_client *http; /* owned by the sender */
    pthread_t thread;
    bool is_running; /* used by start and stop only */
    bool is_asleep;  /* atomic: the thread polls, so wake it */

    /* Owned by the delivery thread while it runs. */
    struct sender *sender;
    struct draining draining;

    struct lock lock;
    pthread_cond_t turned;

    /* All guarded by lock. */
    struct message *first;
    struct message **last;
    struct dirty_set *watching;
    struct drain_order order;
    struct delivery_settings settings; /* the latest; may still be on their way to the thread */
    bool stopping;
    struct delivery_status status;
};

/* The delivery thread.  Returns when stopping. */
void *delivery_run(void *delivery);

/* How many bytes may be submitted, of all that may be held. */
size_t delivery_submit_max(size_t bytes_max);
/*
 * How many changes a worker may have before callers wait: if a batch is one document, every
 * write waits for the index.
 */
size_t delivery_waits_above(const struct delivery_settings *s);

#endif
