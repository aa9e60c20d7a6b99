/* What owners tell of topics, and nodes of themselves. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/told.h"

#include <string.h>

static struct stored_told of_topic(const char *topic, uint64_t term, struct str body)
{
    return (struct stored_told){.topic = str_from(topic),
                                .node = STR("id-1"),
                                .node_name = ODD,
                                .term = term,
                                .at_ms = 1700000000123,
                                .body = body};
}

static void own(const char *thing)
{
    uint64_t term;

    ok(store_take_term(f.s, str_from(thing), &term, &f.err));
}

static struct stored_told *load(const char *topic, size_t n_expected)
{
    struct stored_told *out;
    size_t n;

    ok(store_load_told(f.s, f.a, str_from(topic), &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

/* The age goes through the store's clock. */
static void near(int64_t at_ms, int64_t expected)
{
    assert_in_range(at_ms, expected - 60000, expected + 60000);
}

static void what_an_owner_tells_replaces_what_was_told(void **state)
{
    struct stored_told t = of_topic("shop", 1, STR("{\"lag\":1}")), *out;

    (void)state;
    own("topic/shop");
    own("topic/shop");
    t.term = 2;
    ok(store_put_told(f.s, &t, &f.err));
    t.node = STR("id-2");
    t.node_name = STR("b");
    t.at_ms = 1600000000000;
    t.body = ODD;
    ok(store_put_told(f.s, &t, &f.err));
    reopen();
    out = load("shop", 1);
    same(out->topic, STR("shop"));
    same(out->node, STR("id-2"));
    same(out->node_name, STR("b"));
    same(out->body, ODD);
    assert_int_equal(out->term, 2);
    near(out->at_ms, 1600000000000);
}

static void an_older_owner_tells_nothing(void **state)
{
    const struct stored_told old = of_topic("shop", 1, STR("old")),
                             now = of_topic("shop", 2, STR("now")),
                             never = of_topic("crm", 0, STR("never"));

    (void)state;
    own("topic/shop");
    own("topic/shop");
    ok(store_put_told(f.s, &now, &f.err));
    refused(store_put_told(f.s, &old, &f.err), ERR_STOP);
    refused(store_put_told(f.s, &never, &f.err), ERR_STOP);
    same(load("", 1)->body, STR("now"));
}

static void topics_are_told_of_one_by_one(void **state)
{
    const struct stored_told shop = of_topic("shop", 1, STR("1")),
                             crm = of_topic("crm", 1, STR("2"));

    (void)state;
    own("topic/shop");
    own("topic/crm");
    ok(store_put_told(f.s, &shop, &f.err));
    ok(store_put_told(f.s, &crm, &f.err));
    same(load("", 2)[0].topic, STR("crm"));
    same(load("shop", 1)->body, STR("1"));
    (void)load("Shop", 0);
    ok(store_delete_told(f.s, STR("shop"), &f.err));
    ok(store_delete_told(f.s, STR("shop"), &f.err));
    same(load("", 1)->topic, STR("crm"));
}

static struct str many_bytes(size_t n)
{
    char *bytes = arena_bytes(f.a, n);

    memset(bytes, 'x', n);
    return (struct str){bytes, n};
}

static void what_is_told_has_a_limited_length(void **state)
{
    struct stored_told t = of_topic("shop", 1, many_bytes(TOLD_BODY_MAX));
    struct stored_told_node node = {.node = STR("id-1"), .body = t.body};

    (void)state;
    own("topic/shop");
    ok(store_put_told(f.s, &t, &f.err));
    ok(store_put_told_node(f.s, &node, &f.err));
    assert_int_equal(load("shop", 1)->body.len, TOLD_BODY_MAX);
    t.body = node.body = many_bytes(TOLD_BODY_MAX + 1);
    refused(store_put_told(f.s, &t, &f.err), ERR_REJECT);
    refused(store_put_told_node(f.s, &node, &f.err), ERR_REJECT);
    assert_int_equal(load("shop", 1)->body.len, TOLD_BODY_MAX);
}

static void nodes_tell_of_themselves(void **state)
{
    struct stored_told_node b = {STR("id-b"), ODD, STR("0.2.0"), 1700000000123, ODD},
                            a = {STR("id-a"), STR("a"), STR("0.3.0"), 4, STR("{}")}, *out;
    size_t n;

    (void)state;
    ok(store_put_told_node(f.s, &b, &f.err));
    ok(store_put_told_node(f.s, &a, &f.err));
    b.program = STR("0.3.0");
    b.at_ms += 3600000;
    ok(store_put_told_node(f.s, &b, &f.err));
    reopen();
    ok(store_load_told_nodes(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].node, STR("id-a"));
    same(out[1].node, STR("id-b"));
    same(out[1].node_name, ODD);
    same(out[1].program, STR("0.3.0"));
    same(out[1].body, ODD);
    near(out[1].at_ms, 1700003600123);
    ok(store_delete_told_node(f.s, STR("id-b"), &f.err));
    ok(store_delete_told_node(f.s, STR("id-b"), &f.err));
    ok(store_load_told_nodes(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 1);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(what_an_owner_tells_replaces_what_was_told),
    STORE_TEST(an_older_owner_tells_nothing),
    STORE_TEST(topics_are_told_of_one_by_one),
    STORE_TEST(what_is_told_has_a_limited_length),
    STORE_TEST(nodes_tell_of_themselves),
};
const struct test_part store_told = {tests, ARRAY_LEN(tests)};
