/*
 * Which index versions each topic writes to.  The coordinator tells its pipeline whenever
 * versions or definitions change.
 */
#ifndef REBALANCE_VERSION_ROUTES_H
#define REBALANCE_VERSION_ROUTES_H

#include "rebalance/state/parts.h"

/* Whether all topics are to be routed again, and when. */
struct route_retry;

struct route_retry *route_retry_new(void) RETURNS_NONNULL MUST_CHECK;
void route_retry_free(struct route_retry *r); /* NULL is fine */

/* Route every topic again soon.  @thread any */
void coordinator_route_soon(struct coordinator *co);
bool coordinator_is_route_due(const struct coordinator *co);
/*
 * Tell the topic's pipeline the versions it writes to.  *from, if not NULL, gets its position
 * at that time.  If one of them cannot be followed now (a missing password file, an unreachable
 * store), the topic keeps its present versions, and routing is retried for all.
 */
bool coordinator_route(struct coordinator *co, struct str name, int64_t timeout_ms,
                       uint64_t *from, struct err *err) MUST_CHECK;
/* How long a topic may take to stop writing to a version that is gone. */
#define ROUTE_AWAY_MS 20000
/*
 * Topics stop writing to the versions that these published ones replace.  Each topic is routed
 * once for all of them, because that reads the definitions of every live version.  A failure is
 * logged, and all topics are routed again soon.
 */
void coordinator_route_published(struct coordinator *co,
                                 const struct stored_version *const *list, size_t n)
    NEEDS(co->admin_lock);
/*
 * Route the version's topic and the other topics whose tables it shows, before its first row is
 * read (docs/rules.md, rule 8).  Skips topics that have the version from an earlier call: if
 * each call asked again, a topic that needs longer than timeout_ms would never be ready.
 */
bool coordinator_route_build(struct coordinator *co, const struct stored_version *v,
                             int64_t timeout_ms, uint64_t *from, struct err *err) MUST_CHECK;
/* Whether documents of the lead's index come from tables of the topic, or show rows of them. */
bool coordinator_shows_topic(const struct definitions *d, const struct table_definition *lead,
                             struct str topic);
/* Route every topic again, if that is due. */
void coordinator_route_again(struct coordinator *co) NEEDS(co->admin_lock);
/* Drop the queued changes of held indexes that nothing writes to any more. */
void coordinator_forget_gone(struct coordinator *co) NEEDS(co->admin_lock);

/*
 * What a node must know of a version that is being built to read its rows, also if another one
 * follows its topic.  Blocks on the store, and may ask the engine.
 */
bool coordinator_spec_of(struct coordinator *co, const struct stored_version *v,
                         struct version_spec **out, struct err *err) MUST_CHECK;

#endif
