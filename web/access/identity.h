/*
 * Who sends a request to the port: by a token in the Authorization header (RFC 6750), or by the
 * cookie of a log-in.
 *
 * A browser sends the cookie with requests that other sites make, too.  So a request with it
 * that changes something must say in Origin that it comes from a page of this address.
 *
 * @thread any (never blocks)
 */
#ifndef WEB_ACCESS_IDENTITY_H
#define WEB_ACCESS_IDENTITY_H

#include "src/access/role.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;
struct coordinator;

#define SESSION_COOKIE "millrace_session"

/* Of the request's head; a missing field has ptr NULL. */
struct credentials {
    struct str authorization, cookie, origin, host;
    bool changes; /* its method is no GET */
    bool is_tls;  /* it came over TLS to this daemon */
};

enum identity_verdict {
    IDENTITY_FINE = 0,
    IDENTITY_UNKNOWN,    /* the Authorization header proves nothing */
    IDENTITY_CROSS_SITE, /* another site may have made the request */
};

struct port_caller {
    enum access_role role; /* ROLE_PAGE: nobody */
    bool sees_rows;        /* also as a viewer */
    struct str who;        /* "user anna"; empty: nobody */
    struct str user;       /* "anna", who has logged in; empty: nobody */
    struct str session;    /* the token of the log-in; empty: none */
};

enum identity_verdict identity_find(struct port_caller *out, struct coordinator *co,
                                    struct arena *a, const struct credentials *c) MUST_CHECK;

/* The value of a cookie in a Cookie header; ptr NULL: it is not there. */
struct str cookie_find(struct str header, struct str name);
/* Whether Origin names this host, over HTTP or HTTPS; is_tls: over HTTPS. */
bool origin_is_of(struct str origin, struct str host, bool is_tls) MUST_CHECK;

#endif
