/*
 * struct mysql_trace: records the statements of connections, with row counts and times.
 *
 * For `explain` and tests. The caller provides the storage: zero-initialise it, and end it with
 * mysql_trace_fini().
 *
 * @thread that of the connections that write to it
 */
#ifndef SRC_MYSQL_TRACE_H
#define SRC_MYSQL_TRACE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct mysql_statement {
    size_t at, len;  /* position in text */
    uint64_t n_rows; /* rows in the answer */
    int64_t took_us; /* from sending the statement to its last row */
};

struct mysql_trace {
    struct buf text; /* each statement ends in ";\n" */
    struct mysql_statement *statements;
    size_t n;
};

void mysql_trace_fini(struct mysql_trace *t);

/* The connection calls these when it sends a statement, gets a row and reaches the end. t may
 * be NULL. */
void mysql_trace_begin(struct mysql_trace *t, struct str sql);
void mysql_trace_row(struct mysql_trace *t);
void mysql_trace_end(struct mysql_trace *t);

#endif
