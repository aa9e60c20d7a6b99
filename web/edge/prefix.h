/*
 * The path below which the port serves everything (web.prefix), as a reverse proxy that shares
 * its host with others passes it on.
 *
 * Pure.
 */
#ifndef WEB_EDGE_PREFIX_H
#define WEB_EDGE_PREFIX_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>

#define PREFIX_MAX 64 /* bytes */

enum prefix_fit {
    PREFIX_FITS = 0,
    PREFIX_BARE,  /* the prefix itself, without the slash that makes relative links work */
    PREFIX_OTHER, /* a path that is not below it */
};

/* Check the setting: "/millrace", "/tools/millrace".  NULL and empty: there is none. */
bool prefix_check(const char *prefix, struct err *err) MUST_CHECK;
/*
 * Cut the prefix off target, a request's.  The paths of health and metrics fit without it, too.
 * An empty prefix always fits.
 */
enum prefix_fit prefix_cut(struct str *target, struct str prefix) MUST_CHECK;

#endif
