/* Searches that are kept until a version is filled, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/later/kept_search.h"
#include "src/store/retired.h"

#include <stdio.h>

static const struct kept_search_owner owner = {{"shop", 4}, 1};
static const struct version_name one = {{"orders", 6}, 1};

static void make_version(void)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    uint64_t term;

    ok(store_new_version(f.s, &v, &f.err));
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
}

static struct kept_search a_search(const char *query)
{
    return (struct kept_search){.index = STR("orders"),
                                .version = 1,
                                .member = STR("shop.orders"),
                                .down = true,
                                .query = str_from(query)};
}

static struct kept_search *load(uint64_t after_id, size_t limit, size_t n_expected)
{
    struct kept_search *out;
    size_t n;

    ok(store_load_searches(f.s, f.a, &one, after_id, limit, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void a_search_comes_back_whole_and_in_the_order_in_which_it_was_kept(void **state)
{
    const struct kept_search list[] = {a_search("{\"a\":1}"), a_search("{\"b\":2}"),
                                       a_search("{\"a\":1}")};
    const struct kept_search *out;

    (void)state;
    make_version();
    ok(store_keep_searches(f.s, &owner, list, ARRAY_LEN(list), &f.err));
    out = load(0, 2, 2);
    assert_true(str_equal(out[0].index, list[0].index) && out[0].version == 1 && out[0].down);
    assert_true(str_equal(out[0].member, list[0].member));
    assert_true(str_equal(out[0].query, list[0].query));
    assert_true(str_equal(out[1].query, list[1].query));
    assert_true(str_equal(load(out[1].id, 2, 1)->query, list[2].query));
}

static void an_older_owner_keeps_no_search(void **state)
{
    const struct kept_search s = a_search("{}");
    uint64_t term;

    (void)state;
    make_version();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    refused(store_keep_searches(f.s, &owner, &s, 1, &f.err), ERR_STOP);
    (void)load(0, 9, 0);
}

static void kept_searches_go_with_the_jobs_of_their_build(void **state)
{
    const struct kept_search s = a_search("{}");

    (void)state;
    make_version();
    ok(store_keep_searches(f.s, &owner, &s, 1, &f.err));
    ok(store_delete_jobs(f.s, one.index, 2, &f.err));
    (void)load(0, 9, 1);
    ok(store_delete_jobs(f.s, one.index, 1, &f.err));
    (void)load(0, 9, 0);
}

static void kept_searches_go_with_their_version_and_none_is_kept_for_it_then(void **state)
{
    const struct kept_search s = a_search("{}");

    (void)state;
    make_version();
    ok(store_keep_searches(f.s, &owner, &s, 1, &f.err));
    ok(store_delete_version(f.s, one.index, 1, &f.err));
    (void)load(0, 9, 0);
    ok(store_keep_searches(f.s, &owner, &s, 1, &f.err));
    (void)load(0, 9, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_search_comes_back_whole_and_in_the_order_in_which_it_was_kept),
    STORE_TEST(an_older_owner_keeps_no_search),
    STORE_TEST(kept_searches_go_with_the_jobs_of_their_build),
    STORE_TEST(kept_searches_go_with_their_version_and_none_is_kept_for_it_then),
};
const struct test_part store_kept_searches = {tests, ARRAY_LEN(tests)};
