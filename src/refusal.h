/*
 * What a search engine, or what stands before it, says when it refuses a request: its own
 * words, what kind of trouble they are, and what to do about it.  Items of bulk requests are
 * sync/delivery/bulk_verdict.h's.
 *
 * @thread any (pure)
 */
#ifndef SRC_REFUSAL_H
#define SRC_REFUSAL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

struct buf;

/* Append "type: reason", or the beginning of whatever the body is, in one line; 300 bytes at
 * most. */
void refusal_append_reason(struct buf *out, struct str body);

/* ERR_RETRY for what goes away by itself or once somebody has mended it, ERR_REJECT for the
 * rest. */
enum err_kind refusal_kind(int status, struct str body);

/* "" or "; what to do", static. */
const char *refusal_fix(int status, struct str body);

#endif
