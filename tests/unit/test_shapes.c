#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/binlog/schema.h"
#include "sync/shapes.h"

#define EPOCH ((uint64_t)3 << 53)

static struct schema *table(const char *name, const char *column)
{
    struct schema *s = schema_new(STR("shop"), str_from(name));
    static struct str labels[] = {STR("a \"b\""), STR("größe")};

    s->columns = arena_alloc(s->arena, 2, sizeof(*s->columns));
    s->n_columns = 2;
    s->columns[0] = (struct column){.name = STR("id"),
                                    .type_text = STR("decimal(10,2) unsigned"),
                                    .type = COLUMN_DECIMAL,
                                    .is_unsigned = true,
                                    .precision = 10,
                                    .scale = 2,
                                    .charset = STR(""),
                                    .collation = STR("")};
    s->columns[1] = (struct column){.name = str_from(column),
                                    .type_text = STR("enum"),
                                    .type = COLUMN_ENUM,
                                    .nullable = true,
                                    .length = 5,
                                    .charset = STR("utf8mb4"),
                                    .collation = STR("utf8mb4_bin"),
                                    .labels = labels,
                                    .n_labels = 2};
    s->key = arena_alloc(s->arena, 1, sizeof(*s->key));
    s->key[s->n_key++] = 1;
    s->engine = STR("InnoDB");
    return s;
}

static struct shape *learn(struct shapes *s, const char *name, const char *column, uint64_t at,
                           uint64_t log_end)
{
    struct schema *schema = table(name, column);
    struct shape *shape = shapes_learn(s, schema, EPOCH | at);

    schema_unref(schema);
    shapes_settle(s, EPOCH | log_end);
    return shape;
}

static struct shape *find(const struct shapes *s, const char *name, uint64_t at)
{
    return shapes_find(s, STR("shop"), str_from(name), EPOCH | at);
}

static void the_shape_of_a_position_is_the_last_one_learned_before(void **state)
{
    struct shapes *s = shapes_new();

    (void)state;
    const struct shape *first = learn(s, "orders", "old", 100, 100);
    const struct shape *second = learn(s, "orders", "new", 200, 250);

    learn(s, "item", "x", 150, 150);
    assert_null(find(s, "orders", 99));
    assert_ptr_equal(find(s, "orders", 100), first);
    assert_ptr_equal(find(s, "orders", 199), first);
    assert_ptr_equal(find(s, "orders", 200), second);
    assert_ptr_equal(find(s, "orders", 5000), second);
    assert_true(second->doubt_to == (EPOCH | 250));
    assert_null(find(s, "nothing", 5000));
    shapes_free(s);
}

static void what_was_learned_in_vain_is_forgotten(void **state)
{
    struct shapes *s = shapes_new();
    struct schema *schema = table("orders", "new");

    (void)state;
    const struct shape *first = learn(s, "orders", "old", 100, 100);

    shapes_learn(s, schema, EPOCH | 200);
    assert_true(shapes_are_new(s));
    shapes_abandon(s);
    assert_false(shapes_are_new(s));
    assert_ptr_equal(find(s, "orders", 200), first);
    schema_unref(schema);
    shapes_free(s);
}

static void shapes_outlive_a_restart_as_far_as_they_are_known(void **state)
{
    struct shapes *s = shapes_new(), *back = shapes_new();
    struct buf json = {0}, again = {0};
    struct err err = {0};

    (void)state;
    learn(s, "orders", "old", 100, 100);
    learn(s, "orders", "new", 200, 250);
    shapes_format(s, &json);
    assert_true(shapes_parse(back, buf_str(&json), EPOCH | 150, &err));

    const struct shape *known = find(back, "orders", 150);

    assert_non_null(known);
    assert_true(known->used);
    assert_ptr_equal(find(back, "orders", 300), known);
    assert_int_equal(known->schema->n_columns, 2);
    assert_true(str_equal(known->schema->columns[1].name, STR("old")));
    assert_true(str_equal(known->schema->columns[1].labels[0], STR("a \"b\"")));
    assert_int_equal(known->schema->columns[0].scale, 2);
    assert_true(known->schema->columns[0].is_unsigned && known->schema->columns[1].nullable);
    assert_int_equal(known->schema->key[0], 1);
    assert_true(str_equal(known->schema->engine, STR("InnoDB")));
    shapes_free(back);
    back = shapes_new();
    assert_true(shapes_parse(back, buf_str(&json), EPOCH | 300, &err));
    shapes_format(back, &again);
    assert_true(str_equal(buf_str(&json), buf_str(&again)));
    buf_free(&json);
    buf_free(&again);
    shapes_free(s);
    shapes_free(back);
}

static void shapes_of_another_epoch_are_not_taken(void **state)
{
    struct shapes *s = shapes_new(), *back = shapes_new();
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    learn(s, "orders", "old", 100, 100);
    shapes_format(s, &json);
    assert_true(shapes_parse(back, buf_str(&json), EPOCH + ((uint64_t)1 << 53), &err));
    assert_null(shapes_find(back, STR("shop"), STR("orders"), UINT64_MAX));
    buf_free(&json);
    shapes_free(s);
    shapes_free(back);
}

static void damaged_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "", "{}", "{\"format\":2,\"shapes\":[]}", "{\"format\":1,\"shapes\":[{}]}",
        "{\"format\":1,\"shapes\":[{\"from\":27021597764222976,\"doubt_to\":0,\"database\":"
        "\"a\",\"table\":\"b\",\"columns\":[[1]],\"key\":[]}]}",
        "{\"format\":1,\"shapes\":[{\"from\":27021597764222976,\"doubt_to\":0,\"database\":"
        "\"a\",\"table\":\"b\",\"columns\":[],\"key\":[7]}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct shapes *s = shapes_new();
        struct err err = {0};

        assert_false(shapes_parse(s, str_from(texts[i]), EPOCH, &err));
        shapes_free(s);
    }
}

static bool is_orders(void *ctx, const struct schema *s)
{
    (void)ctx;
    return str_equal(s->table, STR("orders"));
}

static void tables_that_nobody_follows_are_forgotten(void **state)
{
    struct shapes *s = shapes_new();

    (void)state;
    learn(s, "orders", "a", 100, 100);
    learn(s, "item", "a", 100, 100);
    assert_true(shapes_retain(s, is_orders, NULL));
    assert_false(shapes_retain(s, is_orders, NULL));
    assert_null(find(s, "item", 100));
    assert_non_null(find(s, "orders", 100));
    shapes_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_of_a_position_is_the_last_one_learned_before),
        cmocka_unit_test(what_was_learned_in_vain_is_forgotten),
        cmocka_unit_test(shapes_outlive_a_restart_as_far_as_they_are_known),
        cmocka_unit_test(shapes_of_another_epoch_are_not_taken),
        cmocka_unit_test(damaged_text_is_refused),
        cmocka_unit_test(tables_that_nobody_follows_are_forgotten),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
