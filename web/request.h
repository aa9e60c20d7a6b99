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

#include "src/access/role.h"
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
#define RESPONSE_HEADERS_MAX 4 /* of its own */

enum request_method {
    METHOD_GET = 0, /* HEAD is a GET whose body the server leaves out */
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    N_METHODS, /* any other */
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
    enum access_role role;
    struct request_target target;
    struct str content_type;
    struct str if_match;        /* empty: none */
    struct str if_none_match;   /* empty: none */
    struct str accept_encoding; /* empty: none */
    struct str idempotency_key; /* ptr NULL: none */
    struct str body;
    struct str user;    /* who sent it, for people */
    struct str account; /* "anna": who has logged in; empty: nobody, as of a token */
    bool sees_rows;     /* also as a viewer */
    struct str from;    /* the address it came from; empty: the unix socket */
    uint64_t sender;    /* address_sender() of it; 0 for the unix socket, too */
    struct str origin;  /* of the page that a browser sent it from; empty: none */
    struct str session; /* the token of the log-in it belongs to; empty: none */
    bool is_head;       /* leave the body out */
    bool is_tls;        /* it came over TLS to this daemon */
    bool is_open;       /* it came to a port that other machines reach */
    bool is_read_only;  /* it may change nothing (web.read_only) */
    bool is_wish;       /* another node passed it on: carry it out here */
};

/* One that not every answer has. */
struct response_header {
    const char *name; /* static */
    char value[256];
};

struct response {
    int status;
    const char *type; /* static; of the body */
    struct buf body;
    char nonce[33];    /* of a page's inline style sheet, else empty */
    const char *cache; /* static; Cache-Control; NULL: no-store */
    bool is_of_page;   /* a file of the admin page, whose policy it has */
    struct response_header headers[RESPONSE_HEADERS_MAX];
    size_t n_headers;
    bool is_strict; /* browsers shall come to this host over TLS only */
    bool is_stream; /* the server sends events instead of the body */
};

/* Whether the caller may see rows and documents. */
bool request_sees_rows(const struct request *req);

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

/* A Host header without its port. */
struct str request_host_name(struct str host);
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

/* Give res a header of its own.  name is static; value has 255 bytes at most. */
void response_add_header(struct response *res, const char *name, const char *value);
/* Replace the content of res with the problem. */
void response_set_problem(struct response *res, const struct response_problem *p);
/* The status for err: its code if that is an HTTP status from 400 to 499, else by its kind. */
int response_err_status(const struct err *err);
/*
 * Do the same for a failed call.  The text after "; fix: " in its message becomes the fix.
 * errors_json is as in the problem.
 */
void response_set_err(struct response *res, const struct err *err, struct str errors_json);
/* Replace the content of res with a 401 that says how to prove who one is. */
void response_ask_for_token(struct response *res, struct str detail);
/* The reason phrase for a status line. */
const char *response_status_text(int status);
/* Call on_header() for every header of the answer except Content-Length. */
void response_each_header(const struct response *res,
                          void (*on_header)(void *cls, const char *name, const char *value),
                          void *cls);
/* Append the whole answer, as it goes over the wire. */
void response_format(struct buf *out, const struct response *res);
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
