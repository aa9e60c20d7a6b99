#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/admin/delivery.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/engine/engine.h"
#include "rebalance/state/parts.h"
#include "rebalance/topic/take_over.h"
#include "rebalance/topic/told.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/version/build.h"
#include "rebalance/version/retire.h"
#include "rebalance/version/version_drop.h"

#include "rebalance/build/judgement.h"
#include "rebalance/dead_letter/orders.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/index.h"
#include "rebalance/watch/findings.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/thread.h"
#include "src/search/search.h"
#include "src/store/later/purged.h"
#include "src/store/owned.h"
#include "src/store/turn.h"
#include "tests/fakes/tiny_http.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A node that was not started, with a store in a file. */
struct fixture {
    char path[40];
    struct coordinator_options opt;
    struct coordinator *co;
    struct target *target;
};

static int set_up(void **state)
{
    static struct fixture f;
    struct err err = {0};

    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    f.target =
        target_new(STR("orders_v2"), STR("orders_v2_write"), STR("shop.orders"), STR("shop"));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char lock[sizeof(f->path) + 5];

    coordinator_close(f->co);
    store_close(f->opt.store);
    target_unref(f->target);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    unlink(lock);
    unlink(f->path);
    return 0;
}

/* A version that is stored is not taken for a foreign one while its topic starts anew. */
static void without_a_pipeline_no_stored_version_is_beyond_what_was_given_out(void **state)
{
    struct fixture *f = *state;
    const struct delivery_options o = coordinator_delivery_options(f->co);

    assert_true(o.stamp_max(o.ctx, f->target) == UINT64_MAX);
}

/* Nothing can be stored any more. */
static void lose_store(struct fixture *f)
{
    static const char *const tables[] = {"table_stop", "index_version", "dead_letter",
                                         "setting"};
    sqlite3 *db;

    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char sql[64];

        snprintf(sql, sizeof(sql), "DROP TABLE %s", tables[i]);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    sqlite3_close(db);
}

/* Then whoever met it keeps the position of its own log before it: documents that show tables
 * of several topics have no other. */
static void who_met_what_could_not_be_stored_before_the_end_is_told(void **state)
{
    struct fixture *f = *state;
    const struct dead_letter_note note = {
        .target = f->target, .id = STR("1"), .key = STR("1"), .reason = STR("a reason")};

    lose_store(f);
    stop_set(&f->co->stop);
    assert_false(coordinator_on_stop_table(f->co, f->target, "a reason", NULL));
    assert_false(coordinator_on_mark(f->co, f->target, "a reason"));
    assert_false(coordinator_on_dead_row(f->co, &note));
}

static uint64_t n_purged(struct fixture *f)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    uint64_t changes = 0;
    struct err err = {0};
    size_t n;

    assert_true(store_count_purged(f->opt.store, a, STR(""), &counts, &n, &err));
    for (size_t i = 0; i < n; i++)
        changes += counts[i].changes;
    arena_free(a);
    return changes;
}

static void wait_purged(struct fixture *f, uint64_t n)
{
    const int64_t until_ms = clock_mono_ms() + 20000;

    while (n_purged(f) != n) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
}

/* Who repairs takes what is of an index that is gone out of the store, and counts what is
 * left. */
static void what_is_purged_while_the_rest_is_counted_is_not_forgotten(void **state)
{
    struct fixture *f = *state;
    const struct purged_note note = {.target = f->target, .id = STR("1"), .key = STR("1")};
    struct err err = {0};

    assert_true(failpoint_arm("purged_counted:1:wait=1000", &err));
    coordinator_start_replays(f->co);
    assert_true(coordinator_put_purged(f->co, &note, 1, &err));
    wait_purged(f, 0);
    assert_true(coordinator_put_purged(f->co, &note, 1, &err));
    wait_purged(f, 0);
    stop_set(&f->co->stop);
    coordinator_join_replays(f->co);
    failpoint_disarm();
}

static void what_is_purged_is_late_from_its_first_change_on_also_after_a_start(void **state)
{
    struct fixture *f = *state;
    const struct purged_note note = {.target = f->target, .id = STR("1"), .key = STR("1")};
    const int64_t before_ms = clock_wall_ms();
    struct err err = {0};

    assert_true(coordinator_purged_since(f->co, STR("orders_v2")) == LAG_NONE);
    assert_true(coordinator_put_purged(f->co, &note, 1, &err));

    const int64_t since_ms = coordinator_purged_since(f->co, STR("orders_v2"));

    assert_true(since_ms >= before_ms - 100 && since_ms <= clock_wall_ms() + 100);
    assert_true(coordinator_purged_since(f->co, STR("orders_v1")) == LAG_NONE);
    coordinator_close(f->co);
    assert_true(coordinator_open(&f->co, &f->opt, &err));
    assert_true(coordinator_load_purged(f->co, STR(""), &err));
    assert_true(llabs(coordinator_purged_since(f->co, STR("orders_v2")) - since_ms) < 200);
}

static void assert_string_starts(const char *text, const char *start)
{
    if (strncmp(text, start, strlen(start)) != 0)
        fail_msg("not \"%s\": %s", start, text);
}

static uint64_t new_version(struct fixture *f)
{
    struct stored_version v = {
        .index = STR("orders"), .topic = STR("shop"), .definition = STR("{}")};
    struct err err = {0};

    assert_true(store_new_version(f->opt.store, &v, &err));
    return v.number;
}

static void promote(struct fixture *f, uint64_t number)
{
    struct err err = {0};

    assert_true(store_promote_version(
        f->opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
}

static void begin_with(struct fixture *f, struct tiny_http *engine, unsigned timeout_ms)
{
    const char *url = tiny_http_url(engine);

    f->co->opt.search = search_new(&(struct search_options){
        .urls = &url, .n_urls = 1, .verify = true, .timeout_ms = timeout_ms});
}

static void end_with(struct fixture *f, struct tiny_http *engine)
{
    search_free(f->co->opt.search);
    f->co->opt.search = NULL;
    tiny_http_stop(engine);
}

static void wait_requests(struct tiny_http *engine, size_t n)
{
    const int64_t until_ms = clock_mono_ms() + 20000;

    while (tiny_http_count(engine) < n) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
}

/* What the node knows is older than what a build, which has ended by itself, has stored. */
static void a_drop_that_is_made_up_for_leaves_the_alias_where_a_newer_build_put_it(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{\"orders_v3\":{\"aliases\":{}}}"},
                                             {.body = "{\"acknowledged\":true}"}};
    struct fixture *f = *state;
    struct tiny_http *server = tiny_http_start(steps, ARRAY_LEN(steps));
    struct err err = {0};

    begin_with(f, server, 0);
    promote(f, new_version(f));
    assert_true(store_drop_versions(
        f->opt.store, &(struct version_name){STR("orders"), new_version(f)}, 1, &err));
    assert_true(coordinator_refresh(f->co, &err));
    promote(f, new_version(f));
    coordinator_end_drops(f->co);
    assert_int_equal(tiny_http_count(server), 2);
    assert_string_starts(tiny_http_request(server, 0)->head, "GET /_alias/orders ");
    assert_string_starts(tiny_http_request(server, 1)->head, "DELETE /orders_v2");
    end_with(f, server);
}

static void drop(struct fixture *f, uint64_t number)
{
    struct err err = {0};

    assert_true(store_drop_versions(f->opt.store, &(struct version_name){STR("orders"), number},
                                    1, &err));
}

/* After the first look. */
static void end_looks(struct fixture *f)
{
    const int64_t until_ms = clock_mono_ms() + 20000;

    while (findings_age(f->co->findings).answered_ms == 0) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
    stop_set(&f->co->stop);
    coordinator_join_looks(f->co);
}

static void an_engine_that_hangs_while_an_index_is_deleted_keeps_nobody(void **state)
{
    static const struct tiny_step silent[] = {{.act = TINY_SILENT}};
    struct fixture *f = *state;
    struct tiny_http *server = tiny_http_start(silent, 1);

    begin_with(f, server, 2000);
    drop(f, new_version(f));
    drop(f, new_version(f));
    coordinator_start_looks(f->co);
    wait_requests(server, 1);
    assert_string_starts(tiny_http_request(server, 0)->head, "DELETE /orders_v1");
    assert_int_equal(pthread_mutex_trylock(&f->co->admin_lock.mutex), 0);
    lock_release(&f->co->admin_lock);
    assert_true(builds_is_dropping(f->co->builds, STR("orders")));
    end_looks(f);
    assert_int_equal(tiny_http_count(server), 1); /* the next would wait as long */
    assert_false(builds_is_dropping(f->co->builds, STR("orders")));
    end_with(f, server);
}

static void *delete_orders(void *arg)
{
    struct fixture *f = arg;
    struct buf json = {0};
    struct err err = {0};

    assert_false(coordinator_index_delete(f->co, STR("orders"), 0, false, &json, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    buf_free(&json);
    return NULL;
}

static void an_engine_that_hangs_while_somebody_deletes_an_index_keeps_nobody(void **state)
{
    static const struct tiny_step silent[] = {{.act = TINY_SILENT}};
    struct fixture *f = *state;
    struct tiny_http *server = tiny_http_start(silent, 1);
    pthread_t person;
    struct err err = {0};

    begin_with(f, server, 2000);
    promote(f, new_version(f));
    assert_true(coordinator_retire_unnamed(f->co, &err));
    person = thread_start("person", delete_orders, f);
    wait_requests(server, 1);
    assert_string_starts(tiny_http_request(server, 0)->head, "GET /orders_v1/_alias");
    assert_int_equal(pthread_mutex_trylock(&f->co->admin_lock.mutex), 0);
    lock_release(&f->co->admin_lock);
    pthread_join(person, NULL);
    end_with(f, server);
}

/* Searches of orders find no index; of the next look, they do. */
static const char *an_answer(const struct fixture *f, const char *aliases)
{
    static char texts[2][512];
    static unsigned n;
    char *text = texts[n++ % 2];

    snprintf(
        text, sizeof(texts[0]),
        "{\"orders_v1\":{\"aliases\":{%s\"orders_v1_write\":{}},\"mappings\":{\"_meta\":"
        "{\"_millrace\":{\"owner\":\"%s\",\"topic\":\"shop\",\"epoch\":0,\"version\":1}}}}}",
        aliases, f->co->identity.owner);
    return text;
}

static void what_is_right_again_by_the_time_is_not_put_right(void **state)
{
    struct fixture *f = *state;
    const struct tiny_step steps[] = {{.body = an_answer(f, "")},
                                      {.body = an_answer(f, "\"orders\":{},")}};
    struct tiny_http *server = tiny_http_start(steps, ARRAY_LEN(steps));
    struct arena *a = arena_new();
    struct err err = {0};
    size_t n;

    begin_with(f, server, 0);
    promote(f, new_version(f));
    assert_true(coordinator_refresh(f->co, &err));
    f->co->opt.check_every_ms = 60000;
    coordinator_start_looks(f->co);
    end_looks(f);
    assert_true(tiny_http_count(server) >= 2);
    for (size_t i = 0; i < tiny_http_count(server); i++)
        assert_string_starts(tiny_http_request(server, i)->head, "GET /");
    findings_all(f->co->findings, a, &n);
    assert_int_equal(n, 0);
    arena_free(a);
    end_with(f, server);
}

/* ---- dead letters of a version that is not searched yet ---- */

static void refuse_letter(struct fixture *f)
{
    const struct stored_dead_letter letter = {.topic = STR("shop"),
                                              .table = STR("shop.orders"),
                                              .index = STR("orders_v1"),
                                              .doc_id = STR("7"),
                                              .op = STR("index"),
                                              .version = 5,
                                              .reason = STR("why")};
    struct err err = {0};

    assert_true(store_put_dead_letters(f->opt.store, &letter, 1, &err));
}

static void park(struct fixture *f, uint64_t number)
{
    struct stored_job job = {.kind = STR("index"),
                             .index = STR("orders"),
                             .version = number,
                             .table = STR("shop.orders")};
    const struct stored_wait wait = {.index = STR("orders"),
                                     .number = number,
                                     .reason = STR(WAIT_DEAD_LETTERS),
                                     .letters = 1};
    char thing[32];
    struct err err = {0};
    uint64_t term;

    assert_true(store_new_job(f->opt.store, &job, &err));
    snprintf(thing, sizeof(thing), "job/%llu", (unsigned long long)job.id);
    assert_true(store_take_term(f->opt.store, str_from(thing), &term, &err));
    assert_true(store_park_version(f->opt.store, term, &job, &wait, &err));
}

/* fix NULL: it is done. */
static void discard_all(struct fixture *f, const char *fix)
{
    const struct dead_letter_filter all = {.limit = 0};
    struct buf json = {0};
    struct err err = {0};

    assert_true(coordinator_refresh(f->co, &err));
    assert_int_equal(coordinator_dead_letter_discard(f->co, &all, false, &json, &err),
                     fix == NULL);
    assert_int_equal(err.code, fix == NULL ? 0 : 409);
    if (fix != NULL && strstr(err.msg, fix) == NULL)
        fail_msg("no \"%s\": %s", fix, err.msg);
    if (fix == NULL)
        assert_string_equal(json.ptr,
                            "{\"schema\":\"millrace/dead-letter-discard/1\",\"count\":1}");
    buf_free(&json);
}

static void what_a_version_lacks_is_not_discarded_before_it_is_searched(void **state)
{
    struct fixture *f = *state;
    const uint64_t number = new_version(f);

    refuse_letter(f);
    discard_all(f, "millrace index reset orders");
    park(f, number);
    discard_all(f, "millrace index cutover orders --accept-dead-letters 1");
    promote(f, number);
    discard_all(f, NULL);
}

static size_t n_tombstones(struct fixture *f)
{
    struct arena *a = arena_new();
    struct stored_tombstone *tombstones;
    struct err err = {0};
    size_t n;

    assert_true(store_load_tombstones(f->opt.store, a,
                                      (struct tombstone_filter){.index = STR("orders_v1")}, 10,
                                      &tombstones, &n, &err));
    arena_free(a);
    return n;
}

/* After a start, or while its topic is away, no build runs. */
static void old_deletes_are_kept_for_a_version_that_is_still_to_be_built(void **state)
{
    static const struct stored_tombstone tombstone = {
        .index = {"orders_v1", 9}, .id = {"7", 1}, .version = 5, .at_ms = 1};
    struct fixture *f = *state;
    struct err err = {0};
    uint64_t term;

    assert_true(store_take_term(f->opt.store, STR("topic/shop"), &term, &err));
    assert_true(store_save_checkpoint(
        f->opt.store, term,
        &(struct stored_checkpoint){.topic = STR("shop"), .state = STR("running")}, &tombstone,
        1, &err));

    const uint64_t number = new_version(f);

    assert_true(coordinator_refresh(f->co, &err));
    coordinator_drop_tombstones(f->co);
    assert_int_equal(n_tombstones(f), 1);
    promote(f, number);
    assert_true(coordinator_refresh(f->co, &err));
    coordinator_drop_tombstones(f->co);
    assert_int_equal(n_tombstones(f), 0);
}

/* Whoever owns its topic goes on with a verification; we do when the topic comes to us. */
static void a_verification_of_a_topic_that_is_lost_waits_for_it(void **state)
{
    struct fixture *f = *state;
    struct stored_job job = {.kind = STR(JOB_VERIFY),
                             .index = STR("orders"),
                             .version = new_version(f),
                             .table = STR("shop.orders"),
                             .buckets = 1};
    struct err err = {0};

    assert_true(store_new_job(f->opt.store, &job, &err));
    assert_true(coordinator_refresh(f->co, &err));
    store_lose_term(f->opt.store, STR("topic/shop"));
    coordinator_resume_verifies(f->co);
    assert_true(f->co->verifies_run); /* all of ours run */
    assert_false(verify_jobs_run(f->co->verifies, JOB_VERIFY));
    lock_acquire(&f->co->admin_lock);
    assert_true(coordinator_take_over(f->co, STR("shop"), &err));
    lock_release(&f->co->admin_lock);
    assert_false(f->co->verifies_run);
}

/* Its next owner writes them.  We do once it comes back. */
static void purged_changes_of_a_topic_that_is_lost_are_not_ours(void **state)
{
    struct fixture *f = *state;
    const struct purged_note note = {.target = f->target, .id = STR("1"), .key = STR("1")};
    const int64_t until_ms = clock_mono_ms() + 20000;
    uint64_t term;
    struct err err = {0};

    assert_true(coordinator_put_purged(f->co, &note, 1, &err));
    store_lose_term(f->opt.store, STR("topic/shop"));
    coordinator_start_replays(f->co);
    while (coordinator_purged_since(f->co, STR("orders_v2")) != LAG_NONE) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
    stop_set(&f->co->stop);
    coordinator_join_replays(f->co);
    assert_int_equal(n_purged(f), 1);
    assert_true(store_take_term(f->opt.store, STR("topic/shop"), &term, &err));
    assert_true(coordinator_load_purged(f->co, STR("shop"), &err));
    assert_true(coordinator_purged_since(f->co, STR("orders_v2")) != LAG_NONE);
}

static void replays_that_are_stored_are_looked_for_when_their_topic_comes(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};

    coordinator_replay_wanted(f->co);
    assert_true(coordinator_replay_due_in_ms(f->co) > 0);
    lock_acquire(&f->co->admin_lock);
    assert_true(coordinator_take_over(f->co, STR("shop"), &err));
    lock_release(&f->co->admin_lock);
    assert_int_equal(coordinator_replay_due_in_ms(f->co), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            without_a_pipeline_no_stored_version_is_beyond_what_was_given_out, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(who_met_what_could_not_be_stored_before_the_end_is_told,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_purged_while_the_rest_is_counted_is_not_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_purged_is_late_from_its_first_change_on_also_after_a_start, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            a_drop_that_is_made_up_for_leaves_the_alias_where_a_newer_build_put_it, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            an_engine_that_hangs_while_an_index_is_deleted_keeps_nobody, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_engine_that_hangs_while_somebody_deletes_an_index_keeps_nobody, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(what_is_right_again_by_the_time_is_not_put_right,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_a_version_lacks_is_not_discarded_before_it_is_searched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            old_deletes_are_kept_for_a_version_that_is_still_to_be_built, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_verification_of_a_topic_that_is_lost_waits_for_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(purged_changes_of_a_topic_that_is_lost_are_not_ours,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            replays_that_are_stored_are_looked_for_when_their_topic_comes, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("coordinator", tests, NULL, NULL);
}
