/*
 * Reads a request's JSON body and query parameters, strictly.
 *
 * An unknown or mistyped member is an error that names it.  Numbers are whole and at most 2^53.
 * Every failure is ERR_REJECT with the HTTP status in err.code.
 */
#ifndef WEB_BODY_H
#define WEB_BODY_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define REASON_MAX 1000

struct cJSON;
struct input;
struct request;
struct request_target;

/*
 * Parse the body as an object that may have only the given members (NULL: any).  A missing body
 * is an empty object.  Release with cJSON_Delete().
 */
bool body_parse(struct cJSON **out, const struct request *req, const struct input *members,
                struct err *err) MUST_CHECK;

/* Check that no two members of an object have the same name. */
bool body_unique(const struct cJSON *object, struct err *err) MUST_CHECK;
/* Check that the members of an object are among these, and each there once. */
bool body_known(const struct cJSON *object, const struct input *members,
                struct err *err) MUST_CHECK;

/* A missing member leaves *out unchanged.  Strings are borrowed from the object. */
bool body_bool(const struct cJSON *body, const char *name, bool *out,
               struct err *err) MUST_CHECK;
bool body_uint(const struct cJSON *body, const char *name, uint64_t *out,
               struct err *err) MUST_CHECK;
bool body_str(const struct cJSON *body, const char *name, struct str *out,
              struct err *err) MUST_CHECK;

/* The same for query parameters. */
bool param_uint(const struct request_target *t, const char *name, uint64_t *out,
                struct err *err) MUST_CHECK;
bool param_bool(const struct request_target *t, const char *name, bool *out,
                struct err *err) MUST_CHECK;
/*
 * Check that every parameter is one of params (NULL: the request takes none) or, of a change,
 * why somebody does it.
 */
bool params_known(const struct request_target *t, const struct input *params, bool is_change,
                  struct err *err) MUST_CHECK;
/* Take the parameter "why": REASON_MAX bytes of UTF-8 at most; empty if there is none. */
bool param_reason(const struct request_target *t, struct str *out, struct err *err) MUST_CHECK;

/* Parse a whole number in decimal digits. */
bool body_parse_uint(struct str text, uint64_t *out) MUST_CHECK;

#endif
