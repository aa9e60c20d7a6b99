/*
 * Compare two sets of definitions: objects added, changed and removed, and the changed fields,
 * old and new.
 *
 * Walks the form, and so knows which changes apply at once and which need a new index version.
 * The order of the result depends only on the form and the names.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DEFINITION_DIFF_H
#define SYNC_DEFINITION_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct map;

enum change { CHANGE_ADD = 0, CHANGE_CHANGE, CHANGE_REMOVE };

struct field_change {
    struct str path;          /* "relations[items].columns[qty].type" */
    struct str before, after; /* JSON; empty if not given. Secrets are "***". */
    bool needs_build;
};

struct definition_change {
    enum change change;
    const char *kind; /* "topic", "database", "table" */
    struct str name;
    struct str index; /* of a table */
    /*
     * The documents or the mapping change: an added table has no index yet, a changed one takes
     * effect in its next version.  For a topic or a database, this concerns all its tables.
     */
    bool needs_build;
    struct field_change *fields; /* for CHANGE_CHANGE */
    size_t n_fields;
};

struct definition_diff {
    struct definition_change *changes;
    size_t n;
    struct map *after;   /* the objects present afterwards, by kind and name */
    struct arena *arena; /* owns everything above */
};

/* Pass NULL as before to compare with nothing.  Copies strings. */
void definition_diff_make(const struct definitions *before, const struct definitions *after,
                          struct definition_diff *out);
/* Tell whether the diff adds or changes this object. */
bool definition_diff_touches(const struct definition_diff *d, const char *kind,
                             struct str name);
void definition_diff_free(struct definition_diff *d); /* a zeroed one is allowed */

/*
 * [{"action":"change","kind":"table","name":"shop.orders","index":"orders",
 *   "needs_build":true,
 *   "fields":[{"path":"columns[status].type","before":"keyword",
 *     "after":"text","needs_build":true}]}]
 */
void definition_diff_append_json(const struct definition_diff *d, struct buf *json);
/* The same for people, one line a field. */
void definition_diff_append_text(const struct definition_diff *d, struct buf *text);

#endif
