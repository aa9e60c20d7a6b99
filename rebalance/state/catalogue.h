/*
 * struct catalogue: the stored versions, stops, rebuilds, waits, pauses and accounts, as they
 * were when somebody read the store.  Nobody changes it; the coordinator replaces it as a
 * whole.
 *
 * @thread any
 */
#ifndef REBALANCE_STATE_CATALOGUE_H
#define REBALANCE_STATE_CATALOGUE_H

#include "rebalance/state/accounts.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"
#include "src/store/waiting.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct pause;

struct catalogue {
    unsigned refs;       /* atomic */
    struct arena *arena; /* owns the texts; nobody else allocates from it */
    const struct stored_version *versions;
    size_t n_versions;
    const struct stored_stop *stops;
    size_t n_stops;
    const struct stored_rebuild *rebuilds;
    size_t n_rebuilds;
    const struct stored_wait *waits;
    size_t n_waits;
    const struct pause *pauses;
    size_t n_pauses;
    struct accounts accounts;
};

/* Blocks on the store.  Returns a reference, or NULL. */
struct catalogue *catalogue_load(struct store *store, struct err *err) MUST_CHECK;
struct catalogue *catalogue_ref(struct catalogue *c); /* NULL is fine */
void catalogue_unref(struct catalogue *c);            /* NULL is fine */

const struct stored_version *catalogue_version(const struct catalogue *c, struct str index,
                                               struct str state);
const struct stored_version *catalogue_number(const struct catalogue *c, struct str index,
                                              uint64_t number);
const struct stored_rebuild *catalogue_rebuild(const struct catalogue *c, struct str table);
/* Whether the version is built, or waits, to replace the one that searches use. */
bool catalogue_is_coming(const struct stored_version *v);
const struct stored_version *catalogue_coming(const struct catalogue *c, struct str index);
/* Returns why the version waits, or NULL if it does not. */
const struct stored_wait *catalogue_wait(const struct catalogue *c,
                                         const struct stored_version *v);
/* Whether another version has replaced it, and searches can return to it. */
bool catalogue_is_kept(const struct stored_version *v);
/* Whether changes are written to the version. */
bool catalogue_is_live(const struct stored_version *v);
const struct stored_stop *catalogue_stop(const struct catalogue *c, struct str table);
/* kind: PAUSE_TOPIC or PAUSE_INDEX.  Returns NULL if it is not paused. */
const struct pause *catalogue_pause(const struct catalogue *c, const char *kind,
                                    struct str name);

#endif
