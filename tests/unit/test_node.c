#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/node.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/search.h"
#include "src/store_purged.h"
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
    const struct delivery_options o = node_delivery_options(f->co);

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
    assert_false(node_on_stop_table(f->co, f->target, "a reason", NULL));
    assert_false(node_on_mark(f->co, f->target, "a reason"));
    assert_false(node_on_dead_row(f->co, &note));
}

static uint64_t n_purged(struct fixture *f)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    uint64_t changes = 0;
    struct err err = {0};
    size_t n;

    assert_true(store_count_purged(f->opt.store, a, &counts, &n, &err));
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

/* Who repairs takes what is of an index that is gone out of the store, and counts what is left. */
static void what_is_purged_while_the_rest_is_counted_is_not_forgotten(void **state)
{
    struct fixture *f = *state;
    const struct purged_note note = {.target = f->target, .id = STR("1"), .key = STR("1")};
    struct err err = {0};

    assert_true(failpoint_arm("purged_counted:1:wait=1000", &err));
    node_start_repairs(f->co);
    assert_true(node_put_purged(f->co, &note, 1, &err));
    wait_purged(f, 0);
    assert_true(node_put_purged(f->co, &note, 1, &err));
    wait_purged(f, 0);
    stop_set(&f->co->stop);
    node_join_repairs(f->co);
    failpoint_disarm();
}

static void assert_string_starts(const char *text, const char *start)
{
    if (strncmp(text, start, strlen(start)) != 0)
        fail_msg("not \"%s\": %s", start, text);
}

static uint64_t new_version(struct fixture *f)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop"), .definition = STR("{}")};
    struct err err = {0};

    assert_true(store_new_version(f->opt.store, &v, &err));
    return v.number;
}

static void promote(struct fixture *f, uint64_t number)
{
    struct err err = {0};

    assert_true(store_promote_version(f->opt.store, STR("orders"), number, 1, &err));
}

/* What the node knows is older than what a build, which has ended by itself, has stored. */
static void a_drop_that_is_made_up_for_leaves_the_alias_where_a_newer_build_put_it(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{\"orders_v3\":{\"aliases\":{}}}"},
                                             {.body = "{\"acknowledged\":true}"}};
    struct fixture *f = *state;
    struct tiny_http *server = tiny_http_start(steps, ARRAY_LEN(steps));
    const char *url = tiny_http_url(server);
    struct err err = {0};

    f->co->opt.search =
        search_new(&(struct search_options){.urls = &url, .n_urls = 1, .verify = true});
    promote(f, new_version(f));
    assert_true(store_drop_version(f->opt.store, STR("orders"), new_version(f), &err));
    assert_true(node_refresh(f->co, &err));
    promote(f, new_version(f));
    node_end_drops(f->co);
    assert_int_equal(tiny_http_count(server), 2);
    assert_string_starts(tiny_http_request(server, 0)->head, "GET /_alias/orders ");
    assert_string_starts(tiny_http_request(server, 1)->head, "DELETE /orders_v2");
    search_free(f->co->opt.search);
    f->co->opt.search = NULL;
    tiny_http_stop(server);
}

static size_t n_tombstones(struct fixture *f)
{
    struct arena *a = arena_new();
    struct stored_tombstone *graves;
    struct err err = {0};
    size_t n;

    assert_true(store_load_tombstones(f->opt.store, a, STR("orders_v1"), (struct str){0}, 10,
                                      &graves, &n, &err));
    arena_free(a);
    return n;
}

/* After a start, or while its topic is away, no build runs. */
static void old_deletes_are_kept_for_a_version_that_is_still_to_be_built(void **state)
{
    static const struct stored_tombstone grave = {
        .index = {"orders_v1", 9}, .id = {"7", 1}, .version = 5, .at_ms = 1};
    struct fixture *f = *state;
    struct err err = {0};
    uint64_t term;

    assert_true(store_take_term(f->opt.store, STR("topic/shop"), &term, &err));
    assert_true(store_save_checkpoint(
        f->opt.store, term,
        &(struct stored_checkpoint){.topic = STR("shop"), .state = STR("running")}, &grave, 1,
        &err));

    const uint64_t number = new_version(f);

    assert_true(node_refresh(f->co, &err));
    node_drop_tombstones(f->co);
    assert_int_equal(n_tombstones(f), 1);
    promote(f, number);
    assert_true(node_refresh(f->co, &err));
    node_drop_tombstones(f->co);
    assert_int_equal(n_tombstones(f), 0);
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
            a_drop_that_is_made_up_for_leaves_the_alias_where_a_newer_build_put_it, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            old_deletes_are_kept_for_a_version_that_is_still_to_be_built, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
