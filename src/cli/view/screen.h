/*
 * Text as a terminal shows it: made safe, measured in columns, correct for wide and combining
 * characters, and fitted into a window.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_SCREEN_H
#define SRC_CLI_SCREEN_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Append text with control characters and broken UTF-8 made visible. */
void screen_safe(struct buf *out, struct str text);

/* The terminal columns that text takes, not counting colour codes. */
size_t screen_width(struct str text);

/*
 * Append text without its middle, so that it takes at most so many columns.  marks: the
 * terminal takes UTF-8.
 */
void screen_cut(struct buf *out, struct str text, size_t columns, bool marks);

/*
 * Append lines, each broken where it takes more than so many columns: at a space if it has one,
 * and the rest is indented.
 */
void screen_wrap(struct buf *out, struct str text, size_t columns);

/* The size of the terminal at fd.  Returns false if it is none, or does not tell. */
bool screen_size(int fd, size_t *columns, size_t *rows) MUST_CHECK;

#endif
