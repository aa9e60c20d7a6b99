#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/decode/ddl.h"
#include "sync/routing/shapes.h"
#include "sync/value/schema.h"

#include <stdio.h>

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
                                    .has_default = true,
                                    .row_end = true,
                                    .expression = STR("1 + `id`"),
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
    assert_true(shapes_parse(back, buf_str(&json), EPOCH | 150, 0, &err));

    const struct shape *known = find(back, "orders", 150);

    assert_non_null(known);
    assert_true(known->used);
    assert_ptr_equal(find(back, "orders", 300), known);
    assert_int_equal(known->schema->n_columns, 2);
    assert_true(str_equal(known->schema->columns[1].name, STR("old")));
    assert_true(str_equal(known->schema->columns[1].labels[0], STR("a \"b\"")));
    assert_int_equal(known->schema->columns[0].scale, 2);
    assert_true(known->schema->columns[0].is_unsigned && known->schema->columns[1].nullable);
    assert_true(schema_keeps_history(known->schema));
    assert_int_equal(known->schema->key[0], 1);
    assert_true(str_equal(known->schema->engine, STR("InnoDB")));
    shapes_free(back);
    back = shapes_new();
    assert_true(shapes_parse(back, buf_str(&json), EPOCH | 300, 0, &err));
    shapes_format(back, &again);
    assert_true(str_equal(buf_str(&json), buf_str(&again)));
    buf_free(&json);
    buf_free(&again);
    shapes_free(s);
    shapes_free(back);
}

static void a_shape_that_was_learned_where_a_restart_reads_on_has_met_no_rows(void **state)
{
    struct shapes *s = shapes_new(), *there = shapes_new(), *behind = shapes_new();
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    learn(s, "orders", "old", 100, 900);
    shapes_format(s, &json);
    assert_true(shapes_parse(there, buf_str(&json), EPOCH | 100, 0, &err));
    assert_true(shapes_parse(behind, buf_str(&json), EPOCH | 119, 0, &err));
    assert_false(find(there, "orders", 100)->used);
    assert_true(find(behind, "orders", 119)->used);
    buf_free(&json);
    shapes_free(s);
    shapes_free(there);
    shapes_free(behind);
}

static void shapes_of_another_epoch_are_not_taken(void **state)
{
    struct shapes *s = shapes_new(), *back = shapes_new();
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    learn(s, "orders", "old", 100, 100);
    shapes_format(s, &json);
    assert_true(shapes_parse(back, buf_str(&json), EPOCH + ((uint64_t)1 << 53), 0, &err));
    assert_null(shapes_find(back, STR("shop"), STR("orders"), UINT64_MAX));
    buf_free(&json);
    shapes_free(s);
    shapes_free(back);
}

static void damaged_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{}",
        "{\"format\":2,\"shapes\":[]}",
        "{\"format\":1,\"shapes\":[{}]}",
        "{\"format\":1,\"shapes\":[{\"from\":27021597764222976,\"doubt_to\":0,\"database\":"
        "\"a\",\"table\":\"b\",\"columns\":[[1]],\"key\":[]}]}",
        "{\"format\":1,\"shapes\":[{\"from\":27021597764222976,\"doubt_to\":0,\"database\":"
        "\"a\",\"table\":\"b\",\"columns\":[],\"key\":[7]}]}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct shapes *s = shapes_new();
        struct err err = {0};

        assert_false(shapes_parse(s, str_from(texts[i]), EPOCH, 0, &err));
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

static bool hides(const char *first, const char *second, uint64_t second_at)
{
    const struct sql_dialect dialect = {0};
    struct shapes *s = shapes_new();
    struct arena *a = arena_new();
    struct ddl one, two;

    ddl_parse(STR("shop"), str_from(first), dialect, a, &one);
    ddl_parse(STR("shop"), str_from(second), dialect, a, &two);

    struct shape *before = learn(s, "orders", "x", 100, 100);
    struct shape *shape = learn(s, "orders", "y", 200, 300);

    assert_false(shape_hides(before, &one, EPOCH | 200));
    shape_note_ddl(shape, before, &one, EPOCH | 200);

    const bool hidden = shape_hides(shape, &two, EPOCH | second_at);

    shapes_free(s);
    arena_free(a);
    return hidden;
}

static void two_changes_of_a_column_before_a_look_hide_what_they_did(void **state)
{
    static const struct {
        const char *first, *second;
        bool hidden;
    } cases[] = {
        {"MODIFY x TINYINT", "MODIFY x INT", true},
        {"DROP COLUMN x", "ADD COLUMN X INT", true},
        {"CHANGE x y INT", "CHANGE y x INT", true},
        {"CHANGE x y INT", "MODIFY y INT", true},
        {"ADD COLUMN x INT", "MODIFY x INT", true},
        {"ADD COLUMN x INT", "ADD COLUMN y INT", false},
        {"MODIFY x INT", "MODIFY y INT", false},
        {"MODIFY x INT", "ADD INDEX (x)", false},
        {"ADD INDEX (x)", "MODIFY x INT", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char first[80], second[80];

        snprintf(first, sizeof(first), "ALTER TABLE orders %s", cases[i].first);
        snprintf(second, sizeof(second), "ALTER TABLE orders %s", cases[i].second);
        if (hides(first, second, 300) != cases[i].hidden)
            fail_msg("%s, %s", first, second);
        assert_false(hides(first, second, 301)); /* somebody looked in between */
    }
}

/* The log of another server goes on at the same place, in an epoch of its own. */
static void a_shape_that_is_certain_at_a_place_holds_in_the_log_of_another_server(void **state)
{
    const uint64_t next = EPOCH + ((uint64_t)1 << 53);
    struct shapes *s = shapes_new(), *back = shapes_new(), *again = shapes_new();
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    learn(s, "orders", "old", 100, 100);
    learn(s, "orders", "new", 200, 250);
    learn(s, "orders", "later", 400, 400);
    learn(s, "item", "old", 100, 100);
    learn(s, "item", "doubtful", 200, 350);
    shapes_format(s, &json);
    assert_true(shapes_parse(back, buf_str(&json), next, EPOCH | 300, &err));

    const struct shape *known = shapes_find(back, STR("shop"), STR("orders"), next);

    assert_non_null(known);
    assert_true(str_equal(known->schema->columns[1].name, STR("new")));
    assert_int_equal(known->doubt_to, 0);
    assert_null(shapes_find(back, STR("shop"), STR("item"), UINT64_MAX));
    buf_clear(&json);
    shapes_format(back, &json);
    assert_true(shapes_parse(again, buf_str(&json), next, EPOCH | 300, &err));
    assert_non_null(shapes_find(again, STR("shop"), STR("orders"), next));
    buf_free(&json);
    shapes_free(s);
    shapes_free(back);
    shapes_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_of_a_position_is_the_last_one_learned_before),
        cmocka_unit_test(what_was_learned_in_vain_is_forgotten),
        cmocka_unit_test(shapes_outlive_a_restart_as_far_as_they_are_known),
        cmocka_unit_test(a_shape_that_was_learned_where_a_restart_reads_on_has_met_no_rows),
        cmocka_unit_test(shapes_of_another_epoch_are_not_taken),
        cmocka_unit_test(a_shape_that_is_certain_at_a_place_holds_in_the_log_of_another_server),
        cmocka_unit_test(damaged_text_is_refused),
        cmocka_unit_test(tables_that_nobody_follows_are_forgotten),
        cmocka_unit_test(two_changes_of_a_column_before_a_look_hide_what_they_did),
    };
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
