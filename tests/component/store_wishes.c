/* Commands that one node hands to a topic's owner through the store. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/wish.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SHOP STR("shop")

/* Times are hours, as they go through the store's clock. */
#define HOUR ((int64_t)3600000)
static const struct wish_owner first = {{"shop", 4}, 1, 1000 * HOUR},
                               second = {{"shop", 4}, 2, 2000 * HOUR};

/* The store as another node has it; SQLite's serves one. */
static struct store *open_other(void)
{
    struct store *other = f.s;

    if (on_mysql)
        ok(open_store(&other, &f.err));
    return other;
}

static void close_other(struct store *other)
{
    if (other != f.s)
        store_close(other);
}

static void own_shop(void)
{
    uint64_t term;

    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
}

static struct stored_wish a_wish(const char *guid)
{
    return (struct stored_wish){.guid = str_from(guid),
                                .topic = SHOP,
                                .node = STR("node-b"),
                                .user = ODD,
                                .method = STR("POST"),
                                .target = STR("/api/v1/topics/shop/pause?reason=x"),
                                .body = ODD,
                                .at_ms = 77 * HOUR};
}

static struct wish_name put_as(struct stored_wish w)
{
    ok(store_put_wish(f.s, &w, &f.err));
    return (struct wish_name){w.id, w.node};
}

static struct wish_name put(const char *guid)
{
    return put_as(a_wish(guid));
}

static struct wish_name put_repeatable(const char *guid)
{
    struct stored_wish w = a_wish(guid);

    w.repeatable = true;
    return put_as(w);
}

/* The one that was taken last. */
static struct stored_wish won;

static enum wish_take take(const struct wish_owner *owner, struct wish_name name)
{
    enum wish_take how;

    ok(store_take_wish(f.s, f.a, owner, name.id, &won, &how, &f.err));
    return how;
}

static bool end(const struct wish_owner *owner, struct wish_name name, struct str answer)
{
    return store_end_wish(f.s, owner, name.id, &(struct wish_answer){owner->term, 200, answer},
                          &f.err);
}

static bool is_found(struct wish_name name)
{
    struct stored_wish w;
    bool found;

    ok(store_load_wish(f.s, f.a, &name, &w, &found, &f.err));
    return found;
}

static struct stored_wish load(struct wish_name name)
{
    struct stored_wish w;
    bool found;

    ok(store_load_wish(f.s, f.a, &name, &w, &found, &f.err));
    assert_true(found);
    return w;
}

static struct stored_wish *load_open(const struct str *topics, size_t n_topics,
                                     size_t n_expected)
{
    struct stored_wish *out;
    size_t n;

    ok(store_load_open_wishes(f.s, f.a, topics, n_topics, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static bool cancel(struct wish_name name)
{
    bool goes_on;

    ok(store_cancel_wish(f.s, &name, &goes_on, &f.err));
    return !goes_on;
}

static void a_wish_goes_whole_to_its_owner_and_its_answer_back(void **state)
{
    struct wish_name name;
    struct stored_wish w;

    (void)state;
    own_shop();
    name = put("1");
    reopen();
    assert_int_equal(take(&first, name), TAKE_WON);
    same(won.guid, STR("1"));
    same(won.topic, SHOP);
    same(won.node, STR("node-b"));
    same(won.user, ODD);
    same(won.method, STR("POST"));
    same(won.target, STR("/api/v1/topics/shop/pause?reason=x"));
    same(won.body, ODD);
    same(won.state, STR(WISH_TAKEN));
    assert_in_range(won.at_ms, 76 * HOUR, 78 * HOUR);
    assert_int_equal(won.term, 1);
    assert_false(won.repeatable);
    w = load(name);
    same(w.state, STR(WISH_TAKEN));
    assert_int_equal(w.status, 0);
    ok(end(&first, name, ODD));
    w = load(name);
    same(w.state, STR(WISH_DONE));
    same(w.answer, ODD);
    same(w.error, STR(""));
    assert_int_equal(w.status, 200);
    assert_int_equal(w.term, 1);
    assert_in_range(w.ended_ms, 999 * HOUR, 1001 * HOUR);
}

static void an_owner_sees_the_open_wishes_of_its_topics_in_order(void **state)
{
    static const struct str topics[] = {{"shop", 4}, {"crm", 3}};
    struct stored_wish other = a_wish("4"), crm = a_wish("2");
    struct wish_name shop[3];
    struct stored_wish *out;

    (void)state;
    own_shop();
    (void)load_open(topics, 2, 0);
    shop[0] = put("1");
    crm.topic = STR("crm");
    (void)put_as(crm);
    shop[1] = put("3");
    other.topic = STR("Shop");
    (void)put_as(other);
    shop[2] = put("5");
    assert_int_equal(take(&first, shop[1]), TAKE_WON);
    assert_int_equal(take(&first, shop[2]), TAKE_WON);
    ok(end(&first, shop[2], STR("")));
    out = load_open(topics, 2, 3);
    same(out[0].guid, STR("1"));
    same(out[1].guid, STR("2"));
    same(out[2].guid, STR("3"));
    same(out[0].state, STR(WISH_NEW));
    same(out[0].target, crm.target);
    same(out[0].body, STR(""));
    same(out[2].state, STR(WISH_TAKEN));
    assert_int_equal(out[2].term, 1);
    out = load_open(topics + 1, 1, 1);
    same(out[0].guid, STR("2"));
    (void)load_open(NULL, 0, 0);
}

static void a_wish_that_is_put_again_is_one(void **state)
{
    struct wish_name name, again;

    (void)state;
    own_shop();
    name = put("1");
    again = put("1");
    assert_int_equal(again.id, name.id);
    assert_int_not_equal(put("2").id, name.id);
    assert_int_equal(take(&first, name), TAKE_WON);
    ok(end(&first, name, STR("done")));
    again = put("1");
    assert_int_equal(again.id, name.id);
    same(load(again).answer, STR("done"));
}

static void one_take_wins_and_a_repeated_one_says_that_the_wish_runs(void **state)
{
    struct store *other = open_other();
    struct wish_name name;
    struct stored_wish w;
    enum wish_take how;

    (void)state;
    own_shop();
    name = put("1");
    assert_int_equal(take(&first, name), TAKE_WON);
    ok(store_take_wish(other, f.a, &first, name.id, &w, &how, &f.err));
    assert_int_equal(how, TAKE_RUNS);
    same(w.body, ODD);
    assert_int_equal(take(&first, name), TAKE_RUNS);
    ok(end(&first, name, STR("")));
    assert_int_equal(take(&first, name), TAKE_OVER);
    close_other(other);
}

static void what_ended_stays_as_it_ended(void **state)
{
    struct wish_name name;

    (void)state;
    own_shop();
    name = put("1");
    assert_int_equal(take(&first, name), TAKE_WON);
    ok(end(&first, name, STR("once")));
    ok(end(&first, name, STR("twice")));
    same(load(name).answer, STR("once"));
}

static void an_older_owner_takes_and_ends_nothing(void **state)
{
    struct store *other = open_other();
    struct wish_name name, fresh;
    struct stored_wish w;
    enum wish_take how;

    (void)state;
    own_shop();
    name = put_repeatable("1");
    fresh = put("2");
    assert_int_equal(take(&first, name), TAKE_WON);
    own_shop();
    refused(store_take_wish(other, f.a, &first, fresh.id, &w, &how, &f.err), ERR_STOP);
    refused(end(&first, name, STR("")), ERR_STOP);
    same(load(fresh).state, STR(WISH_NEW));
    same(load(name).state, STR(WISH_TAKEN));
    close_other(other);
}

static void who_did_not_take_a_wish_cannot_end_it(void **state)
{
    struct wish_name name;

    (void)state;
    own_shop();
    name = put_repeatable("1");
    refused(end(&first, name, STR("")), ERR_STOP);
    assert_int_equal(take(&first, name), TAKE_WON);
    own_shop();
    refused(end(&second, name, STR("")), ERR_STOP);
    refused(end(&second, (struct wish_name){name.id + 1, name.node}, STR("")), ERR_STOP);
    same(load(name).state, STR(WISH_TAKEN));
}

static void a_command_that_starts_its_topic_again_ends_under_the_new_term(void **state)
{
    const struct wish_answer answer = {.taken = 1, .status = 200, .body = STR("done")},
                             wrong = {.taken = 2, .status = 500, .body = STR("")};
    struct wish_name name;

    (void)state;
    own_shop();
    name = put("1");
    assert_int_equal(take(&first, name), TAKE_WON);
    own_shop();
    refused(store_end_wish(f.s, &second, name.id, &wrong, &f.err), ERR_STOP);
    ok(store_end_wish(f.s, &second, name.id, &answer, &f.err));
    same(load(name).answer, STR("done"));
    assert_int_equal(load(name).term, 1);
}

static void a_new_owner_runs_again_only_what_can_be_repeated(void **state)
{
    struct wish_name once, often;
    struct stored_wish w;

    (void)state;
    own_shop();
    once = put("1");
    often = put_repeatable("2");
    assert_int_equal(take(&first, once), TAKE_WON);
    assert_int_equal(take(&first, often), TAKE_WON);
    own_shop();
    assert_int_equal(take(&second, often), TAKE_WON);
    assert_int_equal(won.term, 2);
    assert_int_equal(take(&second, often), TAKE_RUNS);
    ok(end(&second, often, STR("")));
    assert_int_equal(take(&second, once), TAKE_LOST);
    w = load(once);
    same(w.state, STR(WISH_DONE));
    same(w.answer, STR(""));
    assert_int_equal(w.status, 503);
    assert_in_range(w.ended_ms, 1999 * HOUR, 2001 * HOUR);
    assert_non_null(strstr(w.error.ptr, "nobody knows whether the command took effect"));
    assert_int_equal(take(&second, once), TAKE_OVER);
    (void)load_open(&second.topic, 1, 0);
}

static void a_wish_belongs_to_one_topic_and_one_requester(void **state)
{
    static const struct wish_owner crm = {{"crm", 3}, 1, 1000 * HOUR};
    struct wish_name name, foreign;
    uint64_t term;

    (void)state;
    own_shop();
    ok(store_take_term(f.s, STR("topic/crm"), &term, &f.err));
    name = put("1");
    foreign = (struct wish_name){name.id, STR("node-c")};
    assert_int_equal(take(&crm, name), TAKE_OVER);
    assert_false(is_found(foreign));
    assert_true(cancel(foreign));
    assert_true(is_found(name));
}

static void a_requester_takes_back_only_what_is_new(void **state)
{
    struct wish_name back, goes_on;

    (void)state;
    own_shop();
    back = put("1");
    goes_on = put("2");
    assert_true(cancel(back));
    assert_true(cancel(back));
    assert_false(is_found(back));
    assert_int_equal(take(&first, back), TAKE_OVER);
    assert_int_equal(take(&first, goes_on), TAKE_WON);
    assert_false(cancel(goes_on));
    ok(end(&first, goes_on, STR("done")));
    assert_false(cancel(goes_on));
    same(load(goes_on).answer, STR("done"));
}

/* Bytes that a statement has to write as two characters each. */
static struct str many_bytes(size_t n)
{
    char *bytes = arena_bytes(f.a, n);

    memset(bytes, 0xff, n);
    return (struct str){bytes, n};
}

static void an_answer_that_is_too_long_is_replaced_by_an_error(void **state)
{
    struct wish_name fits, too_long;
    struct stored_wish w;

    (void)state;
    own_shop();
    fits = put("1");
    too_long = put("2");
    assert_int_equal(take(&first, fits), TAKE_WON);
    assert_int_equal(take(&first, too_long), TAKE_WON);
    ok(end(&first, fits, many_bytes(WISH_BODY_MAX)));
    w = load(fits);
    assert_int_equal(w.status, 200);
    assert_int_equal(w.answer.len, WISH_BODY_MAX);
    ok(end(&first, too_long, many_bytes(WISH_BODY_MAX + 1)));
    w = load(too_long);
    same(w.state, STR(WISH_DONE));
    same(w.answer, STR(""));
    assert_int_equal(w.status, 500);
    assert_non_null(strstr(w.error.ptr, "HTTP status 200"));
    assert_non_null(strstr(w.error.ptr, "1048576 bytes of the 1048577"));
}

static void a_command_that_is_too_long_is_refused(void **state)
{
    struct stored_wish w = a_wish("1");

    (void)state;
    own_shop();
    w.body = many_bytes(WISH_BODY_MAX - w.target.len + 1);
    refused(store_put_wish(f.s, &w, &f.err), ERR_REJECT);
    assert_int_equal(f.err.code, 413);
    (void)load_open(&first.topic, 1, 0);
    w.body.len--;
    (void)put_as(w);
    assert_int_equal(
        take(&first, (struct wish_name){load_open(&first.topic, 1, 1)->id, w.node}), TAKE_WON);
    assert_int_equal(won.body.len, w.body.len);
}

static void limit_packets(const char *sql)
{
    struct mysql_conn *c = server_connect();

    server_exec(c, sql);
    mysql_conn_close(c);
    reopen();
}

static void a_server_may_have_a_lower_limit(void **state)
{
    enum { LIMIT = 507904 };
    struct stored_wish w = a_wish("1"), too_long = a_wish("2");
    struct wish_name name;

    (void)state;
    if (!on_mysql)
        return;
    own_shop();
    limit_packets("SET GLOBAL max_allowed_packet = 1048576");
    w.body = many_bytes(LIMIT - w.target.len);
    too_long.body = many_bytes(LIMIT);
    name = put_as(w);
    refused(store_put_wish(f.s, &too_long, &f.err), ERR_REJECT);
    assert_int_equal(f.err.code, 413);
    assert_int_equal(take(&first, name), TAKE_WON);
    assert_int_equal(won.body.len, w.body.len);
    ok(end(&first, name, many_bytes(LIMIT + 1)));
    assert_non_null(strstr(load(name).error.ptr, "at most 507904 bytes"));
    limit_packets("SET GLOBAL max_allowed_packet = 67108864");
}

static void put_many(int from, int to)
{
    char guid[24];

    for (int i = from; i < to; i++) {
        snprintf(guid, sizeof(guid), "many-%d", i);
        (void)put(guid);
    }
}

static void a_topic_has_a_limited_number_of_open_wishes(void **state)
{
    struct stored_wish more = a_wish("more"), crm = a_wish("crm");
    struct wish_name oldest;

    (void)state;
    own_shop();
    oldest = put("oldest");
    put_many(1, WISHES_MAX);
    refused(store_put_wish(f.s, &more, &f.err), ERR_RETRY);
    assert_non_null(strstr(f.err.msg, "1000 commands wait for the owner of topic shop"));
    (void)put("many-7");
    crm.topic = STR("crm");
    (void)put_as(crm);
    assert_int_equal(take(&first, oldest), TAKE_WON);
    refused(store_put_wish(f.s, &more, &f.err), ERR_RETRY);
    ok(end(&first, oldest, STR("")));
    (void)put_as(more);
    (void)load_open(&first.topic, 1, WISHES_MAX);
}

static void *put_ten(void *arg)
{
    const char *name = arg;
    struct store *s = NULL;
    struct err err;
    char guid[16];

    while (!open_store(&s, &err))
        if (err.kind != ERR_RETRY)
            fail_msg("%s", err.msg);
    for (int i = 0; i < 10; i++) {
        snprintf(guid, sizeof(guid), "%s-%d", name, i);

        struct stored_wish w = a_wish(guid);

        if (!store_put_wish(s, &w, &err) && err.kind != ERR_RETRY)
            fail_msg("%s", err.msg);
    }
    store_close(s);
    return NULL;
}

/* Each counts before another one that counts has written. */
static void nodes_that_put_at_once_keep_the_limit(void **state)
{
    static char names[][2] = {"a", "b", "c", "d"};
    pthread_t threads[ARRAY_LEN(names)];

    (void)state;
    if (!on_mysql)
        return;
    own_shop();
    put_many(0, WISHES_MAX - 3);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_ten, names[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        pthread_join(threads[i], NULL);
    (void)load_open(&first.topic, 1, WISHES_MAX);
}

static void what_ended_before_a_time_is_removed(void **state)
{
    struct wish_name early, late, runs;
    const struct wish_owner later = {SHOP, 1, 5000 * HOUR};

    (void)state;
    own_shop();
    early = put("1");
    late = put("2");
    runs = put("3");
    assert_int_equal(take(&first, early), TAKE_WON);
    assert_int_equal(take(&first, late), TAKE_WON);
    assert_int_equal(take(&first, runs), TAKE_WON);
    ok(end(&first, early, STR("")));
    ok(end(&later, late, STR("")));
    ok(store_prune_wishes(f.s, 999 * HOUR, &f.err));
    assert_true(is_found(early));
    ok(store_prune_wishes(f.s, 4999 * HOUR, &f.err));
    assert_false(is_found(early));
    assert_true(is_found(late) && is_found(runs));
    ok(store_prune_wishes(f.s, -1, &f.err));
    assert_true(is_found(late));
}

/* Nobody waits for them, and no owner may come. */
static void what_was_put_before_a_time_and_nobody_took_is_removed(void **state)
{
    struct wish_name early, late, runs;
    struct stored_wish w = a_wish("2");

    (void)state;
    own_shop();
    early = put("1"); /* at 77 */
    w.at_ms = 5000 * HOUR;
    late = put_as(w);
    runs = put("3");
    assert_int_equal(take(&first, runs), TAKE_WON);
    ok(store_prune_wishes(f.s, 76 * HOUR, &f.err));
    assert_true(is_found(early));
    ok(store_prune_wishes(f.s, 4999 * HOUR, &f.err));
    assert_false(is_found(early));
    assert_true(is_found(late) && is_found(runs));
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_wish_goes_whole_to_its_owner_and_its_answer_back),
    STORE_TEST(an_owner_sees_the_open_wishes_of_its_topics_in_order),
    STORE_TEST(a_wish_that_is_put_again_is_one),
    STORE_TEST(one_take_wins_and_a_repeated_one_says_that_the_wish_runs),
    STORE_TEST(what_ended_stays_as_it_ended),
    STORE_TEST(an_older_owner_takes_and_ends_nothing),
    STORE_TEST(who_did_not_take_a_wish_cannot_end_it),
    STORE_TEST(a_command_that_starts_its_topic_again_ends_under_the_new_term),
    STORE_TEST(a_new_owner_runs_again_only_what_can_be_repeated),
    STORE_TEST(a_wish_belongs_to_one_topic_and_one_requester),
    STORE_TEST(a_requester_takes_back_only_what_is_new),
    STORE_TEST(an_answer_that_is_too_long_is_replaced_by_an_error),
    STORE_TEST(a_command_that_is_too_long_is_refused),
    STORE_TEST(a_server_may_have_a_lower_limit),
    STORE_TEST(a_topic_has_a_limited_number_of_open_wishes),
    STORE_TEST(nodes_that_put_at_once_keep_the_limit),
    STORE_TEST(what_ended_before_a_time_is_removed),
    STORE_TEST(what_was_put_before_a_time_and_nobody_took_is_removed),
};
const struct test_part store_wishes = {tests, ARRAY_LEN(tests)};
