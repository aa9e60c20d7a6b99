/*
 * Parses the head of a request, strictly and only once.
 *
 * Refuses whatever two programs could read differently: a line that does not end with CR LF, a
 * folded line, a NUL, two lengths, two hosts, a length beside a transfer coding.  A body needs
 * a Content-Length; transfer codings are refused.
 */
#ifndef WEB_HEAD_H
#define WEB_HEAD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdint.h>

#define HEAD_BYTES_MAX  ((size_t)16 << 10)
#define HEAD_FIELDS_MAX 64

struct arena;

enum head_state {
    HEAD_MORE = 0, /* valid so far, but incomplete */
    HEAD_DONE,
    HEAD_BAD,
};

/* Borrowed from the bytes.  A missing field has ptr NULL. */
struct head {
    struct str method, target;
    struct str host, content_type, if_match, if_none_match, accept_encoding, authorization,
        cookie, origin;
    struct str idempotency_key, last_event_id;
    uint64_t content_length;
};

/*
 * Parse raw, which begins with the head and may continue after it.  HEAD_BAD: err is ERR_REJECT
 * with the HTTP status in err.code.  A bad head stays bad whatever follows.
 */
enum head_state head_parse(struct head *out, struct str raw, struct err *err) MUST_CHECK;
/* A head whose strings live in a. */
struct head head_copy(const struct head *h, struct arena *a);

#endif
