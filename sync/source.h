/*
 * struct source: the reader thread of one server: connects, dumps, hands events over, connects
 * again.
 *
 * It never decides where to start: the pipeline tells, from what is durable or what the builder
 * has read.  Trouble that passes is tried again with backoff; what would need a jump in the log
 * stops with a reason and a way out and is tried again only when asked.
 *
 * @thread source_status, source_fault, source_note, source_retry: any
 */
#ifndef SYNC_SOURCE_H
#define SYNC_SOURCE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/server_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct handoff;
struct mysql_conn;
struct server_access;
struct source;

/* Where a dump starts. */
struct source_start {
    bool now; /* nothing is known of the log: at its present end */
    char file[256];
    uint64_t offset;
    char *gtids;    /* executed before it, "" unknown; free() it */
    bool use_gtids; /* start at gtids, file and offset are not known yet */
    char end_file[256]; /* where the log ended when the source connected */
    uint64_t end_offset;
};

enum source_state {
    SOURCE_CREATED = 0,
    SOURCE_CONNECTING,
    SOURCE_RUNNING,
    SOURCE_WAITING, /* tries again soon */
    SOURCE_FAILED,  /* waits for a person */
};

struct source_status {
    enum source_state state;
    struct server_info server; /* as of the last connect */
    bool server_known;
    struct err why; /* WAITING, FAILED; ERR_NONE else */
    char fix[320];
    uint64_t reconnects;
    uint64_t events, bytes;
};

struct source_options {
    const char *topic;
    struct server_access *server;
    uint32_t server_id;
    const char *uuid; /* ours */
    size_t event_max;
    struct handoff *handoff;
    void *ctx;
    /* Where to start now, once everything handed over before was read.  False: stopping. */
    bool (*where)(void *ctx, struct source_start *out);
    /*
     * The server is the one we know; false (err): it is not, or its log cannot be continued.
     * ERR_STOP ends the thread.
     */
    bool (*recognise)(void *ctx, struct mysql_conn *c, const struct server_info *info,
                      struct err *err);
    /* A dump begins at start: what is handed over from now on comes from there.  False:
     * stopping. */
    bool (*begins)(void *ctx, const struct source_start *start);
};

struct source *source_new(const struct source_options *opt) RETURNS_NONNULL MUST_CHECK;
void source_start(struct source *s);
void source_stop(struct source *s); /* joins the thread */
void source_free(struct source *s);

struct source_status source_status(struct source *s);
const char *source_state_name(enum source_state state);

/* The builder cannot go on with what it was given; at is the safe place it stands at. */
void source_fault(struct source *s, uint64_t at, const struct err *why);

/* What the builder waits for while the log is followed; NULL: nothing any more. */
void source_note(struct source *s, const struct err *why);

/* Try again after SOURCE_FAILED. */
void source_retry(struct source *s);

#endif
