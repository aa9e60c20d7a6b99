/*
 * struct problems: what is wrong with what a person wrote, each with its place.
 *
 * A reader of a file adds all that it finds and goes on, so that a person sees every mistake at
 * once; whoever asked decides by the number of errors.  Everything is copied.  At most
 * PROBLEMS_MAX are kept, the rest is counted.  A source line that is shown has the values of
 * passwords and keys hidden.
 *
 * @thread one at a time
 */
#ifndef SRC_PROBLEM_H
#define SRC_PROBLEM_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

#define PROBLEMS_MAX 100

struct buf;
struct problems;

/* Where something was written.  line 0: no line, file says what it is ("stored table
 * shop.orders"). */
struct place {
    const char *file;
    unsigned line, column; /* from 1, in characters */
};

enum severity { SEVERITY_ERROR = 0, SEVERITY_WARNING, SEVERITY_NOTE };

struct problem {
    enum severity severity;
    struct place place;
    struct str message;
    struct str fix; /* empty: the message says it */
};

struct problems *problems_new(void) RETURNS_NONNULL MUST_CHECK;
void problems_free(struct problems *p); /* NULL is fine */

/* The text behind a place's file, for the lines shown; both are copied. */
void problems_add_source(struct problems *p, const char *file, struct str text);

void problems_add(struct problems *p, enum severity severity, struct place place,
                  const char *fmt, ...) PRINTF_LIKE(4, 5);
/* How to put the last added problem right. */
void problems_fix(struct problems *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

size_t problems_count(const struct problems *p, enum severity severity);
size_t problems_n(const struct problems *p); /* kept ones */
const struct problem *problems_get(const struct problems *p, size_t i);

/* FILE:LINE:COLUMN: error: message, the source line, a caret, the fix. */
void problems_append_text(const struct problems *p, struct buf *b);
/* [{"severity","file","line","column","message","fix","source"}] */
void problems_append_json(const struct problems *p, struct buf *b);

#endif
