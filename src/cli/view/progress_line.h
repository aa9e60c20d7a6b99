/*
 * Shows the progress of long work on standard error: on a terminal one line that is
 * overwritten, elsewhere a plain line every few seconds.
 *
 * The share never exceeds 100 %, and the total is never less than the amount done, because
 * totals are estimates until the end.
 *
 * @thread one at a time
 */
#ifndef SRC_CLI_PROGRESS_LINE_H
#define SRC_CLI_PROGRESS_LINE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct progress_facts {
    struct str what; /* "orders v8" */
    uint64_t done, total;
    double rate;              /* rows per second */
    double remaining_seconds; /* negative: unknown */
    struct str step;          /* empty, or what is left once all rows are written */
    struct str waits;         /* empty, or what it waits for, in any phase */
    bool finished;
};

/*
 * Append "orders v8   42.0 %  4,200 of about 10,000 rows  2,000/s  2.9 s left", or
 * "orders v8   99.9 %  counting rows and documents".
 */
void progress_line_format(struct buf *out, const struct progress_facts *f);

struct progress_line {
    int fd;
    bool terminal;
    int64_t next_ms; /* when the next plain line is due */
    bool drawn;      /* the terminal shows our line */
};

void progress_line_init(struct progress_line *m, int fd);
/* Show f, unless a plain line is not due yet.  Finished work is always shown. */
void progress_line_show(struct progress_line *m, const struct progress_facts *f,
                        int64_t now_ms);
/* End the line on the terminal, so that other text can follow. */
void progress_line_end(struct progress_line *m);

#endif
