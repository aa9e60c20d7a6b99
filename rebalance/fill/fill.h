/*
 * What the files of a fill share. No other file includes this; use index_fill.h instead.
 *
 *   fill.c    begins and ends it, reads its tables in chunks
 *   fill_chunk.c   writes a chunk, and moves the cursor once it is acknowledged
 *   range.c   finds the tables between its cursors
 *
 * @thread the fill's own
 */
#ifndef REBALANCE_FILL_FILL_H
#define REBALANCE_FILL_FILL_H

#include "rebalance/fill/bucket.h"
#include "rebalance/fill/index_fill.h"
#include "rebalance/fill/job.h"
#include "rebalance/fill/level.h"
#include "rebalance/fill/part.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/magic.h"
#include "src/base/thread.h"
#include "src/store/store.h"
#include "sync/read/links.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_note; /* rebalance/fill/chunk.c */
struct grace_period;
struct loader_page;
struct stall_watchdog;
struct target;

struct index_fill {
    enum magic magic;
    struct index_fill_options opt;
    char *alias, *index;
    struct stop stop;
    pthread_t thread;
    bool started;
    uint64_t rate;     /* atomic: rows per second of all fills, 0: no limit */
    size_t sharers;    /* atomic: fills that share it */
    uint64_t progress; /* atomic: rows written since it began */
    size_t nodes;      /* of those who share it; the coordinator's */

    /* The thread's own. */
    struct arena *arena; /* holds the job's texts */
    struct stored_job job;
    struct fill_bucket bucket;
    struct fill_part part;   /* what it reads, if is_part; else a range of tables */
    struct level_keys known; /* with part.by_level; the thread's */
    bool is_part;
    struct buf cursor;       /* of what is acknowledged */
    struct read_links links; /* read the rows */
    struct stall_watchdog *watchdog;
    char **tables; /* those between its cursors, in reading order */
    size_t n_tables, at_table;
    struct str until;    /* key at which the last table ends; empty: with its last row */
    struct buf after;    /* key of the table's last row read so far */
    size_t chunk, asked; /* rows per statement: what suits them, what the limit allows */
    struct chunk_note *open_first, **open_last;
    size_t n_open;
    struct job_limit limit;
    struct job_pace pace;
    int64_t save_ms;    /* monotonic; its cursor is not stored before, while it runs */
    bool end;           /* the table's last row was read */
    int64_t failing_ms; /* monotonic, since when no read has succeeded; 0: the last one did */
    bool gave_up;
};

/* The pass through the index's turnstile: cascades wait for reads that began earlier. */
struct pass {
    struct grace_period *grace_period;
    unsigned side;
};

/*
 * Write the documents of the page, and take over the pass. The cursor passes them when all are
 * acknowledged, and fill_collect() is called. ERR_STOP.
 */
bool fill_submit(struct index_fill *f, struct target *t, const struct loader_page *page,
                 const struct pass *pass, struct err *err) MUST_CHECK;
/* Move the cursor past completed chunks, from the oldest on. */
void fill_collect(struct index_fill *f);
void fill_forget_chunks(struct index_fill *f);

/* Find the tables to read, and the cursor's place among them. */
bool fill_find_tables(struct index_fill *f, struct err *err) MUST_CHECK;

#endif
