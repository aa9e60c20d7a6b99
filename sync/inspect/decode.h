/*
 * `millrace binlog decode`: print a log as JSON lines.
 */
#ifndef SYNC_INSPECT_DECODE_H
#define SYNC_INSPECT_DECODE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/decode/row_json.h"
#include "sync/inspect/log_filter.h"

#include <stdbool.h>
#include <stdint.h>

struct transport;

/* Write finished output.  Returns false to stop (a closed pipe); err says why. */
typedef bool (*decode_write_fn)(void *ctx, struct str bytes, struct err *err);

struct decode_options {
    bool events;    /* --events: print a line for every event */
    bool no_output; /* --format none: decode every cell into a value and write nothing */
    struct log_excerpt excerpt;
    decode_write_fn write;
    void (*warn)(
        void *ctx,
        const char *text); /* called for problems that decoding survives; NULL for silence */
    void *ctx;
};

struct decode_counts {
    uint64_t inserts, updates, deletes;
    struct row_json_counts rows;
    uint64_t events;
    uint64_t bytes;
};

/*
 * Decode all of t.  Returns false if it is damaged or unreadable: err names file, offset and
 * reason, and all output before that place has been written.
 */
bool decode_run(struct transport *t, const struct decode_options *opt,
                struct decode_counts *counts, struct err *err) MUST_CHECK;

/* Format as "ins=1 upd=0 del=0 cells=3 nulls=0 idsum=7\n". */
void decode_counts_format(const struct decode_counts *c, char out[160]);

#endif
