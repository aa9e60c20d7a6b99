#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/admin/apply.h"
#include "rebalance/engine/engine.h"
#include "rebalance/fill/fills.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/build.h"

#include "rebalance/build/index_build.h"
#include "rebalance/version/builds.h"
#include "rebalance/watch/findings.h"
#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/search/search.h"
#include "src/store/backend.h"
#include "src/store/core.h"
#include "src/store/turn.h"
#include "sync/pipeline/parts.h"
#include "tests/fakes/tiny_http.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL INT_MAX

/* A node that was not started, with a store whose answers are lost, or that goes away. */
struct fixture {
    char path[40];
    struct coordinator_options opt;
    struct coordinator *co;
};

static const struct store_backend_ops *real;
static int n_begins;           /* so many transactions begin, and then none any more */
static bool loses_answers;     /* of commits, which are done all the same */
static struct store *epoch_of; /* NULL: nobody takes one */

static bool fake_begin(struct store_backend *b, struct err *err)
{
    if (n_begins == 0)
        return err_set(err, ERR_RETRY, "the store is away");
    n_begins--;
    return real->begin(b, err);
}

/* Somebody takes the next epoch right after the last one was read. */
static void take_epoch(void)
{
    struct err err = {0};

    assert_true(real->begin(epoch_of->backend, &err));
    epoch_of->may_write = true;
    assert_true(store_write_value(epoch_of, STR("epoch/shop"), STR("2"), &err));
    assert_true(real->commit(epoch_of->backend, &err));
    epoch_of = NULL;
}

static bool fake_commit(struct store_backend *b, struct err *err)
{
    if (!real->commit(b, err))
        return false;
    if (epoch_of != NULL)
        take_epoch();
    return (!loses_answers || err_set(err, ERR_RETRY, "the connection is lost"));
}

static int set_up(void **state)
{
    static struct store_backend_ops fake;
    static struct fixture f;
    const char *nobody = "http://127.0.0.1:1";
    struct err err = {0};

    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    f.opt.search = search_new(&(struct search_options){.urls = &nobody, .n_urls = 1});
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    real = f.opt.store->backend->ops;
    fake = *real;
    fake.begin = fake_begin;
    fake.commit = fake_commit;
    f.opt.store->backend->ops = &fake;
    n_begins = ALL;
    loses_answers = false;
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char lock[sizeof(f->path) + 5];

    coordinator_close(f->co);
    f->opt.store->backend->ops = real;
    store_close(f->opt.store);
    search_free(f->opt.search);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    unlink(lock);
    unlink(f->path);
    return 0;
}

static uint64_t new_version(struct fixture *f)
{
    struct stored_version v = {
        .index = STR("orders"), .topic = STR("shop"), .definition = STR("{}")};
    struct err err = {0};

    assert_true(store_new_version(f->opt.store, &v, &err));
    return v.number;
}

static bool is_available(struct fixture *f, uint64_t number)
{
    struct catalogue *c = coordinator_catalogue(f->co);
    const struct stored_version *v = catalogue_number(c, STR("orders"), number);
    const bool is = v != NULL && str_equal(v->state, STR("available"));

    catalogue_unref(c);
    return is;
}

static bool is_defined(struct fixture *f)
{
    struct definitions *d = coordinator_definitions(f->co);
    const bool is = definitions_topic(d, STR("shop")) != NULL;

    definitions_unref(d);
    return is;
}

static bool store_topic(struct fixture *f)
{
    static const struct stored_definition topic = {
        {"topic", 5},
        {"shop", 4},
        {"{\"name\":\"shop\",\"address\":\"127.0.0.1:1\",\"user\":\"mill\"}", 53}};
    struct err err = {0};

    return store_save_definitions(f->opt.store, f->co->stored->revision, &topic, 1,
                                  &(struct definition_effects){0}, &err);
}

static void what_was_stored_without_an_answer_is_known_all_the_same(void **state)
{
    struct fixture *f = *state;
    const uint64_t number = new_version(f);
    struct err err = {0};

    assert_true(coordinator_refresh(f->co, &err));
    assert_false(coordinator_is_load_due(f->co));
    loses_answers = true;
    assert_false(store_promote_version(
        f->opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
    assert_false(store_topic(f));
    loses_answers = false;
    assert_false(is_available(f, number) || is_defined(f));
    assert_true(coordinator_take_stored(f->co, &err));
    assert_true(is_available(f, number) && is_defined(f));
    assert_false(coordinator_is_load_due(f->co));
}

static void a_catalogue_that_could_not_be_read_is_read_later(void **state)
{
    struct fixture *f = *state;
    const uint64_t number = new_version(f);
    struct err err = {0};

    assert_true(store_promote_version(
        f->opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
    n_begins = 0;
    assert_false(coordinator_refresh(f->co, &err));
    assert_false(coordinator_take_stored(f->co, &err));
    n_begins = ALL;
    assert_false(is_available(f, number));
    assert_true(coordinator_take_stored(f->co, &err));
    assert_true(is_available(f, number));
}

/* Whoever compares what is known with what is stored finds all of the difference, or none. */
static void definitions_are_not_taken_without_the_catalogue(void **state)
{
    struct fixture *f = *state;
    struct err err = {0};

    assert_true(store_topic(f));
    n_begins = 1;
    assert_false(coordinator_load(f->co, &err));
    assert_false(is_defined(f));
    n_begins = ALL;
    assert_true(coordinator_take_stored(f->co, &err));
    assert_true(is_defined(f));
}

static void whose_an_index_is_is_read_once(void **state)
{
    struct fixture *f = *state;
    char owner[sizeof(f->co->identity.owner)];
    struct err err = {0};

    memcpy(owner, f->co->identity.owner, sizeof(owner));
    assert_true(store_put_value(f->opt.store, STR("owner"),
                                STR("00000000-0000-0000-0000-000000000000"), &err));
    assert_true(coordinator_load(f->co, &err));
    assert_string_equal(f->co->identity.owner, owner);
}

/* ---- a failover ---- */

static void a_look_at_an_epoch_that_is_taken_meanwhile_is_repeated(void **state)
{
    static char answer[512];
    const struct tiny_step step = {.body = answer};
    struct fixture *f = *state;
    struct tiny_http *engine = tiny_http_start(&step, 1);
    const char *url = tiny_http_url(engine);
    struct search *before = f->co->opt.search;
    struct arena *a = arena_new();
    const uint64_t number = new_version(f);
    struct err err = {0};
    size_t n;

    snprintf(answer, sizeof(answer),
             "{\"orders_v1\":{\"aliases\":{\"orders\":{},\"orders_v1_write\":{}},\"mappings\":"
             "{\"_meta\":{\"_millrace\":{\"owner\":\"%s\",\"topic\":\"shop\",\"epoch\":2,"
             "\"version\":1}}}}}",
             f->co->identity.owner);
    assert_true(store_topic(f));
    assert_true(store_promote_version(
        f->opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
    assert_true(store_put_value(f->opt.store, STR("epoch/shop"), STR("1"), &err));
    assert_true(coordinator_load(f->co, &err));
    f->co->opt.search = search_new(&(struct search_options){.urls = &url, .n_urls = 1});
    epoch_of = f->opt.store;
    coordinator_look_once(f->co);
    assert_null(epoch_of);
    assert_true(findings_age(f->co->findings).answered_ms != 0);
    findings_all(f->co->findings, a, &n);
    assert_int_equal(n, 0);
    search_free(f->co->opt.search);
    f->co->opt.search = before;
    tiny_http_stop(engine);
    arena_free(a);
}

/* ---- a build that is over ---- */

static size_t n_jobs(struct fixture *f)
{
    struct arena *a = arena_new();
    struct stored_job *jobs;
    struct err err = {0};
    size_t n;

    assert_true(store_load_jobs(f->opt.store, a, &jobs, &n, &err));
    arena_free(a);
    return n;
}

/* As its thread tells it at its end. */
static void end_build(struct fixture *f, uint64_t number)
{
    static struct pipeline none = {.refs = 1};
    struct stored_job job = {.kind = STR("index"),
                             .index = STR("orders"),
                             .version = number,
                             .table = STR("shop.orders")};
    struct index_build *over;
    struct err err = {0};

    assert_true(store_new_job(f->opt.store, &job, &err));
    over = index_build_new(&(struct index_build_options){.store = f->opt.store,
                                                         .pipeline = &none,
                                                         .alias = "orders",
                                                         .index = "orders_v1",
                                                         .final_settings = "{}",
                                                         .node = "",
                                                         .bucket_column = "",
                                                         .number = number},
                           &job);
    builds_add(f->co->builds, over);
    builds_note_end(f->co->builds, over, NULL);
    assert_true(coordinator_refresh(f->co, &err));
    assert_true(store_promote_version(
        f->opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
}

static void a_build_that_is_over_is_so_when_the_store_is_back(void **state)
{
    struct fixture *f = *state;
    const uint64_t number = new_version(f);

    end_build(f, number);
    for (n_begins = 0; n_begins < 5; n_begins += 4) { /* no catalogue; one, and its job stays */
        const int n = n_begins;

        coordinator_finish_builds(f->co);
        coordinator_end_build(f->co, STR("orders"), number);
        assert_non_null(builds_find(f->co->builds, STR("orders"), number));
        n_begins = n;
    }
    n_begins = ALL;
    assert_int_equal(n_jobs(f), 1);
    coordinator_finish_builds(f->co);
    assert_null(builds_find(f->co->builds, STR("orders"), number));
    assert_true(is_available(f, number));
    assert_int_equal(n_jobs(f), 0);
}

static size_t drop_tombstones(struct fixture *f, bool has_run)
{
    const struct tombstone_filter all = {.index = STR("orders_v1")};
    struct stored_tombstone *list;
    struct arena *a = arena_new();
    struct err err = {0};
    size_t n;

    fills_note_run(f->co->fills, has_run);
    coordinator_drop_tombstones(f->co);
    assert_true(store_load_tombstones(f->opt.store, a, all, 10, &list, &n, &err));
    arena_free(a);
    return n;
}

/* Its end repeats the deletes since its beginning, however long ago that was. */
static void old_deletes_are_kept_while_a_delayed_run_goes_on(void **state)
{
    static const struct stored_tombstone t = {
        .index = {"orders_v1", 9}, .id = {"1", 1}, .version = 12, .at_ms = 1};
    const struct stored_checkpoint cp = {.topic = STR("shop"), .state = STR("running")};
    struct fixture *f = *state;
    struct err err = {0};
    uint64_t term;

    assert_true(store_take_term(f->opt.store, STR("topic/shop"), &term, &err));
    assert_true(store_save_checkpoint(f->opt.store, term, &cp, &t, 1, &err));
    assert_int_equal(drop_tombstones(f, true), 1);
    assert_int_equal(drop_tombstones(f, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_stored_without_an_answer_is_known_all_the_same,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_catalogue_that_could_not_be_read_is_read_later,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(definitions_are_not_taken_without_the_catalogue, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(whose_an_index_is_is_read_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_look_at_an_epoch_that_is_taken_meanwhile_is_repeated,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_deletes_are_kept_while_a_delayed_run_goes_on,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_build_that_is_over_is_so_when_the_store_is_back,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests_name("coordinator_store", tests, NULL, NULL);
}
