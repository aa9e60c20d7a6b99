/*
 * Text as a terminal shows it: made safe, and measured in columns, correct for wide and
 * combining characters.
 *
 * @thread any (pure)
 */
#ifndef SRC_CLI_SCREEN_H
#define SRC_CLI_SCREEN_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct buf;

/* Append text with control characters and broken UTF-8 made visible. */
void screen_safe(struct buf *out, struct str text);

/* The terminal columns that text takes, not counting colour codes. */
size_t screen_width(struct str text);

#endif
