/*
 * struct log_place: where in the log the builder is, and whether it is still the same log.
 *
 * Follows the steps of a log: the file and its number, the end of the last complete
 * transaction, and the GTID event of the current one.  If the place is known from before, the
 * GTID event there must match by header and checksum, and nothing of a transaction may precede
 * it (docs/rules.md, rule 3).
 *
 * All zero is the state before any dump.  Values of one thread.
 */
#ifndef SYNC_CHANGE_LOG_PLACE_H
#define SYNC_CHANGE_LOG_PLACE_H

#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/checkpoint/safe_point.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct step;

struct log_place {
    struct commit_position position; /* the end of the last complete transaction */
    char position_file[256];         /* its file */
    char file[256];                  /* of the current step; "" before the first one */
    uint32_t file_number;
    struct commit_position running; /* its GTID event, while a transaction runs */
    struct commit_position expected;
    bool expecting;
    bool unplaced; /* begun at GTIDs: the place is certain only from the first GTID event on */
};

/* A dump begins: forget the current transaction. */
void log_place_begin(struct log_place *p, bool at_gtids);
/* Expect the log's last known transaction where the dump begins. */
void log_place_expect(struct log_place *p, const struct commit_position *known);

/* Enter an event; *version is that of its end. */
bool log_place_enter(struct log_place *p, const struct event *e, uint64_t epoch,
                     uint64_t *version, struct err *err);
/*
 * Call after log_place_enter(); raw is the step's complete event.  Returns false if it proves
 * that this is another log.
 */
bool log_place_check(struct log_place *p, const struct step *step, struct str raw,
                     struct err *err);

/*
 * Tell whether the step starts a file between transactions: the position must follow rotations,
 * else an idle server could purge the file it points to.
 */
bool log_place_opens_file(const struct log_place *p, const struct step *step);
/* The current transaction was cut off: position stays before it. */
void log_place_break(struct log_place *p);
/* The step ends the current transaction: move position here. */
void log_place_end(struct log_place *p, const struct step *step);

/* Rewrite err if the reason for the failure is that this is another log. */
void log_place_explain(const struct log_place *p, struct err *err);

#endif
