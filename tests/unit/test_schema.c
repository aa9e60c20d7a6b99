#include "config.h"

#include "tests/unit/unit.h"

#include "sync/value/schema.h"

static void columns_are_found_without_case(void **state)
{
    struct schema *s = schema_new(STR("shop"), STR("orders"));

    (void)state;
    s->columns = arena_alloc(s->arena, 2, sizeof(*s->columns));
    s->n_columns = 2;
    s->columns[0].name = STR("Id");
    s->columns[1].name = STR("größe");
    assert_int_equal(schema_find(s, STR("ID")), 0);
    assert_int_equal(schema_find(s, STR("größe")), 1);
    assert_int_equal(schema_find(s, STR("i")), SIZE_MAX);
    schema_unref(s);
}

static void a_schema_lives_until_its_last_reference(void **state)
{
    struct schema *s = schema_new(STR("shop"), STR("orders"));

    (void)state;
    assert_ptr_equal(schema_ref(s), s);
    schema_unref(s);
    assert_true(str_equal(s->table, STR("orders")));
    schema_unref(s);
    schema_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_without_case),
        cmocka_unit_test(a_schema_lives_until_its_last_reference),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
