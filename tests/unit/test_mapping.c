#include "config.h"

#include "tests/unit/fake_catalog.h"

#include "src/base/buf.h"
#include "sync/definition/index_settings.h"
#include "sync/definition/parse.h"
#include "sync/mapping/mapping.h"
#include "sync/mapping/settings.h"

#define HEAD                                           \
    "topics: [{name: t, address: 'db:3306'}]\n"        \
    "databases: [{name: d, topic: t, schema: shop}]\n" \
    "tables:\n"

static struct fake_catalog catalog;

static int set_up(void **state)
{
    (void)state;
    catalog = (struct fake_catalog){.arena = arena_new()};
    fake_table(&catalog, "orders",
               "id int NOT NULL; customer_id int; title varchar(50); secret int INVISIBLE",
               "PRIMARY=id");
    fake_table(&catalog, "customer", "id int NOT NULL; name text", "PRIMARY=id");
    fake_table(&catalog, "item", "id int NOT NULL; order_id int; price decimal(10,2)",
               "PRIMARY=id");
    fake_table(&catalog, "vectors", "id int NOT NULL; v vector(2)", "PRIMARY=id");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_catalog_fini(&catalog);
    return 0;
}

struct made {
    struct definitions *d;
    struct mapping_request request;
};

static struct made make(const char *table)
{
    struct problems *problems = problems_new();
    struct buf text = {0};

    buf_printf(&text, HEAD "  - %s\n", table);

    const struct definition_file file = {STR("f"), buf_str(&text), STR(""), NULL};
    struct made m = {.d = definition_apply(NULL, &file, 1, false, problems)};

    if (m.d == NULL)
        fail_msg("%s", problems_get(problems, 0)->message.ptr);
    m.request =
        (struct mapping_request){.definitions = m.d,
                                 .table = &m.d->tables[0],
                                 .find = fake_find_schema,
                                 .ctx = &catalog,
                                 .engine = {.flavor = SEARCH_OPENSEARCH, .version = 21905}};
    problems_free(problems);
    buf_free(&text);
    return m;
}

static void assert_mappings(const char *table, const char *json)
{
    struct made m = make(table);
    struct buf b = {0};
    struct err err = {0};

    if (!mapping_body(&m.request, &b, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(b.ptr, json);
    buf_free(&b);
    definitions_unref(m.d);
}

static void all_visible_columns_are_mapped_strictly(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},"
        "\"customer_id\":{\"type\":\"integer\"},\"title\":{\"type\":\"keyword\"}}}");
    assert_mappings(
        "{table: d.orders, columns: [{name: title, as: t, type: text}, "
        "{name: ID, skip: true}, '*', secret]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"t\":{\"type\":\"text\"},"
        "\"customer_id\":{\"type\":\"integer\"},\"secret\":{\"type\":\"integer\"}}}");
}

static void relations_are_objects_within(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders, columns: [id], relations: [{from: customer_id, table: d.customer, "
        "to: "
        "id}, {from: id, table: d.item, to: order_id, as: items, many: true, nested: true, "
        "columns: "
        "[price], relations: [{from: id, table: d.customer, to: id, as: c, columns: []}]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},\"customer\":{"
        "\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":\"text\"}}},"
        "\"items\":{"
        "\"type\":\"nested\",\"properties\":{\"price\":{\"type\":\"scaled_float\","
        "\"scaling_factor\":100},\"c\":{\"properties\":{}}}}}}");
}

static void a_relation_of_single_values_is_a_field(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.customer, columns: [id], relations: [{from: id, table: d.item, to: "
        "order_id, "
        "as: prices, many: true, values: price}, {from: id, table: d.item, to: order_id, as: "
        "texts, values: price, columns: [{name: price, type: keyword}]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},\"prices\":{"
        "\"type\":\"scaled_float\",\"scaling_factor\":100},\"texts\":{\"type\":\"keyword\"}}}");
}

static void documents_with_areas_have_a_field_for_what_they_are_made_of(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.customer, columns: [id], relations: [{from: id, table: d.item, to: "
        "order_id, as: items, many: true, columns: [id], refresh: none, relations: "
        "[{from: order_id, table: d.orders, to: id, as: o, columns: [id], refresh: area}]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},\"items\":{"
        "\"properties\":{\"id\":{\"type\":\"integer\"},\"o\":{\"properties\":{\"id\":{\"type\":"
        "\"integer\"}}}}},\"_millrace\":{\"type\":\"object\",\"enabled\":false}}}");
}

static void a_constant_has_the_field_of_its_value(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.customer, columns: [{name: a, value: x}, {name: b, value: 5}, "
        "{name: c, value: 1.5}, {name: d, value: true}, {name: e, value: [p, q]}, "
        "{name: f, value: {g: 1}}, {name: id, as: h, value: 2026-01-01, type: date}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"a\":{\"type\":\"keyword\"},"
        "\"b\":{\"type\":\"long\"},\"c\":{\"type\":\"double\"},"
        "\"d\":{\"type\":\"boolean\"},\"e\":{\"type\":\"keyword\"},"
        "\"f\":{\"type\":\"flat_object\"},\"h\":{\"type\":\"date\"}}}");
}

static void a_transformed_column_has_the_field_of_what_comes_out(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.customer, columns: [{name: both, transform: [{kind: join, columns: [id, "
        "name]}, {kind: mask, salt: x}]}, {name: name, transform: [{kind: date, format: "
        "'%Y'}]}, "
        "{name: id, transform: [{kind: boolean}]}, {name: name, as: n, transform: [{kind: "
        "split, by: x}, {kind: number}], type: long}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"both\":{\"type\":\"keyword\","
        "\"ignore_above\":8191},\"name\":{\"type\":\"date\"},\"id\":{\"type\":\"boolean\"},"
        "\"n\":{\"type\":\"long\"}}}");
}

static void a_default_that_its_field_cannot_take_is_refused(void **state)
{
    static const struct {
        const char *column;
        bool fits;
    } cases[] = {
        {"{name: id, default: 0}", true},
        {"{name: id, default: {a: 1}}", false},
        {"{name: id, default: [1, 2]}", true},
        {"{name: id, default: true}", false},
        {"{name: name, default: none}", true},
        {"{name: id, type: boolean, default: false}", true},
        {"{name: id, type: boolean, default: 0}", false},
        {"{name: name, default: {a: 1}}", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf text = {0}, b = {0};
        struct err err = {0};

        buf_printf(&text, "{table: d.customer, columns: [%s]}", cases[i].column);

        struct made m = make(text.ptr);

        if (mapping_body(&m.request, &b, &err) != cases[i].fits)
            fail_msg("%s: %s", cases[i].column, err.msg);
        buf_free(&text);
        buf_free(&b);
        definitions_unref(m.d);
    }
}

static void a_flattened_relation_is_one_field(void **state)
{
    (void)state;
    assert_mappings("{table: d.customer, columns: [id], relations: [{from: id, table: d.item, "
                    "to: order_id, as: items, many: true, flattened: true}]}",
                    "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},"
                    "\"items\":{\"type\":\"flat_object\"}}}");
}

static void a_flattened_relation_is_what_the_engine_has_for_it(void **state)
{
    static const struct {
        struct engine engine;
        const char *field;
    } cases[] = {
        {{SEARCH_ELASTICSEARCH, 81100, false},
         "\"items\":{\"type\":\"flattened\",\"ignore_above\":8191}"},
        {{SEARCH_OPENSEARCH, 20500, false}, "\"items\":{\"type\":\"object\",\"dynamic\":true}"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct made m = make("{table: d.customer, columns: [id], relations: [{from: id, table: "
                             "d.item, to: order_id, as: items, many: true, flattened: true}]}");
        struct buf b = {0};
        struct err err = {0};

        m.request.engine = cases[i].engine;
        assert_true(mapping_body(&m.request, &b, &err));
        if (strstr(b.ptr, cases[i].field) == NULL)
            fail_msg("%s", b.ptr);
        buf_free(&b);
        definitions_unref(m.d);
    }
}

static void a_relation_of_some_depth_stands_below_itself(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders, columns: [id], relations: [{from: customer_id, table: d.orders, to: "
        "id, as: up, max_depth: 3, columns: [title]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},\"up\":{"
        "\"properties\":{\"title\":{\"type\":\"keyword\"},\"up\":{\"properties\":{\"title\":{"
        "\"type\":\"keyword\"},\"up\":{\"properties\":{\"title\":{\"type\":\"keyword\"}}}}}}}}"
        "}");
}

static void fields_that_are_copied_to_are_declared(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders, columns: [{name: title, copy_to: [all, id]}, id], relations: "
        "[{from: "
        "customer_id, table: d.customer, to: id, columns: [{name: name, analyzer: ik, copy_to: "
        "[names]}]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"title\":{\"type\":\"keyword\",\"copy_to\":"
        "[\"all\",\"id\"]},\"id\":{\"type\":\"integer\"},\"customer\":{\"properties\":{"
        "\"name\":{"
        "\"type\":\"text\",\"analyzer\":\"ik\",\"copy_to\":[\"names\"]}}},\"all\":{\"type\":"
        "\"text\"},\"names\":{\"type\":\"text\",\"analyzer\":\"ik\"}}}");
}

static void all_texts_of_a_table_are_copied_to_its_fields(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders, copy_to: [all, title], columns: [id, {name: title, type: text, "
        "analyzer: ik, search_analyzer: smart, copy_to: all}, {name: kind, value: book}], "
        "relations: [{from: customer_id, table: d.customer, to: id, columns: [name]}]}",
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},\"title\":{"
        "\"type\":\"text\",\"analyzer\":\"ik\",\"search_analyzer\":\"smart\",\"copy_to\":["
        "\"all\"]},\"kind\":{\"type\":\"keyword\",\"copy_to\":[\"all\",\"title\"]},\"customer\""
        ":{\"properties\":{\"name\":{\"type\":\"text\"}}},\"all\":{\"type\":\"text\","
        "\"analyzer\":\"ik\",\"search_analyzer\":\"smart\"}}}");
    assert_mappings("{table: d.orders, copy_to: names, columns: [id, title]}",
                    "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"},"
                    "\"title\":{\"type\":\"keyword\",\"copy_to\":[\"names\"]},\"names\":{"
                    "\"type\":\"text\"}}}");
}

static void the_mapping_of_the_definition_wins(void **state)
{
    (void)state;
    assert_mappings(
        "{table: d.orders, columns: [id, title], mapping: {dynamic: false, _source: "
        "{excludes: [x]}, properties: {id: {boost: 2}, title: {type: long}, extra: "
        "{type: text}}}}",
        "{\"dynamic\":false,\"properties\":{\"id\":{\"type\":\"integer\",\"boost\":2},"
        "\"title\":{\"type\":\"long\"},\"extra\":{\"type\":\"text\"}},\"_source\":{"
        "\"excludes\":[\"x\"]}}");
}

static void assert_body(const struct made *m, const char *json)
{
    struct buf b = {0};
    struct err err = {0};

    assert_true(mapping_index_body(&m->request, &b, &err));
    assert_string_equal(b.ptr, json);
    buf_free(&b);
}

static void a_body_has_settings_lineage_and_alias(void **state)
{
    struct made m =
        make("{table: d.customer, columns: [id], settings: {number_of_shards: 2, index: "
             "{number_of_replicas: 3, auto_expand_replicas: 0-1}}, mapping: {_meta: "
             "{mine: 1, _millrace: {epoch: 99}}}}");

    (void)state;
    m.request.meta = STR("{\"_millrace\":{\"epoch\":3}}");
    m.request.alias = STR("customer_v1_write");
    assert_body(&m, "{\"settings\":{\"index.auto_expand_replicas\":\"0-1\","
                    "\"index.number_of_replicas\":3,\"index.number_of_shards\":2,"
                    "\"index.gc_deletes\":\"1h\"},\"mappings\":{\"dynamic\":\"strict\","
                    "\"properties\":{\"id\":{\"type\":\"integer\"}},\"_meta\":{\"_millrace\":{"
                    "\"epoch\":3},\"mine\":1}},\"aliases\":{\"customer_v1_write\":{}}}");
    definitions_unref(m.d);
}

static void a_version_being_filled_has_no_replicas_and_a_refresh_a_second(void **state)
{
    struct made m =
        make("{table: d.customer, columns: [id], settings: {auto_expand_replicas: 0-1, "
             "refresh_interval: 5s}}");
    struct made plain = make("{table: d.customer, columns: [id]}");
    struct buf b = {0};

    (void)state;
    m.request.filling = true;
    assert_body(&m, "{\"settings\":{\"index.auto_expand_replicas\":\"false\","
                    "\"index.refresh_interval\":\"1s\",\"index.gc_deletes\":\"1h\","
                    "\"index.number_of_replicas\":\"0\"},\"mappings\":{\"dynamic\":\"strict\","
                    "\"properties\":{\"id\":{\"type\":\"integer\"}}}}");
    mapping_settings_final(m.request.table, &b);
    assert_string_equal(b.ptr,
                        "{\"index.refresh_interval\":\"5s\",\"index.number_of_replicas\":"
                        "null,\"index.auto_expand_replicas\":\"0-1\"}");
    buf_clear(&b);
    mapping_settings_final(plain.request.table, &b);
    assert_string_equal(b.ptr,
                        "{\"index.refresh_interval\":null,\"index.number_of_replicas\":null}");
    buf_free(&b);
    definitions_unref(m.d);
    definitions_unref(plain.d);
}

static void an_open_index_gets_those_of_its_changed_settings_that_it_can_take(void **state)
{
    struct made was =
        make("{table: d.customer, settings: {number_of_shards: 2, refresh_interval: 5s, "
             "max_result_window: 7, index.routing.allocation.require.x: y}}");
    struct made is = make(
        "{table: d.customer, settings: {index: {number_of_shards: 3, number_of_replicas: 1}, "
        "refresh_interval: 6s, analysis: {a: {b: c}}, routing: {allocation: {require: {x: "
        "y}}}}}");
    struct buf json = {0}, then = {0}, again = {0};
    struct table_definition has = *was.request.table;

    (void)state;
    assert_true(mapping_settings_changed(&has, is.request.table, &json, &then));
    assert_string_equal(json.ptr, "{\"index.max_result_window\":null,"
                                  "\"index.number_of_replicas\":1,"
                                  "\"index.refresh_interval\":\"6s\"}");
    has.settings_json = buf_str(&then);
    assert_non_null(strstr(then.ptr, "\"number_of_shards\":2"));
    assert_null(strstr(then.ptr, "analysis"));
    buf_clear(&json);
    assert_false(mapping_settings_changed(&has, is.request.table, &json, &again));
    assert_string_equal(json.ptr, "{}");
    assert_string_equal(again.ptr, then.ptr);
    assert_false(index_setting_is_live(STR("number_of_shards")));
    assert_false(index_setting_is_live(STR("blocks.")));
    assert_true(index_setting_is_live(STR("blocks.write")));
    buf_free(&json);
    buf_free(&then);
    buf_free(&again);
    definitions_unref(was.d);
    definitions_unref(is.d);
}

static void vectors_ask_for_their_index(void **state)
{
    struct made m = make("{table: d.vectors, columns: [v]}");

    (void)state;
    assert_body(&m,
                "{\"settings\":{\"index.knn\":true,\"index.gc_deletes\":\"1h\"},\"mappings\":{"
                "\"dynamic\":\"strict\",\"properties\":{\"v\":{\"type\":\"knn_vector\","
                "\"dimension\":2}}}}");
    definitions_unref(m.d);
}

static void mistakes_are_told_with_their_place(void **state)
{
    struct made m =
        make("{table: d.orders, columns: [id, nothing, {name: title, type: geo_shapes}]}");
    struct problems *problems = problems_new();
    struct buf b = {0};
    struct err err = {0};

    (void)state;
    assert_false(mapping_body(&m.request, &b, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "has no column `nothing`"));
    mapping_check(&m.request, problems);
    assert_int_equal(problems_n(problems), 2);
    assert_int_equal(problems_get(problems, 0)->place.column, 37);
    assert_int_equal(problems_get(problems, 1)->place.column, 66);
    problems_free(problems);
    buf_free(&b);
    definitions_unref(m.d);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(all_visible_columns_are_mapped_strictly),
        TEST(relations_are_objects_within),
        TEST(documents_with_areas_have_a_field_for_what_they_are_made_of),
        TEST(a_relation_of_single_values_is_a_field),
        TEST(a_constant_has_the_field_of_its_value),
        TEST(a_transformed_column_has_the_field_of_what_comes_out),
        TEST(a_default_that_its_field_cannot_take_is_refused),
        TEST(a_flattened_relation_is_one_field),
        TEST(a_flattened_relation_is_what_the_engine_has_for_it),
        TEST(a_relation_of_some_depth_stands_below_itself),
        TEST(fields_that_are_copied_to_are_declared),
        TEST(all_texts_of_a_table_are_copied_to_its_fields),
        TEST(the_mapping_of_the_definition_wins),
        TEST(a_body_has_settings_lineage_and_alias),
        TEST(a_version_being_filled_has_no_replicas_and_a_refresh_a_second),
        TEST(an_open_index_gets_those_of_its_changed_settings_that_it_can_take),
        TEST(vectors_ask_for_their_index),
        TEST(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
