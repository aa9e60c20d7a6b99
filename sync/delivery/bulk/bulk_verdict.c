#include "config.h"

#include "sync/delivery/bulk/bulk_verdict.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#define ANY NULL

/*
 * The first matching rule decides.  Compare a reason from its start only: further in it quotes
 * ids and values, and the text of a row must not be able to hold an index.
 */
static const struct request_rule {
    int from, to;       /* status */
    const char *type;   /* the error's full type */
    const char *reason; /* the start of the error's reason */
    enum request_verdict verdict;
} request_rules[] = {
    {200, 299, ANY, ANY, REQUEST_ITEMS},
    {400, 400, "index_closed_exception", ANY, REQUEST_HOLD},
    {400, 400, "media_type_header_exception", ANY,
     REQUEST_HOLD}, /* a node of another version */
    {400, 400, "illegal_argument_exception", "no write index is defined", REQUEST_HOLD},
    {400, 400, ANY, ANY, REQUEST_MALFORMED},
    {408, 408, ANY, ANY, REQUEST_UNKNOWN},
    {413, 413, ANY, ANY, REQUEST_TOO_LARGE},
    {429, 429, "cluster_block_exception", ANY, REQUEST_HOLD}, /* flood stage */
    {429, 429, ANY, ANY, REQUEST_BUSY},
    {300, 499, ANY, ANY, REQUEST_HOLD}, /* permissions, a block, no such alias, not an engine */
    {INT_MIN, INT_MAX, ANY, ANY, REQUEST_UNKNOWN},
};

/*
 * Starts of reasons of a 400 of type illegal_argument_exception that the index causes, not the
 * document.  Elasticsearch 7.16 and later report the field limits as the innermost cause of a
 * document's error.
 */
static const char *const index_reasons[] = {
    "no write index is defined",
    "pipeline with id [", /* the definition or the index names a pipeline that is gone */
    "Limit of total fields [",
    "Limit of mapping depth [",
    "Limit of nested fields [",
    "Number of documents in shard [",
    "number of documents in the index cannot exceed ", /* Lucene's limit for a shard */
};

#define INDEX_OP  (1u << DOC_INDEX)
#define DELETE_OP (1u << DOC_DELETE)
#define UPDATE_OP (1u << DOC_UPDATE)
#define ANY_OP    (INDEX_OP | DELETE_OP | UPDATE_OP)

static const struct item_rule {
    int from, to;     /* status */
    unsigned ops;     /* one bit for each */
    const char *type; /* "": no error */
    const char *reason;
    enum item_verdict verdict;
} item_rules[] = {
    {200, 299, ANY_OP, "", ANY, ITEM_DELIVERED},
    {404, 404, DELETE_OP, "", ANY, ITEM_DELIVERED},
    {409, 409, UPDATE_OP, ANY, ANY, ITEM_WHOLE},
    {409, 409, ANY_OP, "version_conflict_engine_exception", ANY, ITEM_CONFLICT},

    {400, 400, ANY_OP, "index_closed_exception", ANY, ITEM_HOLD},
    {400, 400, ANY_OP, "validation_exception", ANY, ITEM_HOLD}, /* the cluster's shard limit */
    {400, 400, ANY_OP, "invalid_index_name_exception", ANY, ITEM_HOLD},
    {400, 400, ANY_OP, "settings_exception", ANY, ITEM_HOLD},
    {400, 400, UPDATE_OP, ANY, ANY, ITEM_WHOLE}, /* script failed, or scripts disabled */
    {413, 413, UPDATE_OP, ANY, ANY, ITEM_WHOLE},
    {400, 400, ANY_OP, ANY, ANY, ITEM_REFUSED},
    {413, 413, ANY_OP, ANY, ANY, ITEM_REFUSED},

    {429, 429, ANY_OP, "cluster_block_exception", ANY, ITEM_HOLD}, /* flood stage */
    {429, 429, ANY_OP, ANY, ANY, ITEM_BUSY},

    /* A shard or node goes, comes or moves: unknown, whatever the status. */
    {404, 599, ANY_OP, "node_closed_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "node_not_connected_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "node_disconnected_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "connect_transport_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "send_request_transport_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "receive_timeout_transport_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "no_shard_available_action_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "unavailable_shards_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "already_closed_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "illegal_index_shard_state_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "index_shard_closed_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "shard_not_found_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "shard_not_in_primary_mode_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "no_longer_primary_shard_exception", ANY, ITEM_UNKNOWN},
    {404, 599, ANY_OP, "retry_on_primary_exception", ANY, ITEM_UNKNOWN},
    {503, 503, ANY_OP, "circuit_breaking_exception", ANY, ITEM_BUSY}, /* before 7.0 */

    {401, 401, ANY_OP, ANY, ANY, ITEM_HOLD},
    {403, 403, ANY_OP, ANY, ANY, ITEM_HOLD}, /* rights; read-only, and flood stage before 7.7 */
    {404, 404, ANY_OP, "index_not_found_exception", ANY, ITEM_HOLD},
    {404, 404, UPDATE_OP, ANY, ANY, ITEM_WHOLE}, /* no such document */

    /* What a pipeline says; most of its processors fail with 400. */
    {500, 500, INDEX_OP, "fail_processor_exception", ANY, ITEM_REFUSED},
    {500, 500, INDEX_OP, "illegal_state_exception",
     "Pipeline processor configured for non-existent pipeline [", ITEM_HOLD},

    {502, 504, ANY_OP, ANY, ANY, ITEM_UNKNOWN},
    {INT_MIN, INT_MAX, ANY_OP, ANY, ANY, ITEM_DOUBTFUL},
};

static bool is_type(struct str type, const char *rule)
{
    return rule == ANY || str_equal(type, str_from(rule));
}

static bool begins_with(struct str reason, const char *rule)
{
    return rule == ANY || str_has_prefix(reason, str_from(rule));
}

/* Find the number after the first `name` in s.  *rest gets the text behind it. */
static bool find_number(struct str s, const char *name, uint64_t *v, struct str *rest)
{
    const size_t len = strlen(name);
    size_t i = 0;

    while (i + len <= s.len && memcmp(s.ptr + i, name, len) != 0)
        i++;
    if (i + len >= s.len || s.ptr[i + len] < '0' || s.ptr[i + len] > '9')
        return false;
    *v = 0;
    for (i += len; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++)
        if (__builtin_mul_overflow(*v, 10u, v) ||
            __builtin_add_overflow(*v, (uint64_t)(s.ptr[i] - '0'), v))
            return false;
    *rest = (struct str){s.ptr + i, s.len - i};
    return true;
}

/*
 * The limit on the operation itself stands right after its size.  (OpenSearch's limit on a
 * shard has another name and varies with the load of other shards.)
 */
static enum bulk_room room_of_pressure(struct str reason)
{
    static const char *const limits[] = {", max_coordinating_and_primary_bytes=",
                                         ", max_coordinating_bytes=", ", max_primary_bytes="};
    struct str rest;
    uint64_t asked, limit;

    if (!find_number(reason, "_operation_bytes=", &asked, &rest))
        return ROOM_UNTOLD;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (begins_with(rest, limits[i]) && find_number(rest, limits[i], &limit, &rest))
            return asked > limit ? ROOM_NEVER : ROOM_BUSY;
    return ROOM_UNTOLD;
}

/* The node's own memory counts, too, so a size below the limit may still never fit. */
static enum bulk_room room_of_breaker(struct str reason)
{
    struct str rest;
    uint64_t limit, asked;

    if (find_number(reason, "larger than the limit of [", &limit, &rest) &&
        find_number(rest, "new bytes reserved: [", &asked, &rest) && asked > limit)
        return ROOM_NEVER;
    return ROOM_UNTOLD;
}

static bool contains(struct str s, const char *what)
{
    const size_t len = strlen(what);

    for (size_t i = 0; i + len <= s.len; i++)
        if (memcmp(s.ptr + i, what, len) == 0)
            return true;
    return false;
}

enum bulk_room bulk_verdict_room(struct str type, struct str reason)
{
    static const char *const pressures[] = {"rejected execution of coordinating operation [",
                                            "rejected execution of primary operation ["};

    if (str_equal(type, STR("circuit_breaking_exception")))
        return room_of_breaker(reason);
    if (!str_equal(type, STR("rejected_execution_exception")) &&
        !str_equal(type, STR("es_rejected_execution_exception")))
        return ROOM_UNTOLD;
    for (size_t i = 0; i < ARRAY_LEN(pressures); i++)
        if (begins_with(reason, pressures[i]))
            return room_of_pressure(reason);
    return contains(reason, "queue capacity = ") ? ROOM_BUSY : ROOM_UNTOLD;
}

enum request_verdict bulk_verdict_of_request(int status, struct str type, struct str reason)
{
    const struct request_rule *r = request_rules;

    while (status < r->from || status > r->to || !is_type(type, r->type) ||
           !begins_with(reason, r->reason)) {
        r++;
        assert(r < request_rules + ARRAY_LEN(request_rules));
    }
    return r->verdict == REQUEST_BUSY && bulk_verdict_room(type, reason) == ROOM_NEVER
               ? REQUEST_TOO_LARGE
               : r->verdict;
}

/* Tell whether the index itself refuses, whatever the document. */
static bool is_of_index(struct str type, struct str reason)
{
    if (!str_equal(type, STR("illegal_argument_exception")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(index_reasons); i++)
        if (begins_with(reason, index_reasons[i]))
            return true;
    return false;
}

enum item_verdict bulk_verdict_of_item(enum doc_op op, int status, const struct bulk_error *e)
{
    const struct item_rule *r = item_rules;

    if (status == 400 &&
        (is_of_index(e->type, e->reason) || is_of_index(e->cause_type, e->cause_reason)))
        return ITEM_HOLD;
    while (status < r->from || status > r->to || (r->ops & 1u << op) == 0 ||
           !is_type(e->type, r->type) || !begins_with(e->reason, r->reason)) {
        r++;
        assert(r < item_rules + ARRAY_LEN(item_rules));
    }
    return r->verdict == ITEM_BUSY && bulk_verdict_room(e->type, e->reason) == ROOM_NEVER
               ? ITEM_TOO_LARGE
               : r->verdict;
}

/* Find the end of the last `what` in s.  Returns NULL if s has none. */
static const char *after_last(struct str s, const char *what)
{
    const size_t len = strlen(what);

    for (size_t i = s.len; i >= len; i--)
        if (memcmp(s.ptr + i - len, what, len) == 0)
            return s.ptr + i;
    return NULL;
}

/* Take the last match: the document's id stands before it and can contain anything. */
bool bulk_verdict_stored_version(struct str reason, uint64_t *version)
{
    const char *first = after_last(reason, "current version ["), *at = first;
    const char *end = reason.ptr + reason.len;
    uint64_t v = 0;

    if (first == NULL)
        return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*at - '0'), &v))
            return false;
    if (at == first || at == end || *at != ']')
        return false;
    *version = v;
    return true;
}

const char *request_verdict_name(enum request_verdict v)
{
    static const char *const names[N_REQUEST_VERDICTS] = {
        [REQUEST_ITEMS] = "items",         [REQUEST_UNKNOWN] = "unknown",
        [REQUEST_BUSY] = "busy",           [REQUEST_TOO_LARGE] = "too_large",
        [REQUEST_MALFORMED] = "malformed", [REQUEST_HOLD] = "hold",
    };

    assert((unsigned)v < N_REQUEST_VERDICTS);
    return names[v];
}

const char *item_verdict_name(enum item_verdict v)
{
    static const char *const names[N_ITEM_VERDICTS] = {
        [ITEM_DELIVERED] = "delivered", [ITEM_DROPPED] = "dropped",
        [ITEM_CONFLICT] = "conflict",   [ITEM_WHOLE] = "whole",
        [ITEM_REFUSED] = "refused",     [ITEM_TOO_LARGE] = "too_large",
        [ITEM_BUSY] = "busy",           [ITEM_UNKNOWN] = "unknown",
        [ITEM_DOUBTFUL] = "doubtful",   [ITEM_HOLD] = "hold",
    };

    assert((unsigned)v < N_ITEM_VERDICTS);
    return names[v];
}
