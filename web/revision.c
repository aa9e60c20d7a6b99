#include "config.h"

#include "web/revision.h"

#include "rebalance/admin/definitions.h"
#include "web/body.h"
#include "web/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void revision_tell(struct response *res, uint64_t revision)
{
    char tag[32];

    snprintf(tag, sizeof(tag), "\"%" PRIu64 "\"", revision);
    response_add_header(res, "ETag", tag);
}

/* Strip the quotes of a tag. */
static bool unquote(struct str *tag)
{
    if (tag->len < 2 || tag->ptr[0] != '"' || tag->ptr[tag->len - 1] != '"')
        return false;
    *tag = (struct str){tag->ptr + 1, tag->len - 2};
    return true;
}

bool revision_terms(struct change_terms *out, uint64_t *revision, const struct request *req,
                    struct err *err)
{
    struct str tag = req->if_match;

    *out = (struct change_terms){.by = req->user};
    if (tag.len == 0 || str_equal(tag, STR("*")))
        return true;
    out->revision = revision;
    if (memchr(tag.ptr, ',', tag.len) != NULL)
        return err_set_code(err, ERR_REJECT, "http", 400,
                            "If-Match has more than one tag; fix: give the ETag of the answer "
                            "that the change is made from");
    return (unquote(&tag) && body_parse_uint(tag, revision)) ||
           err_set_code(err, ERR_REJECT, "http", 412,
                        "If-Match has a tag that no answer had; fix: give the ETag of the "
                        "answer that the change is made from, with its quotes");
}
