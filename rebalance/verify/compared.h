/*
 * The last full comparison of an index version: when it ended, its verdict and its counts. The
 * store keeps it with the version (STORE_COMPARED), for status, metrics and doctor.
 *
 * @thread any
 */
#ifndef REBALANCE_VERIFY_COMPARED_H
#define REBALANCE_VERIFY_COMPARED_H

#include "rebalance/verify/result.h"
#include "src/base/base.h"
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

#endif
