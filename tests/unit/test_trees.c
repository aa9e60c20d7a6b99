/*
 * The pairs of trees of a node: begun, filled through the queue, completed, followed over a
 * restart, ended, and compared.
 */
#include "config.h"

#include "tests/unit/tree_fixture.h"

#include "rebalance/trees/pair.h"
#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/tree_id.h"
#include "rebalance/trees/trees.h"
#include "rebalance/trees/trees_exchange.h"
#include "src/base/log.h"
#include "sync/document/key_set.h"

#include <pthread.h>

#define INDEX STR("orders_v2")
#define OTHER STR("items_v1")

static struct trees *open_trees(void)
{
    struct trees *all;
    struct err err = {0};

    assert_true(trees_new(&all, tree_folder, STR("a store"), &err));
    return all;
}

static void begin(struct trees *all, uint64_t term)
{
    struct err err = {0};

    assert_true(trees_begin(all, INDEX, term, 10, &err));
}

static void note(struct trees *all, enum tree_side side, uint64_t k, uint64_t hash)
{
    const struct tree_news news = {side, false, hash, tree_text(k)};

    trees_note(all, INDEX, &news);
}

static void note_both(struct trees *all, uint64_t k)
{
    trees_note_both(all, INDEX, false, k + 1, tree_text(k));
}

static bool count_one(void *ctx, enum tree_difference what, const struct tree_id *id,
                      struct err *err)
{
    uint64_t *n = ctx;

    (void)id;
    (void)err;
    n[what]++;
    return true;
}

/* Compares both sides; returns false if they cannot be. */
static bool compare(struct trees *all, uint64_t n[4])
{
    struct trees_snapshot source = {0}, engine = {0};
    struct err err = {0};
    const bool ok = trees_snapshot(all, INDEX, TREE_SOURCE, &source, &err) &&
                    trees_snapshot(all, INDEX, TREE_INDEX, &engine, &err);

    memset(n, 0, 4 * sizeof(*n));
    if (ok)
        assert_true(tree_compare(source.tree, engine.tree, count_one, n, &err));
    trees_snapshot_close(&engine);
    trees_snapshot_close(&source);
    return ok;
}

static void both_sides_are_compared_once_the_pair_is_complete(void **state)
{
    struct trees *all = open_trees();
    uint64_t n[4];

    (void)state;
    assert_false(compare(all, n));
    begin(all, 1);
    for (uint64_t k = 0; k < 100; k++)
        note_both(all, k);
    assert_false(compare(all, n));
    assert_true(trees_complete(all, INDEX));
    assert_true(compare(all, n));
    assert_int_equal(n[0] + n[1] + n[2] + n[3], 0);
    note(all, TREE_SOURCE, 200, 1);
    note(all, TREE_INDEX, 300, 1);
    note(all, TREE_INDEX, 7, 77);
    note(all, TREE_SOURCE, 8, TREE_READ_AGAIN);
    assert_true(compare(all, n));
    assert_int_equal(n[TREE_MISSING], 1);
    assert_int_equal(n[TREE_EXTRA], 1);
    assert_int_equal(n[TREE_DIFFERENT], 1);
    assert_int_equal(n[TREE_UNREAD], 1);
    trees_note_both(all, INDEX, true, TREE_READ_AGAIN, tree_text(200));
    trees_note_both(all, INDEX, true, TREE_READ_AGAIN, tree_text(300));
    note_both(all, 7);
    note_both(all, 8);
    assert_true(compare(all, n));
    assert_int_equal(n[0] + n[1] + n[2] + n[3], 0);
    assert_int_equal(trees_look(all, INDEX).entries, 100);
    trees_free(all);
}

static bool is_named(struct trees *all, struct str text)
{
    struct tree_id id;
    struct buf name = {0};

    tree_id_pack(&id, text);

    const bool found = trees_name(all, INDEX, &id, &name);

    assert_true(!found || str_equal(buf_str(&name), text));
    buf_free(&name);
    return found;
}

static void long_ids_that_must_be_read_again_have_names_for_one_exchange_more(void **state)
{
    struct trees *all = open_trees();
    const struct str marked = STR("an id that is longer than sixteen bytes"),
                     known = STR("an id that is as long, and has a value");

    (void)state;
    begin(all, 1);
    trees_note_both(all, INDEX, false, TREE_READ_AGAIN, marked);
    trees_note_both(all, INDEX, false, TREE_READ_AGAIN, STR("short"));
    trees_note_both(all, INDEX, false, 7, known);
    trees_note_both(all, INDEX, true, TREE_READ_AGAIN, STR("an id of a document that is gone"));
    assert_true(trees_complete(all, INDEX));
    assert_true(is_named(all, marked));
    assert_false(is_named(all, known));
    assert_false(is_named(all, STR("short"))); /* its entry says it */
    assert_false(is_named(all, STR("an id of a document that is gone")));
    trees_exchanged(all, INDEX, 0);
    assert_true(is_named(all, marked));
    trees_exchanged(all, INDEX, 0);
    assert_false(is_named(all, marked));
    trees_free(all);
}

static void an_index_without_trees_costs_nothing(void **state)
{
    struct trees *all = open_trees();

    (void)state;
    note_both(all, 1);
    assert_int_equal(trees_look(all, INDEX).state, TREES_NONE);
    assert_int_equal(trees_value(all, INDEX, STR(""), STR("{}")), TREE_READ_AGAIN);
    assert_false(trees_complete(all, INDEX));
    trees_free(all);
}

static void a_value_is_of_the_document_and_its_routing_alone(void **state)
{
    struct trees *all = open_trees();

    (void)state;
    begin(all, 1);

    const uint64_t value = trees_value(all, INDEX, STR("r"), STR("{\"a\":1,\"b\":[2.0]}"));

    assert_int_not_equal(value, TREE_READ_AGAIN);
    assert_int_equal(value, trees_value(all, INDEX, STR("r"),
                                        STR("{\"b\":[2],\"a\":1,\"_millrace\":{\"x\":3}}")));
    assert_int_not_equal(value,
                         trees_value(all, INDEX, STR("s"), STR("{\"a\":1,\"b\":[2.0]}")));
    assert_int_not_equal(value, trees_value(all, INDEX, STR("r"), STR("{\"a\":1,\"b\":[3]}")));
    assert_int_equal(trees_value(all, INDEX, STR("r"), STR("{\"a\"")), TREE_READ_AGAIN);
    trees_free(all);
}

static void only_the_next_term_goes_on(void **state)
{
    struct trees *all = open_trees();

    (void)state;
    begin(all, 5);
    note_both(all, 1);
    assert_true(trees_complete(all, INDEX));
    trees_free(all);
    all = open_trees();
    trees_follow(all, INDEX, 6);
    assert_int_equal(trees_look(all, INDEX).state, TREES_COMPLETE);
    trees_follow(all, INDEX, 7); /* without a restart */
    assert_int_equal(trees_look(all, INDEX).state, TREES_COMPLETE);
    trees_free(all);
    all = open_trees();
    trees_follow(all, INDEX, 9);
    assert_int_equal(trees_look(all, INDEX).state, TREES_NONE);
    assert_int_equal(tree_folder_files(), 0);
    trees_free(all);
}

static void a_pair_that_is_being_built_goes_on_as_such(void **state)
{
    struct trees *all = open_trees();

    (void)state;
    begin(all, 5);
    note_both(all, 1);
    trees_free(all);
    all = open_trees();
    trees_follow(all, INDEX, 6);
    assert_int_equal(trees_look(all, INDEX).state, TREES_BUILDING);
    assert_int_equal(trees_look(all, INDEX).entries, 1);
    trees_free(all);
}

static void another_store_has_other_trees(void **state)
{
    struct trees *all = open_trees();
    struct err err = {0};

    (void)state;
    begin(all, 5);
    trees_free(all);
    assert_true(trees_new(&all, tree_folder, STR("another store"), &err));
    trees_follow(all, INDEX, 6);
    assert_int_equal(trees_look(all, INDEX).state, TREES_NONE);
    trees_free(all);
}

static void files_of_an_index_that_nobody_wants_go_without_a_pair(void **state)
{
    struct trees *all = open_trees();
    struct key_set wanted = {0};
    struct err err = {0};

    (void)state;
    begin(all, 5);
    assert_true(trees_begin(all, OTHER, 1, 10, &err));
    trees_free(all);
    all = open_trees();
    key_set_add(&wanted, INDEX);
    trees_keep(all, &wanted);
    assert_int_equal(tree_folder_files(), 2);
    trees_follow(all, INDEX, 6);
    assert_int_equal(trees_look(all, INDEX).state, TREES_BUILDING);
    trees_end(all, INDEX);
    trees_free(all);
    key_set_fini(&wanted);
}

static void what_nobody_wants_is_removed(void **state)
{
    struct key_set wanted = {0};
    struct trees *all = open_trees();
    struct trees_snapshot s;
    struct err err = {0};

    (void)state;
    begin(all, 1);
    assert_true(trees_complete(all, INDEX));
    assert_true(trees_begin(all, OTHER, 1, 10, &err));
    assert_true(trees_snapshot(all, INDEX, TREE_SOURCE, &s, &err));
    note_both(all, 1);
    key_set_add(&wanted, OTHER);
    trees_keep(all, &wanted);
    key_set_fini(&wanted);
    assert_int_equal(trees_look(all, INDEX).state, TREES_NONE);
    assert_int_equal(trees_look(all, OTHER).state, TREES_BUILDING);
    note_both(all, 2);
    begin(all, 1); /* beside the snapshot of the one that is over */
    assert_int_equal(trees_look(all, INDEX).entries, 0);
    trees_snapshot_close(&s);
    trees_end(all, INDEX);
    trees_end(all, OTHER);
    assert_int_equal(tree_folder_files(), 0);
    trees_free(all);
}

static void a_pair_that_is_over_takes_nothing_and_follows_nothing(void **state)
{
    const struct pair_home home = {tree_folder, 7};
    struct pair *p, *next;
    struct err err = {0};

    (void)state;
    assert_true(pair_create(&p, &home, INDEX, 1, 10, &err));
    assert_true(pair_change(p, TREE_INDEX, &(struct tree_entry){STR("1"), 1, false}, 1, &err));
    pair_end(p);
    assert_int_equal(tree_folder_files(), 0);
    assert_true(pair_create(&next, &home, INDEX, 1, 10, &err));
    for (unsigned i = 0; i < 2000; i++) { /* it would grow, and replace the next one's file */
        char id[24];
        const size_t len = (size_t)snprintf(id, sizeof(id), "%u", i);

        assert_true(
            pair_change(p, TREE_INDEX, &(struct tree_entry){{id, len}, 1, false}, 1, &err));
    }
    assert_int_equal(pair_look(p).state, TREES_NONE);
    assert_false(pair_follow(p, 2));
    pair_unref(p);
    pair_unref(next);
    assert_true(pair_open(&next, &home, INDEX, &err));
    assert_int_equal(pair_look(next).entries, 0);
    pair_end(next);
    pair_unref(next);
}

#define NOTERS 4
#define KEYS   20000

struct noter {
    struct trees *all;
    uint64_t number;
};

static void *note_many(void *arg)
{
    const struct noter *me = arg;

    for (uint64_t k = me->number; k < KEYS; k += NOTERS) {
        char id[24];
        const size_t len = (size_t)snprintf(id, sizeof(id), "%llu", (unsigned long long)k);

        trees_note_both(me->all, INDEX, false, k + 1, (struct str){id, len});
    }
    return NULL;
}

/* Far more than the queue holds. */
static void many_note_at_once(void **state)
{
    struct trees *all = open_trees();
    struct noter noters[NOTERS];
    pthread_t threads[NOTERS];
    uint64_t n[4];

    (void)state;
    begin(all, 1);
    for (uint64_t i = 0; i < NOTERS; i++) {
        noters[i] = (struct noter){all, i};
        assert_int_equal(pthread_create(&threads[i], NULL, note_many, &noters[i]), 0);
    }
    for (size_t i = 0; i < NOTERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(trees_complete(all, INDEX));
    assert_true(compare(all, n));
    assert_int_equal(n[0] + n[1] + n[2] + n[3], 0);
    assert_int_equal(trees_look(all, INDEX).entries, KEYS);
    trees_end(all, INDEX);
    trees_free(all);
}

#define TREES_TEST(name) \
    cmocka_unit_test_setup_teardown(name, tree_folder_make, tree_folder_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREES_TEST(both_sides_are_compared_once_the_pair_is_complete),
        TREES_TEST(long_ids_that_must_be_read_again_have_names_for_one_exchange_more),
        TREES_TEST(an_index_without_trees_costs_nothing),
        TREES_TEST(a_value_is_of_the_document_and_its_routing_alone),
        TREES_TEST(only_the_next_term_goes_on),
        TREES_TEST(a_pair_that_is_being_built_goes_on_as_such),
        TREES_TEST(another_store_has_other_trees),
        TREES_TEST(files_of_an_index_that_nobody_wants_go_without_a_pair),
        TREES_TEST(what_nobody_wants_is_removed),
        TREES_TEST(a_pair_that_is_over_takes_nothing_and_follows_nothing),
        TREES_TEST(many_note_at_once),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("trees", tests, NULL, NULL);
}
