#include "config.h"

#include "sync/delivery/bulk/cure.h"

#include <string.h>

#define ILLEGAL "illegal_argument_exception"
#define BLOCKED "cluster_block_exception"

/*
 * The first row that matches decides.  Only the reason of a block is searched: it holds names
 * of indexes and blocks, and nothing of a document.
 */
static const struct rule {
    const char *type;
    const char *start; /* of the reason */
    const char *part;  /* of the reason */
    enum cure cure;
} rules[] = {
    {BLOCKED, "", "/12/", CURE_DISK}, /* flood stage */
    {BLOCKED, "", "/4/", CURE_CLOSED},
    {BLOCKED, "", "", CURE_BLOCK},
    {"index_closed_exception", "", "", CURE_CLOSED},
    {"index_not_found_exception", "", "", CURE_MISSING},
    {ILLEGAL, "no write index is defined", "", CURE_MISSING},
    {ILLEGAL, "pipeline with id [", "", CURE_PIPELINE},
    {"illegal_state_exception", "Pipeline processor configured for non-existent pipeline [", "",
     CURE_PIPELINE},
    {ILLEGAL, "Limit of ", "", CURE_FIELDS},
    {ILLEGAL, "Number of documents in shard [", "", CURE_DOCUMENTS},
    {ILLEGAL, "number of documents in the index cannot exceed ", "", CURE_DOCUMENTS},
};

static bool fits(const struct rule *r, struct str type, struct str reason)
{
    const size_t len = strlen(r->start), part_len = strlen(r->part);

    return str_equal(type, str_from(r->type)) && reason.len >= len &&
           memcmp(reason.ptr, r->start, len) == 0 &&
           (part_len == 0 || memmem(reason.ptr, reason.len, r->part, part_len) != NULL);
}

static enum cure find(struct str type, struct str reason)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (fits(&rules[i], type, reason))
            return rules[i].cure;
    return CURE_NONE;
}

static enum cure of_status(int status)
{
    return status == 401 || status == 403 ? CURE_ACCESS : CURE_OTHER;
}

enum cure cure_of_request(int status, struct str type, struct str reason)
{
    const enum cure cure = find(type, reason);

    return cure != CURE_NONE ? cure : of_status(status);
}

enum cure cure_of_item(int status, const struct bulk_error *e)
{
    const enum cure cure = find(e->type, e->reason);

    return cure != CURE_NONE ? cure : cure_of_request(status, e->cause_type, e->cause_reason);
}
