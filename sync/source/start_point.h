/*
 * struct start_point: where the stream of a topic starts: at its checkpoint, or else where the
 * first connect found the log.
 *
 * A checkpoint without a file stands for a server that replaced another one: its log is read
 * from the GTIDs on, in an epoch of its own, until a place in it is known.
 *
 * @thread the builder's, once loaded; epoch does not change
 */
#ifndef SYNC_SOURCE_START_POINT_H
#define SYNC_SOURCE_START_POINT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/progress.h"
#include "sync/server/known_server.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct gtid_set;
struct store;
struct stored_checkpoint;

struct start_point {
    bool known; /* if false, the members below are empty */
    uint64_t epoch;
    struct commit_position position;
    char file[256];
    struct gtid_set *executed; /* executed up to there; owned */
    bool by_gtids;             /* only executed is known, not file and offset */
    uint64_t after; /* if by_gtids: the place in the old server's log, as a version */
    char identity[IDENTITY_CAP]; /* of the checkpoint's server; "" if none */
    uint64_t final_version;      /* deletes up to there need no repeating */
};

/* Load from the store. epoch applies to a topic without a checkpoint.  Blocks. */
bool start_point_load(struct start_point *s, struct store *store, const char *topic,
                      uint64_t epoch, struct err *err) MUST_CHECK;
void start_point_fini(struct start_point *s);

/*
 * Set a start that was unknown.  Returns false if it was known, and changes nothing.  Copies
 * executed.
 */
bool start_point_settle(struct start_point *s, struct str file, uint64_t offset,
                        const struct gtid_set *executed);

/*
 * Build the checkpoint to store for continuing from cp on server `identity` in this epoch.  Its
 * strings belong to cp and fingerprint.
 */
struct stored_checkpoint start_point_move(const struct stored_checkpoint *cp,
                                          const char *identity, uint64_t epoch,
                                          struct buf *fingerprint);

/* The start as a document version. */
uint64_t start_point_version(const struct start_point *s);

#endif
