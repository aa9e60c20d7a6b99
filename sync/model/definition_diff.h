/*
 * What differs between two sets of definitions: objects added, changed and removed, and for
 * each changed one its fields, old and new.
 *
 * Walks the form, so that it knows which differences take effect at once and which need a new
 * index version.  The order is that of the form and of names, whoever asks.
 *
 * @thread any (pure)
 */
#ifndef SYNC_MODEL_DEFINITION_DIFF_H
#define SYNC_MODEL_DEFINITION_DIFF_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/model/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

enum change { CHANGE_ADD = 0, CHANGE_CHANGE, CHANGE_REMOVE };

struct field_change {
    struct str path;          /* "relations[items].columns[qty].type" */
    struct str before, after; /* JSON; empty: not given.  Secrets are "***". */
    bool needs_build;
};

struct definition_change {
    enum change change;
    const char *kind; /* "topic", "database", "table" */
    struct str name;
    struct str index; /* of a table */
    /*
     * Documents or mapping become others: an added table has no index yet, a changed one takes
     * effect with its next version.  Of a topic or a database: that of all its tables.
     */
    bool needs_build;
    struct field_change *fields; /* of CHANGE_CHANGE */
    size_t n_fields;
};

struct definition_diff {
    struct definition_change *changes;
    size_t n;
    struct arena *arena; /* owns everything above */
};

/* before NULL: nothing was there.  Strings are copied. */
void definition_diff_make(const struct definitions *before, const struct definitions *after,
                          struct definition_diff *out);
void definition_diff_free(struct definition_diff *d); /* a zeroed one is fine */

/*
 * [{"action":"change","kind":"table","name":"shop.orders","index":"orders",
 *   "needs_build":true,
 *   "fields":[{"path":"columns[status].type","before":"keyword","after":"text","needs_build":true}]}]
 */
void definition_diff_append_json(const struct definition_diff *d, struct buf *json);
/* The same for people, one line a field. */
void definition_diff_append_text(const struct definition_diff *d, struct buf *text);

#endif
