/*
 * struct verify_run: some keys of one index version, both of their sides, and what is found.
 * Only the files of rebalance/verify include this, and those of rebalance/trace.
 *
 * sides.c finds the version and its sources, keys.c the rows of ids, looks.c looks at both
 * sides, repair.c has rows read again; result.c counts what many runs found.
 *
 * @thread its errand's, or its job's
 */
#ifndef REBALANCE_VERIFY_RUN_H
#define REBALANCE_VERIFY_RUN_H

#include "rebalance/state/parts.h"
#include "rebalance/verify/look/verdict.h"
#include "rebalance/watch/errand.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/read/links.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct coordinator;
struct definitions;
struct errand;
struct pipeline;
struct table_definition;
struct target;

enum verify_state {
    VERIFY_OPEN = 0, /* not judged yet */
    VERIFY_EQUAL,
    VERIFY_DIFFERS,
    VERIFY_APART, /* not judged, for a reason */
};

/* Why a document that differs is not called different. */
enum verify_reason {
    VERIFY_CHANGING = 0,  /* one of the sides changed from look to look */
    VERIFY_NOT_DELIVERED, /* changes before the first look are not delivered yet */
    VERIFY_HELD,          /* its index takes nothing, or is paused */
    VERIFY_BY_TIME,       /* its table is read by time */
    VERIFY_FAN_OUT,       /* changes that lead to very many documents are worked off */
    VERIFY_CASCADE,       /* rows that foreign keys changed are looked for */
    VERIFY_PURGED,        /* its change was purged, and its row will be read again */
    VERIFY_DEAD_LETTER,   /* it is a dead letter */
    VERIFY_NOT_FOLLOWED,  /* it differs only where `refresh: none` says so */
    VERIFY_DROPPED,       /* the table's pipeline may have dropped it */
    VERIFY_DELAYED,       /* it differs only where changes of delayed tables wait for a run */
    N_VERIFY_REASONS,
};

struct verify_key {
    struct str id;
    struct str key; /* empty: no row of any table has this id */
    struct str hit; /* the routing that it was found with; only of the pass over documents */
    struct target *target;   /* borrowed from the run */
    struct verify_look look; /* the last one */
    unsigned n_same;         /* further looks that saw the same as the one before */
    struct verify_finding *found;
    size_t n_found;
    struct verify_finding *told; /* what is reported: what was found before a repair */
    size_t n_told;
    enum verify_state state;
    enum verify_reason reason;
    bool was_different; /* before a repair */
    bool is_refused;    /* the engine takes no repair of it */
    bool is_repaired;
};

/* A log that the documents show, and a version that it had reached. */
struct verify_end {
    struct pipeline *pipeline; /* a reference */
    struct mysql_conn *conn;
    uint64_t version;
};

/* How long a run waits before a look, in ms. */
struct verify_patience {
    int64_t ends; /* until what the look before can have seen is delivered */
    int64_t jobs; /* until jobs of very many documents and cascades are over */
};
#define VERIFY_PATIENT ((struct verify_patience){10000, 10000})
#define VERIFY_LATER   ((struct verify_patience){.ends = 2000}) /* once the first ones have */

struct verify_run {
    struct coordinator *co;
    struct stop *stop;     /* ends waits */
    struct errand *errand; /* NULL: a job's */
    bool of_build;         /* its version is complete, but not published yet */
    struct arena *arena;   /* borrowed; owns all texts */

    struct definitions *definitions;
    const struct table_definition *table, *lead; /* as asked, and of its index */
    uint64_t number;                             /* the 2 of orders_v2 */
    struct str index, topic, definition;         /* index: orders_v2 */
    struct pipeline *pipeline;                   /* of the root's topic; a reference */
    struct target **targets;                     /* of the tables that share the index */
    size_t n_targets;
    struct read_links links;
    struct pipeline *links_of; /* whose they are, a reference; NULL: none yet */
    struct verify_end *ends;
    size_t n_ends;
    struct str *shards; /* a routing for each shard */
    size_t n_shards;
    struct verify_rules rules;

    struct verify_patience patience; /* until a group has waited */
    bool has_waited;                 /* the group has */
    bool counts_only;                /* of what differs; a repair leaves that for later */
    struct verify_key *keys;         /* of the group */
    size_t n_keys;
    size_t group; /* so many are expected to fit in memory together; 0: not known yet */
    unsigned n_looks;
};

/*
 * Find the version of the table's index (number 0: what searches use), its tables and their
 * servers. Asks nobody. The caller sets co, stop, errand and arena before, and names the keys
 * after. ERR_REJECT if there is no such version, ERR_RETRY if it is not followed now.
 */
bool verify_run_begin(struct verify_run *run, struct str table, uint64_t number,
                      struct err *err) MUST_CHECK;
/* Also after a failed begin. */
void verify_run_end(struct verify_run *run);
/* Whether documents of the index pass an ingest pipeline, as far as definitions say. */
bool verify_run_is_piped(const struct verify_run *run);
/* Ask the engine for a routing of each shard. Blocks. */
bool verify_run_find_shards(struct verify_run *run, struct err *err) MUST_CHECK;

/* Find the row that a person's id or key means. ERR_REJECT if it means none. */
bool verify_run_name_key(struct verify_run *run, struct str given, struct verify_key *k,
                         struct err *err) MUST_CHECK;
/* Find the row of a document, if any makes such an id. */
void verify_run_name_document(struct verify_run *run, struct str id, struct verify_key *k);

/* A sign of life to whoever waits for the errand. */
static inline void verify_run_live(const struct verify_run *run)
{
    if (run->errand != NULL)
        errand_live(run->errand);
}

/*
 * Call settle with all of the keys, one group of them after the other: as many as are expected
 * to fit, by the bytes that the last ones took. Each group has memory of its own: what settle
 * leaves in run->arena, as the looks do, is gone after it. Returns false as soon as it does.
 */
typedef bool verify_settle_fn(struct verify_run *run, void *ctx, struct err *err);
bool verify_run_each_group(struct verify_run *run, struct verify_key *keys, size_t n,
                           verify_settle_fn *settle, void *ctx, struct err *err) MUST_CHECK;
/*
 * Look at the open keys until each is judged. ERR_RETRY if a side cannot be asked. Blocks.
 */
bool verify_run_settle(struct verify_run *run, struct err *err) MUST_CHECK;
/* Have the rows of what differs read again, and look again. Blocks. */
bool verify_run_repair(struct verify_run *run, struct err *err) MUST_CHECK;
/*
 * Have the rows of what is equal read again as well, and written; *n: how many more were.
 * ERR_RETRY unless all of them are. Blocks.
 */
bool verify_run_rewrite(struct verify_run *run, uint64_t *n, struct err *err) MUST_CHECK;
/* Whether a repair would write anything. */
bool verify_run_has_repairs(const struct verify_run *run);
/* Whether that would read the row of the key again, now or later. */
bool verify_may_be_repaired(const struct verify_key *k);
#endif
