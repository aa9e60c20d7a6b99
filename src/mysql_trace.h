/*
 * struct mysql_trace: the statements of connections, with their rows and how long they took.
 *
 * For `explain` and tests.  The caller's storage: zero-initialise it, and end it with
 * mysql_trace_fini().
 *
 * @thread that of the connections that it is given to
 */
#ifndef SRC_MYSQL_TRACE_H
#define SRC_MYSQL_TRACE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct mysql_statement {
    size_t at, len;  /* in text */
    uint64_t n_rows; /* that it answered */
    int64_t took_us; /* from when it was sent to its last row */
};

struct mysql_trace {
    struct buf text; /* each ended by ";\n" */
    struct mysql_statement *statements;
    size_t n;
};

void mysql_trace_fini(struct mysql_trace *t);

/* For the connection: a statement is sent, has a row more, is over; t NULL: nobody listens. */
void mysql_trace_begin(struct mysql_trace *t, struct str sql);
void mysql_trace_row(struct mysql_trace *t);
void mysql_trace_end(struct mysql_trace *t);

#endif
