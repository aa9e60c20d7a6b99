/*
 * What the store keeps of a request with a key: a small value, "repeat/HASH".
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_REPEAT_REPEAT_RECORD_H
#define REBALANCE_REPEAT_REPEAT_RECORD_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;

#define REPEAT_HASH       64         /* hexadecimal digits */
#define REPEAT_ANSWER_MAX (32 << 10) /* bytes of an answer that is kept */
#define REPEAT_KEPT_MS    INT64_C(86400000)
#define REPEAT_RUNS_MS    INT64_C(3900000) /* no call takes longer: a drain may take an hour */

struct repeat_record {
    int64_t at_ms;      /* wall time */
    struct str asked;   /* the hash of its query and body */
    struct str node;    /* the uuid of the node that was asked */
    struct str program; /* that run of the node's program */
    struct str claim;   /* random: tells it from another of the same key */
    uint64_t status;    /* 0: it runs */
    bool is_long;       /* the answer was too long to keep */
    struct str answer;
};

/* SHA-256 of the parts, which may have any bytes.  False: the library has none. */
bool repeat_hash(char hash[REPEAT_HASH + 1], const struct str *parts, size_t n) MUST_CHECK;

void repeat_record_write(struct buf *json, const struct repeat_record *r);
/* The texts lie in a.  What is missing is empty. */
void repeat_record_read(struct repeat_record *out, struct arena *a, struct str json);

enum repeat_state {
    REPEAT_OTHER = 0, /* the same key with another query or body */
    REPEAT_OLD,       /* it may be forgotten */
    REPEAT_RUNS,
    REPEAT_LOST, /* nobody knows whether it took effect */
    REPEAT_ANSWERED,
};
struct repeat_view {
    struct str asked, node, program; /* of the request that came now */
    int64_t now_ms;
};
enum repeat_state repeat_state_of(const struct repeat_record *r, const struct repeat_view *now);

#endif
