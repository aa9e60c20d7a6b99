#include "config.h"

#include "tests/unit/unit.h"

#include "sync/delivery/document/dirty_set.h"
#include "sync/delivery/document/operation.h"
#include "sync/delivery/document/target.h"

static struct target orders = {.index = (char[]){"shop_v2"}, .table = (char[]){"shop.orders"}},
                     items = {.index = (char[]){"shop_v2"}, .table = (char[]){"shop.item"}},
                     old = {.index = (char[]){"shop_v1"}, .table = (char[]){"shop.orders"}};

static void note(struct dirty_set *t, struct target *target, const char *id, const char *key)
{
    dirty_set_note(
        t, &(struct doc_write){.target = target, .id = str_from(id), .key = str_from(key)}, 1);
}

static bool has(const struct key_set *set, const char *what)
{
    return key_set_find(set, str_from(what)) != KEY_SET_NONE;
}

static void it_knows_each_document_of_its_index_once(void **state)
{
    struct dirty_set *t = dirty_set_new("shop_v2", 10);

    (void)state;
    note(t, &orders, "order:1", "1");
    note(t, &items, "item:1", "1");
    note(t, &items, "item:2", "2");
    note(t, &orders, "order:1", "1");
    note(t, &old, "order:3", "3");
    note(t, &orders, "", "0"); /* of a row that makes none */
    dirty_set_close(t);
    assert_int_equal(dirty_set_ids(t)->n, 3);
    assert_true(has(dirty_set_ids(t), "item:2"));
    assert_int_equal(dirty_set_keys(t, "shop.orders")->n, 2);
    assert_int_equal(dirty_set_keys(t, "shop.item")->n, 2);
    assert_int_equal(dirty_set_keys(t, "shop.other")->n, 0);
    assert_int_equal(dirty_set_more(t), 0);
    dirty_set_free(t);
}

static void what_tells_no_key_is_only_counted(void **state)
{
    struct dirty_set *t = dirty_set_new("shop_v2", 10);

    (void)state;
    note(t, &orders, "order:1", ""); /* a delete that is repeated from the store */
    dirty_set_close(t);
    assert_int_equal(dirty_set_ids(t)->n, 0);
    assert_int_equal(dirty_set_keys(t, "shop.orders")->n, 0);
    assert_int_equal(dirty_set_more(t), 1);
    dirty_set_free(t);
}

static void what_comes_after_the_close_is_only_counted(void **state)
{
    struct dirty_set *t = dirty_set_new("shop_v2", 10);

    (void)state;
    note(t, &orders, "order:1", "1");
    dirty_set_close(t);
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:2", "2");
    note(t, &old, "order:3", "3");
    assert_int_equal(dirty_set_ids(t)->n, 1);
    assert_int_equal(dirty_set_keys(t, "shop.orders")->n, 1);
    assert_int_equal(dirty_set_more(t), 2);
    dirty_set_free(t);
}

static void what_is_too_much_to_keep_is_only_counted(void **state)
{
    struct dirty_set *t = dirty_set_new("shop_v2", 1);

    (void)state;
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:2", "2");
    note(t, &orders, "order:1", "1");
    note(t, &orders, "order:3", "3");
    assert_int_equal(dirty_set_more(t), 2);
    dirty_set_close(t);
    assert_int_equal(dirty_set_ids(t)->n, 1);
    dirty_set_free(t);
}

static void each_of_a_list_notes_until_it_is_taken_out(void **state)
{
    struct dirty_set *first = NULL, *a = dirty_set_new("shop_v2", 10),
                     *b = dirty_set_new("shop_v2", 10), *c = dirty_set_new("shop_v1", 10);

    (void)state;
    dirty_set_link(&first, a);
    dirty_set_link(&first, b);
    dirty_set_link(&first, c);
    note(first, &orders, "order:1", "1");
    dirty_set_unlink(&first, b);
    note(first, &orders, "order:2", "2");
    note(first, &old, "order:3", "3");
    assert_int_equal(dirty_set_ids(a)->n, 2);
    assert_int_equal(dirty_set_ids(b)->n, 1);
    assert_int_equal(dirty_set_ids(c)->n, 1);
    dirty_set_unlink(&first, a);
    dirty_set_unlink(&first, c);
    assert_null(first);
    dirty_set_free(a);
    dirty_set_free(b);
    dirty_set_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_each_document_of_its_index_once),
        cmocka_unit_test(what_tells_no_key_is_only_counted),
        cmocka_unit_test(what_comes_after_the_close_is_only_counted),
        cmocka_unit_test(what_is_too_much_to_keep_is_only_counted),
        cmocka_unit_test(each_of_a_list_notes_until_it_is_taken_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
