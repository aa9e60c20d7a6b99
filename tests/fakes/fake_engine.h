/*
 * struct fake_engine: the documents of a fake search engine, with versions and tombstones.
 *
 * @thread one at a time
 */
#ifndef TESTS_FAKES_FAKE_ENGINE_H
#define TESTS_FAKES_FAKE_ENGINE_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_engine;

enum fake_version_type {
    FAKE_INTERNAL = 0,
    FAKE_EXTERNAL,     /* an equal version is a conflict */
    FAKE_EXTERNAL_GTE, /* an equal version is accepted */
};

struct fake_op {
    struct str id;
    bool is_delete;
    enum fake_version_type version_type;
    uint64_t version;
    struct str body;
};

struct fake_engine *fake_engine_new(void) RETURNS_NONNULL MUST_CHECK;
void fake_engine_free(struct fake_engine *e);

/* False: it is there already, or is not there. */
bool fake_engine_create(struct fake_engine *e, struct str index);
bool fake_engine_delete(struct fake_engine *e, struct str index);
bool fake_engine_exists(const struct fake_engine *e, struct str index);
void fake_engine_alias(struct fake_engine *e, struct str alias, struct str index, bool remove);
/* The index behind an alias; ptr NULL: it is none. */
struct str fake_engine_resolve(const struct fake_engine *e, struct str alias);

/* The next index, or alias and index, from *i on (0 at first), in no order; false: no more. */
bool fake_engine_next(const struct fake_engine *e, size_t *i, struct str *index);
bool fake_engine_next_alias(const struct fake_engine *e, size_t *i, struct str *alias,
                            struct str *index);

/*
 * Apply op to an index that exists.  The item's status; of a conflict, *stored is the version
 * that is there.
 */
int fake_engine_apply(struct fake_engine *e, struct str index, const struct fake_op *op,
                      int64_t now_ms, uint64_t *stored);
/* False: not there, or deleted. */
bool fake_engine_get(struct fake_engine *e, struct str index, struct str id, uint64_t *version,
                     struct buf *body);
size_t fake_engine_count(const struct fake_engine *e, struct str index);

/* Tombstones are forgotten after ms; all of them now. */
void fake_engine_set_gc_deletes(struct fake_engine *e, int64_t ms);
void fake_engine_restart_shards(struct fake_engine *e);

#endif
