/*
 * The buckets of builds, as the API lists them.
 *
 * @thread any
 */
#ifndef REBALANCE_ADMIN_BUCKET_LIST_H
#define REBALANCE_ADMIN_BUCKET_LIST_H

#include "rebalance/fill/bucket.h"
#include "src/base/base.h"

#include <stdbool.h>
#include <stddef.h>

struct cluster_view;
struct json_writer;
struct stored_job;

/* Whether the job is a bucket of this build. */
bool bucket_list_is_of(const struct stored_job *job, const struct stored_job *build) MUST_CHECK;
/* What the build's buckets amount to; its texts are borrowed from jobs. */
void bucket_list_sum(const struct stored_job *jobs, size_t n, const struct stored_job *build,
                     struct bucket_sum *sum);
/* Write members of the build's object: how many buckets it has, how many are done, and the ids
 * of the nodes that work on the others. */
void bucket_list_put_sum(struct json_writer *w, const struct stored_job *jobs, size_t n,
                         const struct stored_job *build);

/* Buckets that are listed one after another. Zero-initialise but for the first four members. */
struct bucket_lister {
    const struct stored_job *jobs; /* all, their builds among them */
    size_t n;
    const struct cluster_view *cluster;
    bool sees_rows;                 /* else the places have no values of keys */
    const struct stored_job *build; /* of the last one; `sum` is of its buckets */
    struct bucket_sum sum;
};
/* Write members of the bucket's object. */
void bucket_list_put(struct json_writer *w, struct bucket_lister *l,
                     const struct stored_job *bucket);

#endif
