/*
 * struct assignment: the index versions that a source is to write to, and the routing in which
 * its builder has taken them.
 *
 * What is wanted has a generation; it is taken when a routing was made for that generation.
 *
 * @thread any (locked inside)
 */
#ifndef SYNC_ASSIGNMENT_H
#define SYNC_ASSIGNMENT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/routing_compile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assignment;

struct assignment *assignment_new(void) RETURNS_NONNULL MUST_CHECK;
void assignment_free(struct assignment *a); /* NULL is fine */

/* These are wanted from now on (copied); their generation. */
uint64_t assignment_set(struct assignment *a, const struct version_spec *const *specs,
                        size_t n);
/* The same are wanted again: the tables may have changed. */
void assignment_renew(struct assignment *a);
/* A version stays out from now on, also of routings to come. */
void assignment_stop(struct assignment *a, const char *index);

/* What is wanted now: copies for version_specs_free(), and their generation. */
struct version_spec **assignment_specs(struct assignment *a, size_t *n,
                                       uint64_t *generation) RETURNS_NONNULL MUST_CHECK;

/* The builder writes by this routing of a generation from version `at` on; takes over a
 * reference. */
void assignment_take(struct assignment *a, struct routing *routing, uint64_t generation,
                     uint64_t at);
/* What was taken last writes to the index version, whatever is wanted meanwhile; *at is then from
 * where on. */
bool assignment_has_taken(struct assignment *a, struct str index, uint64_t *at) MUST_CHECK;
/* Nothing that is wanted is not taken. */
bool assignment_is_taken(struct assignment *a);
/* Waits until the generation is taken; *at is then where.  False: not within timeout_ms. */
bool assignment_wait(struct assignment *a, uint64_t generation, int64_t timeout_ms,
                     uint64_t *at) MUST_CHECK;

/* With a reference; NULL: nothing was taken yet. */
struct routing *assignment_routing(struct assignment *a) MUST_CHECK;

#endif
