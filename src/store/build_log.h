/*
 * What the log keeps of each build of an index version: what it was given, the mapping and
 * settings that its index was created with, the nodes that took part, and how and when it
 * ended.
 *
 * The newest BUILDS_KEPT of each index stay, and of all indexes the newest BUILDS_KEPT_ALL,
 * also when their index is gone.  A build ends in the transaction that ends its version's
 * building: promotion (succeeded), or the version's drop; whoever drops it for a failure says
 * so first.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_BUILD_LOG_H
#define SRC_STORE_BUILD_LOG_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define BUILDS_KEPT     100
#define BUILDS_KEPT_ALL 10000

/* How a build ended.  Empty: it has not. */
#define BUILD_SUCCEEDED   "succeeded"
#define BUILD_FAILED      "failed"
#define BUILD_INTERRUPTED "interrupted" /* its node ended before the build could begin */
#define BUILD_RESET       "reset" /* a person ended it, or no definition names its index */

struct stored_build {
    uint64_t id; /* assigned by the store; later ones have higher ones */
    struct version_name version;
    struct str table;      /* "shop.orders" */
    struct str kind;       /* "create", a person's; "rebuild" */
    struct str parameters; /* JSON, as its job's */
    struct str mappings;   /* JSON as sent to the engine; empty: too large for the store */
    struct str settings;   /* the same */
    struct str nodes;      /* JSON: [{"id":…,"name":…}], in the order in which they came */
    struct str outcome, error;
    int64_t begun_ms, ended_ms; /* wall; ended 0: not yet */
};

/* Note that the build begins.  One that is noted already stays. */
bool store_begin_build(struct store *s, const struct stored_build *b,
                       struct err *err) MUST_CHECK;
/* A node takes part.  Once is enough, again changes nothing; neither does an unknown build. */
bool store_add_build_node(struct store *s, const struct version_name *v, struct str id,
                          struct str name, struct err *err) MUST_CHECK;
/* Note how it ended.  An end that is noted already is replaced. */
bool store_end_build(struct store *s, const struct version_name *v, const char *outcome,
                     struct str error, struct err *err) MUST_CHECK;
/* Of the table, the newest first; an empty name means all.  Without mappings and settings. */
bool store_load_builds(struct store *s, struct arena *a, struct str table, size_t limit,
                       struct stored_build **out, size_t *n, struct err *err) MUST_CHECK;
/* The same of the versions that events with these numbers name. */
bool store_load_builds_of_log(struct store *s, struct arena *a, uint64_t first, uint64_t last,
                              struct stored_build **out, size_t *n, struct err *err) MUST_CHECK;
/* One, whole.  found may be false: an older program built it, or it is too long ago. */
bool store_load_build(struct store *s, struct arena *a, const struct version_name *v,
                      struct stored_build *out, bool *found, struct err *err) MUST_CHECK;

#endif
