/*
 * `millrace binlog decode`: a log as JSON lines (design part 6).
 */
#ifndef SYNC_BINLOG_DECODE_H
#define SYNC_BINLOG_DECODE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/log_excerpt.h"
#include "sync/binlog/row_json.h"

#include <stdbool.h>
#include <stdint.h>

struct transport;

/* Takes finished output; false: stop (a closed pipe), err says why. */
typedef bool (*decode_write_fn)(void *ctx, struct str bytes, struct err *err);

struct decode_options {
    bool events;    /* --events: a line for every event */
    bool no_output; /* --format none: every cell is formatted into memory and thrown away */
    struct log_excerpt excerpt;
    decode_write_fn write;
    void *ctx;
};

struct decode_counts {
    uint64_t inserts, updates, deletes;
    struct row_json_counts rows;
    uint64_t events;
    uint64_t bytes;
};

/*
 * Decode everything t has.  False: damaged or unreadable; err names file, offset and reason,
 * and all before it was written.
 */
bool decode_run(struct transport *t, const struct decode_options *opt,
                struct decode_counts *counts, struct err *err) MUST_CHECK;

/* "ins=1 upd=0 del=0 cells=3 nulls=0 idsum=7\n" */
void decode_counts_format(const struct decode_counts *c, char out[160]);

#endif
