/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * A document that a healthy engine has no room for, which it says with 429, as if it were busy:
 * that one is a dead letter, and none of an engine that is busy.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)2 << 20)
#define LARGE ((size_t)3 << 20)
#define TRIES 20 /* more than what is refused for its size gets */

#define PRESSURE(operation, asked, limit)                                               \
    "rejected execution of " operation " operation [coordinating_and_primary_bytes=0, " \
    "replica_bytes=0, all_bytes=0, " operation "_operation_bytes=" asked                \
    ", max_coordinating_and_primary_bytes=" limit "]"

/* What an engine says of a request that never fits. */
static const struct fake_rule never_fits = {.act = FAKE_STATUS,
                                            .body_max = LIMIT,
                                            .status = 429,
                                            .type = "rejected_execution_exception",
                                            .reason =
                                                PRESSURE("coordinating", "3145812", "2097152")};
/* A proxy, or an engine that measures its whole heap, does not say why. */
static const struct fake_rule is_silent = {.act = FAKE_STATUS,
                                           .body_max = LIMIT,
                                           .status = 429,
                                           .page = "<html>429 Too Many Requests</html>"};

static char *text_of(size_t len)
{
    char *text = mem_alloc(len + 1, 1);

    memset(text, 'x', len);
    return text;
}

static void index_large(struct rig *r, int id)
{
    char *text = text_of(LARGE);

    rig_index(r, id, 10, text);
    free(text);
}

static void check_dead(struct rig *r, size_t n, const char *why)
{
    rig_wait_done(r);
    assert_int_equal(r->dead.n, n);
    assert_int_equal(rig_done(r, OUTCOME_DEAD), n);
    assert_int_equal(r->dead.last_status, 429);
    assert_non_null(strstr(r->dead.last_reason, "a request of 3145"));
    assert_non_null(strstr(r->dead.last_reason, why));
    assert_false(rig_is_held(r));
}

static void a_document_above_the_pressure_limit_is_a_dead_letter_at_once(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &never_fits);
    rig_start(r, NULL);
    index_large(r, 1);
    check_dead(r, 1, "indexing_pressure.memory.limit");
    assert_int_equal(fake_search_requests(r->fake), 1);
}

static void the_others_go_through_beside_one_above_the_pressure_limit(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &never_fits);
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1}});
    rig_index_many(r, 0, 20, 10, "body");
    index_large(r, 100);
    rig_index_many(r, 200, 20, 10, "body");
    index_large(r, 300);
    check_dead(r, 2, "indexing_pressure.memory.limit");
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 40);
}

static void what_is_above_the_pressure_limit_only_together_goes_apart(void **state)
{
    struct rig *r = *state;
    char *text = text_of(40000);
    struct fake_rule rule = never_fits;

    rule.body_max = 50000;
    fake_search_add_rule(r->fake, &rule);
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 10, text);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 20);
    assert_int_equal(r->dead.n, 0);
    free(text);
}

static void documents_above_the_limit_of_their_shard_only_together_go_apart(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.body_max = 300,
                                             .status = 429,
                                             .type = "rejected_execution_exception",
                                             .reason = PRESSURE("primary", "300", "200")});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 10, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 20);
    assert_int_equal(r->dead.n, 0);
}

static void a_document_above_the_limit_of_its_shard_is_a_dead_letter(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.id = "7",
                                             .status = 429,
                                             .type = "es_rejected_execution_exception",
                                             .reason = PRESSURE("primary", "300", "200")});
    rig_start(r, NULL);
    rig_index_many(r, 0, 20, 10, "body");
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 19);
    assert_int_equal(r->dead.n, 1);
    assert_string_equal(r->dead.last_id, "7");
    assert_int_equal(r->dead.last_status, 429);
    assert_non_null(strstr(r->dead.last_reason, "for one document"));
}

static void
a_row_of_a_build_above_the_limit_is_a_dead_letter_and_the_build_goes_on(void **state)
{
    struct rig *r = *state;
    char *text = text_of(LARGE);

    fake_search_add_rule(r->fake, &is_silent);
    rig_start(r, NULL);
    rig_fill(r, 1, 10, text);
    rig_fill(r, 2, 10, "body");
    check_dead(r, 1, "takes smaller requests");
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 1);
    free(text);
}

static void
a_document_that_is_refused_alone_though_a_feeler_is_taken_is_a_dead_letter(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &is_silent);
    rig_start(r, NULL);
    index_large(r, 1);
    check_dead(r, 1, "takes smaller requests");
    rig_check_gone(r, 1);
}

static void a_document_that_goes_through_when_it_is_tried_again_is_none(void **state)
{
    struct rig *r = *state;
    struct fake_rule rule = is_silent;

    rule.times = 4;
    fake_search_add_rule(r->fake, &rule);
    rig_start(r, NULL);
    index_large(r, 1);
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 0);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 1);
}

static void while_one_waits_to_be_tried_again_the_others_go_through(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &is_silent);
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1},
                                            .doubtful_ms = 10 * 60 * 1000});
    index_large(r, 1);
    rig_index_many(r, 10, 100, 10, "body");
    rig_wait_count(r, "orders_v2", 100);
    assert_int_equal(r->dead.n, 0);
    assert_false(rig_is_held(r));
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 1);
}

static void many_that_are_too_large_are_all_dead_letters_and_the_others_go_through(void **state)
{
    struct rig *r = *state;

    fake_search_add_rule(r->fake, &is_silent);
    rig_start(r, NULL);
    for (int i = 0; i < 8; i++) {
        index_large(r, i);
        rig_index(r, 100 + i, 10, "body");
    }
    check_dead(r, 8, "takes smaller requests");
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 8);
}

static void refuse_for_a_while(struct rig *r, const struct fake_rule *rule)
{
    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake, rule);
}

/* It is tried so often, each time at once; then all is taken. */
static void try_often(struct rig *r)
{
    const uint64_t before = fake_search_requests(r->fake);

    for (uint64_t i = 1; i <= TRIES; i++) {
        rig_wait_requests(r, before + i);
        delivery_probe(r->delivery);
    }
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
}

/* Whatever it says, an engine that takes nothing at all is busy. */
static void an_engine_that_is_busy_makes_no_dead_letters(void **state)
{
    static const struct fake_rule busy[] = {
        {.act = FAKE_STATUS, .status = 429, .page = "<html>429 Too Many Requests</html>"},
        {.act = FAKE_STATUS,
         .status = 429,
         .type = "circuit_breaking_exception",
         .reason =
             "[parent] Data too large, data for [<http_request>] would be [300/300b], which "
             "is larger than the limit of [250/250b], real usage: [160/160b], new bytes "
             "reserved: [140/140b], usages [request=0/0b]"},
        {.status = 429,
         .type = "circuit_breaking_exception",
         .reason = "[parent] Data too large"},
        {.act = FAKE_STATUS,
         .status = 429,
         .type = "rejected_execution_exception",
         .reason = PRESSURE("coordinating", "3145812", "5242880")},
    };
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.doubtful_ms = 16});
    for (size_t i = 0; i < ARRAY_LEN(busy); i++) {
        refuse_for_a_while(r, &busy[i]);
        index_large(r, (int)i);
        rig_index(r, 100 + (int)i, 10, "body");
        try_often(r);
    }
    assert_int_equal(r->dead.n, 0);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2 * ARRAY_LEN(busy));
}

/* The engine takes small ones all the time, and says that this one would fit as well. */
static void what_would_fit_into_an_idle_engine_is_never_a_dead_letter(void **state)
{
    static const char *const reasons[] = {
        PRESSURE("coordinating", "3145812", "5242880"),
        "rejected execution of processing of a bulk on OpenSearchThreadPoolExecutor[name = "
        "n/write, queue capacity = 10000, pool size = 2]",
    };
    struct rig *r = *state;

    rig_start(r, &(struct delivery_options){.doubtful_ms = 16});
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        refuse_for_a_while(r, &(struct fake_rule){.act = FAKE_STATUS,
                                                  .body_max = LIMIT,
                                                  .status = 429,
                                                  .type = "rejected_execution_exception",
                                                  .reason = reasons[i]});
        index_large(r, (int)i);
        rig_index(r, 100 + (int)i, 10, "body");
        try_often(r);
    }
    assert_int_equal(r->dead.n, 0);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 4);
}

/* It is refused more often than it takes, and as large ones are taken all the time. */
static void what_is_no_larger_than_others_that_are_taken_is_never_a_dead_letter(void **state)
{
    struct rig *r = *state;
    char *text = text_of(LIMIT);
    uint64_t version = 10;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS,
                                                      .id = "1",
                                                      .times = 8,
                                                      .status = 429,
                                                      .page = "<html>429</html>"});
    rig_start(r, &(struct delivery_options){.doubtful_ms = 2400});
    rig_index(r, 1, 10, text);
    while (r->dead.n == 0 && fake_search_count(r->fake, "orders_v2") < 2) {
        rig_index(r, 2, version++, text);
        rig_sleep(5);
    }
    rig_wait_done(r);
    assert_int_equal(r->dead.n, 0);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 2);
    free(text);
}

/* A part of a document is taken for no document: the whole is written. */
static void an_area_that_is_too_large_is_written_with_its_document(void **state)
{
    struct rig *r = *state;

    rig_use_area(r);
    rig_start(r, NULL);
    rig_set_row(r, 1, "one");
    rig_set_part(r, 1, "old");
    rig_refresh(r, 1, 100);
    rig_wait_done(r);
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = FAKE_STATUS,
                                             .times = 1,
                                             .status = 429,
                                             .type = "rejected_execution_exception",
                                             .reason = PRESSURE("coordinating", "9", "8")});
    rig_set_part(r, 1, "new");
    rig_refresh_area(r, 1, 200);
    rig_wait_done(r);
    rig_check_parts(r, 1, 0, "one", "new");
    assert_int_equal(r->dead.n, 0);
}

/* The other index's documents, one by one, each until it is there. */
static void the_others_go_through(struct rig *r, struct target *t, int n)
{
    for (int i = 0; i < n; i++)
        rig_index_to(r, t, i, 10, "body");
    rig_wait_count(r, t->index, (size_t)n);
}

static struct target *another(struct rig *r, const char *index, const char *alias)
{
    fake_search_create(r->fake, index, alias);
    return target_new(str_from(index), str_from(alias), STR("shop.other"), STR("shop"));
}

/* Larger than all that may be held, and it waits for ten minutes to be tried again. */
static void one_that_waits_takes_the_room_of_no_other_index_nor_of_its_own(void **state)
{
    struct rig *r = *state;
    struct target *other = another(r, "other_v1", "other_v1_write");

    fake_search_add_rule(r->fake, &is_silent);
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = LIMIT / 2},
                                            .doubtful_ms = 600000});
    index_large(r, 1);
    rig_index_many(r, 10, 100, 10, "body");
    rig_wait_count(r, "orders_v2", 100);
    the_others_go_through(r, other, 100);
    assert_true(delivery_status(r->delivery).bytes_held > LARGE);
    delivery_drop(r->delivery, STR("orders_v2"));
    rig_wait_done(r);
    assert_int_equal(rig_done(r, OUTCOME_DEFERRED), 1);
    target_unref(other);
}

/* One that the engine answers slowly has all that it may have, and more waits for it. */
static void an_index_that_holds_all_that_it_may_leaves_the_others_what_is_theirs(void **state)
{
    struct rig *r = *state;
    struct target *other = another(r, "other_v1", "other_v1_write");
    struct rig_pusher p;
    char *text = text_of(1000);

    fake_search_add_rule(
        r->fake,
        &(struct fake_rule){.index = "orders_v2", .act = FAKE_ANSWER, .until_cleared = true});
    rig_start(
        r, &(struct delivery_options){.settings = {.bytes_max = 200000, .purge = PURGE_OFF}});
    rig_index_to(r, other, 0, 10, "body");
    rig_wait_count(r, "other_v1", 1);
    rig_push(r, &p, 1000, text);
    rig_wait_blocked(r, 1);
    the_others_go_through(r, other, 100);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 0);
    fake_search_clear_rules(r->fake);
    rig_wait_pushed(&p);
    rig_wait_done(r);
    free(text);
    target_unref(other);
}

static void *index_one_more(void *arg)
{
    index_large(arg, 2);
    return NULL;
}

/* Memory is one of them and its body, whatever their number. */
static void large_documents_go_one_after_the_other_through_bounded_memory(void **state)
{
    struct rig *r = *state;
    struct rig_pusher p;
    char *text = text_of(LARGE);
    size_t most = 0;

    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_ANSWER, .delay_ms = 20});
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = LIMIT}});
    rig_push(r, &p, 20, text);
    while (rig_pushed(&p) < 20) {
        const size_t held = delivery_status(r->delivery).bytes_held;

        most = held > most ? held : most;
        rig_sleep(1);
    }
    rig_wait_pushed(&p);
    rig_wait_done(r);
    assert_int_equal(fake_search_count(r->fake, "orders_v2"), 20);
    assert_in_range(most, LARGE, 2 * (LARGE + 10000) + LIMIT);
    free(text);
}

/* Else it would keep all others of its size waiting. */
static void a_large_document_of_an_index_that_takes_nothing_is_purged_for_another(void **state)
{
    struct rig *r = *state;
    struct target *other = another(r, "other_v1", "other_v1_write");
    char *text = text_of(LARGE);
    pthread_t thread;

    fake_search_add_rule(
        r->fake, &(struct fake_rule){.index = "other_v1", .act = FAKE_STATUS, .status = 403});
    rig_start(r, &(struct delivery_options){.settings = {.bytes_max = LIMIT}});
    rig_index_to(r, other, 0, 10, "body");
    rig_wait_held(r, true);
    rig_index_to(r, other, 1, 10, text);
    for (int i = 2; i < 20; i++) /* of every worker */
        rig_index_to(r, other, i, 10, "body");
    assert_int_equal(pthread_create(&thread, NULL, index_one_more, r), 0);
    pthread_join(thread, NULL);
    rig_wait_count(r, "orders_v2", 1);
    assert_int_equal(rig_purged(r), 1); /* the small ones make no room for it */
    fake_search_clear_rules(r->fake);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    free(text);
    target_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_document_above_the_pressure_limit_is_a_dead_letter_at_once),
        RIG_TEST(the_others_go_through_beside_one_above_the_pressure_limit),
        RIG_TEST(what_is_above_the_pressure_limit_only_together_goes_apart),
        RIG_TEST(documents_above_the_limit_of_their_shard_only_together_go_apart),
        RIG_TEST(a_document_above_the_limit_of_its_shard_is_a_dead_letter),
        RIG_TEST(a_row_of_a_build_above_the_limit_is_a_dead_letter_and_the_build_goes_on),
        RIG_TEST(a_document_that_is_refused_alone_though_a_feeler_is_taken_is_a_dead_letter),
        RIG_TEST(a_document_that_goes_through_when_it_is_tried_again_is_none),
        RIG_TEST(while_one_waits_to_be_tried_again_the_others_go_through),
        RIG_TEST(many_that_are_too_large_are_all_dead_letters_and_the_others_go_through),
        RIG_TEST(an_engine_that_is_busy_makes_no_dead_letters),
        RIG_TEST(what_would_fit_into_an_idle_engine_is_never_a_dead_letter),
        RIG_TEST(what_is_no_larger_than_others_that_are_taken_is_never_a_dead_letter),
        RIG_TEST(one_that_waits_takes_the_room_of_no_other_index_nor_of_its_own),
        RIG_TEST(an_index_that_holds_all_that_it_may_leaves_the_others_what_is_theirs),
        RIG_TEST(large_documents_go_one_after_the_other_through_bounded_memory),
        RIG_TEST(a_large_document_of_an_index_that_takes_nothing_is_purged_for_another),
        RIG_TEST(an_area_that_is_too_large_is_written_with_its_document),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_too_large", tests, NULL, NULL);
}
