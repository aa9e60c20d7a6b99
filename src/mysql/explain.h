/*
 * What the server says of how it will run a statement: the rows of EXPLAIN in its traditional
 * form, as MySQL and MariaDB have them.
 *
 * @thread the connection's; every call blocks on the server
 */
#ifndef SRC_MYSQL_EXPLAIN_H
#define SRC_MYSQL_EXPLAIN_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mysql_conn;
struct mysql_result;

/* One table, as a SELECT of the statement reads it. */
struct explain_step {
    uint64_t select; /* the number of that SELECT; 0: what a UNION has collected */
    uint64_t rows;   /* that it reads of the table, each time; a guess */
    bool repeats;    /* once for each row of the SELECT that it stands in */
    bool sorts;      /* it sorts what it has read */
};

/* Take the next row of an EXPLAIN's result.  Returns 1 for a row, 0 at the end, -1 with err. */
int explain_next(struct mysql_result *r, struct explain_step *out, struct err *err) MUST_CHECK;

/*
 * Guess how many rows the server reads to run a SELECT; sql begins with EXPLAIN.  It takes each
 * table of a join to be read once for each combination of rows of those before it, and so is
 * too high where conditions leave rows out.
 */
bool explain_rows(struct mysql_conn *c, struct str sql, uint64_t *rows,
                  struct err *err) MUST_CHECK;

#endif
