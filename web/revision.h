/*
 * The revision of the definitions as an entity tag: of an answer that shows them, and of a
 * request that changes them only as they were (RFC 9110, sections 8.8.3 and 13.1.1).
 *
 * @thread any (no state)
 */
#ifndef WEB_REVISION_H
#define WEB_REVISION_H

#include "src/base/base.h"
#include "src/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct change_terms;
struct request;
struct response;

/* Answer with this revision as ETag. */
void revision_tell(struct response *res, uint64_t revision);

/*
 * Read who sends the request, and the revision that If-Match names.  Without that header, and
 * with "*", any revision will do.  *revision is the room that out points to.  Refuses a list,
 * and a tag that was never ours (412).
 */
bool revision_terms(struct change_terms *out, uint64_t *revision, const struct request *req,
                    struct err *err) MUST_CHECK;

#endif
