#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/node.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            without_a_pipeline_no_stored_version_is_beyond_what_was_given_out, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(who_met_what_could_not_be_stored_before_the_end_is_told,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
