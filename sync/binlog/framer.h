/*
 * struct framer: raw events with their lengths, checksums and positions verified.
 *
 * Positions are counted, as log_pos has 32 bits and is 0 inside transactions of newer MariaDB;
 * where log_pos is given it must agree.  It may be ahead, because servers leave out what is not
 * asked for (transactions before the start GTIDs, MariaDB's ANNOTATE_ROWS); never behind.
 *
 * Pure.  @thread one at a time
 */
#ifndef SYNC_BINLOG_FRAMER_H
#define SYNC_BINLOG_FRAMER_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/event.h"
#include "sync/binlog/position.h"

#include <stdbool.h>
#include <stdint.h>

struct framer {
    bool is_file;       /* ROTATE does not move, log_pos does not count */
    uint64_t event_max; /* bytes */
    /* Rows of this table are not wanted: their checksum need not be computed.  May be NULL. */
    bool (*unwanted)(void *ctx, uint8_t type, struct str body);
    void *ctx;

    struct event_format format;
    bool has_format;
    uint64_t offset;
    struct buf name;      /* of the file being read */
    struct buf next_name; /* after a real ROTATE, from the next event on */
    uint64_t next_offset;
    bool rotating;
};

void framer_init(struct framer *f, struct position start, bool is_file, uint64_t event_max);
void framer_fini(struct framer *f);

/* out borrows from raw and from f, until the next call. */
bool framer_read(struct framer *f, struct str raw, struct event *out,
                 struct err *err) MUST_CHECK;

/* An event from inside outer's payload: no checksum, no position of its own. */
bool framer_read_inner(struct framer *f, struct str raw, const struct event *outer,
                       struct event *out, struct err *err) MUST_CHECK;

#endif
