/*
 * struct save_due: when to save the safe position.  Pure.
 *
 * The store may be on the server that we follow: then every save is itself a transaction in the
 * log and moves the position.  So a position that moved past changes is saved at once.  One
 * that moved only past other transactions waits for the next change, for two minutes, or for
 * the next log file, since the server may then purge the one before.
 *
 * @thread one at a time
 */
#ifndef SYNC_CHECKPOINT_SAVE_DUE_H
#define SYNC_CHECKPOINT_SAVE_DUE_H

#include "src/base/base.h"
#include "sync/checkpoint/progress.h"

#include <stdbool.h>
#include <stdint.h>

#define SAVE_ASIDE_MS 120000

struct save_due {
    enum progress_move move; /* combined since the last save */
    int64_t since_ms;        /* the first move since the last save */
    uint32_t file_number;    /* of the saved position */
    bool all_done;           /* nothing was under way before the last look for a move */
};

/* Note a look for a move.  all_done: nothing was under way before it, so none follows. */
void save_due_note(struct save_due *d, enum progress_move move, bool all_done, int64_t now_ms);
bool save_due_is(const struct save_due *d, uint32_t file_number, int64_t now_ms);
/* In how many ms a save is due if nothing else is read; INT64_MAX: never; 0: look again. */
int64_t save_due_in_ms(const struct save_due *d, int64_t now_ms);
void save_due_saved(struct save_due *d, uint32_t file_number);

#endif
