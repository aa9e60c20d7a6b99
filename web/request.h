/*
 * One request and its answer, as the routes see them: no sockets, no library.
 *
 * The target is split into segments first and each segment is percent-decoded once after that,
 * so an encoded slash is part of a name and never of the path.  Errors are RFC 9457 problems.
 *
 * @thread one at a time
 */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

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
    ROLE_NONE = 0, /* whoever reaches the port */
    ROLE_VIEWER,
    ROLE_OPERATOR,
    ROLE_ADMIN,
};

struct request_param {
    struct str name, value;
};

struct request_target {
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
};

struct response {
    int status;
    const char *type;  /* static; of the body */
    const char *allow; /* static; of a 405, else NULL */
    struct buf body;
    char nonce[33]; /* of the inline style sheet of a page, else empty */
};

enum request_method request_method_parse(struct str name);
const char *request_method_name(enum request_method m);

/*
 * Split and decode "/a/b?c=d".  The strings live in a.  Refused: anything but an absolute path,
 * an empty or dot segment, a broken escape, a NUL, text that is not UTF-8, too many parts.
 */
bool request_target_parse(struct request_target *out, struct arena *a, struct str raw,
                          struct err *err) MUST_CHECK;
/* The value of the query parameter, or an empty str. */
struct str request_param(const struct request_target *t, const char *name);

/* Whether a Host header names this machine's loopback (or the host that we listen on). */
bool request_host_allowed(struct str host, struct str listen_host);

/* What a failure is, in one line for people and one word for programs. */
struct response_problem {
    int status;
    const char *code; /* "not-found"; NULL: from the status */
    struct str detail;
    struct str fix;         /* empty: none */
    struct str errors_json; /* a list of what is wrong, each with its place; empty: none */
};

/* Replace res by the problem. */
void response_set_problem(struct response *res, const struct response_problem *p);
/* The status that fits err: its own if it is an HTTP one, else by its kind. */
int response_err_status(const struct err *err);
/*
 * The same for a failed call; what follows "; fix: " in its message is the fix.  errors_json:
 * as in the problem.
 */
void response_set_err(struct response *res, const struct err *err, struct str errors_json);
/* Give res a nonce: 32 hexadecimal digits that nobody can guess. */
void response_set_nonce(struct response *res);

#endif
