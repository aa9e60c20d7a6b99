/*
 * Build struct definitions from definition files and from the store.
 *
 * Files say what to add and change: an object in a file replaces the stored object of that name
 * as a whole.  Other objects stay, or go with prune.  The parser reports all mistakes of all
 * files, and with any error applies nothing.
 *
 * Passwords stay: a topic or database that gives no password, or `***`, keeps the stored one.
 * An empty text removes it.
 */
#ifndef SYNC_DEFINITION_PARSE_H
#define SYNC_DEFINITION_PARSE_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct stored_definition;
struct variables;

/*
 * name is for messages.  Paths in the file are relative to folder; if folder is empty, they
 * stay relative.  variables fill in ${NAME} in values; NULL: it stays a text.
 */
struct definition_file {
    struct str name, text, folder;
    const struct variables *variables;
};

/* Build from the store, sorted by name.  On NULL, problems says why. */
struct definitions *definition_from_store(const struct stored_definition *stored, size_t n,
                                          struct problems *problems) MUST_CHECK;

/*
 * The definitions that result from applying the files to the stored ones (NULL for none),
 * checked as far as possible without a database.  On NULL, problems has at least one error.
 */
struct definitions *definition_apply(const struct definitions *stored,
                                     const struct definition_file *files, size_t n, bool prune,
                                     struct problems *problems) MUST_CHECK;

/*
 * The definitions without one object.  NULL with ERR_REJECT if the object does not exist or is
 * in use.
 */
struct err;
struct definitions *definition_remove(const struct definitions *d, struct str kind,
                                      struct str name, struct err *err) MUST_CHECK;

#endif
