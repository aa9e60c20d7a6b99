/*
 * struct source: the reader thread of one server: it connects, dumps, passes events on and
 * reconnects.
 *
 * It never decides where to start: the pipeline tells it, from what is durable or what the
 * builder has read.  It retries passing failures with backoff.  A failure that would need a
 * jump in the log stops it, with a reason and a remedy, until a user asks for a retry.
 *
 * @thread source_status, source_fault, source_note, source_retry: any
 */
#ifndef SYNC_SOURCE_SOURCE_H
#define SYNC_SOURCE_SOURCE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/server/server_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct handoff;
struct mysql_conn;
struct server_access;
struct source;

/* Where to start a dump. */
struct source_start {
    bool now; /* we know nothing of the log: start at its present end */
    char file[256];
    uint64_t offset;
    uint64_t read_to;   /* end of what was read of the file before, at offset or after it */
    char *gtids;        /* executed before it, "" if unknown; caller frees */
    bool use_gtids;     /* start at gtids: file and offset are not known yet */
    char end_file[256]; /* the end of the log when the source connected */
    uint64_t end_offset;
};

enum source_state {
    SOURCE_CREATED = 0,
    SOURCE_CONNECTING,
    SOURCE_RUNNING,
    SOURCE_WAITING, /* will retry soon */
    SOURCE_FAILED,  /* waits for a user */
};

struct source_status {
    enum source_state state;
    struct server_info server; /* from the last connect */
    bool server_known;
    /* Set for WAITING and FAILED, and for CONNECTING if the last try failed; else ERR_NONE. */
    struct err why;
    char fix[320];
    int64_t since_ms; /* wall time: since when it is not RUNNING; 0: it is */
    uint64_t reconnects;
    uint64_t events, bytes;
};

struct source_options {
    const char *topic;
    struct server_access *server;
    uint32_t server_id;
    const char *uuid; /* our own */
    size_t event_max;
    struct handoff *handoff;
    void *ctx;
    /*
     * Get the start, once the builder has read everything passed on before.  Returns false when
     * stopping.
     */
    bool (*where)(void *ctx, struct source_start *out);
    /*
     * Check that this is the server we know.  Returns false with err if it is not, or its log
     * cannot be continued.  ERR_STOP ends the thread.
     */
    bool (*recognise)(void *ctx, struct mysql_conn *c, const struct server_info *info,
                      struct err *err);
    /*
     * Called when a dump begins at start, before its first event.  Returns false when stopping.
     */
    bool (*begins)(void *ctx, const struct source_start *start);
};

struct source *source_new(const struct source_options *opt) RETURNS_NONNULL MUST_CHECK;
void source_start(struct source *s);
void source_stop(struct source *s); /* joins the thread */
void source_free(struct source *s);

struct source_status source_status(struct source *s);
const char *source_state_name(enum source_state state);

/* Report that the builder cannot process its input; `at` is the safe place where it stands. */
void source_fault(struct source *s, uint64_t at, const struct err *why);

/* Show what the builder waits for while the log is followed; NULL for nothing. */
void source_note(struct source *s, const struct err *why);

/* Retry after SOURCE_FAILED. */
void source_retry(struct source *s);

#endif
