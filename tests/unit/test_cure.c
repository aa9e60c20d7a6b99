#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/state/holds.h"
#include "src/base/buf.h"
#include "sync/delivery/bulk/cure.h"

#include <string.h>

static void a_refusal_tells_what_ends_the_hold(void **state)
{
    static const struct {
        int status;
        const char *type, *reason;
        enum cure cure;
    } cases[] = {
        {429, "cluster_block_exception",
         "index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage];",
         CURE_DISK},
        {403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/12/index read-only",
         CURE_DISK},
        {403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/8/index write (api)",
         CURE_BLOCK},
        {403, "cluster_block_exception", "index [a] blocked by: [FORBIDDEN/4/index closed];",
         CURE_CLOSED},
        {400, "index_closed_exception", "closed", CURE_CLOSED},
        {404, "index_not_found_exception", "no such index [a_write]", CURE_MISSING},
        {400, "illegal_argument_exception", "no write index is defined for alias [a_write]",
         CURE_MISSING},
        {400, "illegal_argument_exception", "pipeline with id [p] does not exist",
         CURE_PIPELINE},
        {500, "illegal_state_exception",
         "Pipeline processor configured for non-existent pipeline [p]", CURE_PIPELINE},
        {400, "illegal_argument_exception", "Limit of total fields [1000] has been exceeded",
         CURE_FIELDS},
        {400, "illegal_argument_exception", "Limit of mapping depth [20] has been exceeded",
         CURE_FIELDS},
        {400, "illegal_argument_exception",
         "Number of documents in shard [a][0] exceeds the limit", CURE_DOCUMENTS},
        {401, "security_exception", "missing authentication credentials", CURE_ACCESS},
        {403, "security_exception", "action [write] is unauthorized /12/", CURE_ACCESS},
        {404, "", "<html>not an engine</html>", CURE_OTHER},
        {400, "media_type_header_exception", "compatible-with=9", CURE_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str type = str_from(cases[i].type), reason = str_from(cases[i].reason);
        const struct bulk_error plain = {.type = type, .reason = reason};
        const struct bulk_error caused = {.type = STR("mapper_parsing_exception"),
                                          .reason = STR("failed to parse"),
                                          .cause_type = type,
                                          .cause_reason = reason};

        assert_int_equal(cure_of_request(cases[i].status, type, reason), cases[i].cure);
        assert_int_equal(cure_of_item(cases[i].status, &plain), cases[i].cure);
        assert_int_equal(cure_of_item(cases[i].status, &caused), cases[i].cure);
    }
}

static void assert_fix(enum cure cure, const char *held, const char *stopped)
{
    struct buf b = {0};

    hold_append_fix(&b, cure, "millrace index create s.t");
    assert_string_equal(b.ptr, held);
    buf_free(&b);
    hold_append_stop_fix(&b, cure, "millrace index create s.t");
    assert_string_equal(b.ptr, stopped);
    buf_free(&b);
}

/* A rebuild is named only where it helps, and "by itself" only where that is so. */
static void the_fix_of_a_held_index_names_what_helps_in_its_case(void **state)
{
    (void)state;
    assert_fix(CURE_DISK, "make room on the engine's disks, then Millrace continues by itself",
               "make room on the engine's disks, then millrace index create s.t");
    assert_fix(CURE_MISSING, "millrace index create s.t", "millrace index create s.t");
    assert_fix(CURE_BLOCK,
               "remove the block (index.blocks of the index, or cluster.blocks), then Millrace "
               "continues by itself; or millrace index create s.t",
               "millrace index create s.t");
    assert_fix(CURE_MAPPING,
               "correct the rows that the reason names, then Millrace continues by itself; or "
               "correct the definition, then millrace index create s.t",
               "correct the definition, then millrace index create s.t");
    assert_fix(CURE_VERSION,
               "end whoever else writes to this index, then millrace index create s.t",
               "end whoever else writes to this index, then millrace index create s.t");
    assert_fix(CURE_DOCUMENTS,
               "raise number_of_shards in the definition's settings, then millrace index "
               "create s.t",
               "raise number_of_shards in the definition's settings, then millrace index "
               "create s.t");
}

static void every_cure_has_a_fix(void **state)
{
    (void)state;
    for (enum cure cure = CURE_NONE + 1; cure < N_CURES; cure++) {
        struct buf held = {0}, stopped = {0};

        hold_append_fix(&held, cure, "create");
        hold_append_stop_fix(&stopped, cure, "create");
        assert_true(held.len > 0);
        assert_string_equal(stopped.ptr + stopped.len - strlen("create"), "create");
        buf_free(&held);
        buf_free(&stopped);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_tells_what_ends_the_hold),
        cmocka_unit_test(the_fix_of_a_held_index_names_what_helps_in_its_case),
        cmocka_unit_test(every_cure_has_a_fix),
    };

    return cmocka_run_group_tests_name("cure", tests, NULL, NULL);
}
