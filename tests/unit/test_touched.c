#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/operation.h"
#include "sync/delivery/target.h"
#include "sync/delivery/touched.h"

static struct target orders = {.index = (char[]){"shop_v2"}, .table = (char[]){"shop.orders"}},
                     items = {.index = (char[]){"shop_v2"}, .table = (char[]){"shop.item"}},
                     old = {.index = (char[]){"shop_v1"}, .table = (char[]){"shop.orders"}};

static void note(struct touched *t, struct target *target, const char *id, const char *key)
{
    touched_note(t,
                 &(struct doc_write){
                     .target = target, .id = str_from(id), .key = str_from(key)},
                 1);
}

static bool has(const struct key_set *set, const char *what)
{
    return key_set_find(set, str_from(what)) != KEY_SET_NONE;
}

static void it_knows_each_document_of_its_index_once(void **state)
{
    struct touched *t = touched_new("shop_v2", 10);

    (void)state;
    note(t, &orders, "order:1", "1");
    note(t, &items, "item:1", "1");
    note(t, &items, "item:2", "2");
    note(t, &orders, "order:1", "1");
    note(t, &old, "order:3", "3");
    note(t, &orders, "", "0"); /* of a row that makes none */
    touched_close(t);
    assert_int_equal(touched_ids(t)->n, 3);
    assert_true(has(touched_ids(t), "item:2"));
    assert_int_equal(touched_keys(t, "shop.orders")->n, 2);
    assert_int_equal(touched_keys(t, "shop.item")->n, 2);
    assert_int_equal(touched_keys(t, "shop.other")->n, 0);
    assert_int_equal(touched_more(t), 0);
    touched_free(t);
}

static void what_comes_after_the_close_is_only_counted(void **state)
{
    struct touched *t = touched_new("shop_v2", 10);

    (void)state;
    note(t, &orders, "order:1", "1");
    touched_close(t);
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:2", "2");
    note(t, &old, "order:3", "3");
    assert_int_equal(touched_ids(t)->n, 1);
    assert_int_equal(touched_keys(t, "shop.orders")->n, 1);
    assert_int_equal(touched_more(t), 2);
    touched_free(t);
}

static void what_is_too_much_to_keep_is_only_counted(void **state)
{
    struct touched *t = touched_new("shop_v2", 1);

    (void)state;
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:2", "2");
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:3", "3");
    assert_int_equal(touched_more(t), 2);
    touched_close(t);
    assert_int_equal(touched_ids(t)->n, 1);
    touched_free(t);
}

static void each_of_a_list_notes_until_it_is_taken_out(void **state)
{
    struct touched *first = NULL, *a = touched_new("shop_v2", 10),
                   *b = touched_new("shop_v2", 10), *c = touched_new("shop_v1", 10);

    (void)state;
    touched_link(&first, a);
    touched_link(&first, b);
    touched_link(&first, c);
    note(first, &orders, "order:1", "1");
    touched_unlink(&first, b);
    note(first, &orders, "order:2", "2");
    note(first, &old, "order:3", "3");
    assert_int_equal(touched_ids(a)->n, 2);
    assert_int_equal(touched_ids(b)->n, 1);
    assert_int_equal(touched_ids(c)->n, 1);
    touched_unlink(&first, a);
    touched_unlink(&first, c);
    assert_null(first);
    touched_free(a);
    touched_free(b);
    touched_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_each_document_of_its_index_once),
        cmocka_unit_test(what_comes_after_the_close_is_only_counted),
        cmocka_unit_test(what_is_too_much_to_keep_is_only_counted),
        cmocka_unit_test(each_of_a_list_notes_until_it_is_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
