/*
 * Two nodes on one store: each answers for the topics of both.  Their coordinators are open,
 * but not started: a test says who owns what, and what is told when.
 */
#include "config.h"

#include "tests/component/server.h"

#include "rebalance/shared/wish_send.h"
#include "rebalance/state/coordinator.h"
#include "rebalance/state/members.h"
#include "rebalance/tell/tell.h"
#include "rebalance/view/told.h"
#include "rebalance/watch/store_watch.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/search/search.h"
#include "src/store/retired.h"
#include "src/store/store.h"
#include "src/store/told.h"
#include "src/store/wish.h"
#include "web/request.h"
#include "web/routes.h"
#include "web/wishes.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct node {
    struct store *store;
    struct search *search;
    struct coordinator *co;
    struct api api;
    struct wishes *wishes;
    uint64_t term; /* of its topic */
};

static struct node a, b; /* a owns the topic near, b far */
static struct arena *arena;
static struct err err;

#define ok(call)                     \
    do {                             \
        if (!(call))                 \
            fail_msg("%s", err.msg); \
    } while (0)

/* ---- the nodes ---- */

static void open_store(struct store **s)
{
    struct mysql_options opt = server_options();

    opt.database = "millrace";
    ok(store_open_mysql(s, &opt, NULL, "test", &err));
}

static void define(struct store *s)
{
    static const struct stored_definition defs[] = {
        {STR("topic"), STR("near"),
         STR("{\"name\":\"near\",\"address\":\"127.0.0.1:1\",\"user\":\"u\"}")},
        {STR("topic"), STR("far"),
         STR("{\"name\":\"far\",\"address\":\"127.0.0.1:1\",\"user\":\"u\"}")},
        {STR("database"), STR("n"), STR("{\"name\":\"n\",\"topic\":\"near\"}")},
        {STR("database"), STR("f"), STR("{\"name\":\"f\",\"topic\":\"far\"}")},
        {STR("table"), STR("n.a"), STR("{\"table\":\"n.a\"}")},
        {STR("table"), STR("f.a"), STR("{\"table\":\"f.a\",\"index\":\"fa\"}")},
    };
    static const struct definition_effects none;

    ok(store_save_definitions(s, 0, defs, ARRAY_LEN(defs), &none, &err));
}

static void open_node(struct node *n, const char *name, const char *mine, const char *others)
{
    static const char *const url = "http://127.0.0.1:1";
    const struct search_options engine = {.urls = &url, .n_urls = 1, .timeout_ms = 1000};

    n->search = search_new(&engine);
    ok(coordinator_open(&n->co,
                        &(struct coordinator_options){.store = n->store,
                                                      .search = n->search,
                                                      .data_dir = "/nonexistent",
                                                      .node_name = name,
                                                      .address = "127.0.0.1:7700",
                                                      .is_shared = true},
                        &err));
    ok(store_take_term(n->store, str_from(mine), &n->term, &err));
    store_lose_term(n->store, str_from(others));
    n->api = (struct api){.coordinator = n->co, .version = STR("1")};
    n->wishes = NULL;
}

static int set_up(void **state)
{
    struct mysql_conn *c = server_connect();

    (void)state;
    server_exec(c, "DROP DATABASE IF EXISTS millrace");
    server_exec(c, "CREATE DATABASE millrace");
    mysql_conn_close(c);
    arena = arena_new();
    err = (struct err){0};
    open_store(&a.store);
    define(a.store);
    open_store(&b.store);
    open_node(&a, "anna", "topic/near", "topic/far");
    open_node(&b, "bert", "topic/far", "topic/near");
    return 0;
}

static void close_node(struct node *n)
{
    wishes_stop(n->wishes);
    coordinator_close(n->co);
    search_free(n->search);
    store_close(n->store);
}

static int tear_down(void **state)
{
    (void)state;
    close_node(&a);
    close_node(&b);
    arena_free(arena);
    return 0;
}

/* ---- requests ---- */

/* As a person asks the node. */
static int ask(const struct node *n, enum request_method method, const char *target,
               const char *body, struct buf *answer)
{
    struct request req = {.method = method,
                          .role = ROLE_ADMIN,
                          .content_type = STR("application/json"),
                          .body = str_from(body),
                          .user = STR("uid 7")};
    struct response res = {0};

    ok(request_target_parse(&req.target, arena, str_from(target), &err));
    routes_handle(&n->api, &req, &res);
    buf_clear(answer);
    buf_append(answer, buf_str(&res.body));
    buf_free(&res.body);
    return res.status;
}

static void has(const struct buf *json, const char *text)
{
    if (json->len == 0 || strstr(json->ptr, text) == NULL)
        fail_msg("\"%s\" is missing from:\n%s", text, json->len == 0 ? "" : json->ptr);
}

static void lacks(const struct buf *json, const char *text)
{
    if (json->len > 0 && strstr(json->ptr, text) != NULL)
        fail_msg("\"%s\" is in:\n%s", text, json->ptr);
}

/* ---- wishes ---- */

static void a_node_answers_for_the_topics_of_others(void **state)
{
    struct buf here = {0}, there = {0};

    (void)state;
    b.wishes = wishes_start(&b.api);
    assert_int_equal(
        ask(&a, METHOD_POST, "/api/v1/topics/far/pause", "{\"reason\":\"night\"}", &here), 200);
    has(&here, "{\"schema\":\"millrace/topic-pause/1\",\"topic\":\"far\"");
    assert_int_equal(ask(&b, METHOD_GET, "/api/v1/status", "", &there), 200);
    has(&there, "paused"); /* b did it */
    assert_int_equal(ask(&a, METHOD_GET, "/api/v1/tables/fa/trace?key=1", "", &here), 503);
    has(&here, "needs the running daemon"); /* as b says */
    assert_int_equal(ask(&a, METHOD_POST, "/api/v1/tables/f.a/index/pause", "{}", &here), 409);
    has(&here, "has no version to pause");
    assert_int_equal(ask(&a, METHOD_POST, "/api/v1/topics/none/pause", "{}", &here), 404);
    buf_free(&here);
    buf_free(&there);
}

static void a_topic_of_its_own_needs_nobody(void **state)
{
    struct stored_wish *list;
    struct buf here = {0};
    size_t n;

    (void)state;
    assert_int_equal(ask(&a, METHOD_POST, "/api/v1/topics/near/pause", "{}", &here), 200);
    ok(store_load_open_wishes(b.store, arena, (struct str[]){STR("near"), STR("far")}, 2, &list,
                              &n, &err));
    assert_int_equal(n, 0);
    buf_free(&here);
}

static struct stored_wish wish(const char *guid, bool repeatable)
{
    return (struct stored_wish){.guid = str_from(guid),
                                .topic = STR("far"),
                                .node = STR("a"),
                                .user = STR("uid 7"),
                                .method = STR("POST"),
                                .target = STR("/api/v1/topics/far/pause"),
                                .body = STR("{}"),
                                .repeatable = repeatable,
                                .at_ms = clock_wall_ms()};
}

static void a_wish_that_nobody_takes_is_cancelled(void **state)
{
    static const struct wish_limits limits = {200, 200};
    struct stored_wish w = wish("g1", false), *list;
    enum wish_end end;
    size_t n;

    (void)state;
    ok(wish_send(a.store, &a.co->stop, arena, &w, &limits, &end, &err));
    assert_int_equal(end, WISH_NOBODY);
    ok(store_load_open_wishes(b.store, arena, &w.topic, 1, &list, &n, &err));
    assert_int_equal(n, 0);
}

struct sending {
    struct stored_wish w;
    struct wish_limits limits;
    enum wish_end end;
    struct err err;
    bool ok;
};

static void *send_it(void *arg)
{
    struct sending *s = arg;
    struct arena *own = arena_new();

    s->ok = wish_send(a.store, &a.co->stop, own, &s->w, &s->limits, &s->end, &s->err);
    s->w.answer = s->w.error = STR("");
    arena_free(own);
    return NULL;
}

/* Take the wish as b, when it is there. */
static uint64_t take(uint64_t term)
{
    const struct wish_owner owner = {STR("far"), term, clock_wall_ms()};
    struct stored_wish *list, w;
    enum wish_take how;
    size_t n = 0;

    while (n == 0)
        ok(store_load_open_wishes(b.store, arena, &owner.topic, 1, &list, &n, &err));
    ok(store_take_wish(b.store, arena, &owner, list[0].id, &w, &how, &err));
    assert_int_equal(how, TAKE_WON);
    return w.id;
}

static void a_wish_that_was_taken_goes_on_without_its_requester(void **state)
{
    struct sending s = {.w = wish("g2", false), .limits = {60000, 300}};
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, send_it, &s);
    take(b.term);
    pthread_join(thread, NULL);
    assert_true(s.ok);
    assert_int_equal(s.end, WISH_LATE);
}

static void the_next_owner_ends_what_the_last_one_left(void **state)
{
    struct sending s = {.w = wish("g3", false), .limits = {60000, 60000}};
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, send_it, &s);
    take(b.term);
    ok(store_take_term(b.store, STR("topic/far"), &b.term, &err));
    b.wishes = wishes_start(&b.api);
    pthread_join(thread, NULL);
    assert_true(s.ok);
    assert_int_equal(s.end, WISH_ANSWERED);
    assert_int_equal(s.w.status, 503);
}

/* ---- what owners tell ---- */

static int status(const struct node *n, struct buf *answer)
{
    store_watch_read(n->co->store_watch);
    return ask(n, METHOD_GET, "/api/v1/status", "", answer);
}

static void load(struct node *n)
{
    lock_acquire(&n->co->admin_lock);

    const bool loaded = coordinator_load(n->co, &err);

    lock_release(&n->co->admin_lock);
    assert_true(loaded);
}

#define WELL_TOLD                                            \
    "\"group\":\"topic far\",\"status\":\"ok\",\"message\":" \
    "\"its owner, bert, last told of it "

static void a_topic_that_nobody_told_of_is_not_well(void **state)
{
    struct buf json = {0};

    (void)state;
    assert_int_equal(status(&a, &json), 200);
    has(&json, "\"ok\":false");
    has(&json, "\"group\":\"topic far\",\"status\":\"fail\",\"message\":\"no "
               "node has told of this topic yet\"");
    has(&json, "\"name\":\"far\",\"state\":\"unknown\"");
    has(&json, "\"owner\":\"\",\"told_ms\":null");
    has(&json, "\"owner\":\"anna\",\"told_ms\":0}");
    buf_free(&json);
}

static void what_an_owner_told_is_shown_with_its_age(void **state)
{
    struct buf json = {0};

    (void)state;
    assert_int_equal(coordinator_tell(b.co), 1);
    assert_int_equal(status(&a, &json), 200);
    has(&json, WELL_TOLD);
    has(&json, "\"name\":\"far\"");
    has(&json, "\"owner\":\"bert\",\"told_ms\":");
    has(&json, "has no index yet"); /* a check of b */
    has(&json, "\"name\":\"bert\",\"state\":\"unknown\",\"version\":\"");
    has(&json, "\"address\":\"127.0.0.1:7700\"");
    buf_free(&json);
}

static void tell(const char *body, int64_t age_ms)
{
    const struct stored_told t = {.topic = STR("far"),
                                  .node = STR("b"),
                                  .node_name = STR("bert"),
                                  .term = b.term,
                                  .at_ms = clock_wall_ms() - age_ms,
                                  .body = str_from(body)};

    ok(store_put_told(b.store, &t, &err));
}

static void what_an_owner_told_counts_in_the_verdict(void **state)
{
    struct buf json = {0};

    (void)state;
    tell("{\"topic\":{\"name\":\"far\",\"state\":\"fail\",\"lag_seconds\":7.5,\"reason\":\"r\","
         "\"fix\":\"f\"},\"tables\":[{\"table\":\"f.a\",\"state\":\"held\",\"rate\":3.25,"
         "\"reason\":\"full\"}],\"checks\":[{\"id\":\"topic.runs\",\"group\":\"topic far\","
         "\"status\":\"fail\",\"message\":\"m\",\"why\":\"w\",\"fix\":\"f\"}]}",
         1000);
    assert_int_equal(status(&a, &json), 200);
    has(&json, "\"ok\":false");
    has(&json, "\"message\":\"m\",\"why\":\"w\",\"fix\":\"f\"");
    has(&json,
        "{\"state\":\"fail\",\"reason\":\"r\",\"fix\":\"f\",\"since\":null,\"name\":\"far\","
        "\"lag_seconds\":7.5,\"owner\":\"bert\"");
    has(&json,
        "{\"state\":\"held\",\"reason\":\"full\",\"fix\":\"\",\"since\":null,\"table\":\"f.a\","
        "\"rate\":3.25}");
    has(&json, WELL_TOLD);
    buf_free(&json);
}

static void what_was_told_too_long_ago_is_not_well(void **state)
{
    struct buf json = {0};

    (void)state;
    tell("{\"topic\":{\"name\":\"far\",\"state\":\"running\",\"lag_seconds\":7.5},\"tables\":["
         "{\"table\":\"f.a\",\"state\":\"available\",\"lag_seconds\":7.5}],\"checks\":[]}",
         TOLD_OLD_MS + 60000);
    assert_int_equal(status(&a, &json), 200);
    has(&json, "\"ok\":false");
    has(&json, "its owner, bert, last told of it 5 min 0 s ago");
    has(&json, "{\"state\":\"unknown\",\"reason\":\"\",\"fix\":\"\",\"since\":\"");
    has(&json, "\",\"name\":\"far\",\"lag_seconds\":null");
    has(&json, "\"table\":\"f.a\",\"lag_seconds\":null}");
    buf_free(&json);
}

static void an_owner_tells_only_what_has_changed(void **state)
{
    struct buf json = {0};

    (void)state;
    assert_int_equal(coordinator_tell(b.co), 1);
    assert_int_equal(coordinator_tell(b.co), 0);
    assert_int_equal(ask(&b, METHOD_POST, "/api/v1/topics/far/pause", "{}", &json), 200);
    assert_int_equal(coordinator_tell(b.co), 1);
    assert_int_equal(coordinator_tell(b.co), 0);
    assert_int_equal(status(&a, &json), 200);
    has(&json, "millrace topic resume far");
    buf_free(&json);
}

static void a_version_whose_build_stands_still_is_no_change(void **state)
{
    struct stored_version v = {.index = STR("fa"),
                               .topic = STR("far"),
                               .definition = STR("{\"table\":\"f.a\"}"),
                               .state = STR("changing")};

    (void)state;
    ok(store_new_version(b.store, &v, &err));
    load(&b);
    assert_int_equal(coordinator_tell(b.co), 1);
    assert_int_equal(coordinator_tell(b.co), 0);
}

/* 3,000 tables have more than 1 MiB of state. */
static void of_very_many_tables_the_states_are_told(void **state)
{
    static struct stored_definition defs[3002];
    static const struct definition_effects none;
    struct buf json = {0};

    (void)state;
    defs[0] = (struct stored_definition){
        STR("topic"), STR("far"),
        STR("{\"name\":\"far\",\"address\":\"127.0.0.1:1\",\"user\":\"u\"}")};
    defs[1] = (struct stored_definition){STR("database"), STR("f"),
                                         STR("{\"name\":\"f\",\"topic\":\"far\"}")};
    for (size_t i = 2; i < ARRAY_LEN(defs); i++) {
        char name[32], body[64];

        snprintf(name, sizeof(name), "f.t%zu", i);
        snprintf(body, sizeof(body), "{\"table\":\"%s\",\"index\":\"i%zu\"}", name, i);
        defs[i] = (struct stored_definition){STR("table"), arena_copy(arena, str_from(name)),
                                             arena_copy(arena, str_from(body))};
    }
    ok(store_save_definitions(a.store, 1, defs, ARRAY_LEN(defs), &none, &err));
    load(&a);
    load(&b);
    assert_int_equal(coordinator_tell(b.co), 1);
    assert_int_equal(status(&a, &json), 200);
    has(&json, WELL_TOLD);
    has(&json, "\"table\":\"f.t3001\",\"index\":\"i3001\",\"topic\":\"far\"}");
    buf_free(&json);
}

static void nobody_tells_of_what_another_node_owns(void **state)
{
    struct stored_told *told;
    size_t n;

    (void)state;
    ok(store_take_term(a.store, STR("topic/far"), &a.term, &err));
    assert_int_equal(coordinator_tell(b.co), 0);
    ok(store_load_told(a.store, arena, STR("far"), &told, &n, &err));
    assert_int_equal(n, 0);
}

static void what_was_told_of_a_deleted_topic_is_forgotten(void **state)
{
    static const struct definition_effects none;
    struct stored_told *told;
    size_t n;

    (void)state;
    assert_int_equal(coordinator_tell(b.co), 1);
    ok(store_save_definitions(a.store, 1, NULL, 0, &none, &err));
    load(&a);
    coordinator_tell(a.co);
    ok(store_load_told(a.store, arena, STR(""), &told, &n, &err));
    assert_int_equal(n, 0);
}

static void metrics_name_each_owner(void **state)
{
    struct buf text = {0};

    (void)state;
    coordinator_tell(b.co);
    store_watch_read(a.co->store_watch);
    assert_int_equal(ask(&a, METHOD_GET, "/metrics", "", &text), 200);
    has(&text, "millrace_topic_told_seconds{topic=\"far\",owner=\"bert\"} ");
    has(&text, "millrace_topic_told_seconds{topic=\"near\",owner=\"anna\"} 0");
    lacks(&text, "millrace_table_documents_total{table=\"f.a\"");
    buf_free(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_node_answers_for_the_topics_of_others),
        TEST(a_topic_of_its_own_needs_nobody),
        TEST(a_wish_that_nobody_takes_is_cancelled),
        TEST(a_wish_that_was_taken_goes_on_without_its_requester),
        TEST(the_next_owner_ends_what_the_last_one_left),
        TEST(a_topic_that_nobody_told_of_is_not_well),
        TEST(what_an_owner_told_is_shown_with_its_age),
        TEST(what_an_owner_told_counts_in_the_verdict),
        TEST(what_was_told_too_long_ago_is_not_well),
        TEST(an_owner_tells_only_what_has_changed),
        TEST(a_version_whose_build_stands_still_is_no_change),
        TEST(of_very_many_tables_the_states_are_told),
        TEST(nobody_tells_of_what_another_node_owns),
        TEST(what_was_told_of_a_deleted_topic_is_forgotten),
        TEST(metrics_name_each_owner),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
