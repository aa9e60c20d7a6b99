/*
 * struct reread: the threads of a source that query its database.
 *
 * Loaders build documents by key for delivery; they never wait for delivery, so that queued
 * documents can always finish.  Resolvers find the documents that hold a changed related row
 * and pass them to delivery, where they may block.  Documents that show tables of other topics
 * have their own threads, because those wait for other servers.  Each thread has its own
 * connections.
 *
 * @thread any
 */
#ifndef SYNC_LOAD_REREAD_H
#define SYNC_LOAD_REREAD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cascades;
struct access_denied;
struct fan_out;
struct known_server;
struct mysql_group;
struct source_registry;
struct read_position;
struct reread;
struct resolve_task;
struct server_access;

struct reread_options {
    const char *topic;
    struct delivery *delivery;
    struct read_position *reader;
    struct cascades *cascades; /* decides whether other rows go with rows that are gone */
    struct fan_out *fan_out;   /* takes rows that lead to very many documents */
    int64_t window_ms;         /* between lookups of related documents, if many rows change */
    unsigned loaders;          /* 0 for 2, at most 8; the second group has as many again */
    size_t resolve_bytes;      /* bytes of waiting resolve tasks per group; 0 for 8 MiB */
    struct server_access *server; /* the server that we follow; borrowed, as all */
    struct known_server *known;
    struct mysql_group *group; /* ends reads; NULL if none */
    struct source_registry
        *registry;                /* of the node: documents may show tables on these servers */
    struct access_denied *denied; /* receives refusals */
};

struct reread *reread_new(const struct reread_options *opt) RETURNS_NONNULL MUST_CHECK;
void reread_start(struct reread *r);
/* From now on use another window and at least so many loaders; running ones stay. */
void reread_set(struct reread *r, unsigned loaders, int64_t window_ms);

/* Take a batch from delivery; never blocks. */
void reread_load(struct reread *r, struct load_batch *batch);

/*
 * Take over the task; blocks while too many wait.  Returns false once stopping (and frees the
 * task).
 */
bool reread_resolve(struct reread *r, struct resolve_task *task) MUST_CHECK;

/* Count the resolve tasks waiting or running. */
size_t reread_pending(struct reread *r);
/* Totals, for metrics. */
struct reread_status {
    uint64_t loads, documents, resolves, resolved, failures;
    uint64_t load_statements, resolve_statements; /* statements sent for it */
    uint64_t rootless; /* rows of a join with a parent's key but no known root */
};
struct reread_status reread_status(struct reread *r);

/* Stop the threads; returns waiting work undone. */
void reread_stop(struct reread *r);
void reread_free(struct reread *r);

#endif
