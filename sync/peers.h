/*
 * struct peers: the sources that run on this node, for whoever reads on another one's server.
 *
 * Documents of one topic may show tables of others.  What is read of those is read on their
 * server, and includes what their own reader has read (design part 7, rule 4).
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_PEERS_H
#define SYNC_PEERS_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct fan_out;
struct known_server;
struct peers;
struct read_position;
struct server_access;

struct peer {
    struct server_access *server; /* the one that is followed */
    struct known_server *known;   /* these live as long as the node's pipelines, */
    struct read_position *reader; /* also retired ones */
    struct fan_out *fan_out;
};

struct peers *peers_new(void) RETURNS_NONNULL MUST_CHECK;
void peers_free(struct peers *p); /* NULL is fine */

/* The topic runs, in place of what ran before; the name is copied, the server referred to. */
void peers_put(struct peers *p, struct str topic, const struct peer *peer);
/* It does so no more, unless another one stands in its place. */
void peers_remove(struct peers *p, struct str topic, const struct read_position *reader);

/* False: it does not run here.  server has a reference for the caller. */
bool peers_find(struct peers *p, struct str topic, struct peer *out) MUST_CHECK;

/*
 * Whether the topic's server may be tried now (sync/absence.h), and how that went.  Its own
 * reader tells as well, when it has come to it.
 */
bool peers_may_try(struct peers *p, struct str topic) MUST_CHECK;
void peers_tell(struct peers *p, struct str topic, bool there);

#endif
