/*
 * struct log_place: where in the log the builder is, and whether it is still the same log.
 *
 * Follows the steps of a log: the file and its number, the end of the last whole transaction,
 * and the GTID event of the running one.  Where a place is known from before, the GTID event
 * that stands there must be the known one, by header and checksum (design part 7, rule 3).
 *
 * All zero is a place before any dump began.  Values of one thread.
 */
#ifndef SYNC_LOG_PLACE_H
#define SYNC_LOG_PLACE_H

#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/safe_point.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct step;

struct log_place {
    struct mark mark;    /* of the last whole transaction */
    char mark_file[256]; /* the file it is in */
    char file[256];      /* of the step at hand; "" before the first */
    uint32_t file_number;
    struct mark running; /* its GTID event, while one runs */
    struct mark expected;
    bool expecting;
    bool
        unplaced; /* begun at GTIDs: what the log has of them is left out until the first one */
};

/* A dump begins: the running transaction is forgotten. */
void log_place_begin(struct log_place *p, bool at_gtids);
/* The log's last known transaction, to be met again where the dump begins. */
void log_place_expect(struct log_place *p, const struct mark *known);

/* The event is at hand: the version of its end. */
bool log_place_enter(struct log_place *p, const struct event *e, uint64_t epoch,
                     uint64_t *version, struct err *err);
/* Behind log_place_enter; raw is the event whole.  False: it shows that the log is another one.
 */
bool log_place_check(struct log_place *p, const struct event *e, struct str raw,
                     struct err *err);

/* The step begins a file, between transactions: the position follows a rotation, else an idle
 * server could purge the file that it stands in. */
bool log_place_opens_file(const struct log_place *p, const struct step *step);
/* The step ends the running transaction: mark moves here. */
void log_place_end(struct log_place *p, const struct step *step);

/* What reading failed with, where it failed because the log is another one. */
void log_place_explain(const struct log_place *p, struct err *err);

#endif
