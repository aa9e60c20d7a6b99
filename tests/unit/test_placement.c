/*
 * Who owns what: examples, and random clusters whose placement must have the properties that
 * the header promises, each checked by itself.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/cluster/cluster_plan.h"
#include "rebalance/cluster/cluster_state.h"
#include "rebalance/cluster/node_data.h"
#include "rebalance/cluster/placement.h"
#include "src/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES_MAX  60
#define THINGS_MAX 1000
#define ROUNDS     3000

static char ids[NODES_MAX][8], names[THINGS_MAX][16], groups[THINGS_MAX][8];
static struct placement_node nodes[NODES_MAX];
static struct placement_thing things[THINGS_MAX];
static size_t owners[THINGS_MAX];
static struct placement in = {.nodes = nodes, .things = things};

static void make(size_t n_nodes, size_t n_things)
{
    in.n_nodes = n_nodes;
    in.n_things = n_things;
    for (size_t i = 0; i < n_nodes; i++) {
        snprintf(ids[i], sizeof(ids[i]), "n%02u", (unsigned)i % 100);
        nodes[i] = (struct placement_node){.id = str_from(ids[i]), .is_admitted = true};
    }
    for (size_t i = 0; i < n_things; i++) {
        snprintf(names[i], sizeof(names[i]), "topic/%04u", (unsigned)i % 10000);
        things[i] = (struct placement_thing){.name = str_from(names[i])};
    }
}

/* What was placed is what is. */
static void place(void)
{
    placement_make(&in, owners);
}

static void apply(void)
{
    for (size_t i = 0; i < in.n_things; i++)
        things[i].owner =
            owners[i] == PLACEMENT_NOBODY ? (struct str){NULL, 0} : nodes[owners[i]].id;
}

static size_t n_moves(void)
{
    struct buf text = {0};
    const size_t n = placement_list_moves(&text, &in, owners);

    buf_free(&text);
    return n;
}

static size_t load_of(size_t node)
{
    size_t n = 0;

    for (size_t i = 0; i < in.n_things; i++)
        n += owners[i] == node;
    return n;
}

/* ---- the properties, naively ---- */

static bool goes_with(size_t a, size_t b)
{
    return a == b || (things[a].group.len > 0 && str_equal(things[a].group, things[b].group));
}

static size_t unit_size(size_t thing)
{
    size_t n = 0;

    for (size_t i = 0; i < in.n_things; i++)
        n += goes_with(thing, i);
    return n;
}

static bool is_wished(size_t thing)
{
    for (size_t i = 0; i < in.n_things; i++)
        for (size_t k = 0; goes_with(thing, i) && k < in.n_nodes; k++)
            if (nodes[k].is_admitted && str_equal(nodes[k].id, things[i].wish))
                return true;
    return false;
}

static void assert_properties(void)
{
    size_t n_admitted = 0;

    for (size_t k = 0; k < in.n_nodes; k++)
        n_admitted += nodes[k].is_admitted;
    assert_int_equal(placement_reason(&in) == NULL, n_admitted > 0);
    for (size_t i = 0; i < in.n_things; i++) {
        assert_int_equal(owners[i] == PLACEMENT_NOBODY, n_admitted == 0);
        if (n_admitted == 0)
            continue;
        assert_true(nodes[owners[i]].is_admitted);
        for (size_t k = 0; k < i; k++)
            if (goes_with(i, k))
                assert_int_equal(owners[i], owners[k]);
        if (is_wished(i))
            continue;
        for (size_t k = 0; k < in.n_nodes; k++)
            if (nodes[k].is_admitted)
                assert_true(load_of(owners[i]) <= load_of(k) + unit_size(i));
    }
}

static void make_any(struct random *r)
{
    make(1 + random_below(r, 7), random_below(r, 24));
    for (size_t i = 0; i < in.n_nodes; i++)
        nodes[i].is_admitted = random_below(r, 4) > 0;
    for (size_t i = 0; i < in.n_things; i++) {
        if (random_below(r, 3) == 0) {
            snprintf(groups[i], sizeof(groups[i]), "g%u", (unsigned)random_below(r, 4));
            things[i].group = str_from(groups[i]);
        }
        if (random_below(r, 4) > 0)
            things[i].owner =
                random_below(r, 9) == 0 ? STR("gone") : nodes[random_below(r, in.n_nodes)].id;
        if (random_below(r, 8) == 0)
            things[i].wish = nodes[random_below(r, in.n_nodes)].id;
    }
}

static void any_cluster_is_placed_evenly_and_whole(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 1);
    for (int i = 0; i < ROUNDS; i++) {
        make_any(&r);
        place();
        assert_properties();
        apply();
        place();
        assert_int_equal(n_moves(), 0);
    }
}

static void swap_things(size_t a, size_t b)
{
    const struct placement_thing t = things[a];
    const size_t o = owners[a];

    things[a] = things[b];
    things[b] = t;
    owners[a] = owners[b];
    owners[b] = o;
}

static void the_order_of_the_input_does_not_count(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 2);
    for (int i = 0; i < ROUNDS / 10; i++) {
        size_t before[THINGS_MAX];

        make_any(&r);
        place();
        for (size_t k = 0; k + 1 < in.n_things; k++)
            swap_things(k, k + random_below(&r, in.n_things - k));
        memcpy(before, owners, sizeof(before));
        place();
        assert_memory_equal(before, owners, in.n_things * sizeof(*owners));
    }
}

/* Fewest moves of things without groups: what each node has above its share, and what nobody
 * has. The fullest nodes keep one more if the shares are not equal. */
static size_t fewest_moves(void)
{
    size_t loads[NODES_MAX] = {0}, n_nodes = 0, n = 0, n_more;

    for (size_t k = 0; k < in.n_nodes; k++) {
        size_t load = 0, at;

        if (!nodes[k].is_admitted)
            continue;
        for (size_t i = 0; i < in.n_things; i++)
            load += str_equal(things[i].owner, nodes[k].id);
        for (at = n_nodes++; at > 0 && loads[at - 1] < load; at--)
            loads[at] = loads[at - 1];
        loads[at] = load;
        n += load;
    }
    if (n_nodes == 0)
        return 0;
    n = in.n_things - n;
    n_more = in.n_things % n_nodes;
    for (size_t k = 0; k < n_nodes; k++) {
        const size_t share = in.n_things / n_nodes + (k < n_more);

        n += loads[k] > share ? loads[k] - share : 0;
    }
    return n;
}

static void single_things_move_as_seldom_as_they_can(void **state)
{
    struct random r;

    (void)state;
    random_init(&r, 3);
    for (int i = 0; i < ROUNDS; i++) {
        make_any(&r);
        for (size_t k = 0; k < in.n_things; k++)
            things[k].group = things[k].wish = (struct str){NULL, 0};
        nodes[0].is_admitted = true;
        place();
        assert_int_equal(n_moves(), fewest_moves());
    }
}

static void whoever_joins_gets_a_share_and_whoever_leaves_gives_only_its_own(void **state)
{
    (void)state;
    make(4, 100);
    nodes[3].is_admitted = false;
    place();
    apply();
    nodes[3].is_admitted = true;
    place();
    assert_int_equal(n_moves(), 25);
    assert_int_equal(load_of(3), 25);
    for (size_t i = 0; i < 100; i++)
        assert_true(owners[i] == 3 || str_equal(nodes[owners[i]].id, things[i].owner));
    apply();
    nodes[1].is_admitted = false;
    place();
    assert_int_equal(n_moves(), 25);
}

static void a_wish_is_kept_and_the_others_make_room(void **state)
{
    (void)state;
    make(2, 4);
    for (size_t i = 0; i < 4; i++)
        things[i].wish = STR("n01");
    things[3].wish = (struct str){NULL, 0};
    place();
    assert_int_equal(load_of(1), 3);
    assert_int_equal(owners[3], 0);
    nodes[1].is_admitted = false; /* until the node is back */
    place();
    assert_int_equal(load_of(0), 4);
}

static void a_wish_moves_the_group(void **state)
{
    (void)state;
    make(2, 6);
    things[2].group = things[4].group = STR("g");
    things[2].owner = things[4].owner = STR("n00");
    things[4].wish = STR("n01");
    place();
    assert_int_equal(owners[2], 1);
    assert_int_equal(owners[4], 1);
    assert_int_equal(load_of(1), 3);
}

static void the_group_that_fits_best_moves(void **state)
{
    (void)state;
    make(2, 6);
    for (size_t i = 0; i < 5; i++) {
        things[i].owner = STR("n00");
        things[i].group = i < 3 ? STR("three") : STR("two");
    }
    things[5].owner = STR("n01");
    place();
    assert_int_equal(n_moves(), 2);
    assert_int_equal(owners[3], 1);
    assert_int_equal(owners[4], 1);
}

static void without_a_node_nothing_is_owned_and_the_reason_says_so(void **state)
{
    (void)state;
    make(1, 3);
    nodes[0].is_admitted = false;
    place();
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(owners[i], PLACEMENT_NOBODY);
    assert_string_equal(placement_reason(&in), "no node is admitted");
    make(0, 1);
    place();
    assert_int_equal(owners[0], PLACEMENT_NOBODY);
}

static void a_plan_is_shown_as_moves(void **state)
{
    struct buf text = {0};

    (void)state;
    make(2, 4);
    nodes[0].name = STR("shop-1");
    nodes[1].is_admitted = false;
    things[0].owner = STR("n00");
    things[1].owner = STR("n01");
    things[2].owner = STR("gone");
    place();
    assert_int_equal(placement_list_moves(&text, &in, owners), 3);
    assert_string_equal(text.ptr, "topic/0001: n01 -> shop-1\n"
                                  "topic/0002: gone -> shop-1\n"
                                  "topic/0003: nobody -> shop-1\n");
    buf_clear(&text);
    nodes[0].is_admitted = false;
    place();
    assert_int_equal(placement_list_moves(&text, &in, owners), 3);
    assert_non_null(strstr(text.ptr, "topic/0000: shop-1 -> nobody\n"));
    buf_free(&text);
}

static void add_node(struct node_data *d, const char *id, const char *name, const char *job,
                     uint64_t session)
{
    buf_append(&d->id, str_from(id));
    buf_append(&d->name, str_from(name));
    (void)name_set_add(&d->jobs, str_from(job));
    d->session = session;
}

/* Two nodes say that they have topic/x; the one of the newer session has it. */
static void people_see_what_a_wish_would_do(void **state)
{
    static const struct barrier_thing two[] = {{.name = STR("topic/x")},
                                               {.name = STR("topic/y")}};
    struct node_data a = {0}, b = {0};
    const struct node_data *const list[] = {&a, &b};
    struct cluster_state s = {0};
    const struct cluster_plan plan = {
        .nodes = list, .n_nodes = 2, .state = &s, .things = two, .n_things = 2};
    struct buf text = {0};

    (void)state;
    add_node(&a, "a", "shop-1", "topic/x", 3);
    add_node(&b, "b", "shop-2", "topic/x", 2);
    (void)name_set_add(&b.jobs, STR("topic/y"));
    (void)name_set_add(&s.members, STR("a"));
    (void)name_set_add(&s.members, STR("b"));
    assert_int_equal(cluster_plan_list(&text, &plan), 0);
    cluster_state_set_wish(&s, STR("topic/y"), STR("a"));
    assert_int_equal(cluster_plan_list(&text, &plan), 2);
    assert_string_equal(text.ptr, "topic/x: shop-1 -> shop-2\ntopic/y: shop-2 -> shop-1\n");
    buf_clear(&text);
    (void)name_set_add(&s.evacuated, STR("b"));
    assert_int_equal(cluster_plan_list(&text, &plan), 1);
    assert_string_equal(text.ptr, "topic/y: shop-2 -> shop-1\n");
    node_data_free(&a);
    node_data_free(&b);
    cluster_state_free(&s);
    buf_free(&text);
}

static void a_thousand_things_on_fifty_nodes_are_placed_fast(void **state)
{
    struct timespec a, b;
    double ms;

    (void)state;
    make(50, 1000);
    place();
    for (size_t k = 0; k < 50; k++)
        assert_int_equal(load_of(k), 20);
    apply();
    for (size_t k = 0; k < 10; k++)
        nodes[k].is_admitted = false;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    place();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
    print_message("%.2f ms\n", ms);
    assert_int_equal(n_moves(), 200);
    assert_true(ms < 200); /* a few, but for sanitizers */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cluster_is_placed_evenly_and_whole),
        cmocka_unit_test(the_order_of_the_input_does_not_count),
        cmocka_unit_test(single_things_move_as_seldom_as_they_can),
        cmocka_unit_test(whoever_joins_gets_a_share_and_whoever_leaves_gives_only_its_own),
        cmocka_unit_test(a_wish_is_kept_and_the_others_make_room),
        cmocka_unit_test(a_wish_moves_the_group),
        cmocka_unit_test(the_group_that_fits_best_moves),
        cmocka_unit_test(without_a_node_nothing_is_owned_and_the_reason_says_so),
        cmocka_unit_test(a_plan_is_shown_as_moves),
        cmocka_unit_test(people_see_what_a_wish_would_do),
        cmocka_unit_test(a_thousand_things_on_fifty_nodes_are_placed_fast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
