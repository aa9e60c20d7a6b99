#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/cli/change/edit.h"
#include "src/format/problem.h"
#include "src/format/yaml.h"
#include "src/format/yaml_read.h"

#include <string.h>

#define TABLE                                                                                 \
    "{\"table\":\"shop.orders\",\"columns\":[\"id\",{\"name\":\"title\",\"type\":\"text\"}]," \
    "\"relations\":[{\"from\":\"id\",\"table\":\"shop.item\",\"as\":\"items\","               \
    "\"relations\":[{\"from\":\"p\",\"table\":\"shop.product\"}]}]}"

struct fixture {
    struct arena *a;
    struct yaml_node *tree;
    struct err err;
};

static struct fixture begin(const char *json)
{
    struct fixture f = {.a = arena_new()};
    struct problems *problems = problems_new();

    f.tree = yaml_read(f.a, "", str_from(json), problems);
    assert_non_null(f.tree);
    problems_free(problems);
    return f;
}

static void end(struct fixture *f, const char *json)
{
    struct buf out = {0};

    yaml_append_json(&out, f->tree, false);
    assert_string_equal(out.ptr, json);
    buf_free(&out);
    arena_free(f->a);
}

static void set(const char *before, const char *assignment, const char *after)
{
    struct fixture f = begin(before);

    assert_true(edit_set(f.a, f.tree, &assignment, 1, &f.err));
    end(&f, after);
}

static void refuse(const char *before, const char *assignment, const char *why)
{
    struct fixture f = begin(before);

    assert_false(edit_set(f.a, f.tree, &assignment, 1, &f.err));
    assert_int_equal(f.err.kind, ERR_REJECT);
    if (strstr(f.err.msg, why) == NULL)
        fail_msg("%s has no \"%s\"", f.err.msg, why);
    arena_free(f.a);
}

static void a_value_is_what_it_looks_like(void **state)
{
    (void)state;
    set("{\"a\":1}", "b=2", "{\"a\":1,\"b\":2}");
    set("{\"a\":1}", "a=true", "{\"a\":true}");
    set("{\"a\":1}", "a=null", "{\"a\":null}");
    set("{\"a\":1}", "a=yes", "{\"a\":\"yes\"}");
    set("{\"a\":1}", "a=007", "{\"a\":\"007\"}");
    set("{\"a\":1}", "a=9007199254740993", "{\"a\":9007199254740993}");
    set("{\"a\":1}", "a=\"2\"", "{\"a\":\"2\"}");
    set("{\"a\":1}", "a=''", "{\"a\":\"\"}");
    set("{\"a\":1}", "a=[id, {name: b}]", "{\"a\":[\"id\",{\"name\":\"b\"}]}");
}

static void a_text_needs_no_quotes_whatever_it_holds(void **state)
{
    (void)state;
    set("{}", "where=a = 'x' AND b: c # d, e", "{\"where\":\"a = 'x' AND b: c # d, e\"}");
    set("{}", "a=*", "{\"a\":\"*\"}");
    set("{}", "a=${X}", "{\"a\":\"${X}\"}");
}

static void a_path_leads_into_maps_and_makes_them(void **state)
{
    (void)state;
    set("{\"tls\":{\"verify\":true}}", "tls.verify=false", "{\"tls\":{\"verify\":false}}");
    set("{}", "tls.verify=false", "{\"tls\":{\"verify\":false}}");
    set("{\"tls\":true}", "tls.verify=false", "{\"tls\":{\"verify\":false}}");
    refuse("{\"tls\":[]}", "tls.verify=false", "tls is a list");
}

static void a_field_without_a_value_goes(void **state)
{
    (void)state;
    set("{\"a\":1,\"b\":2,\"c\":3}", "b=", "{\"a\":1,\"c\":3}");
    set("{\"a\":1}", "b=", "{\"a\":1}");
}

static void what_is_no_assignment_is_refused(void **state)
{
    (void)state;
    refuse("{}", "a", "FIELD=VALUE");
    refuse("{}", "=a", "FIELD=VALUE");
    refuse("{}", "a=[1", "not YAML");
    refuse("{}", "a='x' AND 1", "not YAML");
}

static void relations_are_found_by_the_names_that_documents_show(void **state)
{
    struct fixture f = begin(TABLE);
    const struct yaml_node *product = edit_find_relation(f.tree, STR("items.product"), &f.err);

    (void)state;
    assert_non_null(product);
    assert_true(str_equal(yaml_find(product, STR("table"))->text, STR("shop.product")));
    assert_null(edit_find_relation(f.tree, STR("product"), &f.err));
    assert_null(edit_find_relation(f.tree, STR("items.nothing"), &f.err));
    assert_null(edit_find_relation(f.tree, STR("nothing.product"), &f.err));
    assert_non_null(strstr(f.err.msg, "on the way"));
    assert_null(edit_find_relation(f.tree, STR(""), &f.err));
    assert_null(edit_find_relation(f.tree, STR("items."), &f.err));
    arena_free(f.a);
}

static void a_relation_is_added_once_and_goes_with_the_last_of_its_list(void **state)
{
    struct fixture f = begin("{\"table\":\"shop.orders\"}");
    struct yaml_node *items = edit_add_relation(f.a, f.tree, STR("items"), &f.err);

    (void)state;
    assert_non_null(items);
    assert_non_null(edit_add_relation(f.a, f.tree, STR("items.product"), &f.err));
    assert_null(edit_add_relation(f.a, f.tree, STR("items.product"), &f.err));
    assert_non_null(strstr(f.err.msg, "exists"));
    assert_true(edit_delete_relation(f.tree, STR("items.product"), &f.err));
    assert_null(yaml_find(items, STR("relations")));
    assert_false(edit_delete_relation(f.tree, STR("items.product"), &f.err));
    assert_true(edit_delete_relation(f.tree, STR("items"), &f.err));
    end(&f, "{\"table\":\"shop.orders\"}");
}

static bool set_type(struct fixture *f, struct str name)
{
    const char *type = "type=keyword";
    struct yaml_node *column = edit_column(f->a, f->tree, name, &f->err);

    return column != NULL && edit_set(f->a, column, &type, 1, &f->err);
}

static void a_column_of_a_list_is_set_added_and_deleted(void **state)
{
    struct fixture f = begin("{\"columns\":[\"id\",{\"name\":\"title\",\"type\":\"text\"}]}");

    (void)state;
    assert_true(set_type(&f, STR("ID")));
    assert_true(set_type(&f, STR("title")));
    assert_false(set_type(&f, STR("price")));
    assert_non_null(edit_add_column(f.a, f.tree, STR("price"), &f.err));
    assert_null(edit_add_column(f.a, f.tree, STR("price"), &f.err));
    assert_true(edit_delete_column(f.a, f.tree, STR("title"), &f.err));
    assert_false(edit_delete_column(f.a, f.tree, STR("title"), &f.err));
    end(&f, "{\"columns\":[{\"name\":\"id\",\"type\":\"keyword\"},{\"name\":\"price\"}]}");
}

static void where_all_columns_are_shown_one_is_listed_for_what_differs(void **state)
{
    struct fixture f = begin("{}");

    (void)state;
    assert_null(edit_add_column(f.a, f.tree, STR("price"), &f.err));
    assert_non_null(strstr(f.err.msg, "every column"));
    assert_true(set_type(&f, STR("title")));
    assert_true(edit_delete_column(f.a, f.tree, STR("secret"), &f.err));
    assert_false(edit_delete_column(f.a, f.tree, STR("secret"), &f.err));
    assert_true(edit_delete_column(f.a, f.tree, STR("other"), &f.err));
    assert_non_null(edit_add_column(f.a, f.tree, STR("other"), &f.err));
    end(&f, "{\"columns\":[\"*\",{\"name\":\"title\",\"type\":\"keyword\"},"
            "{\"name\":\"secret\",\"skip\":true},{\"name\":\"other\"}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_what_it_looks_like),
        cmocka_unit_test(a_text_needs_no_quotes_whatever_it_holds),
        cmocka_unit_test(a_path_leads_into_maps_and_makes_them),
        cmocka_unit_test(a_field_without_a_value_goes),
        cmocka_unit_test(what_is_no_assignment_is_refused),
        cmocka_unit_test(relations_are_found_by_the_names_that_documents_show),
        cmocka_unit_test(a_relation_is_added_once_and_goes_with_the_last_of_its_list),
        cmocka_unit_test(a_column_of_a_list_is_set_added_and_deleted),
        cmocka_unit_test(where_all_columns_are_shown_one_is_listed_for_what_differs),
    };

    return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
