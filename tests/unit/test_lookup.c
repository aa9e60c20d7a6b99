#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/lookup.h"
#include "sync/document/plan.h"
#include "tests/unit/document_fixture.h"

/* orders(id, buyer_id, kind) with buyer(id, name) and items(id, order_id, product_id, code). */
struct shop {
    struct schema *orders, *buyer, *item;
    struct column_definition shown[2], bought[1];
    struct relation_definition relations[2];
    struct table_definition table;
    struct definitions *defs;
    struct plan *plan;
    struct arena *arena;
};

static struct str buyer_id[] = {STR("buyer_id")}, id[] = {STR("id")},
                  order_id[] = {STR("order_id")};

static struct schema *find(void *ctx, struct str database, struct str table)
{
    struct shop *s = ctx;

    (void)database;
    return str_equal(table, STR("orders"))  ? s->orders
           : str_equal(table, STR("buyer")) ? s->buyer
           : str_equal(table, STR("item"))  ? s->item
                                            : NULL;
}

static int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof(*s));
    struct err err = {0};

    s->orders = make_schema("orders", 1);
    add_column(s->orders, "id", COLUMN_INT);
    add_column(s->orders, "buyer_id", COLUMN_INT);
    add_column(s->orders, "kind", COLUMN_VARCHAR)->length = 20;
    s->buyer = make_schema("buyer", 1);
    add_column(s->buyer, "id", COLUMN_INT);
    add_column(s->buyer, "name", COLUMN_VARCHAR);
    s->item = make_schema("item", 1);
    add_column(s->item, "id", COLUMN_INT);
    add_column(s->item, "order_id", COLUMN_INT);
    add_column(s->item, "product_id", COLUMN_INT);
    s->shown[0] = (struct column_definition){.name = STR("kind"), .as = STR("sort")};
    s->bought[0] = (struct column_definition){.name = STR("product_id")};
    s->relations[0] = (struct relation_definition){.from = buyer_id,
                                                   .n_from = 1,
                                                   .table = STR("db.buyer"),
                                                   .to = id,
                                                   .n_to = 1,
                                                   .as = STR("buyer"),
                                                   .all_columns = true};
    s->relations[1] = (struct relation_definition){.from = id,
                                                   .n_from = 1,
                                                   .table = STR("db.item"),
                                                   .to = order_id,
                                                   .n_to = 1,
                                                   .as = STR("items"),
                                                   .many = true,
                                                   .columns = s->bought,
                                                   .n_columns = 1};
    s->table = (struct table_definition){.table = STR("db.orders"),
                                         .columns = s->shown,
                                         .n_columns = 1,
                                         .relations = s->relations,
                                         .n_relations = 2};
    s->defs = make_definitions(&s->table, 1);
    s->plan = plan_compile(s->defs, &s->table, find, s, &err);
    assert_non_null(s->plan);
    s->arena = arena_new();
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct shop *s = *state;

    plan_unref(s->plan);
    schema_unref(s->orders);
    schema_unref(s->buyer);
    schema_unref(s->item);
    definitions_unref(s->defs);
    arena_free(s->arena);
    free(s);
    return 0;
}

#define MAPPING                                                                                 \
    "{\"properties\":{\"sort\":{\"type\":\"keyword\"},\"buyer\":{\"properties\":{\"id\":"       \
    "{\"type\":\"integer\"}}},\"items\":{\"type\":\"nested\",\"properties\":{\"product_id\":"   \
    "{\"type\":\"integer\"}}}}}"

static bool look(struct shop *s, size_t place, const char *column, const char *mapping,
                 struct lookup_term *out)
{
    struct err err = {0};

    return lookup_find(s->plan, place, str_from(column), str_from(mapping), s->arena, out, &err);
}

static void assert_at(struct shop *s, size_t place, const char *column, const char *field,
                      const char *nested)
{
    struct lookup_term term = {0};

    assert_true(look(s, place, column, MAPPING, &term));
    assert_string_equal(term.field.ptr, field);
    assert_int_equal(term.nested.len, strlen(nested));
    assert_memory_equal(nested, term.nested.len > 0 ? term.nested.ptr : "", strlen(nested));
}

static void a_column_is_found_where_documents_show_it(void **state)
{
    assert_at(*state, 0, "kind", "sort", "");
    assert_at(*state, 2, "product_id", "items.product_id", "items");
}

static void a_column_that_is_not_shown_is_found_by_what_it_is_joined_to(void **state)
{
    assert_at(*state, 0, "buyer_id", "buyer.id", "");
    assert_at(*state, 2, "order_id", "_id", "");
    assert_at(*state, 0, "ID", "_id", "");
}

static void a_field_that_does_not_find_whole_values_does_not_count(void **state)
{
    static const char *const mappings[] = {
        "{\"properties\":{\"sort\":{\"type\":\"text\"}}}",
        "{\"properties\":{\"sort\":{\"type\":\"keyword\",\"index\":false}}}",
        "{\"properties\":{\"sort\":{\"type\":\"keyword\",\"ignore_above\":10}}}",
        "{\"properties\":{}}",
    };
    struct lookup_term term;

    for (size_t i = 0; i < ARRAY_LEN(mappings); i++)
        assert_false(look(*state, 0, "kind", mappings[i], &term));
    assert_true(look(*state, 0, "kind",
                     "{\"properties\":{\"sort\":{\"type\":\"text\",\"fields\":{\"keyword\":"
                     "{\"type\":\"keyword\"}}}}}",
                     &term));
    assert_string_equal(term.field.ptr, "sort.keyword");
}

static void what_is_not_shown_at_all_says_what_to_do(void **state)
{
    struct shop *s = *state;
    struct lookup_term term;
    struct err err = {0};

    s->relations[0].where = STR("name <> ''");
    plan_unref(s->plan);
    s->plan = plan_compile(s->defs, &s->table, find, s, &err);
    assert_false(lookup_find(s->plan, 0, STR("buyer_id"), STR(MAPPING), s->arena, &term, &err));
    assert_non_null(strstr(err.msg, "`buyer_id` of db.orders; fix: name it in `columns`"));
}

static void queries_take_any_value_of_every_column(void **state)
{
    const struct lookup_term terms[] = {
        {.field = STR("items.product_id"), .nested = STR("items")},
        {.field = STR("sort"), .fold_case = true}};
    const struct str numbers[] = {STR("1"), STR("2")}, texts[] = {STR("a\"b")};
    const struct lookup_values values[] = {{numbers, 2}, {texts, 1}};
    struct buf json = {0};

    (void)state;
    lookup_query(&json, terms, values, 2);
    assert_string_equal(
        json.ptr, "{\"bool\":{\"filter\":[{\"nested\":{\"path\":\"items\",\"query\":{\"terms\":"
                  "{\"items.product_id\":[\"1\",\"2\"]}}}},{\"bool\":{\"should\":[{\"term\":"
                  "{\"sort\":{\"value\":\"a\\\"b\",\"case_insensitive\":true}}}]}}]}}");
    buf_free(&json);
}

static void texts_ignore_the_case_unless_their_collation_does_not(void **state)
{
    struct shop *s = *state;
    struct lookup_term term;

    assert_true(look(s, 0, "kind", MAPPING, &term));
    assert_true(term.fold_case);
    s->orders->columns[2].collation = STR("utf8mb4_bin");
    assert_true(look(s, 0, "kind", MAPPING, &term));
    assert_false(term.fold_case);
    assert_true(look(s, 2, "product_id", MAPPING, &term));
    assert_false(term.fold_case);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_column_is_found_where_documents_show_it),
        TEST(a_column_that_is_not_shown_is_found_by_what_it_is_joined_to),
        TEST(a_field_that_does_not_find_whole_values_does_not_count),
        TEST(what_is_not_shown_at_all_says_what_to_do),
        TEST(queries_take_any_value_of_every_column),
        TEST(texts_ignore_the_case_unless_their_collation_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
