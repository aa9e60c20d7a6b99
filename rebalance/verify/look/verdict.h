/*
 * What a look at both sides of one document says: pure.
 *
 * A look has the document that the row makes now, if any, and the copies that the engine has
 * under its `_id`, at most one in each shard.
 */
#ifndef REBALANCE_VERIFY_LOOK_VERDICT_H
#define REBALANCE_VERIFY_LOOK_VERDICT_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "src/format/json_difference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct relation_definition;

enum verify_kind {
    VERIFY_MISSING = 0, /* no copy, where the row makes a document */
    VERIFY_EXTRA,       /* a copy, where the row makes none */
    VERIFY_DIFFERENT,   /* a copy with another value */
    VERIFY_ROUTING,     /* a copy under another routing, perhaps beside the right one */
    VERIFY_UNEXPLAINED, /* a copy whose id no row of any table can have */
    VERIFY_LINEAGE,     /* a copy whose version Millrace cannot have given out */
    VERIFY_ORPHAN,      /* a join child whose parent has no row: no difference of the index */
    N_VERIFY_KINDS,
};
/* "missing", "extra", ... */
const char *verify_kind_word(enum verify_kind kind);

struct verify_copy {
    struct str routing; /* that it is stored with; empty for none */
    uint64_t version;
    struct str source; /* JSON; ptr NULL if the index does not keep it */
};

struct verify_look {
    bool is_wanted;           /* the row makes a document */
    struct str routing, body; /* of that document */
    const struct verify_copy *copies;
    size_t n_copies;
};

/* Tell whether both looks saw the same: the same texts and versions. */
bool verify_look_equal(const struct verify_look *a, const struct verify_look *b);

struct verify_rules {
    uint64_t version_min, version_max; /* the versions that Millrace can have given out */
    bool compares_values;              /* the index keeps documents as they were sent */
    bool allows_extra;                 /* a pipeline of the engine may have added members */
};

#define VERIFY_PATHS_MAX 20 /* of one document; more are counted */

struct verify_finding {
    enum verify_kind kind;
    struct str routing;            /* of the copy; for a missing one, where it should be */
    uint64_t version;              /* of the copy; 0 for a missing one */
    struct json_difference *paths; /* VERIFY_DIFFERENT */
    size_t n_paths;
    uint64_t n_paths_all;
};

/*
 * Judge a look. out has room for n_copies + 1 findings. Returns their number: 0 if both sides
 * are equal. The paths are in the arena, the values within the texts of the look.
 */
size_t verify_judge(const struct verify_look *look, const struct verify_rules *rules,
                    struct arena *a, struct verify_finding *out);

/*
 * Tell whether the path lies in a part of the document that Millrace does not follow
 * (`refresh: none`).
 */
bool verify_path_is_unfollowed(struct str path, const struct relation_definition *relations,
                               size_t n);
/*
 * Tell whether the path lies in a part that shows one of these tables, or is reached through
 * it.
 */
struct verify_tables {
    const struct str *names;
    size_t n;
};
bool verify_path_shows(struct str path, const struct relation_definition *relations, size_t n,
                       const struct verify_tables *tables);

#endif
