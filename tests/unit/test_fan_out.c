#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/store/later/fan_out.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/target.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/related/fan_out/bell.h"
#include "sync/related/fan_out/jobs.h"
#include "sync/related/fan_out/run.h"
#include "sync/routing/routing.h"

#include <string.h>

#define N_SHARDS 7

/* Something else is written all the time, but little. */
static size_t size(size_t n, int64_t took_ms)
{
    return fan_out_slice_size(&(struct fan_out_pace){.n = n, .took_ms = took_ms});
}

static void a_slice_is_as_large_as_what_is_acknowledged_in_its_time(void **state)
{
    (void)state;
    assert_int_equal(size(200, SLICE_MS), 200);
    assert_int_equal(size(200, SLICE_MS * 4 / 5), 250);
    assert_int_equal(size(200, SLICE_MS * 2), 100);
}

static void a_slice_changes_by_half_at_most_and_has_bounds(void **state)
{
    (void)state;
    assert_int_equal(size(200, 0), 400);
    assert_int_equal(size(200, SLICE_MS * 100), 100);
    assert_int_equal(size(60, SLICE_MS * 100), 50);
    assert_int_equal(size(900, 1), 1000);
}

static void behind_a_backlog_slices_have_their_share_of_what_is_written(void **state)
{
    struct fan_out_pace p = {.n = 50, .took_ms = 20000, .others = 4000};
    size_t owed = fan_out_slice_owed(&p, 20, 0);

    (void)state;
    assert_int_equal(owed, 950); /* a fifth of 5000, without the 50 */
    p.n = owed;
    assert_int_equal(fan_out_slice_owed(&p, 20, owed), 1000);
    p.others = 4000000;
    assert_int_equal(fan_out_slice_owed(&p, 50, owed), 10000);
    p.others = 0;
    p.n = 2000;
    assert_int_equal(fan_out_slice_owed(&p, 20, owed), 0);
}

static void alone_a_slice_may_take_longer(void **state)
{
    struct fan_out_pace p = {.n = 100, .took_ms = 500, .alone_ms = SLICE_ALONE_MS};

    (void)state;
    assert_int_equal(fan_out_slice_size(&p), 200);
    p.took_ms = SLICE_ALONE_MS * 4;
    assert_int_equal(fan_out_slice_size(&p), 50);
    p.alone_ms = SLICE_ALONE_MS - 1;
    p.took_ms = 500;
    assert_int_equal(fan_out_slice_size(&p), 50);
}

static void what_the_store_has_the_keys_of_is_not_read_again(void **state)
{
    (void)state;
    assert_int_equal(fan_out_slice_end(OUTCOME_SUPERSEDED), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_PURGED), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_DEAD), SLICE_DONE);
    assert_int_equal(fan_out_slice_end(OUTCOME_DEFERRED), SLICE_UNDONE);
}

/* ---- which jobs may be worked off ---- */

/* The stream of `abroad` has come to 1000; no other one runs. */
static uint64_t read_of(void *ctx, struct str topic)
{
    (void)ctx;
    return str_equal(topic, STR("abroad")) ? 1000 : 0;
}

static struct fan_out_reach reach(bool others)
{
    return (struct fan_out_reach){.topic = STR("shop"), .others = others, .read_of = read_of};
}

static struct stored_fan_out a_job(const char *key, const char *source, uint64_t run,
                                   uint64_t at_least)
{
    return (struct stored_fan_out){.key = str_from(key),
                                   .source = str_from(source),
                                   .run = run,
                                   .place = 1,
                                   .at_least = at_least};
}

static void a_run_of_another_source_goes_on_only_as_a_whole_after_a_restart(void **state)
{
    const struct fan_out_reach r = reach(true);
    struct stored_fan_out jobs[] = {
        a_job("read", "abroad", 7, 900),     /* of a run of which another ... */
        a_job("not yet", "abroad", 7, 2000), /* ... is yet to be read again */
        a_job("read too", "abroad", 8, 950), /* another run, all of it read */
        a_job("waits", "abroad", 0, 1000),   a_job("waits longer", "abroad", 0, 3000),
    };

    (void)state;
    assert_int_equal(fan_out_jobs_leave_away(&r, jobs, ARRAY_LEN(jobs)), 2);
    assert_string_equal(jobs[0].key.ptr, "read too");
    assert_string_equal(jobs[1].key.ptr, "waits");
}

static void another_source_that_is_away_keeps_no_own_change_waiting(void **state)
{
    const struct fan_out_reach on = reach(true), off = reach(false);
    struct stored_fan_out jobs[] = {
        a_job("nobody knows", "away", 0, 100),
        a_job("own", "shop", 0, 5000),
        a_job("abroad", "abroad", 0, 900),
    };

    (void)state;
    assert_int_equal(fan_out_jobs_leave_away(&on, jobs, 3), 2);
    assert_string_equal(jobs[0].key.ptr, "own");
    assert_string_equal(jobs[1].key.ptr, "abroad");
    assert_int_equal(fan_out_jobs_leave_away(&off, jobs, 2), 1);
    assert_string_equal(jobs[0].key.ptr, "own");
}

static void jobs_of_one_run_place_and_source_go_together(void **state)
{
    struct stored_fan_out jobs[] = {
        a_job("a", "shop", 0, 10), a_job("b", "abroad", 0, 20), a_job("c", "shop", 0, 40),
        a_job("d", "shop", 3, 50), a_job("e", "shop", 0, 30),
    };
    struct stored_fan_out out[5];

    (void)state;
    jobs[4].place = 2;
    assert_int_equal(fan_out_jobs_gather(jobs, 5, out), 2);
    assert_string_equal(out[0].key.ptr, "a");
    assert_string_equal(out[1].key.ptr, "c");
    assert_int_equal(fan_out_jobs_highest(out, 2), 40);
}

static void jobs_as_far_as_a_stream_has_come_are_read_but_for_a_gap(void **state)
{
    const struct fan_out_reach r = reach(true);
    const struct stored_fan_out near = a_job("a", "abroad", 0, 1000 + READ_POSITION_GAP),
                                far = a_job("a", "abroad", 0, 1001 + READ_POSITION_GAP);

    (void)state;
    assert_true(fan_out_jobs_are_read(&r, &near, 1));
    assert_false(fan_out_jobs_are_read(&r, &far, 1));
}

static void no_more_jobs_go_together_than_a_statement_takes_keys(void **state)
{
    static struct stored_fan_out jobs[RESOLVER_KEYS_MAX + 1], out[RESOLVER_KEYS_MAX + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        jobs[i] = a_job("k", "shop", 0, 10);
    assert_int_equal(fan_out_jobs_gather(jobs, ARRAY_LEN(jobs), out), RESOLVER_KEYS_MAX);
}

static void the_oldest_of_some_jobs_is_told_wherever_it_stands(void **state)
{
    struct stored_fan_out jobs[] = {a_job("a", "shop", 0, 1), a_job("b", "shop", 0, 1),
                                    a_job("c", "shop", 0, 1)};

    (void)state;
    jobs[0].created_ms = 30;
    jobs[1].created_ms = 10;
    jobs[2].created_ms = 20;
    assert_int_equal(fan_out_jobs_oldest_ms(jobs, 3), 10);
}

/* ---- how far a run is ---- */

static void jobs_that_are_to_run_once_more_later_are_not_due(void **state)
{
    const struct stored_fan_out jobs[] = {
        {.created_ms = 900}, /* the clock was set back: it waits all the same */
        {.created_ms = 50, .is_repeat = true},
        {.created_ms = 100, .is_repeat = true},
        {.created_ms = 101, .is_repeat = true},
    };

    (void)state;
    assert_int_equal(fan_out_jobs_due(jobs, 4, 100), 3);
    assert_int_equal(fan_out_jobs_due(jobs, 1, 100), 1);
    assert_int_equal(fan_out_jobs_due(jobs + 3, 1, 100), 0);
    assert_int_equal(fan_out_jobs_due(jobs, 4, 101), 4);
}

static void
only_changes_of_other_topics_run_once_more_and_only_while_copies_may_come(void **state)
{
    (void)state;
    assert_int_equal(fan_out_jobs_once_more_ms(true, 30, 1000), 1030);
    assert_int_equal(fan_out_jobs_once_more_ms(true, 0, 1000), 0);
    assert_int_equal(fan_out_jobs_once_more_ms(true, -1, 1000), 0);
    assert_int_equal(fan_out_jobs_once_more_ms(false, 30, 1000), 0);
}

/* Nobody waits for its slices. */
static void init(struct fan_out_run *r)
{
    struct bell *bell = bell_new();

    fan_out_run_init(r, bell);
    bell_unref(bell);
}

static void a_run_reads_at_the_position_of_the_latest_of_its_jobs(void **state)
{
    const struct stored_fan_out jobs[] = {a_job("a", "shop", 0, 10), a_job("b", "shop", 0, 40),
                                          a_job("c", "shop", 0, 30)};
    struct fan_out_run r;

    (void)state;
    init(&r);
    fan_out_run_begin(&r, 7, false, jobs, 3);
    assert_int_equal(r.at_least, 40);
    fan_out_run_begin(&r, 7, true, jobs, 3); /* whose positions are of another log */
    assert_int_equal(r.at_least, 0);
    fan_out_run_fini(&r);
}

/* What delivery is handed: one list after the other lies in the same place. */
static struct {
    const struct doc_write *list;
    size_t n, most;
    bool is_silent;     /* the engine does not answer */
    struct ticket *out; /* what it owes then */
} handed;

bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n, struct err *err)
{
    (void)d, (void)stop, (void)err;
    assert_true(handed.list == NULL || handed.list == writes);
    handed.list = writes;
    handed.n += n;
    handed.most = n > handed.most ? n : handed.most;
    for (size_t i = 0; i < n; i++) {
        target_unref(writes[i].target);
        if (handed.is_silent)
            handed.out = writes[i].ticket;
        else
            ticket_done(writes[i].ticket, OUTCOME_DELIVERED);
    }
    return true;
}

/* The next so many roots, each in so many shards. */
static struct str work_off(struct fan_out_run *r, size_t n, size_t n_shards)
{
    static const struct str shards[N_SHARDS];
    struct membership membership = {.n_ancestors = 1};
    struct plan_node root = {.membership = &membership},
                     related = {.parent = &root, .leads = true};
    struct plan_node *nodes[] = {&root, &related};
    struct plan plan = {.nodes = nodes, .n_nodes = 2};
    struct reading reading = {.plan = &plan};
    struct target target = {
        .plan = &reading, .refs = 1, .shards = shards, .n_shards = n_shards};
    const struct fan_out_way way = {.max = n};
    struct err err = {0};

    assert_true(fan_out_run_submit(r, &target, &way, &err));
    if (handed.is_silent)
        return STR("");
    assert_int_equal(fan_out_run_slice(r), SLICE_DONE);
    return fan_out_run_acknowledge(r, &way, 0);
}

static void the_cursor_is_behind_the_last_root_that_is_acknowledged(void **state)
{
    const char *const keys[] = {"a", "b", "c", "d", "e"};
    struct stored_fan_out job = a_job("k", "shop", 0, 10);
    struct fan_out_run r;

    (void)state;
    job.cursor = STR("");
    init(&r);
    fan_out_run_begin(&r, 7, false, &job, 1);
    r.roots = mem_alloc(ARRAY_LEN(keys), sizeof(*r.roots));
    for (; r.n_roots < ARRAY_LEN(keys); r.n_roots++)
        r.roots[r.n_roots] = (struct fan_out_root){.key = str_from(keys[r.n_roots])};
    buf_append(&r.pages.behind, STR("behind "));
    buf_append(&r.pages.after, STR("page"));
    assert_true(str_equal(work_off(&r, 2, 0), STR("behind b")));
    assert_true(str_equal(work_off(&r, 2, 0), STR("behind d")));
    assert_false(fan_out_run_needs_page(&r));
    assert_true(str_equal(work_off(&r, 2, 0), STR("page")));
    assert_true(fan_out_run_needs_page(&r));
    assert_int_equal(r.documents, 5);
    fan_out_run_fini(&r);
}

static void a_long_slice_is_handed_over_in_parts_however_many_its_shards(void **state)
{
    enum { ROOTS = 1000 };
    struct stored_fan_out job = a_job("k", "shop", 0, 10);
    struct fan_out_run r;

    (void)state;
    job.cursor = STR("");
    job.place = 1;
    init(&r);
    fan_out_run_begin(&r, 7, false, &job, 1);
    r.slice_size = ROOTS;
    r.roots = mem_alloc(ROOTS, sizeof(*r.roots));
    r.n_roots = ROOTS;
    buf_append(&r.pages.after, STR("page"));
    (void)work_off(&r, ROOTS, N_SHARDS);
    assert_int_equal(handed.n, ROOTS * N_SHARDS);
    assert_in_range(handed.most, 1, 500 + N_SHARDS);
    fan_out_run_fini(&r);
}

static void a_slice_may_end_after_its_run(void **state)
{
    struct stored_fan_out job = a_job("k", "shop", 0, 10);
    struct fan_out_run r;

    (void)state;
    job.cursor = STR("");
    memset(&handed, 0, sizeof(handed));
    handed.is_silent = true;
    init(&r);
    fan_out_run_begin(&r, 7, false, &job, 1);
    r.roots = mem_alloc(1, sizeof(*r.roots));
    r.roots[r.n_roots++] = (struct fan_out_root){.routing = STR("1")};
    (void)work_off(&r, 1, 0);
    assert_int_equal(fan_out_run_slice(&r), SLICE_OUT);
    fan_out_run_fini(&r);
    ticket_done(handed.out, OUTCOME_DELIVERED);
    memset(&handed, 0, sizeof(handed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_as_far_as_a_stream_has_come_are_read_but_for_a_gap),
        cmocka_unit_test(no_more_jobs_go_together_than_a_statement_takes_keys),
        cmocka_unit_test(the_oldest_of_some_jobs_is_told_wherever_it_stands),
        cmocka_unit_test(a_run_reads_at_the_position_of_the_latest_of_its_jobs),
        cmocka_unit_test(the_cursor_is_behind_the_last_root_that_is_acknowledged),
        cmocka_unit_test(a_slice_may_end_after_its_run),
        cmocka_unit_test(a_long_slice_is_handed_over_in_parts_however_many_its_shards),
        cmocka_unit_test(a_slice_is_as_large_as_what_is_acknowledged_in_its_time),
        cmocka_unit_test(a_slice_changes_by_half_at_most_and_has_bounds),
        cmocka_unit_test(behind_a_backlog_slices_have_their_share_of_what_is_written),
        cmocka_unit_test(alone_a_slice_may_take_longer),
        cmocka_unit_test(what_the_store_has_the_keys_of_is_not_read_again),
        cmocka_unit_test(a_run_of_another_source_goes_on_only_as_a_whole_after_a_restart),
        cmocka_unit_test(another_source_that_is_away_keeps_no_own_change_waiting),
        cmocka_unit_test(jobs_of_one_run_place_and_source_go_together),
        cmocka_unit_test(jobs_that_are_to_run_once_more_later_are_not_due),
        cmocka_unit_test(
            only_changes_of_other_topics_run_once_more_and_only_while_copies_may_come),
    };

    return cmocka_run_group_tests_name("fan_out", tests, NULL, NULL);
}
