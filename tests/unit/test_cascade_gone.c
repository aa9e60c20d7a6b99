#include "config.h"

#include "tests/unit/unit.h"

#include "sync/related/cascade/gone.h"
#include "sync/routing/routing.h"

struct fixture {
    struct gone_set set;
    struct reading reading;
    struct target *orders, *older;
};

static int set_up(void **state)
{
    static char alias[] = "orders";
    static struct fixture f = {.reading = {.alias = alias}};

    gone_set_init(&f.set);
    f.orders = target_new(STR("orders_v2"), STR("orders_w"), STR("shop.orders"), STR("shop"));
    f.older = target_new(STR("orders_v1"), STR("orders_w"), STR("shop.orders"), STR("shop"));
    f.orders->plan = f.older->plan = &f.reading;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    gone_set_fini(&f->set);
    target_unref(f->orders);
    target_unref(f->older);
    return 0;
}

static struct gone_row row(struct target *t, struct str routing, struct str id)
{
    return (struct gone_row){.target = t, .routing = routing, .id = id, .key = STR("k")};
}

static void a_document_is_there_once_for_each_index_and_routing(void **state)
{
    struct fixture *f = *state;
    const struct gone_row a = row(f->orders, STR(""), STR("1")),
                          b = row(f->older, STR(""), STR("1")),
                          c = row(f->orders, STR("r"), STR("1"));
    struct gone_document *d = gone_set_add(&f->set, &a, 50);

    assert_ptr_equal(gone_set_find(&f->set, f->orders, STR(""), STR("1")), d);
    assert_null(gone_set_find(&f->set, f->older, STR(""), STR("1")));
    assert_null(gone_set_find(&f->set, f->orders, STR("r"), STR("1")));
    (void)gone_set_add(&f->set, &b, 40);
    (void)gone_set_add(&f->set, &c, 60);
    assert_int_equal(gone_set_count(&f->set), 3);
    assert_int_equal(gone_set_count_of(&f->set, STR("orders_v2")), 2);
    gone_set_remove(&f->set, d);
    gone_document_free(d);
    assert_int_equal(gone_set_count_of(&f->set, STR("orders_v2")), 1);
    assert_null(gone_set_find(&f->set, f->orders, STR(""), STR("1")));
}

static void the_oldest_of_an_alias_is_of_any_of_its_indexes(void **state)
{
    struct fixture *f = *state;
    const struct gone_row a = row(f->orders, STR(""), STR("1")),
                          b = row(f->older, STR(""), STR("1"));
    struct gone_document *d;

    assert_int_equal(gone_set_oldest_ms(&f->set, STR("orders")), INT64_MAX);
    (void)gone_set_add(&f->set, &a, 50);
    d = gone_set_add(&f->set, &b, 40);
    assert_int_equal(gone_set_oldest_ms(&f->set, STR("orders")), 40);
    assert_int_equal(gone_set_oldest_ms(&f->set, STR("other")), INT64_MAX);
    gone_set_remove(&f->set, d);
    gone_document_free(d);
    gone_set_look(&f->set);
    assert_int_equal(gone_set_oldest_ms(&f->set, STR("orders")), 50);
}

static void one_that_takes_the_place_of_another_stays_when_that_is_removed(void **state)
{
    struct fixture *f = *state;
    const struct gone_row a = row(f->orders, STR(""), STR("1"));
    struct gone_document *before = gone_set_add(&f->set, &a, 50),
                         *after = gone_set_add(&f->set, &a, 50);

    assert_int_equal(gone_set_count(&f->set), 1);
    gone_set_remove(&f->set, before);
    gone_document_free(before);
    assert_ptr_equal(gone_set_find(&f->set, f->orders, STR(""), STR("1")), after);
    assert_int_equal(gone_set_count_of(&f->set, STR("orders_v2")), 1);
}

static void what_another_read_did_not_find_is_to_be_followed_from_there(void **state)
{
    struct fixture *f = *state;
    struct gone_row a = row(f->orders, STR(""), STR("1"));
    struct gone_document *d = gone_set_add(&f->set, &a, 50);

    assert_int_equal(d->state, GONE_ASKED);
    a.stamp = 20;
    a.log_end = 25;
    gone_document_note(d, &a);
    assert_int_equal(d->state, GONE_NEW);
    d->state = GONE_FOLLOWED;
    a.stamp = 10;
    a.log_end = 30;
    gone_document_note(d, &a);
    assert_int_equal(d->state, GONE_NEW);
    assert_int_equal(d->stamp, 20);
    assert_int_equal(d->log_end, 30);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_document_is_there_once_for_each_index_and_routing),
        CASE(the_oldest_of_an_alias_is_of_any_of_its_indexes),
        CASE(one_that_takes_the_place_of_another_stays_when_that_is_removed),
        CASE(what_another_read_did_not_find_is_to_be_followed_from_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
