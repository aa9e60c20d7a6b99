/*
 * The last full comparison of an index version: when it ended, its verdict and its counts. The
 * store keeps it with the version (STORE_COMPARED), for status, metrics and doctor. And what
 * exchanges of its trees, and checks, did since the start, which nobody stores.
 *
 * @thread any
 */
#ifndef REBALANCE_VERIFY_COMPARED_H
#define REBALANCE_VERIFY_COMPARED_H

#include "rebalance/verify/result.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct json_writer;

struct compared {
    int64_t at_ms; /* wall time of its end */
    char verdict[12];
    struct verify_result found; /* counts alone; owns nothing */
};

/* Append what the store keeps. */
void compared_append(const struct verify_result *found, int64_t at_ms, struct buf *json);
/* Read it. Returns false if it is not in this form. */
bool compared_read(struct str json, struct compared *out) MUST_CHECK;

/* Write it for people as one JSON object; NULL: null. */
void compared_put(const struct compared *c, struct json_writer *w);

enum exchange_end {
    EXCHANGE_EQUAL = 0,
    EXCHANGE_REPAIRED,  /* all that differed */
    EXCHANGE_DIFFERENT, /* some documents differ */
    EXCHANGE_UNKNOWN,   /* some documents were changing */
    EXCHANGE_PUT_OFF,   /* it did not come to its end */
    N_EXCHANGE_ENDS,
};
/* "equal", "repaired", ... */
const char *exchange_end_word(enum exchange_end end);

/* Zero-initialise. */
struct exchanges {
    uint64_t n[N_EXCHANGE_ENDS];
    int64_t ended_ms; /* wall time of the last one that was not put off; 0: none */
    uint64_t
        differing;  /* documents that this one found different and did not repair, or lost */
    uint64_t lost;  /* of these, what the index lacks and nobody can name */
    struct err why; /* why the last one was put off; ERR_NONE: it was not */
    struct err missing; /* why the trees cannot be made; ERR_NONE: they can, or nobody tried */
    struct err ended;   /* why the last comparison, which makes them, ended early; ERR_NONE: it
                           did   not */
};
/* One has ended, now. found NULL: it was put off, and why says why. lost: as above. */
void exchanges_note(struct exchanges *e, const struct verify_result *found, uint64_t lost,
                    const struct err *why, int64_t now_ms);
/* How many were not put off. */
uint64_t exchanges_n_ended(const struct exchanges *e);

enum repairer { REPAIRER_CHECK = 0, REPAIRER_EXCHANGE, N_REPAIRERS };
/* "check", "exchange" */
const char *repairer_word(enum repairer by);

/* What these have repaired since the start, by kind: of one index. Zero-initialise. */
struct repair_counts {
    uint64_t n[N_REPAIRERS][N_VERIFY_KINDS];
};
void repair_counts_put(const struct repair_counts *r, struct json_writer *w);

#endif
