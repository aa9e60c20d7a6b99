#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/lookup.h"
#include "sync/document/plan.h"
#include "tests/unit/shop_fixture.h"

/* orders(id, customer, kind) with customer(id, name) and items(id, order_id, product_id). */
struct fixture {
    struct shop shop;
    struct column_definition bought[1];
    struct plan *plan;
    struct arena *arena;
};

static void compile(struct fixture *f)
{
    struct err err = {0};

    f->plan = plan_compile(f->shop.defs, &f->shop.table, shop_find, &f->shop, &err);
    assert_non_null(f->plan);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct shop *s = &f->shop;

    shop_init(s);
    add_column(s->orders, "kind", COLUMN_VARCHAR)->length = 20;
    add_column(s->item, "product_id", COLUMN_INT);
    s->columns[0] = (struct column_definition){.name = STR("kind"), .as = STR("sort")};
    s->table.n_columns = 1;
    f->bought[0] = (struct column_definition){.name = STR("product_id")};
    s->relations[1].as = STR("items");
    s->relations[1].all_columns = false;
    s->relations[1].columns = f->bought;
    s->relations[1].n_columns = 1;
    s->table.n_relations = 2;
    compile(f);
    f->arena = arena_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    plan_free(f->plan);
    shop_fini(&f->shop);
    arena_free(f->arena);
    free(f);
    return 0;
}

#define MAPPING                                                                               \
    "{\"properties\":{\"sort\":{\"type\":\"keyword\"},\"buyer\":{\"properties\":{\"id\":"     \
    "{\"type\":\"integer\"}}},\"items\":{\"type\":\"nested\",\"properties\":{\"product_id\":" \
    "{\"type\":\"integer\"}}}}}"

static bool look(struct fixture *f, size_t place, const char *column, const char *mapping,
                 struct lookup_term *out)
{
    struct err err = {0};

    return lookup_find(f->plan, place, str_from(column), str_from(mapping), f->arena, out,
                       &err);
}

static void assert_at(struct fixture *f, size_t place, const char *column, const char *field,
                      const char *nested)
{
    struct lookup_term term = {0};

    assert_true(look(f, place, column, MAPPING, &term));
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
    assert_at(*state, 0, "customer", "buyer.id", "");
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
    struct fixture *f = *state;
    struct lookup_term term;
    struct err err = {0};

    f->shop.relations[0].where = STR("name <> ''");
    plan_free(f->plan);
    compile(f);
    assert_false(lookup_find(f->plan, 0, STR("customer"), STR(MAPPING), f->arena, &term, &err));
    assert_non_null(strstr(err.msg, "`customer` of db.orders; fix: name it in `columns`"));
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
    struct fixture *f = *state;
    struct lookup_term term;

    assert_true(look(f, 0, "kind", MAPPING, &term));
    assert_true(term.fold_case);
    f->shop.orders->columns[2].collation = STR("utf8mb4_bin");
    assert_true(look(f, 0, "kind", MAPPING, &term));
    assert_false(term.fold_case);
    assert_true(look(f, 2, "product_id", MAPPING, &term));
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
