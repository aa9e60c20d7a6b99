#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/engine/engine.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/topic/topics.h"
#include "rebalance/version/index.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/shape.h"
#include "rebalance/watch/findings.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/search/search.h"
#include "src/store/sqlite_sum.h"
#include "sync/decode/ddl.h"
#include "tests/fakes/tiny_http.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Documents of topic shop show tables of topic crm; topic hr has nothing to do with them. */
#define BODY(more)                                                                      \
    "{\"table\":\"shop.orders\",\"index\":\"orders\",\"schema_changes\":\"stop\"," more \
    "\"relations\":[{\"from\":\"a\",\"table\":\"crm.customer\",\"to\":\"id\",\"as\":\"c\"}]}"
/* No topic can start. */
#define TOPIC_BODY(name)                                                 \
    "{\"name\":\"" name "\",\"address\":\"127.0.0.1:1\",\"user\":\"m\"," \
    "\"password_file\":\"/nowhere/password\"}"

static struct fixture {
    char path[40];
    struct coordinator_options opt;
    struct coordinator *co;
    struct tiny_http *engine;
    size_t n_routed; /* versions that a topic was last given */
} f;

/* In place of a pipeline that takes them (tests/unit/local.mk: --wrap). */
bool __wrap_pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                                  size_t n, int64_t timeout_ms, uint64_t *from,
                                  struct err *err);

bool __wrap_pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                                  size_t n, int64_t timeout_ms, uint64_t *from, struct err *err)
{
    (void)p, (void)specs, (void)timeout_ms, (void)err;
    f.n_routed = n;
    *from = 1;
    return true;
}

static void store_definitions(void)
{
    const struct stored_definition defs[] = {
        {STR("topic"), STR("shop"), STR(TOPIC_BODY("shop"))},
        {STR("topic"), STR("crm"), STR(TOPIC_BODY("crm"))},
        {STR("topic"), STR("hr"), STR(TOPIC_BODY("hr"))},
        {STR("database"), STR("shop"), STR("{\"name\":\"shop\",\"topic\":\"shop\"}")},
        {STR("database"), STR("crm"), STR("{\"name\":\"crm\",\"topic\":\"crm\"}")},
        {STR("table"), STR("shop.orders"),
         STR(BODY("\"settings\":{\"index\":{\"number_of_replicas\":2}},"))}};
    struct err err = {0};

    assert_true(store_save_definitions(f.opt.store, 0, defs, ARRAY_LEN(defs),
                                       &(struct definition_effects){0}, &err));
}

static uint64_t new_version(struct str index, struct str topic)
{
    struct stored_version v = {.index = index, .topic = topic, .definition = STR(BODY(""))};
    struct err err = {0};

    assert_true(store_new_version(f.opt.store, &v, &err));
    assert_true(coordinator_refresh(f.co, &err));
    return v.number;
}

static uint64_t promoted(void)
{
    const uint64_t number = new_version(STR("orders"), STR("shop"));
    struct err err = {0};

    assert_true(store_promote_version(
        f.opt.store,
        &(struct promotion){.index = STR("orders"), .number = number, .finished_ms = 1}, &err));
    assert_true(coordinator_refresh(f.co, &err));
    return number;
}

static int set_up(void **state)
{
    struct err err = {0};

    (void)state;
    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    store_definitions();
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    return 0;
}

static int tear_down(void **state)
{
    char lock[sizeof(f.path) + 5];

    (void)state;
    for (struct topic *t = f.co->topics->first; t != NULL; t = t->next)
        t->pipeline = NULL;
    coordinator_close(f.co);
    if (f.engine != NULL) {
        search_free(f.opt.search);
        tiny_http_stop(f.engine);
    }
    store_close(f.opt.store);
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    unlink(lock);
    unlink(f.path);
    return 0;
}

static void with_engine(const struct tiny_step *steps, size_t n)
{
    f.engine = tiny_http_start(steps, n);

    const char *url = tiny_http_url(f.engine);

    f.opt.search = search_new(&(struct search_options){
        .urls = &url, .n_urls = 1, .verify = true, .timeout_ms = 2000});
    f.co->opt.search = f.opt.search;
    coordinator_watch_loss(f.co);
}

static void execute(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
    assert_int_equal(sqlite_sum_register(db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Another node takes topic shop, which this node had; this node learns it later. */
static void take(void)
{
    uint64_t term;
    struct err err = {0};

    assert_true(store_take_term(f.opt.store, STR("topic/shop"), &term, &err));
    execute("UPDATE term SET term = term + 1");
}

static void sync_topics(void)
{
    lock_acquire(&f.co->admin_lock);
    coordinator_sync_topics(f.co);
    lock_release(&f.co->admin_lock);
}

/* ---- who has what nobody follows ---- */

static void a_lost_topic_that_is_paused_deleted_or_cannot_start_is_taken_back(void **state)
{
    static const char *const lost[] = {"shop", "crm", "gone"}; /* crm cannot start */
    struct err err = {0};

    (void)state;
    assert_true(pause_store(
        f.opt.store, &(struct pause){.kind = STR(PAUSE_TOPIC), .name = STR("shop")}, &err));
    (void)new_version(STR("old"), STR("gone"));
    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        char thing[32];

        snprintf(thing, sizeof(thing), "topic/%s", lost[i]);
        store_lose_term(f.opt.store, str_from(thing));
    }
    assert_false(
        store_drop_versions(f.opt.store, &(struct version_name){STR("old"), 1}, 1, &err));
    sync_topics();
    for (size_t i = 0; i < ARRAY_LEN(lost); i++)
        if (!coordinator_owns(f.co, str_from(lost[i])))
            fail_msg("topic %s is nobody's", lost[i]);
    err = (struct err){0};
    assert_true(
        store_drop_versions(f.opt.store, &(struct version_name){STR("old"), 1}, 1, &err));
}

static void a_take_over_of_a_deleted_topic_that_fails_is_tried_again(void **state)
{
    (void)state;
    (void)new_version(STR("old"), STR("gone"));
    store_lose_term(f.opt.store, STR("topic/gone"));
    execute("ALTER TABLE purged RENAME TO away");
    sync_topics();
    assert_false(coordinator_owns(f.co, STR("gone")));
    execute("ALTER TABLE away RENAME TO purged");
    sync_topics();
    assert_true(coordinator_owns(f.co, STR("gone")));
}

/* ---- what another topic's owner must do ---- */

static void route(struct str topic, bool done)
{
    static char pipeline;
    struct topic *t = topics_find(f.co->topics, topic);
    uint64_t from;
    struct err err = {0};

    t->pipeline = (struct pipeline *)(void *)&pipeline;
    if (coordinator_route(f.co, topic, 0, &from, &err) != done)
        fail_msg("%s: %s", topic.ptr, err.msg);
    assert_int_equal(err.kind, done ? ERR_NONE : ERR_RETRY);
    t->pipeline = NULL;
}

static void only_topics_that_a_version_shows_wait_until_its_owner_stops_it(void **state)
{
    const uint64_t number = promoted();
    struct err err = {0};

    (void)state;
    sync_topics();
    assert_true(store_put_shapes(f.opt.store, STR("orders"), number, STR("{}"), NULL, &err));
    store_lose_term(f.opt.store, STR("topic/shop"));
    route(STR("hr"), true);
    assert_int_equal(f.n_routed, 0);
    route(STR("crm"), false);
}

static void a_guest_waits_until_the_documents_owner_has_their_index_in_line(void **state)
{
    static const char shapes[] =
        "{\"format\":1,\"behind\":0,\"tables\":[{\"topic\":\"crm\",\"database\":\"crm\","
        "\"table\":\"customer\",\"engine\":\"InnoDB\",\"columns\":[[\"id\",\"int\",3,0,0,0,0,0,"
        "\"\",\"\",[],\"\"]],\"key\":[0]}]}";
    static char index[] = "orders_v1", topic[] = "shop";
    struct version_spec spec = {.index = index, .topic = topic, .stopped = true};
    struct arena *a = arena_new();
    struct ddl ddl;
    struct err err = {0};

    (void)state;
    assert_true(
        store_put_shapes(f.opt.store, STR("orders"), promoted(), str_from(shapes), NULL, &err));
    ddl_parse(STR("crm"), STR("DROP TABLE customer"), (struct sql_dialect){0}, a, &ddl);
    store_lose_term(f.opt.store, STR("topic/shop"));

    const struct tables_now now = {.topic = STR("crm"), .ddl = &ddl};

    assert_false(coordinator_fit_version(f.co, &spec, &now, &err));
    if (err.kind != ERR_RETRY)
        fail_msg("%s: %s", err_kind_name(err.kind), err.msg);
    arena_free(a);
}

/* ---- what people are told ---- */

static void who_deletes_what_another_node_must_delete_is_told(void **state)
{
    static const struct tiny_step steps[] = {{.body = "{\"orders_v2\":{\"aliases\":{}}}"}};
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    with_engine(steps, ARRAY_LEN(steps));
    (void)promoted();
    (void)promoted();
    assert_true(
        store_drop_versions(f.opt.store, &(struct version_name){STR("orders"), 1}, 1, &err));
    take();
    assert_false(coordinator_index_delete(f.co, STR("shop.orders"), 0, false, &json, &err));
    assert_int_equal(err.kind, ERR_STOP);
    assert_non_null(strstr(err.msg, "cannot delete index orders_v1: topic/shop is owned by"));
    assert_non_null(strstr(err.msg, "; fix: try again in a few seconds"));
    buf_free(&json);
}

static void settings_that_the_owner_puts_are_no_warning(void **state)
{
    struct problems *problems = problems_new();

    (void)state;
    with_engine(NULL, 0);
    (void)promoted();
    take();
    lock_acquire(&f.co->admin_lock);
    coordinator_settings_due(f.co);
    coordinator_sync_settings(f.co, problems);
    lock_release(&f.co->admin_lock);
    assert_false(coordinator_owns(f.co, STR("shop"))); /* it was asked */
    assert_int_equal(problems_n(problems), 0);
    assert_int_equal(tiny_http_count(f.engine), 0);
    problems_free(problems);
}

/* Searches of orders find no index. */
static const char *an_answer(void)
{
    static char text[512];

    snprintf(
        text, sizeof(text),
        "{\"orders_v1\":{\"aliases\":{\"orders_v1_write\":{}},\"mappings\":{\"_meta\":"
        "{\"_millrace\":{\"owner\":\"%s\",\"topic\":\"shop\",\"epoch\":0,\"version\":1}}}}}",
        f.co->identity.owner);
    return text;
}

static void an_alias_that_another_node_must_repair_does_not_wait_for_the_engine(void **state)
{
    const struct tiny_step steps[] = {{.body = an_answer()}};
    const int64_t until_ms = clock_mono_ms() + 20000;
    struct arena *a = arena_new();
    const struct finding *list;
    size_t n;

    (void)state;
    with_engine(steps, ARRAY_LEN(steps));
    (void)promoted();
    take();
    f.co->opt.check_every_ms = 60000;
    coordinator_start_looks(f.co);
    while (findings_age(f.co->findings).answered_ms == 0) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
    stop_set(&f.co->stop);
    coordinator_join_looks(f.co);
    list = findings_all(f.co->findings, a, &n);
    assert_int_equal(n, 1);
    if (strstr(list[0].fix.ptr, "the node that owns") == NULL)
        fail_msg("fix: %.*s", (int)list[0].fix.len, list[0].fix.ptr);
    arena_free(a);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lost_topic_that_is_paused_deleted_or_cannot_start_is_taken_back),
        TEST(a_take_over_of_a_deleted_topic_that_fails_is_tried_again),
        TEST(only_topics_that_a_version_shows_wait_until_its_owner_stops_it),
        TEST(a_guest_waits_until_the_documents_owner_has_their_index_in_line),
        TEST(who_deletes_what_another_node_must_delete_is_told),
        TEST(settings_that_the_owner_puts_are_no_warning),
        TEST(an_alias_that_another_node_must_repair_does_not_wait_for_the_engine),
    };
    return cmocka_run_group_tests_name("lost_topics", tests, NULL, NULL);
}
