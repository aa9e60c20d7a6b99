/*
 * What a caller of the API may do.  docs/access.md says what each role is for.
 *
 * @thread any
 */
#ifndef SRC_ACCESS_ROLE_H
#define SRC_ACCESS_ROLE_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

/* Each role includes those before it. */
enum access_role {
    ROLE_WORDS = 0, /* anyone who reaches the port of the words: nothing else exists there */
    ROLE_PROBE,     /* anyone who reaches a listener: health and metrics */
    ROLE_PAGE,      /* anyone who reaches the port of the page */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
    N_ROLES,
};

/* "viewer" */
const char *role_name(enum access_role r) RETURNS_NONNULL;
/* Read the name of a role that a person can have: viewer, operator or admin. */
bool role_parse(enum access_role *out, struct str name) MUST_CHECK;

#endif
