/* Purged changes, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/later/purged.h"
#include "src/store/owned.h"

#include <stdio.h>

static struct stored_purged a_change(const char *id, uint64_t version, int64_t at_ms)
{
    return (struct stored_purged){.topic = STR("shop"),
                                  .table = STR("shop.orders"),
                                  .index = STR("orders_v2"),
                                  .doc_id = str_from(id),
                                  .routing = STR("r"),
                                  .key = (struct str){"\0k\xff", 3},
                                  .version = version,
                                  .times = 1,
                                  .at_ms = at_ms};
}

static void put(struct stored_purged p)
{
    ok(store_put_purged(f.s, &p, 1, &f.err));
}

static struct stored_purged *load_at(struct purged_filter which, size_t n_expected)
{
    struct stored_purged *out;
    size_t n;

    ok(store_load_purged(f.s, f.a, STR("orders_v2"), which, 1000, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static struct stored_purged *load(int64_t settled_ms, size_t n_expected)
{
    return load_at((struct purged_filter){.settled_ms = settled_ms, .ahead_ms = INT64_MAX},
                   n_expected);
}

static uint64_t end(struct stored_purged *p, size_t n)
{
    uint64_t changes, term;

    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    for (size_t i = 0; i < n; i++)
        p[i].term = term;
    ok(store_end_purged(f.s, p, n, &changes, &f.err));
    return changes;
}

static void a_purged_change_comes_back_whole(void **state)
{
    const struct stored_purged p = a_change("1", 7, 50), *out;

    (void)state;
    put(p);
    out = load(0, 1);
    assert_true(str_equal(out->topic, p.topic) && str_equal(out->table, p.table));
    assert_true(str_equal(out->index, p.index) && str_equal(out->doc_id, p.doc_id));
    assert_true(str_equal(out->routing, p.routing) && str_equal(out->key, p.key));
    assert_int_equal(out->version, 7);
    assert_int_equal(out->times, 1);
    assert_int_equal(out->at_ms, 50);
    assert_false(out->unanswered);
}

static void a_document_that_is_purged_again_is_there_once_and_counts_both(void **state)
{
    struct stored_purged p = a_change("1", 9, 50), *out;
    struct purged_count *counts;
    size_t n;

    (void)state;
    p.unanswered = true;
    put(p);
    put(a_change("1", 8, 60));
    put(a_change("2", 1, 60));
    out = load(61, 2);
    assert_int_equal(out[0].version, 9);
    assert_int_equal(out[0].times, 2);
    assert_int_equal(out[0].at_ms, 60);
    assert_true(out[0].unanswered);
    ok(store_count_purged(f.s, f.a, STR(""), &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_true(str_equal(counts->topic, STR("shop")) &&
                str_equal(counts->index, STR("orders_v2")));
    assert_int_equal(counts->documents, 2);
    assert_int_equal(counts->changes, 3);
}

static void what_is_purged_again_while_it_is_written_stays(void **state)
{
    struct stored_purged *out;

    (void)state;
    put(a_change("1", 1, 1));
    put(a_change("2", 2, 1));
    out = load(0, 2);
    put(a_change("1", 3, 2));
    assert_int_equal(end(out, 2), 1);
    out = load(0, 1);
    assert_true(str_equal(out->doc_id, STR("1")));
    assert_int_equal(end(out, 1), 2);
    (void)load(0, 0);
    assert_int_equal(end(out, 1), 0);
}

static void what_cannot_be_written_now_is_passed_by(void **state)
{
    const struct stored_purged *all, *rest;

    (void)state;
    put(a_change("1", 1, 100));
    put(a_change("2", 1, 100));
    put(a_change("3", 1, 100));
    all = load(0, 3);
    rest = load_at(
        (struct purged_filter){.after_id = all[1].id, .settled_ms = 0, .ahead_ms = INT64_MAX},
        1);
    assert_true(str_equal(rest->doc_id, all[2].doc_id));
}

static void what_has_no_answer_waits_until_it_has_settled(void **state)
{
    struct stored_purged p = a_change("1", 1, 100);

    (void)state;
    p.unanswered = true;
    put(p);
    put(a_change("2", 1, 100));
    (void)load(100, 1);
    (void)load(101, 2);
    /* F59: stored by a clock that was ahead. */
    (void)load_at((struct purged_filter){.settled_ms = 1, .ahead_ms = 99}, 2);
    (void)load_at((struct purged_filter){.settled_ms = 1, .ahead_ms = 100}, 1);
}

static void the_changes_of_one_document_are_found_among_others(void **state)
{
    const struct stored_purged *out;

    (void)state;
    put(a_change("1", 1, 100));
    put(a_change("12", 2, 100));
    out = load_at((struct purged_filter){.ahead_ms = INT64_MAX, .doc_id = STR("12")}, 1);
    assert_int_equal(out->version, 2);
    (void)load_at((struct purged_filter){.ahead_ms = INT64_MAX, .doc_id = STR("2")}, 0);
}

static void purged_changes_go_with_their_index(void **state)
{
    struct stored_purged other = a_change("1", 1, 1);
    struct purged_count *counts;
    size_t n;

    (void)state;
    other.index = STR("orders_v3");
    put(other);
    put(a_change("1", 1, 1));
    ok(store_delete_purged_index(f.s, STR("orders_v3"), &f.err));
    ok(store_count_purged(f.s, f.a, STR(""), &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_true(str_equal(counts->index, STR("orders_v2")));
}

static void many_are_put_at_once(void **state)
{
    struct stored_purged p[250];
    char names[250][8];

    (void)state;
    for (size_t i = 0; i < 250; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu", i);
        p[i] = a_change(names[i], i, 1);
    }
    ok(store_put_purged(f.s, p, 250, &f.err));
    ok(store_put_purged(f.s, p, 250, &f.err));
    assert_int_equal(end(load(0, 250), 250), 500);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_purged_change_comes_back_whole),
    STORE_TEST(a_document_that_is_purged_again_is_there_once_and_counts_both),
    STORE_TEST(what_is_purged_again_while_it_is_written_stays),
    STORE_TEST(what_cannot_be_written_now_is_passed_by),
    STORE_TEST(what_has_no_answer_waits_until_it_has_settled),
    STORE_TEST(the_changes_of_one_document_are_found_among_others),
    STORE_TEST(purged_changes_go_with_their_index),
    STORE_TEST(many_are_put_at_once),
};
const struct test_part store_purged = {tests, ARRAY_LEN(tests)};
