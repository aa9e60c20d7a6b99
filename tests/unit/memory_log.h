/*
 * A log that a test made, read like one of a server; and the rows that its tests use.
 */
#ifndef TESTS_UNIT_MEMORY_LOG_H
#define TESTS_UNIT_MEMORY_LOG_H

#include "tests/unit/events.h"

#include "sync/source/transport/transport.h"

/* A log in memory as a transport, with a fault at its end if there is one. */
struct memory_transport {
    struct transport base;
    const struct test_log *log;
    const struct test_log *then; /* the file after it, or NULL */
    size_t next;
    bool fails;
};

static inline int memory_next(struct transport *t, struct str *event, struct err *err)
{
    struct memory_transport *m = CONTAINER_OF(t, struct memory_transport, base);

    if (m->next == m->log->n && m->then != NULL) {
        m->log = m->then;
        m->then = NULL;
        m->next = 0;
    }
    if (m->next == m->log->n) {
        if (!m->fails)
            return 0;
        err_set(err, ERR_FATAL, "cut");
        return -1;
    }
    *event = log_raw(m->log, m->next++);
    return 1;
}

static const struct transport_ops memory_ops = {.next = memory_next};

#define COLUMN_NAMES "04050269640176" /* metadata of a table map: id and v */

/* Rows of table 5, whose map came before: (1, 'a') and (2, NULL) are new. */
static inline void log_insert(struct test_log *log, bool last)
{
    log_rows(log, EVENT_WRITE_ROWS, 5, last,
             "ff"
             "00"
             "01000000"
             "0161"
             "02"
             "02000000");
}

/* Id 1 becomes 3; the other column is in no image. */
static inline void log_update(struct test_log *log, bool last)
{
    log_rows(log, EVENT_UPDATE_ROWS, 5, last,
             "0101"
             "00"
             "01000000"
             "00"
             "03000000");
}

/* (-3, 'b') is gone. */
static inline void log_delete(struct test_log *log, bool last)
{
    log_rows(log, EVENT_DELETE_ROWS, 5, last,
             "ff"
             "00"
             "fdffffff"
             "0162");
}

#endif
