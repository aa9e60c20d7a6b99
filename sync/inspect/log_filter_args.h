/*
 * Parses a user's choice of a part of a log.
 */
#ifndef SYNC_INSPECT_LOG_FILTER_ARGS_H
#define SYNC_INSPECT_LOG_FILTER_ARGS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Parse a UTC time to seconds since 1970: "2026-11-21T10:00:00Z".  A space may replace the T;
 * the seconds, the Z and the time of day may be missing.
 */
bool log_filter_args_time(const char *text, uint32_t *out, struct err *err) MUST_CHECK;

/*
 * Parse FILE:OFFSET, ignoring FILE's folders, or OFFSET alone, which means an offset in `file`
 * (if that is NULL, it is refused).  Borrows both.
 */
bool log_filter_args_position(const char *text, const char *file, struct position *out,
                              struct err *err) MUST_CHECK;

/* The file's name without its folders; "stdin" for "-". */
const char *log_filter_args_file_name(const char *path) RETURNS_NONNULL;

/* Check for the form DATABASE.TABLE, in which * and ? are wildcards. */
bool log_filter_args_table(const char *text, struct err *err) MUST_CHECK;

#endif
