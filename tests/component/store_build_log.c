/* What the log keeps of builds, and the events that it keeps beside them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/build_log.h"
#include "src/store/retired.h"
#include "src/store/turn.h"

static struct stored_version new_version(const char *index)
{
    struct stored_version v = {
        .index = str_from(index), .topic = STR("shop"), .definition = STR("{}")};

    ok(store_new_version(f.s, &v, &f.err));
    return v;
}

static struct version_name begin(const char *index)
{
    const struct stored_version v = new_version(index);
    const struct stored_build b = {.version = {v.index, v.number},
                                   .table = STR("shop.orders"),
                                   .kind = STR("create"),
                                   .parameters = STR("{\"rate\":7}"),
                                   .mappings = ODD,
                                   .settings = STR("{}"),
                                   .begun_ms = 5};

    ok(store_begin_build(f.s, &b, &f.err));
    return b.version;
}

static struct stored_build load(const struct version_name *v)
{
    struct stored_build b = {0};
    bool found;

    ok(store_load_build(f.s, f.a, v, &b, &found, &f.err));
    assert_true(found);
    return b;
}

static void drop(const struct version_name *v)
{
    ok(store_drop_versions(f.s, v, 1, &f.err));
}

static void a_build_comes_back_as_it_was_noted(void **state)
{
    const struct version_name v = begin("orders");

    (void)state;
    reopen();

    const struct stored_build b = load(&v);

    same(b.table, STR("shop.orders"));
    same(b.kind, STR("create"));
    same(b.parameters, STR("{\"rate\":7}"));
    same(b.mappings, ODD);
    same(b.settings, STR("{}"));
    same(b.nodes, STR("[]"));
    same(b.outcome, STR(""));
    assert_int_equal(b.begun_ms, 5);
    assert_int_equal(b.ended_ms, 0);
}

static void a_build_that_is_noted_again_stays_as_it_is(void **state)
{
    const struct version_name v = begin("orders");
    const struct stored_build again = {
        .version = v, .table = STR("shop.orders"), .parameters = STR("{}"), .begun_ms = 9};

    (void)state;
    ok(store_begin_build(f.s, &again, &f.err));
    assert_int_equal(load(&v).begun_ms, 5);
}

static void each_node_is_noted_once_in_the_order_of_coming(void **state)
{
    const struct version_name v = begin("orders"), unknown = {STR("orders"), 77};

    (void)state;
    ok(store_add_build_node(f.s, &v, STR("b"), STR("second \"node\""), &f.err));
    ok(store_add_build_node(f.s, &v, STR("a"), STR("first"), &f.err));
    ok(store_add_build_node(f.s, &v, STR("b"), STR("renamed"), &f.err));
    ok(store_add_build_node(f.s, &unknown, STR("a"), STR("first"), &f.err));
    same(load(&v).nodes, STR("[{\"id\":\"b\",\"name\":\"second \\\"node\\\"\"},"
                             "{\"id\":\"a\",\"name\":\"first\"}]"));
}

static void a_promotion_ends_a_build_and_a_later_drop_leaves_that_end(void **state)
{
    const struct version_name v = begin("orders");
    const struct promotion p = {.index = v.index, .number = v.number, .finished_ms = 9};

    (void)state;
    ok(store_promote_version(f.s, &p, &f.err));
    assert_true(load(&v).ended_ms > 0);
    drop(&v);
    same(load(&v).outcome, STR(BUILD_SUCCEEDED));
}

static void a_drop_ends_a_build_as_reset_unless_it_has_failed(void **state)
{
    const struct version_name first = begin("orders"), second = begin("items");

    (void)state;
    drop(&first);
    same(load(&first).outcome, STR(BUILD_RESET));
    assert_true(load(&first).ended_ms > 0);
    ok(store_end_build(f.s, &second, BUILD_FAILED, ODD, &f.err));
    drop(&second);
    same(load(&second).outcome, STR(BUILD_FAILED));
    same(load(&second).error, ODD);
}

static void a_failure_that_was_noted_before_a_crash_is_replaced_by_the_success(void **state)
{
    const struct version_name v = begin("orders");
    const struct promotion p = {.index = v.index, .number = v.number, .finished_ms = 9};

    (void)state;
    ok(store_end_build(f.s, &v, BUILD_FAILED, STR("why"), &f.err));
    ok(store_promote_version(f.s, &p, &f.err));
    same(load(&v).outcome, STR(BUILD_SUCCEEDED));
    same(load(&v).error, STR(""));
}

static size_t count_builds(struct stored_build **out)
{
    size_t n;

    ok(store_load_builds(f.s, f.a, STR("shop.orders"), 1000, out, &n, &f.err));
    return n;
}

static void of_each_index_the_newest_builds_stay(void **state)
{
    struct version_name v = begin("items");
    struct stored_build *list;
    bool found;

    (void)state;
    for (int i = 0; i < BUILDS_KEPT + 3; i++) {
        v = begin("orders");
        ok(store_delete_version(f.s, v.index, v.number, &f.err));
    }
    assert_int_equal(count_builds(&list), BUILDS_KEPT + 1);
    assert_int_equal(list[0].version.number, BUILDS_KEPT + 3);
    assert_int_equal(list[BUILDS_KEPT - 1].version.number, 4);
    same(list[BUILDS_KEPT].version.index, STR("items"));
    same(list[0].mappings, STR(""));
    v.number = 3;
    ok(store_load_build(f.s, f.a, &v, list, &found, &f.err));
    assert_false(found);
}

static void one_event_is_found_by_its_number(void **state)
{
    struct stored_log l = {
        .table = STR("shop.orders"), .event = STR("built"), .detail = STR("{}"), .version = 3};
    struct stored_log *out;
    size_t n;

    (void)state;
    ok(store_add_log(f.s, &l, &f.err));
    l.event = STR("reset");
    ok(store_add_log(f.s, &l, &f.err));
    ok(store_load_log(f.s, f.a, &(struct stored_log_filter){.limit = 2}, &out, &n, &f.err));
    assert_int_equal(n, 2);

    const uint64_t id = out[1].id;

    ok(store_load_log_entry(f.s, f.a, id, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].event, STR("built"));
    assert_int_equal(out[0].version, 3);
    ok(store_load_log_entry(f.s, f.a, id + 2, &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_build_comes_back_as_it_was_noted),
    STORE_TEST(a_build_that_is_noted_again_stays_as_it_is),
    STORE_TEST(each_node_is_noted_once_in_the_order_of_coming),
    STORE_TEST(a_promotion_ends_a_build_and_a_later_drop_leaves_that_end),
    STORE_TEST(a_drop_ends_a_build_as_reset_unless_it_has_failed),
    STORE_TEST(a_failure_that_was_noted_before_a_crash_is_replaced_by_the_success),
    STORE_TEST(of_each_index_the_newest_builds_stay),
    STORE_TEST(one_event_is_found_by_its_number),
};
const struct test_part store_build_log = {tests, ARRAY_LEN(tests)};
