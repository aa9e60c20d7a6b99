#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/admin/bucket_list.h"
#include "rebalance/cluster/cluster_ops.h"
#include "rebalance/fill/bucket.h"
#include "src/format/json.h"
#include "src/store/store.h"
#include "sync/document/key.h"

static void put_cursor(struct buf *b, struct str table, struct str key)
{
    key_append_part(b, table);
    if (key.len > 0)
        key_append_part(b, key);
}

static void what_is_stored_of_a_bucket_is_read_again(void **state)
{
    struct fill_bucket b = {.dead = 12, .lost_ms = 13}, again;
    struct buf json = {0};

    (void)state;
    put_cursor(&b.until, STR("shop.orders"), ((struct str){"\0\xff\"\\ \n", 6}));
    buf_append(&b.node, STR("6f9619ff-8b86-4011-b42d-00c04fc964ff"));
    bucket_append(&json, &b);
    assert_true(bucket_read(buf_str(&json), &again));
    assert_true(str_equal(buf_str(&b.until), buf_str(&again.until)));
    assert_true(str_equal(buf_str(&b.node), buf_str(&again.node)));
    assert_int_equal(again.dead, 12);
    assert_int_equal(again.lost_ms, 13);
    bucket_fini(&b);
    bucket_fini(&again);
    buf_free(&json);
}

static void list_for(struct buf *json, const struct stored_job *job, bool sees_rows)
{
    const struct cluster_view alone = {0};
    struct bucket_lister l = {.jobs = job, .n = 1, .cluster = &alone, .sees_rows = sees_rows};
    struct json_writer w = {.out = json};

    buf_clear(json);
    json_open_object(&w);
    bucket_list_put(&w, &l, job);
    json_close_object(&w);
}

static void only_who_sees_rows_sees_the_keys_between_which_a_bucket_reads(void **state)
{
    struct stored_job job = {.kind = STR(JOB_BUCKET), .state = STR(BUCKET_RUNNING)};
    struct buf json = {0}, parameters = {0}, cursor = {0};
    struct fill_bucket b = {0};

    (void)state;
    put_cursor(&b.until, STR("shop.orders"), STR("9000"));
    put_cursor(&cursor, STR("shop.orders"), STR("4711"));
    bucket_append(&parameters, &b);
    job.parameters = buf_str(&parameters);
    job.cursor = buf_str(&cursor);
    list_for(&json, &job, true);
    assert_non_null(
        strstr(json.ptr, "\"cursor\":\"shop.orders 4711\",\"until\":\"shop.orders 9000\""));
    list_for(&json, &job, false);
    assert_non_null(strstr(json.ptr, "\"cursor\":\"\",\"until\":\"\""));
    bucket_fini(&b);
    buf_free(&json);
    buf_free(&parameters);
    buf_free(&cursor);
}

static void a_remainder_is_stored_without_an_end_and_read_again(void **state)
{
    struct fill_bucket b = {.mod = 8, .rest = 7}, again;
    struct buf json = {0};
    struct str ignored;

    (void)state;
    buf_append(&b.by, STR("created"));
    bucket_append(&json, &b);
    assert_true(bucket_read(buf_str(&json), &again));
    assert_int_equal(again.mod, 8);
    assert_int_equal(again.rest, 7);
    assert_true(str_equal(buf_str(&again.by), STR("created")));
    assert_int_equal(again.until.len, 0);
    /* What a release that knows no remainders needs is not there. */
    assert_false(json_find(buf_str(&json), "/until", &ignored));
    bucket_fini(&b);
    bucket_fini(&again);
    buf_free(&json);
}

static void a_place_that_is_no_cursor_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"until\":1}",
        "{\"until\":\"0\"}",
        "{\"until\":\"zz\"}",
        "{\"until\":\"05000000\"}",             /* no table of that length */
        "{\"until\":\"0100000041ff\"}",         /* a table, and half a part */
        "{\"until\":\"0100000041ffffffff41\"}", /* a part beyond the end */
        "{\"by\":\"c\",\"mod\":8,\"rest\":8}",  /* no remainder */
        "{\"by\":\"c\",\"mod\":0,\"rest\":0}",
        "{\"by\":\"c\",\"mod\":8}",
        "{\"mod\":8,\"rest\":1}", /* of which column? */
        "{\"by\":\"c\",\"mod\":1001,\"rest\":1}",
    };
    struct fill_bucket b;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (bucket_read(str_from(texts[i]), &b))
            fail_msg("%s was read", texts[i]);
        bucket_fini(&b);
    }
    assert_true(bucket_read(STR("{\"until\":\"\"}"), &b));
    assert_int_equal(b.until.len, 0);
    bucket_fini(&b);
    assert_true(bucket_read(STR("{\"until\":\"01000000410100000042\"}"), &b));
    bucket_fini(&b);
}

static void add(struct bucket_sum *sum, struct str state, struct str error, uint64_t rows_done,
                struct str parameters)
{
    bucket_sum_add(sum, &(struct stored_job){.state = state,
                                             .error = error,
                                             .rows_done = rows_done,
                                             .parameters = parameters});
}

static struct stored_job filled(const char *state, uint64_t done, uint64_t guessed)
{
    return (struct stored_job){.state = str_from(state),
                               .rows_done = done,
                               .rows_total = guessed,
                               .parameters = STR("{\"rate\":10}")};
}

static void a_bucket_shows_its_part_of_the_rows_that_were_counted(void **state)
{
    const struct stored_job jobs[] = {filled(BUCKET_RUNNING, 100, 1000),
                                      filled(BUCKET_INIT, 0, 3000)};
    struct bucket_sum sum = {0};
    struct bucket_progress p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        bucket_sum_add(&sum, &jobs[i]);
    p = bucket_progress(&jobs[0], &sum, 2000); /* the guesses were twice as large */
    assert_int_equal(p.total, 500);
    assert_int_equal(p.rate, 10);
    assert_int_equal(p.remaining_s, 40);
    p = bucket_progress(&jobs[0], &sum, 0); /* not counted yet */
    assert_int_equal(p.total, 1000);
    p = bucket_progress(&jobs[1], &sum, 2000);
    assert_int_equal(p.total, 1500);
    assert_int_equal(p.rate, 0);
    assert_int_equal(p.remaining_s, -1);
}

static void a_bucket_without_a_guess_has_its_share(void **state)
{
    const struct stored_job job = filled(BUCKET_RUNNING, 0, 0);
    struct bucket_sum sum = {.n = 4};

    (void)state;
    assert_int_equal(bucket_progress(&job, &sum, 2000).total, 500);
    assert_int_equal(bucket_progress(&job, &sum, 0).total, 0);
}

static void a_bucket_is_never_full_nor_at_its_end_before_it_is_done(void **state)
{
    struct bucket_sum sum = {.n = 1, .expected = 100};
    struct stored_job job = filled(BUCKET_RUNNING, 99, 100);

    (void)state;
    assert_int_equal(bucket_progress(&job, &sum, 100).remaining_s, 1);
    for (job.rows_done = 100; job.rows_done < 300; job.rows_done += 50) {
        assert_int_equal(bucket_progress(&job, &sum, 100).total, 0);
        assert_int_equal(bucket_progress(&job, &sum, 100).remaining_s, -1);
    }
    job.state = STR(BUCKET_DONE);
    assert_int_equal(bucket_progress(&job, &sum, 100).total, 300);
    assert_int_equal(bucket_progress(&job, &sum, 100).remaining_s, -1);
}

static void the_sum_of_buckets_tells_what_is_done_and_what_fails_or_waits(void **state)
{
    struct bucket_sum sum = {0};

    (void)state;
    add(&sum, STR(BUCKET_DONE), STR(""), 100, STR("{\"dead\":2,\"rate\":9,\"lost_ms\":5}"));
    add(&sum, STR(BUCKET_RUNNING), STR("the server is away"), 50, STR("{\"rate\":9}"));
    add(&sum, STR(BUCKET_RUNNING), STR(""), 0, STR("{\"rate\":7,\"lost_ms\":4}"));
    add(&sum, STR(BUCKET_RUNNING), STR(""), 0, STR("{\"rate\":4}"));
    add(&sum, STR(BUCKET_INIT), STR(""), 0, STR("no JSON"));
    assert_int_equal(sum.n, 5);
    assert_int_equal(sum.n_done, 1);
    assert_int_equal(sum.n_running, 3);
    assert_int_equal(sum.rate, 11); /* what is done, or waits, has none */
    assert_int_equal(sum.rows_done, 150);
    assert_int_equal(sum.dead, 2);
    assert_int_equal(sum.lost_ms, 5);
    assert_false(sum.failed);
    assert_true(str_equal(sum.waits, STR("the server is away")));
    add(&sum, STR(BUCKET_ERROR), STR("first"), 0, STR("{}"));
    add(&sum, STR(BUCKET_ERROR), STR("second"), 0, STR("{}"));
    assert_true(sum.failed);
    assert_true(str_equal(sum.error, STR("first")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_of_a_bucket_is_read_again),
        cmocka_unit_test(only_who_sees_rows_sees_the_keys_between_which_a_bucket_reads),
        cmocka_unit_test(a_remainder_is_stored_without_an_end_and_read_again),
        cmocka_unit_test(a_bucket_shows_its_part_of_the_rows_that_were_counted),
        cmocka_unit_test(a_bucket_without_a_guess_has_its_share),
        cmocka_unit_test(a_bucket_is_never_full_nor_at_its_end_before_it_is_done),
        cmocka_unit_test(a_place_that_is_no_cursor_is_refused),
        cmocka_unit_test(the_sum_of_buckets_tells_what_is_done_and_what_fails_or_waits),
    };

    return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
