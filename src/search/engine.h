/*
 * struct engine: identifies the search engine by its answer to GET /, and says which features
 * that Millrace needs its version has. This is the one table of how Elasticsearch 7 to 9 and
 * OpenSearch 1 to 3 differ for us. src/search/engine_error.h and
 * sync/delivery/bulk/bulk_verdict.h know how they refuse; docs/engines.md describes everything.
 *
 * @thread any (pure)
 */
#ifndef SRC_SEARCH_ENGINE_H
#define SRC_SEARCH_ENGINE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

struct buf;

enum search_flavor { SEARCH_UNKNOWN = 0, SEARCH_OPENSEARCH, SEARCH_ELASTICSEARCH };

struct engine {
    enum search_flavor flavor;
    unsigned version; /* 21905 for 2.19.5; 0: the newest */
    bool plain;       /* Elasticsearch without the extras that are not open source ("oss") */
};

enum engine_feature {
    ENGINE_REQUIRE_ALIAS = 0, /* a bulk request can insist on an alias; we require this */
    ENGINE_FLAT_JSON,         /* flat_object, flattened */
    ENGINE_UNSIGNED_LONG,
    ENGINE_COMPATIBLE, /* can answer like an older major version on request */
    N_ENGINE_FEATURES,
};

/*
 * Parses the body of GET /. Appends the version, as the engine reports it, to text. ERR_REJECT
 * if this is not a search engine or is too old.
 */
bool engine_identify(struct str body, struct engine *out, struct buf *text,
                     struct err *err) MUST_CHECK;

/* Treats version 0 as the newest version, and an unknown engine as the newest OpenSearch. */
bool engine_has(const struct engine *e, enum engine_feature feature);

/* "Elasticsearch", "OpenSearch" */
const char *engine_name(const struct engine *e);
/* Returns true if the engine is newer than all known versions: we treat it like the newest. */
bool engine_is_new(const struct engine *e);
unsigned engine_major(const struct engine *e);

/*
 * Returns the major version that we ask the engine to answer as (compatible-with=N in its media
 * types), so that an upgrade of the engine changes nothing for us; 0 if it cannot.
 */
unsigned engine_compatible(const struct engine *e);

#endif
