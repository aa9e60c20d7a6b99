/* Fan-out jobs, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/later/fan_out.h"
#include "src/store/reset.h"
#include "src/store/turn.h"

/* What is left of a topic that begins anew. */
static void reset_topic(struct str topic)
{
    ok(store_reset_topic(
        f.s, &(struct topic_reset){.topic = topic, .start = {STR("start/t"), STR("now")}},
        &f.err));
}

static const struct fan_out_owner shop = {{"shop", 4}, 1};

/* Version 1 of orders, and the terms of two topics. */
static void make_version(void)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    uint64_t term;

    ok(store_new_version(f.s, &v, &f.err));
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_take_term(f.s, STR("topic/crm"), &term, &f.err));
}

static struct stored_fan_out a_job(struct str key, uint64_t at_least)
{
    return (struct stored_fan_out){.topic = STR("shop"),
                                   .index = STR("orders"),
                                   .version = 1,
                                   .member = STR("shop.orders"),
                                   .place = 3,
                                   .table = STR("shop.product"),
                                   .key = key,
                                   .source = STR("shop"),
                                   .at_least = at_least,
                                   .created_ms = 5};
}

static void put(struct stored_fan_out job)
{
    ok(store_put_fan_outs(f.s, 1, &job, 1, &f.err));
}

static struct stored_fan_out *load(size_t n_expected)
{
    struct stored_fan_out *out;
    size_t n;

    ok(store_load_fan_outs(f.s, f.a, STR("orders"), 1, STR("shop.orders"), 10, 100, &out, &n,
                           &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void begin(const struct stored_fan_out *first, uint64_t last)
{
    ok(store_begin_fan_outs(f.s, &shop, first, last, UINT64_MAX >> 1, 10, &f.err));
}

static void a_job_that_asks_for_more_than_the_run_does_waits_for_the_next(void **state)
{
    struct stored_fan_out *out;

    (void)state;
    make_version();
    put(a_job(STR("a"), 100));
    put(a_job(STR("b"), 300));
    put(a_job(STR("c"), 200));
    out = load(3);
    ok(store_begin_fan_outs(f.s, &shop, &out[0], out[2].id, 200, 10, &f.err));
    out = load(3);
    assert_int_equal(out[0].run, out[0].id);
    assert_int_equal(out[1].run, out[0].id);
    assert_int_equal(out[1].at_least, 200);
    assert_int_equal(out[2].run, 0);
    ok(store_end_fan_outs(f.s, &shop, out[0].run, 0, 20, &f.err));
    out = load(1);
    assert_int_equal(out[0].at_least, 300);
}

/* Jobs "late" and "new": the first ran, and is to run once more at 1000. */
static void make_a_repeat(void)
{
    struct stored_fan_out *out;

    make_version();
    put(a_job(STR("late"), 100));
    out = load(1);
    begin(&out[0], out[0].id);
    ok(store_end_fan_outs(f.s, &shop, out[0].id, 1000, 10, &f.err));
    put(a_job(STR("new"), 50));
}

static void a_job_that_is_to_run_once_more_comes_after_all_others_until_then(void **state)
{
    struct stored_fan_out *out;
    struct fan_out_sum *sums;
    size_t n;

    (void)state;
    make_a_repeat();
    out = load(2);
    assert_true(str_equal(out[0].key, STR("new")));
    assert_true(str_equal(out[1].key, STR("late")));
    assert_true(out[1].is_repeat);
    assert_int_equal(out[1].created_ms, 1000);
    assert_int_equal(out[1].run, 0);
    assert_int_equal(out[1].at_least, 100);
    ok(store_sum_fan_outs(f.s, f.a, 999, &sums, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(sums[0].jobs, 1);
    ok(store_sum_fan_outs(f.s, f.a, 1000, &sums, &n, &f.err));
    assert_int_equal(sums[0].jobs, 2);
}

static void a_job_that_is_to_run_once_more_joins_no_run_before(void **state)
{
    struct stored_fan_out *out;

    (void)state;
    make_a_repeat();
    out = load(2);
    begin(&out[0], 100);
    out = load(2);
    assert_int_equal(out[0].run, out[0].id);
    assert_int_equal(out[1].run, 0);
    ok(store_end_fan_outs(f.s, &shop, out[0].id, 0, 20, &f.err));
    out = load(1);
    ok(store_begin_fan_outs(f.s, &shop, out, out->id, 100, 1000, &f.err));
    out = load(1);
    assert_int_equal(out->run, out->id);
    ok(store_end_fan_outs(f.s, &shop, out->id, 0, 1001, &f.err));
    (void)load(0);
}

static void a_later_change_ends_the_wait_of_a_job_that_is_to_run_once_more(void **state)
{
    struct stored_fan_out *out;

    (void)state;
    make_a_repeat();
    put(a_job(STR("late"), 90)); /* the log is read again after a restart */
    out = load(2);
    assert_true(out[1].is_repeat);
    put(a_job(STR("late"), 101));
    out = load(2);
    assert_true(str_equal(out[0].key, STR("late")));
    assert_false(out[0].is_repeat);
    assert_int_equal(out[0].created_ms, 5);
    assert_int_equal(out[0].at_least, 101);
}

static void jobs_of_tables_that_share_an_index_are_kept_apart(void **state)
{
    struct stored_fan_out mine = a_job(STR("a"), 10), other = a_job(STR("a"), 10), *out;
    size_t n;

    (void)state;
    make_version();
    other.member = STR("shop.returns");
    put(mine);
    put(other);
    out = load(1);
    begin(&out[0], 100);
    ok(store_load_fan_outs(f.s, f.a, STR("orders"), 1, STR("shop.returns"), 10, 100, &out, &n,
                           &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].run, 0);
}

static void a_fan_out_job_comes_back_whole(void **state)
{
    struct stored_fan_out job = a_job(ODD, UINT64_C(1) << 62), *out;

    (void)state;
    make_version();
    job.by = 6;
    job.source = STR("crm");
    put(job);
    reopen();
    out = load(1);
    same(out->topic, STR("shop"));
    assert_int_equal(out->place, 3);
    assert_int_equal(out->by, 6);
    same(out->table, STR("shop.product"));
    same(out->key, ODD);
    same(out->source, STR("crm"));
    assert_int_equal(out->at_least, UINT64_C(1) << 62);
    assert_int_equal(out->run, 0);
    assert_int_equal(out->created_ms, 5);
    ok(store_begin_fan_outs(f.s, &shop, out, out->id, out->at_least, 10, &f.err));
    ok(store_save_fan_outs(f.s, &shop, out->id, ODD, 1000, 11, &f.err));
    reopen();
    out = load(1);
    assert_int_equal(out->run, out->id);
    same(out->cursor, ODD);
    assert_int_equal(out->documents, 1000);
    assert_int_equal(out->updated_ms, 11);
}

static void equal_jobs_that_wait_are_one_of_the_newest_position(void **state)
{
    struct stored_fan_out other = a_job(STR("b"), 100), *out;

    (void)state;
    make_version();
    for (uint64_t i = 1; i <= 100; i++)
        put(a_job(STR("a"), i));
    put(a_job(STR("a"), 40)); /* read again after a restart */
    put(other);
    other.place = 4;
    put(other);
    other.by = 1;
    put(other);
    other.source = STR("crm");
    put(other);
    out = load(5);
    same(out[0].key, STR("a"));
    assert_int_equal(out[0].at_least, 100);
    same(out[1].key, STR("b"));
}

static void what_is_asked_for_while_it_runs_runs_once_more(void **state)
{
    struct stored_fan_out *out;
    uint64_t run;

    (void)state;
    make_version();
    put(a_job(STR("a"), 10));
    put(a_job(STR("b"), 10));
    out = load(2);
    run = out[0].id;
    begin(&out[0], out[1].id);
    ok(store_save_fan_outs(f.s, &shop, run, STR("x"), 500, 11, &f.err));
    put(a_job(STR("a"), 10)); /* its reads include that */
    assert_int_equal(load(2)[0].again, 0);
    for (uint64_t i = 11; i <= 100; i++)
        put(a_job(STR("a"), i));
    out = load(2);
    assert_int_equal(out[0].at_least, 10);
    assert_int_equal(out[0].again, 100);
    same(out[0].cursor, STR("x"));
    ok(store_end_fan_outs(f.s, &shop, run, 0, 12, &f.err));
    out = load(1);
    same(out->key, STR("a"));
    assert_int_equal(out->at_least, 100);
    assert_int_equal(out->again, 0);
    assert_int_equal(out->run, 0);
    same(out->cursor, STR(""));
    assert_int_equal(out->documents, 0);
    begin(out, out->id);
    ok(store_end_fan_outs(f.s, &shop, out->id, 0, 13, &f.err));
    (void)load(0);
}

static void jobs_of_one_place_begin_together_and_later_ones_wait(void **state)
{
    struct stored_fan_out elsewhere = a_job(STR("c"), 10), *out;
    struct fan_out_sum *sums;
    size_t n;

    (void)state;
    make_version();
    elsewhere.place = 1;
    elsewhere.table = STR("shop.customer");
    put(elsewhere);
    put(a_job(STR("a"), 10));
    put(a_job(STR("b"), 10));
    put(a_job(STR("d"), 10));
    out = load(4);
    begin(&out[1], out[2].id);
    out = load(4); /* what runs comes first */
    assert_int_equal(out[0].run, out[0].id);
    assert_int_equal(out[1].run, out[0].id);
    same(out[2].key, STR("c"));
    same(out[3].key, STR("d"));
    ok(store_save_fan_outs(f.s, &shop, out[0].run, STR("x"), 500, 11, &f.err));
    ok(store_sum_fan_outs(f.s, f.a, 10, &sums, &n, &f.err));
    assert_int_equal(n, 3);
    same(sums[0].table, STR("shop.customer"));
    assert_int_equal(sums[1].run, out[0].id);
    assert_int_equal(sums[1].jobs, 2);
    assert_int_equal(sums[1].documents, 500);
    same(sums[1].cursor, STR("x"));
    assert_int_equal(sums[2].run, 0);
    assert_int_equal(sums[2].jobs, 1);
}

static void an_older_owner_stores_no_fan_out(void **state)
{
    struct stored_fan_out job = a_job(STR("a"), 10), *out;
    uint64_t term;

    (void)state;
    make_version();
    put(job);
    out = load(1);
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    job.at_least = 20;
    refused(store_put_fan_outs(f.s, 1, &job, 1, &f.err), ERR_STOP);
    refused(store_begin_fan_outs(f.s, &shop, out, out->id, out->at_least, 10, &f.err),
            ERR_STOP);
    refused(store_save_fan_outs(f.s, &shop, out->id, STR("x"), 1, 10, &f.err), ERR_STOP);
    refused(store_end_fan_outs(f.s, &shop, out->id, 0, 10, &f.err), ERR_STOP);
    assert_int_equal(load(1)->at_least, 10);
    job.source = STR("crm"); /* whose owner is still the one of term 1 */
    ok(store_put_fan_outs(f.s, 1, &job, 1, &f.err));
    (void)load(2);
}

static void fan_outs_go_with_their_version_and_their_topic(void **state)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    struct stored_fan_out job = a_job(STR("a"), 10), *out;
    size_t n;

    (void)state;
    make_version();
    put(job);
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 1}, &f.err));
    (void)load(1);
    ok(store_new_version(f.s, &v, &f.err));
    job.version = 2;
    put(job);
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 2}, &f.err));
    (void)load(0); /* nothing is written to it any more */
    put(a_job(STR("a"), 11));
    (void)load(0);
    ok(store_load_fan_outs(f.s, f.a, STR("orders"), 2, STR("shop.orders"), 10, 100, &out, &n,
                           &f.err));
    assert_int_equal(n, 1);
    ok(store_delete_version(f.s, v.index, 2, &f.err));
    ok(store_load_fan_outs(f.s, f.a, STR("orders"), 2, STR("shop.orders"), 10, 100, &out, &n,
                           &f.err));
    assert_int_equal(n, 0);
    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    put(job);
    reset_topic(STR("crm"));
    ok(store_load_fan_outs(f.s, f.a, STR("orders"), v.number, STR("shop.orders"), 10, 100, &out,
                           &n, &f.err));
    assert_int_equal(n, 1);
    reset_topic(STR("shop"));
    ok(store_load_fan_outs(f.s, f.a, STR("orders"), v.number, STR("shop.orders"), 10, 100, &out,
                           &n, &f.err));
    assert_int_equal(n, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_fan_out_job_comes_back_whole),
    STORE_TEST(jobs_of_tables_that_share_an_index_are_kept_apart),
    STORE_TEST(a_job_that_asks_for_more_than_the_run_does_waits_for_the_next),
    STORE_TEST(a_job_that_is_to_run_once_more_comes_after_all_others_until_then),
    STORE_TEST(a_job_that_is_to_run_once_more_joins_no_run_before),
    STORE_TEST(a_later_change_ends_the_wait_of_a_job_that_is_to_run_once_more),
    STORE_TEST(equal_jobs_that_wait_are_one_of_the_newest_position),
    STORE_TEST(what_is_asked_for_while_it_runs_runs_once_more),
    STORE_TEST(jobs_of_one_place_begin_together_and_later_ones_wait),
    STORE_TEST(an_older_owner_stores_no_fan_out),
    STORE_TEST(fan_outs_go_with_their_version_and_their_topic),
};
const struct test_part store_fan_outs = {tests, ARRAY_LEN(tests)};
