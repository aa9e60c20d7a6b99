/* Versions, jobs, stops and rebuilds, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/retired.h"
#include "src/store/turn.h"
#include "src/store/waiting.h"

#include <stdio.h>

static struct stored_version some_version(void)
{
    return (struct stored_version){.index = STR("orders"),
                                   .topic = STR("shop"),
                                   .epoch = 2,
                                   .start = UINT64_C(1) << 62,
                                   .definition = ODD,
                                   .created_ms = 1};
}

static void forget_table(struct str table)
{
    ok(store_save_effects(f.s, 0, &(struct definition_effects){.tables = &table, .n_tables = 1},
                          &f.err));
}

static void version_numbers_are_never_used_again(void **state)
{
    struct stored_version v = some_version();

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        ok(store_new_version(f.s, &v, &f.err));
        assert_int_equal(v.number, i);
        ok(store_delete_version(f.s, v.index, v.number, &f.err));
    }
    reopen();
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 4);
    same(v.state, STR("changing"));
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    v.number = 9; /* what the engine has of it, though the store was lost */
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 9);
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 10);
}

static void a_dropped_version_is_remembered_until_its_index_is_deleted(void **state)
{
    struct stored_version v = some_version();
    struct version_name *list;
    size_t n;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        ok(store_new_version(f.s, &v, &f.err));
        if (i == 2)
            ok(store_delete_version(f.s, v.index, v.number, &f.err));
        else
            ok(store_drop_versions(f.s, &(struct version_name){v.index, v.number}, 1, &f.err));
    }
    reopen();
    ok(store_load_dropped(f.s, f.a, &list, &n, &f.err));
    assert_int_equal(n, 2);
    assert_int_equal(list[0].number, 1);
    same(list[1].index, v.index);
    assert_int_equal(list[1].number, 3);
    ok(store_end_dropped(f.s, v.index, 1, &f.err));
    ok(store_end_dropped(f.s, v.index, 1, &f.err));
    ok(store_load_dropped(f.s, f.a, &list, &n, &f.err));
    assert_int_equal(n, 1);
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 4);
}

static void one_version_of_an_index_is_built_at_a_time(void **state)
{
    struct stored_version v = some_version(), other = some_version();

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    refused(store_new_version(f.s, &v, &f.err), ERR_REJECT);
    other.index = STR("customers");
    ok(store_new_version(f.s, &other, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 77}, &f.err));
    v.index = STR("orders");
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 2);
}

static void promoting_a_version_retires_the_one_before(void **state)
{
    struct stored_version v = some_version(), *out;
    size_t n;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 77}, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 88}, &f.err));
    refused(
        store_promote_version(
            f.s, &(struct promotion){.index = v.index, .number = 9, .finished_ms = 99}, &f.err),
        ERR_REJECT);
    ok(store_load_versions(f.s, f.a, STR(""), &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].state, STR("history"));
    same(out[1].state, STR("available"));
    assert_int_equal(out[1].finished_ms, 88);
    assert_int_equal(out[1].start, UINT64_C(1) << 62);
    same(out[1].definition, ODD);
    ok(store_load_versions(f.s, f.a, STR("nothing"), &out, &n, &f.err));
    assert_int_equal(n, 0);
}

/* It is known as it was a moment ago, and is published, or fails, meanwhile. */
static void who_stores_one_thing_of_a_version_changes_nothing_else(void **state)
{
    const struct version_name name = {STR("orders"), 1}, none = {STR("orders"), 9};
    struct stored_version v = some_version(), *out;
    size_t n;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 77}, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 88}, &f.err));
    ok(store_set_version_definition(f.s, &name, STR("{}"), &f.err));
    ok(store_set_version_start(f.s, &name, 4711, &f.err));
    refused(store_set_version_start(f.s, &none, 4711, &f.err), ERR_REJECT);
    ok(store_load_versions(f.s, f.a, STR("orders"), &out, &n, &f.err));
    same(out[0].state, STR("history"));
    same(out[0].definition, STR("{}"));
    assert_int_equal(out[0].start, 4711);
    assert_int_equal(out[0].finished_ms, 77);
    same(out[0].topic, v.topic);
}

static void a_stopped_table_keeps_its_place_and_its_way_out(void **state)
{
    struct stored_stop stop = {STR("shop.orders"),
                               STR("TRUNCATE"),
                               STR("build it again"),
                               STR("binlog.000001"),
                               4711,
                               12};
    struct stored_stop *out;
    size_t n;

    (void)state;
    ok(store_put_stop(f.s, &stop, &f.err));
    stop.reason = ODD;
    ok(store_put_stop(f.s, &stop, &f.err));
    ok(store_load_stops(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].reason, ODD);
    same(out[0].way_out, stop.way_out);
    assert_int_equal(out[0].offset, 4711);
    forget_table(stop.table);
    ok(store_load_stops(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static size_t count_rebuilds(struct stored_rebuild **out)
{
    size_t n;

    ok(store_load_rebuilds(f.s, f.a, out, &n, &f.err));
    return n;
}

static void a_rebuild_is_wished_once_and_keeps_its_time(void **state)
{
    struct stored_rebuild wish = {STR("shop.orders"), ODD, 12}, *out;

    (void)state;
    ok(store_put_rebuild(f.s, &wish, &f.err));
    wish.at_ms = 13;
    ok(store_put_rebuild(f.s, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    assert_int_equal(out[0].at_ms, 12);
    wish.reason = STR("another");
    ok(store_put_rebuild(f.s, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    assert_int_equal(out[0].at_ms, 13);
    same(out[0].reason, wish.reason);
    ok(store_delete_rebuild(f.s, wish.table, &f.err));
    assert_int_equal(count_rebuilds(&out), 0);
}

static void shapes_are_kept_with_the_wish_and_go_with_their_version(void **state)
{
    const struct stored_rebuild wish = {STR("shop.orders"), STR("why"), 12};
    struct stored_version v = some_version();
    struct stored_rebuild *out;
    struct buf shapes = {0};
    bool found;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_put_shapes(f.s, v.index, 1, STR("old"), NULL, &f.err));
    assert_int_equal(count_rebuilds(&out), 0);
    ok(store_put_shapes(f.s, v.index, 1, ODD, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    reopen();
    ok(store_load_shapes(f.s, v.index, 1, &shapes, &found, &f.err));
    assert_true(found);
    same(buf_str(&shapes), ODD);
    ok(store_load_shapes(f.s, v.index, 2, &shapes, &found, &f.err));
    assert_false(found);
    ok(store_delete_version(f.s, v.index, 1, &f.err));
    ok(store_load_shapes(f.s, v.index, 1, &shapes, &found, &f.err));
    assert_false(found);
    buf_free(&shapes);
}

static bool has_value(const char *name)
{
    struct buf value = {0};
    bool found;

    ok(store_get_value(f.s, str_from(name), &value, &found, &f.err));
    buf_free(&value);
    return found;
}

static void small_values_of_a_version_go_with_it_and_no_others(void **state)
{
    static const char *const its[] = {"sync/orders_v1", "verify/orders_v1",
                                      "compared/orders_v1", "checked/orders_v1"};
    static const char *const others[] = {"sync/orders_v11", "verify/orders_v2", "sync/order_v1",
                                         "orders_v1"};
    struct stored_version v = some_version();

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    for (size_t i = 0; i < ARRAY_LEN(its); i++)
        ok(store_put_value(f.s, str_from(its[i]), ODD, &f.err));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ok(store_put_value(f.s, str_from(others[i]), ODD, &f.err));
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    for (size_t i = 0; i < ARRAY_LEN(its); i++)
        assert_false(has_value(its[i]));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_true(has_value(others[i]));
}

static struct stored_job some_job(uint32_t bucket)
{
    return (struct stored_job){.kind = STR("index"),
                               .index = STR("orders"),
                               .table = STR("shop.orders"),
                               .version = 2,
                               .bucket = bucket,
                               .buckets = 4,
                               .state = STR("init"),
                               .parameters = STR("{}"),
                               .created_ms = 1};
}

static enum version_stopped stop_version(uint64_t number, const struct stored_rebuild *rebuild)
{
    const struct version_stop v = {
        .index = STR("orders"),
        .number = number,
        .stop = {STR("shop.orders"), STR("DDL"), STR("build it again"), STR(""), 0, 12},
        .rebuild = rebuild};
    enum version_stopped how;

    ok(store_stop_version(f.s, &v, &how, &f.err));
    return how;
}

static size_t count_stops(void)
{
    struct stored_stop *out;
    size_t n;

    ok(store_load_stops(f.s, f.a, &out, &n, &f.err));
    return n;
}

static void a_version_stops_with_its_wish_and_only_while_it_counts(void **state)
{
    const struct stored_rebuild wish = {STR("shop.orders"), STR("DDL"), 12};
    struct stored_version v = some_version();
    struct stored_rebuild *out;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 77}, &f.err));
    assert_int_equal(stop_version(1, &wish), VERSION_TABLE);
    assert_int_equal(count_stops(), 1);
    assert_int_equal(count_rebuilds(&out), 1);
    forget_table(wish.table);

    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 88}, &f.err));
    assert_int_equal(stop_version(1, &wish), VERSION_GONE);
    assert_int_equal(stop_version(9, &wish), VERSION_GONE);
    ok(store_put_shapes(f.s, v.index, 1, STR("late"), &wish, &f.err));
    assert_int_equal(count_stops(), 0);
    assert_int_equal(count_rebuilds(&out), 0);

    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(stop_version(3, &wish), VERSION_BUILD);
    refused(
        store_promote_version(
            f.s, &(struct promotion){.index = v.index, .number = 3, .finished_ms = 99}, &f.err),
        ERR_REJECT);
    assert_ptr_equal(strstr(f.err.msg, "version 3 of index orders"),
                     f.err.msg); /* no "store:" */
    assert_int_equal(count_stops(), 0);
    assert_int_equal(count_rebuilds(&out), 1);
}

static void a_version_that_is_promoted_was_the_rebuild(void **state)
{
    struct stored_rebuild wish = {STR("shop.orders"), STR("why"), 12}, *out;
    struct stored_version v = some_version();
    struct stored_job job = some_job(0);

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    wish.table = job.table;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_put_rebuild(f.s, &wish, &f.err));
    wish.table = STR("shop.other");
    ok(store_put_rebuild(f.s, &wish, &f.err));
    assert_int_equal(stop_version(v.number, NULL), VERSION_BUILD);
    refused(store_promote_version(
                f.s,
                &(struct promotion){.index = v.index, .number = v.number, .finished_ms = 77},
                &f.err),
            ERR_REJECT);
    assert_int_equal(count_rebuilds(&out), 2);
    ok(store_delete_jobs(f.s, v.index, v.number, &f.err));
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = v.number, .finished_ms = 88},
        &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    same(out[0].table, STR("shop.other"));
}

static void a_job_is_made_once_and_saved_by_its_owner(void **state)
{
    struct stored_job job = some_job(0), again = some_job(0), second = some_job(1), *out;
    struct str thing;
    uint64_t term, newer;
    char text[32];
    size_t n;

    (void)state;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_new_job(f.s, &again, &f.err));
    assert_int_equal(job.id, again.id);
    ok(store_new_job(f.s, &second, &f.err));
    assert_int_not_equal(job.id, second.id);

    snprintf(text, sizeof(text), "job/%llu", (unsigned long long)job.id);
    thing = str_from(text);
    refused(store_save_job(f.s, 1, &job, &f.err), ERR_STOP);
    ok(store_take_term(f.s, thing, &term, &f.err));
    job.state = STR("running");
    job.cursor = ODD;
    job.rows_done = 12345678901;
    ok(store_save_job(f.s, term, &job, &f.err));
    ok(store_take_term(f.s, thing, &newer, &f.err));
    job.rows_done = 1;
    refused(store_save_job(f.s, term, &job, &f.err), ERR_STOP);
    ok(store_load_jobs(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].cursor, ODD);
    assert_int_equal(out[0].rows_done, 12345678901);
    ok(store_delete_jobs(f.s, STR("orders"), 2, &f.err));
    refused(store_save_job(f.s, newer, &job, &f.err), ERR_STOP);
    ok(store_load_jobs(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static size_t count_jobs(struct stored_job **out)
{
    size_t n;

    ok(store_load_jobs(f.s, f.a, out, &n, &f.err));
    return n;
}

static void a_build_is_divided_once_by_its_owner_and_its_buckets_go_with_it(void **state)
{
    struct stored_job job = some_job(0), buckets[3], more[2], *out;
    char text[32];
    uint64_t term;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        buckets[i] = some_job(i);
        buckets[i].kind = STR(JOB_BUCKET);
        buckets[i].buckets = 3;
    }
    memcpy(more, buckets, sizeof(more));
    ok(store_new_job(f.s, &job, &f.err));
    snprintf(text, sizeof(text), "job/%llu", (unsigned long long)job.id);
    refused(store_new_buckets(f.s, 1, &job, buckets, 3, &f.err), ERR_STOP);
    assert_int_equal(count_jobs(&out), 1);
    ok(store_take_term(f.s, str_from(text), &term, &f.err));
    job.buckets = 3;
    ok(store_new_buckets(f.s, term, &job, buckets, 3, &f.err));
    assert_int_equal(count_jobs(&out), 4);
    assert_int_equal(out[0].buckets, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(out[i + 1].id, buckets[i].id);
        assert_int_equal(out[i + 1].bucket, i);
        same(out[i + 1].kind, STR(JOB_BUCKET));
    }
    /* The answer was lost, or a node that was owner before divides it otherwise. */
    job.buckets = 2;
    ok(store_new_buckets(f.s, term, &job, more, 2, &f.err));
    assert_int_equal(more[0].id, 0);
    assert_int_equal(count_jobs(&out), 4);
    assert_int_equal(out[0].buckets, 3);
    ok(store_delete_jobs(f.s, STR("orders"), 2, &f.err));
    assert_int_equal(count_jobs(&out), 0);
    refused(store_new_buckets(f.s, term, &job, buckets, 3, &f.err), ERR_STOP);
}

/* A version of "orders" that is built, with its job; the term is its owner's. */
static struct stored_version begin_build(struct stored_job *job, uint64_t *term)
{
    struct stored_version v = some_version();
    char thing[32];

    ok(store_new_version(f.s, &v, &f.err));
    *job = some_job(0);
    job->version = v.number;
    ok(store_new_job(f.s, job, &f.err));
    snprintf(thing, sizeof(thing), "job/%llu", (unsigned long long)job->id);
    ok(store_take_term(f.s, str_from(thing), term, &f.err));
    job->rows_done = job->rows_total = 10000;
    return v;
}

static struct stored_wait some_wait(const struct stored_version *v)
{
    return (struct stored_wait){.index = v->index,
                                .number = v->number,
                                .reason = STR("dead_letters"),
                                .detail = ODD,
                                .letters = 4000,
                                .rows = 10000,
                                .since_ms = 12};
}

static void state_is(uint64_t number, const char *state, const char *job)
{
    struct stored_version *out;
    struct stored_job *jobs;
    size_t n;

    ok(store_load_versions(f.s, f.a, STR("orders"), &out, &n, &f.err));
    assert_int_equal(out[n - 1].number, number);
    same(out[n - 1].state, str_from(state));
    ok(store_load_jobs(f.s, f.a, &jobs, &n, &f.err));
    assert_int_equal(n, 1);
    same(jobs[0].state, str_from(job));
    assert_int_equal(jobs[0].rows_done, 10000);
}

static size_t count_waits(struct stored_wait **out)
{
    size_t n;

    ok(store_load_waits(f.s, f.a, out, &n, &f.err));
    return n;
}

static void a_version_that_is_parked_waits_with_its_reason_until_it_is_published(void **state)
{
    struct stored_wait wait, *out;
    struct stored_job job;
    uint64_t term;

    (void)state;

    struct stored_version v = begin_build(&job, &term);

    wait = some_wait(&v);
    refused(store_park_version(f.s, term + 1, &job, &wait, &f.err), ERR_STOP);
    assert_int_equal(count_waits(&out), 0);
    ok(store_park_version(f.s, term, &job, &wait, &f.err));
    state_is(1, "waiting", JOB_WAITING);
    ok(store_park_version(f.s, term, &job, &wait, &f.err)); /* the answer may have been lost */
    state_is(1, "waiting", JOB_WAITING);
    refused(store_new_version(f.s, &v, &f.err), ERR_REJECT);
    reopen();
    assert_int_equal(count_waits(&out), 1);
    same(out[0].reason, STR("dead_letters"));
    same(out[0].detail, ODD);
    assert_int_equal(out[0].letters, 4000);
    assert_int_equal(out[0].rows, 10000);
    assert_int_equal(out[0].since_ms, 12);

    wait.letters = 7;
    wait.detail = STR("fewer");
    ok(store_save_wait(f.s, &wait, &f.err));
    wait.accepted = 9;
    ok(store_resume_version(f.s, &wait, &f.err));
    state_is(1, "changing", JOB_COMPLETE);
    refused(store_resume_version(f.s, &wait, &f.err), ERR_REJECT);
    wait.accepted = 0;
    wait.since_ms = 99;
    ok(store_park_version(f.s, term, &job, &wait, &f.err));
    assert_int_equal(count_waits(&out), 1);
    assert_int_equal(out[0].letters, 7);
    assert_int_equal(out[0].accepted, 9);
    assert_int_equal(out[0].since_ms, 12);

    ok(store_resume_version(f.s, &wait, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 88}, &f.err));
    state_is(1, "available", JOB_COMPLETE);
    assert_int_equal(count_waits(&out), 0);
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 89},
        &f.err)); /* its answer, too */
    state_is(1, "available", JOB_COMPLETE);
    refused(store_park_version(f.s, term, &job, &wait, &f.err), ERR_STOP);
}

static void what_stops_a_version_that_waits_ends_its_build(void **state)
{
    struct stored_rebuild wish = {STR("shop.orders"), STR("DDL"), 12}, *rebuilds;
    struct stored_wait wait, *out;
    struct stored_job job;
    uint64_t term;

    (void)state;

    struct stored_version v = begin_build(&job, &term);

    wait = some_wait(&v);
    ok(store_park_version(f.s, term, &job, &wait, &f.err));
    assert_int_equal(stop_version(1, &wish), VERSION_BUILD);
    assert_int_equal(count_stops(), 0);
    assert_int_equal(count_rebuilds(&rebuilds), 1);
    ok(store_resume_version(f.s, &wait, &f.err));
    refused(store_park_version(f.s, term, &job, &wait, &f.err), ERR_REJECT);
    refused(
        store_promote_version(
            f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 77}, &f.err),
        ERR_REJECT);
    ok(store_drop_versions(f.s, &(struct version_name){v.index, 1}, 1, &f.err));
    assert_int_equal(count_waits(&out), 0);
    ok(store_new_version(f.s, &v, &f.err));
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(version_numbers_are_never_used_again),
    STORE_TEST(a_dropped_version_is_remembered_until_its_index_is_deleted),
    STORE_TEST(one_version_of_an_index_is_built_at_a_time),
    STORE_TEST(promoting_a_version_retires_the_one_before),
    STORE_TEST(who_stores_one_thing_of_a_version_changes_nothing_else),
    STORE_TEST(a_stopped_table_keeps_its_place_and_its_way_out),
    STORE_TEST(a_rebuild_is_wished_once_and_keeps_its_time),
    STORE_TEST(shapes_are_kept_with_the_wish_and_go_with_their_version),
    STORE_TEST(small_values_of_a_version_go_with_it_and_no_others),
    STORE_TEST(a_version_stops_with_its_wish_and_only_while_it_counts),
    STORE_TEST(a_version_that_is_promoted_was_the_rebuild),
    STORE_TEST(a_job_is_made_once_and_saved_by_its_owner),
    STORE_TEST(a_build_is_divided_once_by_its_owner_and_its_buckets_go_with_it),
    STORE_TEST(a_version_that_is_parked_waits_with_its_reason_until_it_is_published),
    STORE_TEST(what_stops_a_version_that_waits_ends_its_build),
};
const struct test_part store_builds = {tests, ARRAY_LEN(tests)};
