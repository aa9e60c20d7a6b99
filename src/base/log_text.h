/*
 * One line of the log as a person at a terminal reads it:
 *
 *     2026-11-25T10:00:00.123Z WARN  bulk refused  index=orders docs=500 cause="too many
 * requests"
 *
 * Values with blanks or quotes are JSON strings; control characters are escaped, so that no
 * name in a database moves the cursor.  Without the place in the source.
 *
 * @thread any (pure)
 */
#ifndef SRC_BASE_LOG_TEXT_H
#define SRC_BASE_LOG_TEXT_H

#include "src/base/base.h"
#include "src/base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct buf;

/* The form of the lines that src/base/log.c writes. */
enum log_format { LOG_JSON = 0, LOG_TEXT, LOG_COLOURED };
/* The default is LOG_JSON.  @thread any */
void log_set_format(enum log_format format);

struct log_event {
    struct timespec at;
    enum log_level level;
    const char *file; /* in the source */
    int line;
    const char *msg;
    const struct err *err; /* NULL: none */
    const struct log_kv *kv;
    size_t n_kv;
};

void log_text_append(struct buf *b, const struct log_event *e, bool colour);

#endif
