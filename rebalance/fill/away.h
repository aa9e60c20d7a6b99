/*
 * struct away: a topic as a node sees it that does not follow it: its server, and what each
 * read there must include.
 *
 * The node that follows the topic says so as a fill_point, in the fill_note of the version.
 *
 * @thread any, but for making and freeing
 */
#ifndef REBALANCE_FILL_AWAY_H
#define REBALANCE_FILL_AWAY_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct known_server;
struct read_position;
struct server_access;

/* A place in a topic's log, as whoever follows it has read it. */
struct fill_point {
    struct buf topic;
    struct buf identity; /* of its server; empty: unknown */
    struct buf gtids;    /* executed there by then */
    bool gtid;           /* the server has GTIDs */
    uint64_t version;    /* the place, as a document version */
};
void fill_point_fini(struct fill_point *p);
/*
 * Take the reader's place. Returns whether reads on other nodes can wait for it: false if some
 * transaction has no GTID.
 */
bool fill_point_take(struct fill_point *p, struct str topic, struct known_server *known,
                     struct read_position *reader) MUST_CHECK;

struct away {
    char *topic;
    struct server_access *server; /* a reference */
    struct known_server *known;
    struct read_position *position;
};
/* Reads must include `version`, and the point's GTIDs. End with away_fini() also if it fails.
 */
bool away_init(struct away *a, const char *topic, const struct fill_point *p, uint64_t version,
               struct server_access *server, struct err *err) MUST_CHECK;
void away_fini(struct away *a); /* zeroed is fine */

#endif
