/*
 * Definition files and what the store holds, to struct definitions.
 *
 * Files say what to add and change: an object that a file names replaces the stored one of that
 * name as a whole, the others stay (or go, with prune).  All mistakes of all files are
 * reported; with one error nothing is taken.
 *
 * A password once given stays: a topic or database that names no password, or `***`, keeps the
 * stored one; an empty text removes it.
 */
#ifndef SYNC_MODEL_DEFINITION_PARSE_H
#define SYNC_MODEL_DEFINITION_PARSE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/problem.h"
#include "sync/model/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct stored_definition;

/* name is for messages; folder is what paths inside are relative to (empty: they stay
 * relative). */
struct definition_file {
    struct str name, text, folder;
};

/* What the store holds, sorted by name.  NULL: problems say why. */
struct definitions *definition_from_store(const struct stored_definition *stored, size_t n,
                                          struct problems *problems) MUST_CHECK;

/*
 * What the definitions will be once the files are applied to the stored ones (NULL: none),
 * checked as far as that can be done without a database.  NULL: problems has at least one
 * error.
 */
struct definitions *definition_apply(const struct definitions *stored,
                                     const struct definition_file *files, size_t n, bool prune,
                                     struct problems *problems) MUST_CHECK;

/* The definitions without one object: NULL with err (ERR_REJECT) when it is not there or in
 * use. */
struct err;
struct definitions *definition_remove(const struct definitions *d, struct str kind,
                                      struct str name, struct err *err) MUST_CHECK;

#endif
