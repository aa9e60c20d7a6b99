#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/cluster/name_set.h"
#include "rebalance/fill/share.h"

/* A cluster of the nodes "a", "b", ...; those in upper case are evacuated. */
struct world {
    struct name_set live, evacuated;
};

static void world_init(struct world *w, const char *nodes)
{
    *w = (struct world){.live = {.n = 0}};
    for (; *nodes != '\0'; nodes++) {
        const char id = (char)(*nodes | 0x20);

        name_set_add(&w->live, (struct str){&id, 1});
        if (id != *nodes)
            name_set_add(&w->evacuated, (struct str){&id, 1});
    }
}

static void world_fini(struct world *w)
{
    name_set_free(&w->live);
    name_set_free(&w->evacuated);
}

static struct fill_share share_of(const struct world *w, const char *self, const char *owner,
                                  uint64_t max, size_t n_open)
{
    return fill_share(&(struct fill_nodes){.live = &w->live,
                                           .evacuated = &w->evacuated,
                                           .self = str_from(self),
                                           .owner = str_from(owner),
                                           .max = max},
                      n_open);
}

/* Who takes part, in order of their ids. */
static void assert_part(const struct world *w, const char *owner, uint64_t max,
                        const char *expected)
{
    char taking[32] = "";
    size_t n = 0;

    for (size_t i = 0; i < w->live.n; i++) {
        const char self[] = {w->live.list[i].ptr[0], '\0'};

        if (!name_set_has(&w->evacuated, w->live.list[i]) &&
            share_of(w, self, owner, max, 100).most > 0)
            taking[n++] = self[0];
    }
    if (strcmp(taking, expected) != 0)
        fail_msg("owner %s, at most %d: %s, not %s", owner, (int)max, taking, expected);
}

static void no_more_nodes_fill_than_are_wished_and_the_owner_is_the_first(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "abcde");
    assert_part(&w, "d", 0, "abcde");
    assert_part(&w, "d", 9, "abcde");
    assert_part(&w, "d", 3, "abd");
    assert_part(&w, "d", 1, "d");
    assert_part(&w, "a", 2, "ab");
    assert_part(&w, "", 2, "ab"); /* an older release does not tell its id */
    world_fini(&w);
    world_init(&w, "AbCde");
    assert_part(&w, "d", 2, "bd");
    assert_part(&w, "a", 2, "bd"); /* it will not have the topic for long */
    world_fini(&w);
}

static void open_buckets_are_spread_evenly_and_at_most_four_to_each(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "abc");
    assert_int_equal(share_of(&w, "a", "c", 0, 3).most, 1);
    assert_int_equal(share_of(&w, "a", "c", 0, 4).most, 2);
    assert_int_equal(share_of(&w, "a", "c", 0, 99).most, 4);
    assert_int_equal(share_of(&w, "a", "c", 2, 4).most, 2);
    assert_int_equal(share_of(&w, "c", "c", 1, 3).most, 3);
    world_fini(&w);
}

static void
a_bucket_is_given_back_when_nodes_have_come_and_not_because_fewer_are_open(void **state)
{
    struct world w;
    struct fill_share now;

    (void)state;
    world_init(&w, "abc");
    now = share_of(&w, "a", "a", 0, 12);
    assert_int_equal(fill_give_back(&now, 3, 4), 0);
    now = share_of(&w, "a", "a", 0, 6); /* two each, and this one has four */
    assert_int_equal(fill_give_back(&now, 3, 4), 0);
    assert_int_equal(fill_give_back(&now, 0, 0), 0);
    assert_int_equal(fill_give_back(&now, 4, 4), 0); /* one is gone */
    assert_int_equal(fill_give_back(&now, 2, 4), 2); /* one has come */
    assert_int_equal(fill_give_back(&now, 2, 1), 0);
    now = share_of(&w, "b", "a", 1, 6); /* the wish for fewer nodes leaves it out */
    assert_int_equal(fill_give_back(&now, 3, 4), 4);
    world_fini(&w);
}

static void a_limit_of_rows_is_shared_by_the_fills_of_all_nodes(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "abc");
    assert_int_equal(share_of(&w, "a", "c", 0, 99).sharers, 12);
    assert_int_equal(share_of(&w, "a", "c", 2, 99).sharers, 8);
    assert_int_equal(share_of(&w, "b", "c", 1, 99).sharers, 4);
    assert_int_equal(share_of(&w, "a", "c", 0, 5).sharers, 5);
    world_fini(&w);
}

static void a_node_that_has_its_store_alone_fills_all(void **state)
{
    const struct fill_nodes alone = {.self = STR("a"), .owner = STR("a"), .max = 3};

    (void)state;
    assert_int_equal(fill_share(&alone, 3).most, 3);
    assert_int_equal(fill_share(&alone, 30).most, 4);
    assert_int_equal(fill_share(&alone, 30).sharers, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_nodes_fill_than_are_wished_and_the_owner_is_the_first),
        cmocka_unit_test(open_buckets_are_spread_evenly_and_at_most_four_to_each),
        cmocka_unit_test(
            a_bucket_is_given_back_when_nodes_have_come_and_not_because_fewer_are_open),
        cmocka_unit_test(a_limit_of_rows_is_shared_by_the_fills_of_all_nodes),
        cmocka_unit_test(a_node_that_has_its_store_alone_fills_all),
    };

    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
