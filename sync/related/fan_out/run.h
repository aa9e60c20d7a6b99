/*
 * struct fan_out_run: jobs of one index version that are worked off together, and their
 * progress.
 *
 * Reads pages of root keys and hands each page to delivery in slices, one at a time.
 *
 * @thread the fan-out's
 */
#ifndef SYNC_RELATED_FAN_OUT_RUN_H
#define SYNC_RELATED_FAN_OUT_RUN_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/ticket.h"
#include "sync/document/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct bell;
struct delivery;
struct read_links;
struct slice;
struct stop;
struct stored_fan_out;
struct target;

/* The state of the documents in flight. */
enum slice_state {
    SLICE_NONE = 0,
    SLICE_OUT,    /* not all acknowledged */
    SLICE_DONE,   /* acknowledged, or held until foreign keys' changes are followed
                     (sync/related/cascade/cascades.h) */
    SLICE_UNDONE, /* dropped: the table stopped, or the program ends */
};

struct fan_out_root {
    struct str id, key, routing;
};

struct fan_out_run {
    uint64_t number; /* number in the store; 0: nothing to do */
    struct arena *arena;
    size_t place;
    unsigned by;
    bool foreign; /* the changes are in another topic's log */
    struct str *keys;
    size_t n_keys;
    uint64_t at_least;  /* position in the topic's own log; 0: foreign */
    uint64_t documents; /* acknowledged */

    /* The page: roots found. */
    struct arena *page;
    struct fan_out_root *roots;
    size_t n_roots, cap_roots;
    size_t n_done; /* roots acknowledged */
    size_t n_out;  /* roots in flight, after these */
    struct resolver_cursor pages;
    struct buf cursor; /* the place after the last acknowledged root */

    struct slice *slice; /* NULL: none is out */
    size_t slice_size;   /* documents of the next one */
    int64_t out_ms;      /* when it was sent, monotonic */
    uint64_t written;  /* fan_out_way.written at the last acknowledgement; UINT64_MAX before the
                          first slice */
    size_t owed;       /* see fan_out_slice_owed() */
    int64_t others_ms; /* when other work was written last, monotonic */
    struct bell *bell; /* rings when a slice has ended */
};

/* Takes a reference to the bell. */
void fan_out_run_init(struct fan_out_run *r, struct bell *bell);
void fan_out_run_fini(struct fan_out_run *r);

/* Begin at the store's cursor.  The n > 0 jobs belong to one run, or begin one; copied. */
void fan_out_run_begin(struct fan_out_run *r, uint64_t number, bool foreign,
                       const struct stored_fan_out *jobs, size_t n);
/* Drop the run, and ignore the slice in flight. */
void fan_out_run_forget(struct fan_out_run *r);

/* Tell whether all documents were found and acknowledged. */
bool fan_out_run_is_over(const struct fan_out_run *r);
bool fan_out_run_needs_page(const struct fan_out_run *r);
/* Read the next page of at most limit roots.  Blocks on the server. */
bool fan_out_run_read_page(struct fan_out_run *r, const struct target *t, struct read_links *l,
                           size_t limit, struct err *err) MUST_CHECK;

/* How fast a slice went. */
struct fan_out_pace {
    size_t n; /* its documents */
    int64_t took_ms;
    uint64_t others;  /* documents written for others since the previous slice */
    int64_t alone_ms; /* time since anything else was written */
};
#define SLICE_MS       40
#define SLICE_ALONE_MS 1000
/*
 * Returns how many documents to send next: as many as are acknowledged in about SLICE_MS, so
 * that a change of the stream that must wait for them waits no longer.  If nothing else was
 * written for SLICE_ALONE_MS, as many as are acknowledged in that time.
 */
size_t fan_out_slice_size(const struct fan_out_pace *p);
/*
 * Returns the least size of the next slice that gives jobs their share of all writes, in
 * percent, even behind a backlog, where a slice takes as long as everything queued before it.
 * owed: the result for the previous slice.
 */
size_t fan_out_slice_owed(const struct fan_out_pace *p, unsigned percent, size_t owed);

/* How to send slices. */
struct fan_out_way {
    struct delivery *delivery;
    const struct stop *stop;
    size_t max;       /* documents per slice */
    uint64_t read;    /* position that the topic's reader has read; a foreign change has none in
                         its log */
    uint64_t written; /* documents of the topic, counted from any moment */
    unsigned share;   /* see fan_out_slice_owed() */
};
/* Hand the next roots to delivery, at most max.  May wait for delivery; ERR_STOP. */
bool fan_out_run_submit(struct fan_out_run *r, struct target *t, const struct fan_out_way *way,
                        struct err *err) MUST_CHECK;
enum slice_state fan_out_run_slice(const struct fan_out_run *r);
/* Call after SLICE_DONE: advances the cursor and returns it as above. */
struct str fan_out_run_acknowledge(struct fan_out_run *r, const struct fan_out_way *way,
                                   int64_t now_ms);
/*
 * The slice's state at its end: undone if a document was deferred.  Dead letters and keys of
 * purged documents are durable, so these count as done.
 */
enum slice_state fan_out_slice_end(enum outcome worst);

#endif
