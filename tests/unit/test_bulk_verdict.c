#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/bulk/bulk_verdict.h"

#include <string.h>

static void requests_are_judged_by_the_table(void **state)
{
    static const struct {
        int status;
        const char *type, *reason;
        enum request_verdict verdict;
    } cases[] = {
        {200, "", "", REQUEST_ITEMS},
        {201, "", "", REQUEST_ITEMS},
        {400, "action_request_validation_exception", "id [..] is too long", REQUEST_MALFORMED},
        {400, "illegal_argument_exception", "Malformed action/metadata line",
         REQUEST_MALFORMED},
        {400, "index_closed_exception", "closed", REQUEST_HOLD},
        {400, "illegal_argument_exception", "no write index is defined for alias",
         REQUEST_HOLD},
        {401, "security_exception", "missing credentials", REQUEST_HOLD},
        {403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/12]", REQUEST_HOLD},
        {403, "security_exception", "no permissions", REQUEST_HOLD},
        {404, "index_not_found_exception", "", REQUEST_HOLD},
        {408, "", "", REQUEST_UNKNOWN},
        {413, "", "", REQUEST_TOO_LARGE},
        {415, "", "", REQUEST_HOLD},
        {429, "circuit_breaking_exception", "[parent] Data too large", REQUEST_BUSY},
        {429, "rejected_execution_exception", "", REQUEST_BUSY},
        {429, "", "too many requests", REQUEST_BUSY},
        {429, "cluster_block_exception", "blocked by: [TOO_MANY_REQUESTS/12]", REQUEST_HOLD},
        {300, "", "", REQUEST_HOLD},
        {301, "", "", REQUEST_HOLD},
        {499, "", "", REQUEST_HOLD},
        {500, "", "", REQUEST_UNKNOWN},
        {502, "", "<html>", REQUEST_UNKNOWN},
        {503, "cluster_block_exception", "no master", REQUEST_UNKNOWN},
        {504, "", "", REQUEST_UNKNOWN},
        {0, "", "", REQUEST_UNKNOWN},
        {99999, "", "", REQUEST_UNKNOWN},
        {400, "media_type_header_exception", "", REQUEST_HOLD},
        {414, "", "", REQUEST_HOLD},
        {499, "", "", REQUEST_HOLD},
        {-1, "", "", REQUEST_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(bulk_verdict_of_request(cases[i].status, str_from(cases[i].type),
                                                 str_from(cases[i].reason)),
                         cases[i].verdict);
}

static void check_item(enum doc_op op, int status, const struct bulk_error *e,
                       enum item_verdict verdict)
{
    if (bulk_verdict_of_item(op, status, e) != verdict)
        fail_msg("%d %s: %s is %s", status, e->type.ptr, e->reason.ptr,
                 item_verdict_name(bulk_verdict_of_item(op, status, e)));
}

/* It may have been applied: said of any operation, with whatever status. */
static void what_shards_and_nodes_say_that_go_is_no_answer(void **state)
{
    static const char *const types[] = {
        "node_closed_exception",
        "node_not_connected_exception",
        "node_disconnected_exception",
        "connect_transport_exception",
        "send_request_transport_exception",
        "receive_timeout_transport_exception",
        "no_shard_available_action_exception",
        "unavailable_shards_exception",
        "already_closed_exception",
        "illegal_index_shard_state_exception",
        "index_shard_closed_exception",
        "shard_not_found_exception",
        "shard_not_in_primary_mode_exception",
        "no_longer_primary_shard_exception",
        "retry_on_primary_exception",
    };
    static const int statuses[] = {404, 500, 503, 599};
    static const enum doc_op ops[] = {DOC_INDEX, DOC_DELETE, DOC_UPDATE};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        for (size_t k = 0; k < ARRAY_LEN(statuses); k++)
            for (size_t op = 0; op < ARRAY_LEN(ops); op++)
                check_item(ops[op], statuses[k],
                           &(struct bulk_error){.type = str_from(types[i]), .reason = STR("")},
                           ITEM_UNKNOWN);
}

static void items_are_judged_by_the_table(void **state)
{
    static const struct {
        enum doc_op op;
        int status;
        const char *type, *reason;
        enum item_verdict verdict;
    } cases[] = {
        {DOC_INDEX, 200, "", "", ITEM_DELIVERED},
        {DOC_UPDATE, 200, "", "", ITEM_DELIVERED},
        {DOC_UPDATE, 404, "document_missing_exception", "[7]: document missing", ITEM_WHOLE},
        {DOC_UPDATE, 404, "index_not_found_exception", "", ITEM_HOLD},
        {DOC_UPDATE, 409, "version_conflict_engine_exception", "", ITEM_WHOLE},
        {DOC_UPDATE, 400, "illegal_argument_exception", "failed to execute script", ITEM_WHOLE},
        {DOC_UPDATE, 400, "mapper_parsing_exception", "failed to parse", ITEM_WHOLE},
        {DOC_UPDATE, 413, "", "", ITEM_WHOLE},
        {DOC_UPDATE, 403, "cluster_block_exception", "", ITEM_HOLD},
        {DOC_UPDATE, 429, "es_rejected_execution_exception", "", ITEM_BUSY},
        {DOC_UPDATE, 503, "unavailable_shards_exception", "", ITEM_UNKNOWN},
        {DOC_INDEX, 201, "", "", ITEM_DELIVERED},
        {DOC_DELETE, 200, "", "", ITEM_DELIVERED},
        {DOC_DELETE, 404, "", "", ITEM_DELIVERED},
        {DOC_DELETE, 404, "index_not_found_exception", "no such index [a]", ITEM_HOLD},
        {DOC_INDEX, 404, "", "", ITEM_DOUBTFUL},
        {DOC_INDEX, 404, "index_not_found_exception",
         "no such index [a] and [require_alias] request flag is [true] and [a] is not an alias",
         ITEM_HOLD},
        {DOC_INDEX, 409, "version_conflict_engine_exception", "current version [7]",
         ITEM_CONFLICT},
        {DOC_INDEX, 409, "something_else", "", ITEM_DOUBTFUL},
        {DOC_INDEX, 400, "mapper_parsing_exception", "failed to parse field [a]", ITEM_REFUSED},
        {DOC_INDEX, 400, "document_parsing_exception", "[1:5] failed", ITEM_REFUSED},
        {DOC_INDEX, 400, "strict_dynamic_mapping_exception", "mapping set to strict",
         ITEM_REFUSED},
        {DOC_INDEX, 400, "illegal_argument_exception", "Document contains an immense term",
         ITEM_REFUSED},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "The number of nested documents has exceeded the allowed limit of [10000]",
         ITEM_REFUSED},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "Limit of total fields [1000] has been exceeded", ITEM_HOLD},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "no write index is defined for alias [a]", ITEM_HOLD},
        {DOC_INDEX, 400, "illegal_argument_exception", "pipeline with id [p] does not exist",
         ITEM_HOLD},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "Number of documents in shard [[a][0]] exceeds the limit of [2147483519] documents "
         "per "
         "shard",
         ITEM_HOLD},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "number of documents in the index cannot exceed 2147483519", ITEM_HOLD},
        {DOC_INDEX, 400, "illegal_argument_exception",
         "[x] Limit of total fields [1000] has been exceeded", ITEM_REFUSED},
        {DOC_INDEX, 400, "index_closed_exception", "closed", ITEM_HOLD},
        {DOC_INDEX, 400, "invalid_index_name_exception", "", ITEM_HOLD},
        {DOC_INDEX, 400, "settings_exception", "", ITEM_HOLD},
        {DOC_INDEX, 400, "validation_exception",
         "this action would add [2] total shards, but this cluster currently has [1000]/[1000] "
         "maximum shards open",
         ITEM_HOLD},
        {DOC_INDEX, 400, "mapper_parsing_exception", "no write index is defined", ITEM_REFUSED},
        {DOC_INDEX, 400, "mapper_parsing_exception", "Preview: 'Limit of total fields'",
         ITEM_REFUSED},
        {DOC_INDEX, 413, "", "", ITEM_REFUSED},
        {DOC_INDEX, 429, "rejected_execution_exception", "rejected", ITEM_BUSY},
        {DOC_INDEX, 429, "es_rejected_execution_exception", "rejected", ITEM_BUSY},
        {DOC_INDEX, 429, "circuit_breaking_exception", "[parent] Data too large", ITEM_BUSY},
        {DOC_INDEX, 429, "cluster_block_exception",
         "index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage]",
         ITEM_HOLD},
        {DOC_INDEX, 403, "cluster_block_exception",
         "index [a] blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];",
         ITEM_HOLD},
        {DOC_INDEX, 403, "security_exception", "no permissions", ITEM_HOLD},
        {DOC_INDEX, 401, "security_exception", "", ITEM_HOLD},
        {DOC_INDEX, 503, "unavailable_shards_exception", "primary shard is not active",
         ITEM_UNKNOWN},
        {DOC_INDEX, 503, "no_shard_available_action_exception", "", ITEM_UNKNOWN},
        {DOC_INDEX, 500, "node_closed_exception", "", ITEM_UNKNOWN},
        {DOC_DELETE, 500, "no_shard_available_action_exception", "", ITEM_UNKNOWN},
        {DOC_INDEX, 500, "already_closed_exception", "translog is closed", ITEM_UNKNOWN},
        {DOC_INDEX, 404, "index_shard_closed_exception", "", ITEM_UNKNOWN},
        {DOC_UPDATE, 404, "shard_not_found_exception", "no such shard", ITEM_UNKNOWN},
        {DOC_INDEX, 503, "circuit_breaking_exception", "", ITEM_BUSY},
        {DOC_INDEX, 500, "null_pointer_exception", "", ITEM_DOUBTFUL},
        {DOC_INDEX, 500, "fail_processor_exception", "no good", ITEM_REFUSED},
        {DOC_INDEX, 500, "illegal_state_exception",
         "Pipeline processor configured for non-existent pipeline [p]", ITEM_HOLD},
        {DOC_INDEX, 500, "illegal_state_exception", "other", ITEM_DOUBTFUL},
        {DOC_INDEX, 400, "script_exception", "runtime error", ITEM_REFUSED},
        {DOC_INDEX, 418, "teapot", "", ITEM_DOUBTFUL},
        {DOC_INDEX, 502, "", "", ITEM_UNKNOWN},
        {DOC_DELETE, 504, "", "", ITEM_UNKNOWN},
        {DOC_INDEX, 400, "invalid_index_name_exception", "", ITEM_HOLD},
        {DOC_INDEX, 400, "settings_exception", "", ITEM_HOLD},
        {DOC_UPDATE, 400, "index_closed_exception", "", ITEM_HOLD},
        {DOC_UPDATE, 500, "", "", ITEM_DOUBTFUL},
        {DOC_INDEX, 200, "odd", "a success with an error", ITEM_DOUBTFUL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_item(cases[i].op, cases[i].status,
                   &(struct bulk_error){str_from(cases[i].type), str_from(cases[i].reason),
                                        STR(""), STR("")},
                   cases[i].verdict);
}

/* Whatever becomes of a shard or a node, a write that was on its way there may be applied. */
static void what_goes_wrong_on_the_way_to_a_shard_may_have_been_applied(void **state)
{
    static const char *const types[] = {
        "node_closed_exception",
        "node_not_connected_exception",
        "node_disconnected_exception",
        "connect_transport_exception",
        "send_request_transport_exception",
        "receive_timeout_transport_exception",
        "no_shard_available_action_exception",
        "unavailable_shards_exception",
        "already_closed_exception",
        "illegal_index_shard_state_exception",
        "index_shard_closed_exception",
        "shard_not_found_exception",
        "shard_not_in_primary_mode_exception",
        "no_longer_primary_shard_exception",
        "retry_on_primary_exception",
    };
    static const enum doc_op ops[] = {DOC_INDEX, DOC_DELETE, DOC_UPDATE};
    static const int statuses[] = {404, 500, 503, 599};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        for (size_t k = 0; k < ARRAY_LEN(ops); k++)
            for (size_t s = 0; s < ARRAY_LEN(statuses); s++)
                check_item(
                    ops[k], statuses[s],
                    &(struct bulk_error){str_from(types[i]), STR("why"), STR(""), STR("")},
                    ITEM_UNKNOWN);
}

/* What the engine says of the index inside the error of a document; and what a row says. */
static void
a_document_that_the_index_has_no_room_for_holds_it_by_its_innermost_cause(void **state)
{
    static const char limit[] =
        "Limit of total fields [1000] has been exceeded while adding new fields [1]";
    static const struct {
        const char *type, *reason, *cause_type, *cause_reason;
        enum item_verdict verdict;
    } cases[] = {
        {"mapper_parsing_exception", "failed to parse", "illegal_argument_exception", limit,
         ITEM_HOLD},
        {"document_parsing_exception", "[1:5] failed to parse", "illegal_argument_exception",
         limit, ITEM_HOLD},
        {"document_parsing_exception", "[1:5] failed to parse", "illegal_argument_exception",
         "Limit of mapping depth [20] has been exceeded due to object field [a]", ITEM_HOLD},
        {"mapper_parsing_exception", limit, "", "", ITEM_REFUSED},
        {"mapper_parsing_exception", "failed to parse", "date_time_parse_exception", limit,
         ITEM_REFUSED},
        {"mapper_parsing_exception", "failed to parse field [n]", "illegal_argument_exception",
         "For input string: \"Limit of total fields [1000] has been exceeded\"", ITEM_REFUSED},
        {"mapper_parsing_exception", "failed to parse field [n]", "illegal_argument_exception",
         "Failed to parse value [x] as only [true] or [false] are allowed.", ITEM_REFUSED},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_item(DOC_INDEX, 400,
                   &(struct bulk_error){str_from(cases[i].type), str_from(cases[i].reason),
                                        str_from(cases[i].cause_type),
                                        str_from(cases[i].cause_reason)},
                   cases[i].verdict);
}

static void the_stored_version_is_read_from_the_reason(void **state)
{
    static const struct {
        const char *reason;
        bool found;
        uint64_t version;
    } cases[] = {
        {"[1]: version conflict, current version [9223372036854775807] is higher than the one "
         "provided [3]",
         true, 9223372036854775807u},
        {"[x]: version conflict, current version [0] is higher or equal to the one provided "
         "[0]",
         true, 0},
        {"[current version [5]]: version conflict, current version [7] is higher", true, 7},
        {"current version [18446744073709551615]", true, UINT64_MAX},
        {"current version [18446744073709551616]", false, 0},
        {"current version [-1] is different", false, 0},
        {"current version []", false, 0},
        {"current version [12", false, 0},
        {"current version [12 ]", false, 0},
        {"current version [", false, 0},
        {"document already exists", false, 0},
        {"", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t v = 0;

        assert_int_equal(bulk_verdict_stored_version(str_from(cases[i].reason), &v),
                         cases[i].found);
        assert_true(v == cases[i].version);
    }
}

#define COORDINATING                                                                   \
    "rejected execution of coordinating operation [coordinating_and_primary_bytes=7, " \
    "replica_bytes=0, all_bytes=7, coordinating_operation_bytes="
#define PRIMARY                                                                   \
    "rejected execution of primary operation [coordinating_and_primary_bytes=7, " \
    "replica_bytes=0, all_bytes=7, primary_operation_bytes="
#define PARENT                                                                          \
    "[parent] Data too large, data for [<http_request>] would be [999/999b], which is " \
    "larger than the limit of [500/500b], real usage: [1/1b], new bytes reserved: "
#define REJECTED "rejected_execution_exception"

/* The engine names what it was asked for and its limit, and nothing else is believed. */
static void what_never_fits_is_told_from_what_does_not_fit_now(void **state)
{
    static const struct {
        const char *type, *reason;
        enum bulk_room room;
    } cases[] = {
        {REJECTED, COORDINATING "11, max_coordinating_and_primary_bytes=10]", ROOM_NEVER},
        {REJECTED, COORDINATING "10, max_coordinating_and_primary_bytes=10]", ROOM_BUSY},
        {"es_" REJECTED, COORDINATING "11, max_coordinating_bytes=10]", ROOM_NEVER},
        {REJECTED, PRIMARY "11, max_coordinating_and_primary_bytes=10]", ROOM_NEVER},
        {REJECTED, PRIMARY "9, max_primary_bytes=10]", ROOM_BUSY},
        {REJECTED, COORDINATING "11]", ROOM_UNTOLD},
        {REJECTED, COORDINATING "11, max_coordinating_and_primary_bytes=]", ROOM_UNTOLD},
        {REJECTED, COORDINATING "99999999999999999999, max_coordinating_bytes=10]",
         ROOM_UNTOLD},
        {REJECTED,
         "rejected execution of coordinating operation [shard_detail=[a][0][C], "
         "shard_total_bytes=1, shard_operation_bytes=11, "
         "shard_max_coordinating_and_primary_bytes=10]",
         ROOM_UNTOLD},
        {REJECTED, "a row says " COORDINATING "11, max_coordinating_bytes=10]", ROOM_UNTOLD},
        {"", COORDINATING "11, max_coordinating_bytes=10]", ROOM_UNTOLD},
        {REJECTED, "rejected execution of a on b[name = n, queue capacity = 200]", ROOM_BUSY},
        {REJECTED, "", ROOM_UNTOLD},
        {"circuit_breaking_exception", PARENT "[501/501b]", ROOM_NEVER},
        {"circuit_breaking_exception", PARENT "[500/500b]", ROOM_UNTOLD},
        {"circuit_breaking_exception", "[parent] Data too large", ROOM_UNTOLD},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str type = str_from(cases[i].type), reason = str_from(cases[i].reason);
        const struct bulk_error e = {type, reason, STR(""), STR("")};
        const bool never = cases[i].room == ROOM_NEVER;

        if (bulk_verdict_room(type, reason) != cases[i].room)
            fail_msg("%s", cases[i].reason);
        assert_int_equal(bulk_verdict_of_request(429, type, reason),
                         never ? REQUEST_TOO_LARGE : REQUEST_BUSY);
        check_item(DOC_INDEX, 429, &e, never ? ITEM_TOO_LARGE : ITEM_BUSY);
    }
}

static void every_verdict_has_a_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_REQUEST_VERDICTS; i++)
        assert_non_null(request_verdict_name((enum request_verdict)i));
    for (unsigned i = 0; i < N_ITEM_VERDICTS; i++)
        assert_non_null(item_verdict_name((enum item_verdict)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_judged_by_the_table),
        cmocka_unit_test(what_shards_and_nodes_say_that_go_is_no_answer),
        cmocka_unit_test(items_are_judged_by_the_table),
        cmocka_unit_test(what_goes_wrong_on_the_way_to_a_shard_may_have_been_applied),
        cmocka_unit_test(
            a_document_that_the_index_has_no_room_for_holds_it_by_its_innermost_cause),
        cmocka_unit_test(the_stored_version_is_read_from_the_reason),
        cmocka_unit_test(what_never_fits_is_told_from_what_does_not_fit_now),
        cmocka_unit_test(every_verdict_has_a_name),
    };
    return cmocka_run_group_tests_name("bulk_verdict", tests, NULL, NULL);
}
