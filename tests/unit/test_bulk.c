#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "src/base/buf.h"
#include "sync/delivery/bulk/bulk.h"

#include <string.h>

static void check_lines(const struct doc_write *in, const char *lines)
{
    struct target *t = a_target("orders_v2");
    struct doc_write copy = *in;
    struct write_ends ends = {0};
    struct buf b = {0};

    copy.target = target_ref(t);

    struct write *w = write_new(&copy);

    bulk_append(&b, w, 33);
    assert_string_equal(b.ptr, lines);
    assert_true(bulk_size(w) + 40 > b.len);
    buf_free(&b);
    write_end(w, OUTCOME_DELIVERED, &ends);
    target_unref(t);
}

static void a_write_is_an_action_line_and_a_body_line(void **state)
{
    (void)state;
    check_lines(&(struct doc_write){.op = DOC_INDEX,
                                    .id = STR("7"),
                                    .version = 9223372036854775807u,
                                    .body = STR("{\"a\":1}")},
                "{\"index\":{\"_id\":\"7\",\"version\":9223372036854775807,"
                "\"version_type\":\"external_gte\"}}\n{\"a\":1}\n");
}

static struct write *area_write(struct target *t, enum doc_op op, const char *body)
{
    static const struct str areas[] = {{"items", 5}, {"a \"b\"", 5}};

    t->areas = areas;
    t->n_areas = ARRAY_LEN(areas);
    return write_new(&(struct doc_write){.target = target_ref(t),
                                         .op = op,
                                         .area = op == DOC_UPDATE ? 2 : 0,
                                         .version = 900,
                                         .id = STR("7"),
                                         .routing = STR("r"),
                                         .body = str_from(body)});
}

static void check_area_line(enum doc_op op, const char *body, const char *part)
{
    struct target *t = a_target("orders_v2");
    struct write *w = area_write(t, op, body);
    struct write_ends ends = {0};
    struct buf b = {0};

    bulk_append(&b, w, 33);
    assert_non_null(strstr(b.ptr, part));
    assert_true(bulk_size(w) + 40 > b.len);
    assert_int_equal(b.ptr[b.len - 1], '\n');
    buf_free(&b);
    write_end(w, OUTCOME_DELIVERED, &ends);
    target_unref(t);
}

static void a_whole_document_with_areas_says_its_version(void **state)
{
    (void)state;
    check_area_line(DOC_INDEX, "{\"a\":1}", "\n{\"_millrace\":{\"version\":900},\"a\":1}\n");
    check_area_line(DOC_INDEX, "{}", "\n{\"_millrace\":{\"version\":900}}\n");
}

static void an_area_is_a_scripted_update_without_a_version(void **state)
{
    (void)state;
    check_area_line(
        DOC_UPDATE, "[{\"x\":1}]",
        "{\"update\":{\"_id\":\"7\",\"routing\":\"r\",\"retry_on_conflict\":3}}\n"
        "{\"script\":{\"lang\":\"painless\",\"source\":\"def m = ctx._source._millrace;");
    check_area_line(
        DOC_UPDATE, "[{\"x\":\n1}]",
        "\"area\":\"a \\\"b\\\"\",\"version\":900,\"floor\":33,\"value\":[{\"x\": 1}]}}}\n");
}

static void a_fill_is_strict(void **state)
{
    (void)state;
    check_lines(&(struct doc_write){.op = DOC_INDEX,
                                    .id = STR("7"),
                                    .routing = STR("r 1"),
                                    .strict = true,
                                    .version = 1,
                                    .body = STR("{}")},
                "{\"index\":{\"_id\":\"7\",\"routing\":\"r 1\",\"version\":1,"
                "\"version_type\":\"external\"}}\n{}\n");
}

static void a_delete_has_no_body_line(void **state)
{
    (void)state;
    check_lines(
        &(struct doc_write){
            .op = DOC_DELETE, .id = STR("7"), .version = 5, .body = STR("ignored")},
        "{\"delete\":{\"_id\":\"7\",\"version\":5,\"version_type\":\"external_gte\"}}\n");
}

static void check_piped(enum doc_op op, const char *lines)
{
    struct target *t = a_target("orders_v2");

    target_set_pipeline(t, STR("em\"bed"));

    struct write *w = write_new(&(struct doc_write){
        .target = t, .op = op, .id = STR("7"), .version = 5, .body = STR("{}")});
    struct write_ends ends = {0};
    struct buf b = {0};

    bulk_append(&b, w, 0);
    assert_string_equal(b.ptr, lines);
    assert_true(bulk_size(w) + 40 > b.len);
    buf_free(&b);
    write_end(w, OUTCOME_DELIVERED, &ends);
}

static void a_document_names_its_pipeline_and_a_delete_has_none(void **state)
{
    (void)state;
    check_piped(DOC_INDEX, "{\"index\":{\"_id\":\"7\",\"pipeline\":\"em\\\"bed\",\"version\":5,"
                           "\"version_type\":\"external_gte\"}}\n{}\n");
    check_piped(DOC_DELETE, "{\"delete\":{\"_id\":\"7\",\"version\":5,"
                            "\"version_type\":\"external_gte\"}}\n");
}

static void the_guard_is_an_update_that_changes_nothing(void **state)
{
    struct buf b = {0};

    (void)state;
    bulk_append_guard(&b);
    assert_string_equal(b.ptr, "{\"update\":{\"_id\":\"_millrace\"}}\n{\"doc\":{}}\n");
    buf_free(&b);
}

static void a_key_cannot_add_an_action(void **state)
{
    (void)state;
    check_lines(&(struct doc_write){.op = DOC_DELETE,
                                    .id = STR("1\"}}\n{\"delete\":{\"_id\":\"2"),
                                    .routing = STR("\n\\"),
                                    .version = 5},
                "{\"delete\":{\"_id\":\"1\\\"}}\\n{\\\"delete\\\":{\\\"_id\\\":\\\"2\","
                "\"routing\":\"\\n\\\\\",\"version\":5,\"version_type\":\"external_gte\"}}\n");
}

static void a_body_cannot_add_a_line(void **state)
{
    (void)state;
    check_lines(
        &(struct doc_write){
            .op = DOC_INDEX, .id = STR("1"), .version = 5, .body = STR("{\n\"a\":\n1}\n")},
        "{\"index\":{\"_id\":\"1\",\"version\":5,\"version_type\":\"external_gte\"}}\n"
        "{ \"a\": 1} \n");
}

static void names_are_encoded_in_paths(void **state)
{
    struct target *t = a_target("orders_v2");
    struct write *w = write_new(&(struct doc_write){
        .target = t, .op = DOC_DELETE, .id = STR("a/b?c\xC3\xA9"), .routing = STR("x&y")});
    struct write_ends ends = {0};
    struct buf b = {0};

    (void)state;
    bulk_get_path(&b, STR("or/ders"), w);
    assert_string_equal(b.ptr, "/or%2Fders/_doc/a%2Fb%3Fc%C3%A9?_source=false&routing=x%26y");
    buf_clear(&b);
    bulk_path(&b, STR("orders.write"));
    assert_int_equal(strncmp(b.ptr, "/orders.write/_bulk?require_alias=true&timeout=2s&", 50),
                     0);
    buf_free(&b);
    write_end(w, OUTCOME_DELIVERED, &ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_an_action_line_and_a_body_line),
        cmocka_unit_test(a_whole_document_with_areas_says_its_version),
        cmocka_unit_test(an_area_is_a_scripted_update_without_a_version),
        cmocka_unit_test(a_fill_is_strict),
        cmocka_unit_test(a_document_names_its_pipeline_and_a_delete_has_none),
        cmocka_unit_test(a_delete_has_no_body_line),
        cmocka_unit_test(the_guard_is_an_update_that_changes_nothing),
        cmocka_unit_test(a_key_cannot_add_an_action),
        cmocka_unit_test(a_body_cannot_add_a_line),
        cmocka_unit_test(names_are_encoded_in_paths),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
