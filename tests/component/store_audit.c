/* Who has changed what, as the store keeps it. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/audit.h"

static void add(const char *object, int64_t at_ms)
{
    const struct stored_audit e = {.at_ms = at_ms,
                                   .who = STR("uid 7"),
                                   .node = STR("db1"),
                                   .method = STR("PUT"),
                                   .target = STR("/api/v1/tables/a?new=true"),
                                   .what = STR("store it"),
                                   .object = str_from(object),
                                   .reason = STR("why not"),
                                   .asked = STR("{\"a\":1}"),
                                   .answered = STR("{\"b\":2}")};

    ok(store_add_audit(f.s, &e, &f.err));
}

static struct stored_audit *load(const struct audit_filter *which, size_t n_expected)
{
    struct stored_audit *out;
    size_t n;

    ok(store_load_audit(f.s, f.a, which, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void a_change_comes_back_whole_and_the_newest_first(void **state)
{
    const struct stored_audit *out;

    (void)state;
    add("shop.orders", 1000);
    add("shop.items", 2000);
    out = load(&(struct audit_filter){.limit = 10}, 2);
    assert_true(out[0].id > out[1].id);
    assert_int_equal(out[0].at_ms, 2000);
    assert_true(str_equal(out[0].object, STR("shop.items")));
    assert_true(str_equal(out[1].who, STR("uid 7")));
    assert_true(str_equal(out[1].node, STR("db1")));
    assert_true(str_equal(out[1].method, STR("PUT")));
    assert_true(str_equal(out[1].target, STR("/api/v1/tables/a?new=true")));
    assert_true(str_equal(out[1].what, STR("store it")));
    assert_true(str_equal(out[1].object, STR("shop.orders")));
    assert_true(str_equal(out[1].reason, STR("why not")));
    assert_true(str_equal(out[1].asked, STR("{\"a\":1}")));
    assert_true(str_equal(out[1].answered, STR("{\"b\":2}")));
}

static void changes_are_found_by_their_object_and_page_by_page(void **state)
{
    const struct stored_audit *out;
    uint64_t newest;

    (void)state;
    for (int i = 0; i < 5; i++)
        add(i % 2 == 0 ? "even" : "odd", i);
    assert_int_equal(load(&(struct audit_filter){.object = STR("odd"), .limit = 10}, 2)->at_ms,
                     3);
    (void)load(&(struct audit_filter){.object = STR("none"), .limit = 10}, 0);
    out = load(&(struct audit_filter){.limit = 2}, 2);
    newest = out[1].id;
    out = load(&(struct audit_filter){.before_id = newest, .limit = 10}, 3);
    assert_int_equal(out[0].at_ms, 2);
    assert_int_equal(out[2].at_ms, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_change_comes_back_whole_and_the_newest_first),
    STORE_TEST(changes_are_found_by_their_object_and_page_by_page),
};
const struct test_part store_audit = {tests, ARRAY_LEN(tests)};
