/*
 * struct start_point: where the stream of a topic starts: at its checkpoint, else where the
 * first connect found it.
 *
 * A checkpoint without a file is that of a server that is followed on after another one: its
 * log is read from the GTIDs on, in an epoch of its own, until a place in it is known.
 *
 * @thread the builder's, once loaded; epoch does not change
 */
#ifndef SYNC_START_POINT_H
#define SYNC_START_POINT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/known_server.h"
#include "sync/progress.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct gtid_set;
struct store;
struct stored_checkpoint;

struct start_point {
    bool known; /* else the parts below are empty */
    uint64_t epoch;
    struct mark mark;
    char file[256];
    struct gtid_set *executed;   /* up to there; owned */
    bool by_gtids;               /* file and offset are not known, executed is */
    uint64_t after; /* then: the place in the log of the server before, as a version */
    char identity[IDENTITY_CAP]; /* of the server of the checkpoint, "" none */
};

/* From the store; epoch is that of a topic without a checkpoint.  Blocks. */
bool start_point_load(struct start_point *s, struct store *store, const char *topic,
                      uint64_t epoch, struct err *err) MUST_CHECK;
void start_point_fini(struct start_point *s);

/* It was unknown and is here.  False: it stays as it was.  executed is copied. */
bool start_point_settle(struct start_point *s, struct str file, uint64_t offset,
                        const struct gtid_set *executed);

/*
 * Go on from checkpoint cp with the server `identity`, in this epoch: what is to be stored for
 * it, whose strings are cp's, and that of fingerprint.
 */
struct stored_checkpoint start_point_move(const struct stored_checkpoint *cp,
                                          const char *identity, uint64_t epoch,
                                          struct buf *fingerprint);

/* As a document version. */
uint64_t start_point_version(const struct start_point *s);

#endif
