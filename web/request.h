/*
 * One request and its answer, as the routes see them: no sockets, no library.
 *
 * The target is split into segments first; then each segment is percent-decoded once.  So an
 * encoded slash is part of a name, never of the path.  Errors are RFC 9457 problems.
 *
 * @thread one at a time
 */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "web/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define REQUEST_SEGMENTS_MAX 12
#define REQUEST_PARAMS_MAX   24

enum request_method {
    METHOD_GET = 0, /* HEAD is a GET whose body the server leaves out */
    METHOD_POST,
    METHOD_PATCH,
    METHOD_DELETE,
    N_METHODS, /* any other */
};

/* What a caller may do; each role includes those before it. */
enum request_role {
    ROLE_PROBE = 0, /* anyone who reaches a listener: health and metrics */
    ROLE_PAGE,      /* anyone who reaches the port of the page */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
};

struct request_param {
    struct str name, value;
};

struct request_target {
    struct str raw;                            /* as received; borrowed */
    struct str segments[REQUEST_SEGMENTS_MAX]; /* "/" has none */
    size_t n_segments;
    struct request_param params[REQUEST_PARAMS_MAX];
    size_t n_params;
};

struct request {
    enum request_method method;
    enum request_role role;
    struct request_target target;
    struct str content_type;
    struct str body;
    struct str user; /* who sent it, for people */
    bool is_wish;    /* another node passed it on: carry it out here */
};

struct response {
    int status;
    const char *type;  /* static; of the body */
    const char *allow; /* static; for a 405, else NULL */
    struct buf body;
    char nonce[33]; /* of a page's inline style sheet, else empty */
};

enum request_method request_method_parse(struct str name);
const char *request_method_name(enum request_method m);

/*
 * Split and decode "/a/b?c=d".  The strings live in a.  Refuses: anything but an absolute path,
 * an empty or dot segment, a broken escape, a NUL, invalid UTF-8, too many parts.
 */
bool request_target_parse(struct request_target *out, struct arena *a, struct str raw,
                          struct err *err) MUST_CHECK;
/* The value of a query parameter, or an empty str. */
struct str request_param(const struct request_target *t, const char *name);

/* True if a Host header names this machine's loopback or the host we listen on. */
bool request_host_allowed(struct str host, struct str listen_host);

/* A failure: one line for people and one word for programs. */
struct response_problem {
    int status;
    const char *code; /* "not-found"; NULL: derived from the status */
    struct str detail;
    struct str fix;         /* empty: none */
    struct str errors_json; /* a list of errors, each with its place; empty: none */
};

/* Replace the content of res with the problem. */
void response_set_problem(struct response *res, const struct response_problem *p);
/* The status for err: its code if that is an HTTP status from 400 to 499, else by its kind. */
int response_err_status(const struct err *err);
/*
 * Do the same for a failed call.  The text after "; fix: " in its message becomes the fix.
 * errors_json is as in the problem.
 */
void response_set_err(struct response *res, const struct err *err, struct str errors_json);
/* The reason phrase for a status line. */
const char *response_status_text(int status);
/* Call on_header() for every header of the answer except Content-Length. */
void response_each_header(const struct response *res,
                          void (*on_header)(void *cls, const char *name, const char *value),
                          void *cls);
/* Give res a nonce: 32 random hexadecimal digits that nobody can guess. */
void response_set_nonce(struct response *res);

/*
 * Finish a handler.  ok: set the status; the coordinator has written the body to c->res.
 * Otherwise: answer with the problem of err; if the call had written a JSON list, that becomes
 * its "errors".
 */
void answer(struct api_call *c, int status, bool ok, const struct err *err);

/* Answer an invalid request: a problem with status 400. */
void answer_bad(struct api_call *c, const char *detail);

#endif
