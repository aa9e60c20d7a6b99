/*
 * Which dead letters a request is about.
 */
#ifndef WEB_LETTER_FILTER_H
#define WEB_LETTER_FILTER_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>

struct cJSON;
struct dead_letter_filter;

/*
 * Read which dead letters to replay or discard.  Without any filter, "all" must be true.  The
 * texts are borrowed from the body.
 */
bool letter_filter_read(const struct cJSON *body, struct dead_letter_filter *f,
                        struct err *err) MUST_CHECK;

#endif
