/*
 * Explains why a search engine, or a proxy before it, refused a request: its own words, the
 * kind of error, and how to fix it. sync/delivery/bulk/bulk_verdict.h judges the items of bulk
 * requests.
 *
 * @thread any (pure)
 */
#ifndef SRC_SEARCH_ENGINE_ERROR_H
#define SRC_SEARCH_ENGINE_ERROR_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

struct buf;

/* Appends "type: reason", or the start of any other body, on one line of at most 300 bytes. */
void engine_error_append_reason(struct buf *out, struct str body);

/* Appends the innermost reason of {"error": ...}, or what engine_error_append_reason() does. */
void engine_error_append_cause(struct buf *out, struct str body);

/*
 * Returns ERR_RETRY for trouble that passes or that somebody can mend, ERR_REJECT for the rest.
 */
enum err_kind engine_error_kind(int status, struct str body);

/* Returns "" or "; what to do"; static. */
const char *engine_error_fix(int status, struct str body);

#endif
