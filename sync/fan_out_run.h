/*
 * struct fan_out_run: one index version's jobs that are worked off together, and how far that
 * is.
 *
 * Pages of root keys, each handed to delivery in slices, one at a time.
 *
 * @thread the fan-out's
 */
#ifndef SYNC_FAN_OUT_RUN_H
#define SYNC_FAN_OUT_RUN_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/ticket.h"
#include "sync/document/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct delivery;
struct read_links;
struct slice;
struct stop;
struct stored_fan_out;
struct target;

/* How the documents in flight are. */
enum slice_state {
    SLICE_NONE = 0,
    SLICE_OUT,    /* not all are acknowledged */
    SLICE_DONE,   /* they are, or wait for what foreign keys change (sync/cascades.h) */
    SLICE_UNDONE, /* thrown away, as the table stopped or the program ends */
};

struct fan_out_root {
    struct str id, key, routing;
};

struct fan_out_run {
    uint64_t number; /* the store's; 0: nothing is to be done */
    struct arena *arena;
    size_t place;
    bool by_row;
    bool foreign; /* changes of another topic's log */
    struct str *keys;
    size_t n_keys;
    uint64_t at_least; /* of the topic's own log; 0: foreign */
    uint64_t documents; /* acknowledged */

    /* The page: roots that were found. */
    struct arena *page;
    struct fan_out_root *roots;
    size_t n_roots, cap_roots;
    size_t n_done;     /* acknowledged of them */
    size_t n_out;      /* behind these: in flight */
    struct resolver_cursor pages;
    struct buf cursor; /* behind what is acknowledged */

    struct slice *slice;     /* NULL: none is out */
    size_t slice_size;       /* of the next */
    int64_t out_ms;          /* when it went, monotonic */
    void (*wake)(void *ctx); /* a slice ended; on any thread */
    void *ctx;
};

void fan_out_run_init(struct fan_out_run *r, void (*wake)(void *ctx), void *ctx);
void fan_out_run_fini(struct fan_out_run *r);

/* n > 0 jobs of one run, or that begin one; copied.  At the store's cursor. */
void fan_out_run_begin(struct fan_out_run *r, uint64_t number, bool foreign,
                       const struct stored_fan_out *jobs, size_t n);
/* Whatever is out counts for nothing any more. */
void fan_out_run_forget(struct fan_out_run *r);

/* All that was found is acknowledged, and there is no more. */
bool fan_out_run_is_over(const struct fan_out_run *r);
bool fan_out_run_needs_page(const struct fan_out_run *r);
/* Blocks on the server. */
bool fan_out_run_read_page(struct fan_out_run *r, const struct target *t, struct read_links *l,
                           size_t limit, struct err *err) MUST_CHECK;

#define SLICE_MS 40
/* Where slices go. */
struct fan_out_way {
    struct delivery *delivery;
    const struct stop *stop;
    size_t max;    /* documents of a slice */
    uint64_t read; /* what the topic's reader has read: a foreign change has no position there */
};
/*
 * Hand over the next roots, at most max: as many as are acknowledged in about SLICE_MS, so that
 * a change of the stream that must wait for them waits no longer.  May wait for delivery;
 * ERR_STOP.
 */
bool fan_out_run_submit(struct fan_out_run *r, struct target *t, const struct fan_out_way *way,
                        struct err *err) MUST_CHECK;
enum slice_state fan_out_run_slice(const struct fan_out_run *r);
/* SLICE_DONE was seen: the cursor (borrowed) moves. */
struct str fan_out_run_acknowledge(struct fan_out_run *r, int64_t now_ms);
/* Dead letters and the keys of what was purged are durable; what was thrown away is to be done. */
enum slice_state fan_out_slice_end(enum outcome worst);
/* How many documents go next, when so many took so long. */
size_t fan_out_slice_size(size_t n, int64_t took_ms);

#endif
