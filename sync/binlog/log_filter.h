/*
 * struct log_filter: which part of a log somebody wants to look at.
 *
 * @thread any (no state but what it borrows)
 */
#ifndef SYNC_BINLOG_LOG_FILTER_H
#define SYNC_BINLOG_LOG_FILTER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/gtid.h"
#include "sync/binlog/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtid_set;
struct schema;
struct step;

/* Zero is everything. */
struct log_filter {
    const struct str *tables; /* only these DATABASE.TABLE, in which * and ? are */
    size_t n_tables;          /* wildcards; 0: all */
    uint32_t from_time, to_time; /* [from, to) in seconds since 1970; 0: no bound */
    struct position from, to;    /* [from, to); file.ptr NULL: no bound */
    const struct gtid_set *gtids; /* only transactions in this set of MySQL's ... */
    const struct gtid *ids;       /* ... or with one of these ids of MariaDB's */
    size_t n_ids;
};

/* A table_map_want_fn; ctx is the filter. */
bool log_filter_wants_table(void *ctx, struct str database, struct str table,
                            struct schema **schema);

/* Whether the step lies within; *done is set when nothing after it does. */
bool log_filter_wants(const struct log_filter *f, const struct step *step, bool *done);

/* What --gtid takes: "3e11fa47-...:1-5,...", or "0-1-100,0-1-101". */
struct gtid_choice {
    struct gtid_set *gtids;
    struct gtid *ids;
    size_t n_ids;
};

/* Zeroed before; released by gtid_choice_fini() in any case. */
bool gtid_choice_parse(struct gtid_choice *c, struct str text, struct err *err) MUST_CHECK;
void gtid_choice_fini(struct gtid_choice *c);

#endif
