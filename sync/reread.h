/*
 * struct reread: the threads of a source that ask its database.
 *
 * Loaders build documents by key for delivery (they never wait for delivery, so that what is
 * queued can always be finished); resolvers find the documents that hold a changed related row
 * and hand them to delivery, where they may wait.  Documents that show tables of other topics have
 * threads of their own, as those wait for other servers.  Each thread has its own connections.
 *
 * @thread any
 */
#ifndef SYNC_REREAD_H
#define SYNC_REREAD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cascades;
struct denied;
struct fan_out;
struct known_server;
struct peers;
struct read_position;
struct reread;
struct resolve_task;
struct server_access;

struct reread_options {
    const char *topic;
    struct delivery *delivery;
    struct read_position *reader;
    struct cascades *cascades; /* knows whether others go with rows that are gone */
    struct fan_out *fan_out;   /* takes what leads to very many documents */
    int64_t window_ms; /* between searches for documents of related rows, where many change */
    unsigned loaders;     /* 0: 2; 8 at most; and as many again, as above */
    size_t resolve_bytes; /* 0: 8 MiB of waiting resolve tasks, twice */
    struct server_access *server; /* the one that is followed; borrowed, as all */
    struct known_server *known;
    struct peers *peers; /* of the node: tables of documents may be on their servers */
    struct denied *denied; /* is told */
};

struct reread *reread_new(const struct reread_options *opt) RETURNS_NONNULL MUST_CHECK;
void reread_start(struct reread *r);
/* Another window, and at least so many loaders, from now on; those that there are stay. */
void reread_set(struct reread *r, unsigned loaders, int64_t window_ms);

/* A batch from delivery; never blocks. */
void reread_load(struct reread *r, struct load_batch *batch);

/* Takes the task over, waiting while too many wait; false once stopping (the task is freed). */
bool reread_resolve(struct reread *r, struct resolve_task *task) MUST_CHECK;

/* Resolve tasks that wait or run. */
size_t reread_pending(struct reread *r);
/* So far, for metrics. */
struct reread_status {
    uint64_t loads, documents, resolves, resolved, failures;
    uint64_t load_statements, resolve_statements; /* all that were sent to do it */
    uint64_t rootless; /* rows of a join that had a parent's key, and no known root */
};
struct reread_status reread_status(struct reread *r);

/* Stop the threads; what waits is given back undone. */
void reread_stop(struct reread *r);
void reread_free(struct reread *r);

#endif
