/*
 * What the rows of a version will cost the server that has them, as it guesses before any is
 * read.
 *
 * @thread any; blocks on the connection
 */
#ifndef REBALANCE_BUILD_COST_H
#define REBALANCE_BUILD_COST_H

#include "rebalance/fill/parameters.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_writer;
struct mysql_conn;
struct plan;

#define BUCKET_ROWS_MIN 10000 /* of a bucket, unless a person asked for a number */

struct build_cost {
    enum buckets_by by;
    uint32_t buckets; /* at most: a range of few rows makes fewer */
    uint64_t rows;    /* of all tables; 0: the server does not know */
    uint64_t examined;
};

/*
 * Add the rows of a table, of whose plan c reads the root.  ERR_REJECT if buckets by mod of
 * that column are impossible; it names the table and the fix.
 */
bool build_cost_add(struct build_cost *cost, struct mysql_conn *c, const struct plan *p,
                    struct str column, struct err *err) MUST_CHECK;
/* Write it as members of an object: "buckets", "buckets_by", "rows", "rows_examined". */
void build_cost_put(struct json_writer *w, const struct build_cost *cost);

#endif
