/*
 * struct source_registry: the sources running on this node, for reads on another source's
 * server.
 *
 * Documents of one topic may show tables of others.  A read of those goes to their server, and
 * includes what their own reader has read (docs/rules.md, rule 4).
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_READ_SOURCE_REGISTRY_H
#define SYNC_READ_SOURCE_REGISTRY_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct fan_out;
struct known_server;
struct source_registry;
struct read_position;
struct server_access;

struct registered_source {
    struct server_access *server; /* the server that the source follows */
    struct known_server *known;   /* these three are the owner's */
    struct read_position *reader;
    struct fan_out *fan_out;
    void *owner; /* reference-counted; ref and unref may be called by any thread */
    void (*ref)(void *owner);
    void (*unref)(void *owner);
};

struct source_registry *source_registry_new(void) RETURNS_NONNULL MUST_CHECK;
void source_registry_free(struct source_registry *p); /* NULL is allowed */

/*
 * Register the topic's source, replacing an earlier one.  Copies the name and takes references
 * to the server and the owner.
 */
void source_registry_put(struct source_registry *p, struct str topic,
                         const struct registered_source *source);
/* Unregister the topic's source, unless another one has replaced it. */
void source_registry_remove(struct source_registry *p, struct str topic,
                            const struct read_position *reader);

/* Returns false if the topic does not run here.  The caller releases *out. */
bool source_registry_find(struct source_registry *p, struct str topic,
                          struct registered_source *out) MUST_CHECK;
/* A zeroed one is fine. */
void registered_source_release(struct registered_source *s);

/*
 * Backoff for the topic's server (src/base/backoff.h): whether to try now, and how it went.
 * The topic's own reader also reports a successful connect.
 */
bool source_registry_may_try(struct source_registry *p, struct str topic) MUST_CHECK;
void source_registry_tell(struct source_registry *p, struct str topic, bool there);

#endif
