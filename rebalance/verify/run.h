/*
 * struct verify_run: one verification: what it compares, and what it found so far. Only the
 * files of rebalance/verify include this.
 *
 * looks.c looks at both sides, repair.c has rows read again, report.c writes the answer.
 *
 * @thread its errand's
 */
#ifndef REBALANCE_VERIFY_RUN_H
#define REBALANCE_VERIFY_RUN_H

#include "rebalance/state/parts.h"
#include "rebalance/verify/verdict.h"
#include "rebalance/verify/verify.h"
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
    N_VERIFY_REASONS,
};

struct verify_key {
    struct str id, key;
    struct target *target;   /* borrowed from the run */
    struct verify_look look; /* the last one */
    unsigned n_same;         /* further looks that saw the same as the one before */
    struct verify_finding *found;
    size_t n_found;
    struct verify_finding *told; /* what is reported: what was found before a repair */
    size_t n_told;
    enum verify_state state;
    enum verify_reason reason;
    bool is_repaired;
};

/* A log that the documents show, and a version that it had reached. */
struct verify_end {
    struct pipeline *pipeline;
    struct mysql_conn *conn;
    uint64_t version;
};

struct verify_run {
    struct coordinator *co;
    struct errand *errand;
    struct arena *arena; /* the errand's; owns all texts */
    bool repair, values;

    struct definitions *definitions;
    const struct table_definition *table, *lead; /* as asked, and of its index */
    uint64_t number;                             /* the 2 of orders_v2 */
    struct str index, topic, definition;         /* index: orders_v2 */
    struct pipeline *pipeline;                   /* of the root's topic */
    struct target **targets;                     /* of the tables that share the index */
    size_t n_targets;
    struct read_links links;
    struct verify_end *ends;
    size_t n_ends;
    struct str *shards; /* a routing for each shard */
    size_t n_shards;
    struct verify_rules rules;

    struct verify_key *keys;
    size_t n_keys;
    unsigned n_looks;
    int64_t began_ms; /* wall time */
    uint64_t from;    /* what the root's log was read up to when it began */
};

/*
 * Look at the open keys until each is judged. ERR_RETRY if a side cannot be asked. Blocks.
 */
bool verify_run_settle(struct verify_run *run, struct err *err) MUST_CHECK;
/* Have the rows of what differs read again, and look again. Blocks. */
bool verify_run_repair(struct verify_run *run, struct err *err) MUST_CHECK;
void verify_run_report(const struct verify_run *run, struct buf *json);

#endif
