/*
 * struct wanted_versions: the index versions that a source should write to, and the routing
 * with which its builder has adopted them.
 *
 * What is wanted has a generation; it is adopted once a routing was made for that generation.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_ROUTING_WANTED_VERSIONS_H
#define SYNC_ROUTING_WANTED_VERSIONS_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/routing/compile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wanted_versions;

struct wanted_versions *wanted_versions_new(void) RETURNS_NONNULL MUST_CHECK;
void wanted_versions_free(struct wanted_versions *a); /* NULL is allowed */

/* Set the wanted versions (copied).  Returns their generation. */
uint64_t wanted_versions_set(struct wanted_versions *a, const struct version_spec *const *specs,
                             size_t n);
/* Ask for a new routing of the same versions: the tables may have changed. */
void wanted_versions_renew(struct wanted_versions *a);
/* Leave a version out from now on, also from future routings. */
void wanted_versions_stop(struct wanted_versions *a, const char *index);

/* Copy what is wanted now, for version_specs_free(), and its generation. */
struct version_spec **wanted_versions_specs(struct wanted_versions *a, size_t *n,
                                            uint64_t *generation) RETURNS_NONNULL MUST_CHECK;

/*
 * The builder uses this routing, made for a generation, from version `at` on.  Takes over a
 * reference.
 */
void wanted_versions_take(struct wanted_versions *a, struct routing *routing,
                          uint64_t generation, uint64_t at);
/*
 * Tell whether the adopted routing writes to the index version, whatever is wanted meanwhile;
 * *at then says from where on. Not if it was adopted before a place in the log was known, which
 * a dump that begins at GTIDs does not say at once: take the versions again.
 */
bool wanted_versions_has_taken(struct wanted_versions *a, struct str index,
                               uint64_t *at) MUST_CHECK;
/* Tell whether everything wanted is adopted. */
bool wanted_versions_is_taken(struct wanted_versions *a);
/*
 * Wait until the generation is adopted; *at says from where on.  Returns false after
 * timeout_ms.
 */
bool wanted_versions_wait(struct wanted_versions *a, uint64_t generation, int64_t timeout_ms,
                          uint64_t *at) MUST_CHECK;

/* Returns a reference; NULL if nothing was adopted yet. */
struct routing *wanted_versions_routing(struct wanted_versions *a) MUST_CHECK;

#endif
