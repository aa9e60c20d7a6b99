/*
 * The description of the API as OpenAPI 3.1, for programs.
 *
 * Methods, paths, roles, summaries and limits come from the table of routes, the rest from
 * web/operation/, which the handlers use as well.  So it shows what the daemon does.
 *
 * @thread any (pure)
 */
#ifndef WEB_OPENAPI_H
#define WEB_OPENAPI_H

#include "src/base/str.h"

#include <stddef.h>

struct buf;
struct route;

struct openapi_facts {
    struct str version; /* the program's */
    struct str prefix;  /* of the port's paths; empty: none */
};

/* Append the JSON document. */
void openapi_append(const struct route *routes, size_t n, const struct openapi_facts *facts,
                    struct buf *out);

#endif
