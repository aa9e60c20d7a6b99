/*
 * struct builds: the builds that run on this node, those that are over and wait for the
 * coordinator's thread, and the alias whose index is being deleted.
 *
 * Only the holder of admin_lock adds and removes builds, so it may use those that it finds.
 *
 * @thread any (locked inside; takes only the lock of a build under its own)
 */
#ifndef REBALANCE_VERSION_BUILDS_H
#define REBALANCE_VERSION_BUILDS_H

#include "rebalance/build/index_build.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builds;

#define BUILDS_MAX 64

struct finished_build {
    struct index_build *build;
    struct err why; /* why it failed; ERR_NONE: searches use its version */
};

struct builds *builds_new(void) RETURNS_NONNULL MUST_CHECK;
void builds_free(struct builds *all); /* NULL is fine; after all builds were removed */

/* At most BUILDS_MAX.  Belongs to the list from now on.  Under admin_lock. */
void builds_add(struct builds *all, struct index_build *b);
/* Stop and free the build, and forget how it ended.  Blocks.  Under admin_lock. */
void builds_remove(struct builds *all, struct index_build *b);
size_t builds_n(struct builds *all);
/* Copies the running builds, and returns their number.  Under admin_lock. */
size_t builds_list(struct builds *all, struct index_build *list[BUILDS_MAX]);
/*
 * Find the running build; NULL if none runs.  number 0: any of this alias.  Under admin_lock.
 */
struct index_build *builds_find(struct builds *all, struct str alias, uint64_t number);

/* Call the function for each build, under the lock. */
void builds_each(struct builds *all, void (*call)(void *ctx, struct index_build *b), void *ctx);
/* Returns false if the version is not being built. */
bool builds_status(struct builds *all, struct str alias, uint64_t number,
                   struct index_build_status *out) MUST_CHECK;

/* Change the alias's build.  Returns false if none runs. */
bool builds_set(struct builds *all, struct str alias, const struct job_change *c) MUST_CHECK;

/* A bucket of the build, if it runs here, has ended. */
void builds_nudge(struct builds *all, struct str alias, uint64_t number);

/* The build has ended by itself.  @thread the build's */
void builds_note_end(struct builds *all, struct index_build *b, const struct err *why);
bool builds_is_over(struct builds *all, const struct index_build *b) MUST_CHECK;
/* Copies those that ended by themselves, the first that ended first. */
size_t builds_finished(struct builds *all, struct finished_build list[BUILDS_MAX]);

/*
 * Note that an index of the alias is being deleted.  Returns false while a build of it runs,
 * which moves the alias itself.  A build that begins later is not published before the end.
 * The alias is borrowed until then.
 */
bool builds_begin_drop(struct builds *all, struct str alias) MUST_CHECK;
void builds_end_drop(struct builds *all);
/* Whether an index of this alias is being deleted: the alias may move to another version. */
bool builds_is_dropping(struct builds *all, struct str alias) MUST_CHECK;

#endif
