/* Documents that stay though their rows are gone, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/later/gone.h"
#include "src/store/reset.h"
#include "src/store/turn.h"

#include <stdio.h>

static const struct gone_owner owner = {{"shop", 4}, 1};

static void make_version(void)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    uint64_t term;

    ok(store_new_version(f.s, &v, &f.err));
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
}

static struct stored_gone a_document(const char *id)
{
    return (struct stored_gone){.index = STR("orders"),
                                .version = 1,
                                .member = STR("shop.orders"),
                                .doc_id = str_from(id),
                                .routing = STR("r"),
                                .key = (struct str){"\0k\xff", 3}};
}

static void put(struct stored_gone g)
{
    ok(store_put_gone(f.s, &owner, &g, 1, &f.err));
}

static struct stored_gone *load(uint64_t after_id, size_t limit, size_t n_expected)
{
    struct stored_gone *out;
    size_t n;

    ok(store_load_gone(f.s, f.a, owner.topic, after_id, limit, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void a_document_that_stays_comes_back_whole_and_is_there_once(void **state)
{
    const struct stored_gone g = a_document("1"), *out;

    (void)state;
    make_version();
    put(g);
    put(g);
    out = load(0, 100, 1);
    assert_true(str_equal(out->index, g.index) && str_equal(out->member, g.member));
    assert_true(str_equal(out->doc_id, g.doc_id) && str_equal(out->routing, g.routing));
    assert_true(str_equal(out->key, g.key));
    assert_int_equal(out->version, 1);
}

static void documents_that_stay_are_paged_and_end_one_by_one(void **state)
{
    struct stored_gone docs[250], *out;
    char names[250][8];

    (void)state;
    make_version();
    for (size_t i = 0; i < 250; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu", i);
        docs[i] = a_document(names[i]);
    }
    ok(store_put_gone(f.s, &owner, docs, 250, &f.err));
    out = load(0, 200, 200);
    (void)load(out[199].id, 200, 50);
    ok(store_end_gone(f.s, &owner, docs + 1, 249, &f.err));
    assert_true(str_equal(load(0, 200, 1)->doc_id, docs[0].doc_id));
}

static void an_older_owner_stores_and_ends_none(void **state)
{
    const struct stored_gone g = a_document("1"), other = a_document("2");
    uint64_t term;

    (void)state;
    make_version();
    put(g);
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    refused(store_put_gone(f.s, &owner, &other, 1, &f.err), ERR_STOP);
    refused(store_end_gone(f.s, &owner, &g, 1, &f.err), ERR_STOP);
    assert_true(str_equal(load(0, 100, 1)->doc_id, g.doc_id));
}

static void documents_that_stay_go_with_their_version_and_their_topic(void **state)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    struct stored_gone g = a_document("1");
    struct topic_reset reset = {.start = {STR("start/shop"), STR("now")}};

    (void)state;
    make_version();
    put(g);
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 1}, &f.err));
    (void)load(0, 100, 1);
    ok(store_new_version(f.s, &v, &f.err));
    g.version = 2;
    put(g);
    (void)load(0, 100, 2);
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 2}, &f.err));
    assert_int_equal(load(0, 100, 1)->version, 2);
    ok(store_delete_version(f.s, v.index, 2, &f.err));
    (void)load(0, 100, 0);
    ok(store_new_version(f.s, &v, &f.err));
    g.version = v.number;
    put(g);
    reset.topic = STR("crm");
    ok(store_reset_topic(f.s, &reset, &f.err));
    (void)load(0, 100, 1);
    reset.topic = owner.topic;
    ok(store_reset_topic(f.s, &reset, &f.err));
    (void)load(0, 100, 0);
}

/* Whoever stores them knows of it a moment later. */
static void documents_of_a_version_that_is_not_written_to_any_more_are_not_stored(void **state)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};
    struct stored_gone list[] = {a_document("1"), a_document("2"), a_document("3")};

    (void)state;
    make_version();
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 1, .finished_ms = 1}, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(
        f.s, &(struct promotion){.index = v.index, .number = 2, .finished_ms = 2}, &f.err));
    list[1].version = 2;
    list[2].version = 7;
    ok(store_put_gone(f.s, &owner, list, ARRAY_LEN(list), &f.err));
    assert_true(str_equal(load(0, 100, 1)->doc_id, STR("2")));
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_document_that_stays_comes_back_whole_and_is_there_once),
    STORE_TEST(documents_that_stay_are_paged_and_end_one_by_one),
    STORE_TEST(an_older_owner_stores_and_ends_none),
    STORE_TEST(documents_that_stay_go_with_their_version_and_their_topic),
    STORE_TEST(documents_of_a_version_that_is_not_written_to_any_more_are_not_stored),
};
const struct test_part store_gone = {tests, ARRAY_LEN(tests)};
