/*
 * How index versions end: retired, dropped, deleted; and the effects of new definitions.
 *
 * A version that searches have used is retired once no definition names its index: its record
 * and its index stay, nothing writes to it, and its pending work is forgotten.  Dropping a
 * version deletes its record at once and remembers its index until the engine has deleted it.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_RETIRED_H
#define SRC_STORE_RETIRED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

/* Effects of new definitions, stored in the same transaction.  Any list may be empty. */
struct definition_effects {
    /* No definition names their index: retire them, or drop those that searches never used. */
    const struct version_name *unnamed;
    size_t n_unnamed;
    bool drops; /* drop them all */
    /* Retired, but a definition names their index again: make them history. */
    const struct version_name *renamed;
    size_t n_renamed;
    /* Clear their stops and rebuild requests. */
    const struct str *tables;
    size_t n_tables;
    const struct stored_value *values; /* stored; one without content is deleted */
    size_t n_values;
    int64_t at_ms;
};

/* Replace all definitions.  ERR_RETRY if the stored revision is not `revision`. */
/* Tells whether the error is that somebody else saved definitions meanwhile. */
bool store_is_other_revision(const struct err *err) MUST_CHECK;
bool store_save_definitions(struct store *s, uint64_t revision,
                            const struct stored_definition *defs, size_t n,
                            const struct definition_effects *e, struct err *err) MUST_CHECK;
/* Store the effects alone.  ERR_RETRY as above. */
bool store_save_effects(struct store *s, uint64_t revision, const struct definition_effects *e,
                        struct err *err) MUST_CHECK;

/*
 * Delete the version's record with its jobs, shapes, wait, fan-out jobs, gone documents and
 * small values.  Its index is left to others.
 */
bool store_delete_version(struct store *s, struct str index, uint64_t number,
                          struct err *err) MUST_CHECK;
/*
 * Do the same for all of them or for none, and remember their indexes until
 * store_end_dropped().
 */
bool store_drop_versions(struct store *s, const struct version_name *list, size_t n,
                         struct err *err) MUST_CHECK;
bool store_load_dropped(struct store *s, struct arena *a, struct version_name **out, size_t *n,
                        struct err *err) MUST_CHECK;
/* The engine has deleted the index: remove what is stored under its name, and forget it. */
bool store_end_dropped(struct store *s, struct str index, uint64_t number,
                       struct err *err) MUST_CHECK;

#endif
