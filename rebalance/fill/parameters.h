/*
 * struct job_parameters: what a person asked of a build.  Its job stores it as JSON, so that it
 * survives a restart and other nodes see it.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_FILL_PARAMETERS_H
#define REBALANCE_FILL_PARAMETERS_H

#include "rebalance/watch/whose.h"
#include "src/base/base.h"
#include "src/base/str.h"
#include "src/config/settings.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;

#define BUCKETS_MAX 1000

/* How the rows of a build are divided. */
enum buckets_by {
    BUCKETS_BY_COLUMN = 0, /* by the table's bucket_column, if it has one, else by the key */
    BUCKETS_BY_KEY,
    BUCKETS_BY_MOD, /* by what the bucket_column leaves, divided by their number */
    N_BUCKETS_BY
};

struct job_parameters {
    uint64_t rate;    /* rows per second, 0: no limit */
    uint64_t chunk;   /* rows per statement, 0: default */
    uint64_t buckets; /* at most BUCKETS_MAX; 0: default */
    enum buckets_by by;
    uint64_t nodes; /* fill it at most, the owner among them; 0: all */
    struct take take;
    bool hold;  /* the version waits until a person publishes it */
    bool keeps; /* keep is given; else index.keep_versions holds */
    uint64_t keep;
    enum build_check check;

    /* What its owner sees, for other nodes. */
    uint64_t growth; /* rows per second that its tables grow by */
    bool slow;       /* and it reads no faster (rebalance/fill/growth.h) */
};

/* What of it can be changed while it runs. */
struct job_change {
    bool sets_rate, sets_nodes;
    uint64_t rate, nodes;
};

/* "sample", "full" or "none". */
const char *build_check_word(enum build_check check);
/* Returns false if it is none of these. */
bool build_check_find(struct str word, enum build_check *out) MUST_CHECK;

/* "column", "key" or "mod". */
const char *buckets_by_word(enum buckets_by by);
/* Returns false if it is none of these. */
bool buckets_by_find(struct str word, enum buckets_by *out) MUST_CHECK;

void job_parameters_append(struct buf *b, const struct job_parameters *p);
/* Missing members are 0; of an older release, check is a sample. */
struct job_parameters job_parameters_read(struct str json);

#endif
