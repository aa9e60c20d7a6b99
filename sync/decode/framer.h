/*
 * struct framer: cut raw events out of the log and verify length, checksum and position.
 *
 * The framer counts positions itself: log_pos has 32 bits, and is 0 inside transactions of
 * newer MariaDB.  A log_pos that is present may be ahead of the count, never behind: servers
 * leave out what the client did not ask for (transactions before the start GTIDs, MariaDB's
 * ANNOTATE_ROWS).  An event above the limit may be cut to its beginning (event_may_be_cut()).
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_DECODE_FRAMER_H
#define SYNC_DECODE_FRAMER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/decode/event.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stdint.h>

struct framer {
    bool is_file;       /* ROTATE does not move, and log_pos is ignored */
    uint64_t event_max; /* bytes */
    /*
     * Returns true for rows of an unwanted table: the framer then skips their checksum.  May be
     * NULL.
     */
    bool (*unwanted)(void *ctx, uint8_t type, struct str body);
    void *ctx;

    struct event_format format;
    bool has_format;
    uint64_t offset;
    struct buf name;      /* the current file */
    struct buf next_name; /* after a real ROTATE, valid from the next event on */
    uint64_t next_offset;
    bool rotating;
};

void framer_init(struct framer *f, struct position start, bool is_file, uint64_t event_max);
void framer_fini(struct framer *f);

/* out borrows from raw and from f until the next call. */
bool framer_read(struct framer *f, struct str raw, struct event *out,
                 struct err *err) MUST_CHECK;

/*
 * Read an event inside the payload of outer.  It has neither checksum nor position of its own.
 */
bool framer_read_inner(struct framer *f, struct str raw, const struct event *outer,
                       struct event *out, struct err *err) MUST_CHECK;

#endif
