/*
 * struct problems: the mistakes in a text that a person wrote, each with its place.
 *
 * A reader of a file adds each mistake and goes on, so that a person sees all of them at once;
 * the caller decides by the number of errors. Everything is copied. Keeps at most PROBLEMS_MAX
 * and counts the rest. Hides the values of passwords and keys in the source lines that it
 * shows.
 *
 * @thread one at a time
 */
#ifndef SRC_FORMAT_PROBLEM_H
#define SRC_FORMAT_PROBLEM_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

#define PROBLEMS_MAX 100

struct buf;
struct problems;

/* Where something was written. With line 0, file describes the origin ("stored table
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
    struct str fix; /* empty if the message says how to fix it */
};

struct problems *problems_new(void) RETURNS_NONNULL MUST_CHECK;
void problems_free(struct problems *p); /* NULL is fine */

/* Adds the text behind a place's file, from which source lines are shown. Copies both. */
void problems_add_source(struct problems *p, const char *file, struct str text);

void problems_add(struct problems *p, enum severity severity, struct place place,
                  const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Says how to fix the problem that was added last. */
void problems_fix(struct problems *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

size_t problems_count(const struct problems *p, enum severity severity);
size_t problems_n(const struct problems *p); /* the number of kept problems */
const struct problem *problems_get(const struct problems *p, size_t i);

/* Appends FILE:LINE:COLUMN: error: message, the source line, a caret, the fix. */
void problems_append_text(const struct problems *p, struct buf *b);
/* Appends [{"severity","file","line","column","message","fix","source"}]. */
void problems_append_json(const struct problems *p, struct buf *b);

#endif
