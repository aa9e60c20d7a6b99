/*
 * struct engine: which search engine it is, by what it answers to GET /, and what of Millrace's
 * needs its version meets: the one table of how Elasticsearch 7 to 9 and OpenSearch 1 to 3
 * differ for us.  How they refuse is src/refusal.h's and sync/delivery/bulk_verdict.h's,
 * docs/engines.md has it all.
 *
 * @thread any (pure)
 */
#ifndef SRC_ENGINE_H
#define SRC_ENGINE_H

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
    ENGINE_REQUIRE_ALIAS = 0, /* a bulk request can insist on an alias; nothing goes without */
    ENGINE_FLAT_JSON,         /* flat_object, flattened */
    ENGINE_UNSIGNED_LONG,
    ENGINE_COMPATIBLE, /* answers as an older major version does, if it is asked to */
    N_ENGINE_FEATURES,
};

/*
 * From the body of GET /.  text gets the version as it is told.  ERR_REJECT: no search engine,
 * or one that is too old.
 */
bool engine_identify(struct str body, struct engine *out, struct buf *text,
                     struct err *err) MUST_CHECK;

/* An unknown engine, or version 0, has what the newest one has; an unknown one is taken for
 * OpenSearch. */
bool engine_has(const struct engine *e, enum engine_feature feature);

/* "Elasticsearch", "OpenSearch" */
const char *engine_name(const struct engine *e);
/* Newer than all that are known: it is treated like the newest. */
bool engine_is_new(const struct engine *e);
unsigned engine_major(const struct engine *e);

/*
 * The major version as which it is to answer (compatible-with=N in its media types), so that an
 * upgrade of the engine changes nothing for us; 0: it knows no such thing.
 */
unsigned engine_compatible(const struct engine *e);

#endif
