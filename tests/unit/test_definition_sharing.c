#include "config.h"

#include "tests/unit/definition_text.h"

#include "src/base/arena.h"
#include "sync/definition/members.h"

#include <stdint.h>

/* Texts are put together from macros, which it cannot lay out. */
/* clang-format off */

#define JOIN(name) "join: {name: " name "}"
#define CHILD(name, parent) \
    "join: {name: " name ", parent: shop." parent ", parent_column: p}"

static void what_does_not_fit_together_in_one_index_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: x}", 5, 28, "belongs to table `shop.a`");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: x, " JOIN("b") "}", 5, 44, "two roots");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: x, " CHILD("a", "a") "}", 5, 44,
                   "are called `a`");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: y, " CHILD("b", "a") "}", 5, 55,
                   "must share an index");
    assert_refused(HEAD "  - {table: shop.a, index: x, " CHILD("a", "z") "}", 4, 55,
                   "the parent `shop.z` is not defined");
    assert_refused(HEAD "  - {table: shop.a, index: x}\n"
                        "  - {table: shop.b, index: y, " CHILD("b", "a") "}", 5, 55,
                   "has no `join` itself");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: x, join: {name: b, parent: shop.a}}", 5, 55,
                   "needs `parent_column`");
    assert_refused(HEAD "  - {table: shop.a, index: x, join: {name: a, parent_column: p}}",
                   4, 62,
                   "needs `parent`");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n"
                        "  - {table: shop.b, index: x, join: {name: b, field: f, "
                        "parent: shop.a, "
                        "parent_column: p}}", 5, 54, "has one join field");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") ", settings: {a: 1}}\n"
                        "  - {table: shop.b, index: x, " CHILD("b", "a") ", settings: {a: 2}}",
                   5,
                   92, "apply to the whole index");
    assert_refused(HEAD "  - {table: shop.a, index: x, " JOIN("a") ", schema_changes: stop}\n"
                        "  - {table: shop.b, index: x, " CHILD("b", "a") "}", 5, 13,
                   "applies to the whole index");
}

static void a_table_below_the_second_level_needs_the_column_of_its_root(void **state)
{
    (void)state;
#define TWO HEAD "  - {table: shop.a, index: x, " JOIN("a") "}\n" \
                 "  - {table: shop.b, index: x, " CHILD("b", "a")
    assert_refused(TWO "}\n  - {table: shop.c, index: x, " CHILD("c", "b") "}", 6, 55,
                   "needs `root_column`");
    assert_refused(TWO ", root_column: r}", 5, 95, "below the second level");
    assert_refused(HEAD "  - {table: shop.a, root_column: r}", 4, 34, "of a `join`");
    definitions_unref(apply_fine(
        NULL, TWO "}\n  - {table: shop.c, index: x, root_column: r, " CHILD("c", "b") "}"));
}

static void
what_holds_the_key_of_one_root_is_as_many_columns_in_each_of_its_tables(void **state)
{
    (void)state;
#define PAIR                                                                                 \
    HEAD "  - {table: shop.a, index: x, " JOIN(                                              \
        "a") "}\n"                                                                           \
             "  - {table: shop.b, index: x, join: {name: b, parent: shop.a, parent_column: " \
             "[p, q]}}\n"
    assert_refused(
        PAIR "  - {table: shop.c, index: x, root_column: r, " CHILD("c", "b") "}", 6, 44,
        "has 1 column, and `parent_column` of `shop.b`, which holds the same key, 2");
    assert_refused(PAIR
                   "  - {table: shop.c, index: x, root_column: [r, s, t], " CHILD("c", "b") "}",
                   6, 45, "has 3 columns");
    assert_refused(
        PAIR "  - {table: shop.c, index: x, root_column: [r, s], " CHILD(
            "c", "b") "}\n"
                      "  - {table: shop.d, index: x, root_column: r, " CHILD("d", "c") "}",
        7, 44, "`parent_column` of `shop.b`");
    assert_refused(
        TWO "}\n  - {table: shop.c, index: x, root_column: [r, s], " CHILD("c", "b") "}", 6, 45,
        "has 2 columns, and `parent_column` of `shop.b`, which holds the same key, 1");
    assert_refused(TWO ", root_column: [r, s]}", 5, 96, "below the second level");
    assert_refused(HEAD "  - {table: shop.a, root_column: [r, s]}", 4, 35, "of a `join`");
    assert_refused(PAIR "  - {table: shop.c, index: x, root_column: [], " CHILD("c", "b") "}",
                   6, 72, "needs `root_column`");
    definitions_unref(apply_fine(
        NULL, PAIR "  - {table: shop.c, index: x, root_column: [r, s], " CHILD(
                  "c", "b") "}\n"
                            "  - {table: shop.d, index: x, root_column: [s, r], " CHILD(
                                "d", "c") "}"));
}

static void parents_in_a_circle_are_refused(void **state)
{
    (void)state;
    assert_null(apply(NULL, HEAD "  - {table: shop.a, index: x, " CHILD("a", "b") "}\n"
                                 "  - {table: shop.b, index: x, " CHILD("b", "a") "}"));
    assert_non_null(strstr(problems_get(problems, 0)->message.ptr, "form a circle"));
}

static void members_come_behind_their_parents_and_the_root_leads(void **state)
{
    struct definitions *d = apply_fine(
        NULL, HEAD "  - {table: shop.a, index: x, root_column: r, " CHILD("a", "b") "}\n"
                   "  - {table: shop.b, index: x, " CHILD("b", "c") ", settings: {n: 1}}\n"
                   "  - {table: shop.c, index: x, " JOIN("c") "}\n"
                   "  - {table: shop.d, index: y, " JOIN("d") "}");
    const struct table_definition *a = definitions_table(d, STR("shop.a")), **members;
    struct arena *arena = arena_new();
    size_t n;

    (void)state;
    assert_text(definition_lead(d, a)->table, "shop.c");
    assert_text(definition_lead_of(d, STR("x"))->table, "shop.c");
    assert_text(definition_settings(d, a)->table, "shop.b");
    assert_int_equal(definition_join_level(d, a), 2);
    assert_true(definition_members(d, definition_lead(d, a), NULL, NULL, arena, &members, &n));
    assert_int_equal(n, 3);
    assert_text(members[0]->table, "shop.c");
    assert_text(members[1]->table, "shop.b");
    assert_text(members[2]->table, "shop.a");
    arena_free(arena);
    definitions_unref(d);
}

/* ---- patterns ---- */

#define SHOPS                                                                  \
    "topics: [{name: s, address: /a}, {name: t, address: /b}]\n"                 \
    "databases: [{name: shop_1, topic: s}, {name: shop_2, topic: s, schema: two}, " \
    "{name: other, topic: t}]\n"                                               \
    "tables: [{"

static void a_pattern_that_cannot_name_tables_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_refused(SHOPS "pattern: 'shop_[0-9]\\.a', table: shop_1.a, index: x}]", 3, 20,
                   "not both");
    assert_refused(SHOPS "pattern: 'shop_[0-9\\.a', index: x}]", 3, 20,
                   "not a regular expression");
    assert_refused(SHOPS "pattern: 'shop_[0-9]\\.a'}]", 3, 20, "add `index`");
    assert_refused(SHOPS "pattern: 'shap\\.a', index: x}]", 3, 20,
                   "no defined database");
    assert_refused(SHOPS "pattern: '.*\\.a', index: x}]", 3, 20, "several topics");
    assert_refused(SHOPS "pattern: 'shop_1\\.a', index: x, join: {name: a}}]", 3, 20,
                   "for single tables");
    assert_refused(SHOPS "pattern: 'shop_1\\.a', index: x, schema_changes: stop}]", 3, 20,
                   "come and go");
    assert_refused(SHOPS "table: shop_1.a, source_field: f}]", 3, 42, "of a `pattern`");
}

static bool list_tables(void *ctx, struct str topic, struct str schema, struct arena *a,
                        struct str **out, size_t *n)
{
    static const char *const names[] = {"orders", "orders_1", "orders_12", "orders_x"};

    (void)ctx;
    assert_text(topic, "s");
    *out = arena_alloc(a, ARRAY_LEN(names), sizeof(**out));
    *n = str_equal(schema, STR("two")) ? 2 : ARRAY_LEN(names);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = str_from(names[i]);
    return true;
}

static void a_pattern_names_the_tables_that_are_there_and_fit_as_a_whole(void **state)
{
    struct definitions *d = apply_fine(
        NULL, SHOPS "pattern: 'shop_[0-9]+\\.orders_[0-9]+', index: x}]");
    const struct table_definition *t = &d->tables[0], **members;
    struct arena *arena = arena_new();
    size_t n;

    (void)state;
    assert_text(table_name(t), "shop_[0-9]+\\.orders_[0-9]+");
    assert_ptr_equal(definitions_table(d, STR("shop_[0-9]+\\.orders_[0-9]+")), t);
    assert_true(definition_members(d, t, list_tables, NULL, arena, &members, &n));
    assert_int_equal(n, 3);
    assert_text(members[0]->table, "shop_1.orders_1");
    assert_text(members[1]->table, "shop_1.orders_12");
    assert_text(members[2]->table, "shop_2.orders_1");
    assert_true(definition_pattern_has(d, t, STR("two"), STR("orders_7")));
    assert_false(definition_pattern_has(d, t, STR("shop_2"), STR("orders_7")));
    assert_true(definition_names(t, STR("shop_2.orders_7")));
    assert_false(definition_names(t, STR("shop_2.orders_7_old")));
    assert_text(definition_topic(d, t)->name, "s");
    arena_free(arena);
    definitions_unref(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(what_does_not_fit_together_in_one_index_is_refused_at_its_place),
        DEFINITION_TEST(a_table_below_the_second_level_needs_the_column_of_its_root),
        DEFINITION_TEST(
            what_holds_the_key_of_one_root_is_as_many_columns_in_each_of_its_tables),
        DEFINITION_TEST(parents_in_a_circle_are_refused),
        DEFINITION_TEST(members_come_behind_their_parents_and_the_root_leads),
        DEFINITION_TEST(a_pattern_that_cannot_name_tables_is_refused_at_its_place),
        DEFINITION_TEST(a_pattern_names_the_tables_that_are_there_and_fit_as_a_whole),
    };
    return cmocka_run_group_tests_name("definition_sharing", tests, NULL, NULL);
}
