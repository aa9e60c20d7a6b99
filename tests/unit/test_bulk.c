#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "src/base/buf.h"
#include "sync/delivery/bulk.h"

#include <string.h>

static void check_lines(const struct doc_write *in, const char *lines)
{
    struct target *t = a_target("orders_v2");
    struct doc_write copy = *in;
    struct write_ends ends = {0};
    struct buf b = {0};

    copy.target = target_ref(t);

    struct write *w = write_new(&copy);

    bulk_append(&b, w);
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
    assert_int_equal(strncmp(b.ptr, "/orders.write/_bulk?require_alias=true&", 39), 0);
    buf_free(&b);
    write_end(w, OUTCOME_DELIVERED, &ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_an_action_line_and_a_body_line),
        cmocka_unit_test(a_fill_is_strict),
        cmocka_unit_test(a_delete_has_no_body_line),
        cmocka_unit_test(the_guard_is_an_update_that_changes_nothing),
        cmocka_unit_test(a_key_cannot_add_an_action),
        cmocka_unit_test(a_body_cannot_add_a_line),
        cmocka_unit_test(names_are_encoded_in_paths),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
