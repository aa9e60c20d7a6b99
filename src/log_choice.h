/*
 * What a user says of the part of a log that is to be printed, as text to values.
 */
#ifndef SRC_LOG_CHOICE_H
#define SRC_LOG_CHOICE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/binlog/position.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Seconds since 1970 of "2026-11-21T10:00:00Z", also with a space instead of the T, without the
 * seconds, the Z or the time of day: all are UTC.
 */
bool log_choice_time(const char *text, uint32_t *out, struct err *err) MUST_CHECK;

/*
 * FILE:OFFSET, where folders of FILE do not count, or OFFSET alone, which is in file (NULL: then
 * it is refused).  Borrows both.
 */
bool log_choice_position(const char *text, const char *file, struct position *out,
                         struct err *err) MUST_CHECK;

/* The name of a file without its folders; "stdin" for "-". */
const char *log_choice_file_name(const char *path) RETURNS_NONNULL;

/* DATABASE.TABLE, in which * and ? are wildcards. */
bool log_choice_table(const char *text, struct err *err) MUST_CHECK;

#endif
