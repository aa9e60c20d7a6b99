/*
 * struct log_filter: the part of a log that a user wants to see.
 *
 * @thread any (no state but what it borrows)
 */
#ifndef SYNC_INSPECT_LOG_FILTER_H
#define SYNC_INSPECT_LOG_FILTER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/gtid.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtid_set;
struct log_reader;
struct schema;
struct step;

/* Zero selects everything. */
struct log_filter {
    const struct str *tables;     /* only these DATABASE.TABLE, with wildcards */
    size_t n_tables;              /* * and ?; 0 for all tables */
    uint32_t from_time, to_time;  /* [from, to) in seconds since 1970; 0 for no bound */
    struct position from, to;     /* [from, to); file.ptr NULL for no bound */
    const struct gtid_set *gtids; /* only transactions in this MySQL set ... */
    const struct gtid *ids;       /* ... or with one of these MariaDB ids */
    size_t n_ids;
};

/* Tell whether the step is within the filter.  Sets *done once no later step can be. */
bool log_filter_wants(const struct log_filter *f, const struct step *step, bool *done);

/* The parsed argument of --gtid: "3e11fa47-...:1-5,...", or "0-1-100,0-1-101". */
struct gtid_choice {
    struct gtid_set *gtids;
    struct gtid *ids;
    size_t n_ids;
};

/* c must be zeroed.  Call gtid_choice_fini() even after a failure. */
bool gtid_choice_parse(struct gtid_choice *c, struct str text, struct err *err) MUST_CHECK;
void gtid_choice_fini(struct gtid_choice *c);

/*
 * struct log_excerpt: the part of a log to print: a file or a place in a dump, and a filter.
 */
struct log_excerpt {
    struct str file;       /* the file to read; empty for a dump ... */
    struct position start; /* ... which starts here; in a file, the offset to start at, 0 for
                              its beginning */
    struct log_filter filter;
    uint64_t event_max; /* bytes; 0 for 1 GiB */
};

/* Borrows *e.  The reader is lenient: it prints what a follower would have to refuse. */
struct log_reader *log_excerpt_reader(const struct log_excerpt *e) RETURNS_NONNULL MUST_CHECK;

#endif
