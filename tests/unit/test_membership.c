#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "tests/unit/document_fixture.h"

#include <string.h>

static void assert_prefix(struct arena *a, struct str name, const char *expected)
{
    assert_true(str_equal(membership_prefix(a, name), str_from(expected)));
}

static void no_two_names_and_keys_make_the_same_id(void **state)
{
    struct arena *a = arena_new();

    (void)state;
    assert_prefix(a, STR("answer"), "answer:");
    assert_prefix(a, STR("shop_1.orders"), "shop_1.orders:");
    /* Else `x` with key `1:2` would be `x:1` with key `2`. */
    assert_prefix(a, STR("x:1"), "x%3A1:");
    assert_prefix(a, STR("x%3A1"), "x%253A1:");
    arena_free(a);
}

/* A remark: of the answer in column 0, of the question in column 1. */
struct remark {
    struct column answer, question;
    const struct column *to_answer[1], *to_question[1];
    size_t at_answer[1], at_question[1];
    struct membership m;
};

static void make(struct remark *r)
{
    *r = (struct remark){.answer = {.name = STR("answer_id"), .type = COLUMN_BIGINT},
                         .question = {.name = STR("question_id"), .type = COLUMN_INT},
                         .at_question = {1}};
    r->to_answer[0] = &r->answer;
    r->to_question[0] = &r->question;
    r->m = (struct membership){
        .prefix = STR("remark:"),
        .members = STR("\"join\":{\"name\":\"remark\",\"parent\":"),
        .ends = STR("}"),
        .parent = {STR("answer:"), r->to_answer, r->at_answer, 1},
        .root = {STR("question:"), r->to_question, r->at_question, 1},
        .routed = true,
    };
}

static void a_child_names_its_parent_and_lies_where_its_root_does(void **state)
{
    const struct value row[] = {{.kind = VALUE_INT, .i = 10}, {.kind = VALUE_INT, .i = 7}};
    const size_t swapped[] = {1, 0};
    struct buf json = {0}, routing = {0};
    struct err err = {0};
    struct remark r;

    (void)state;
    make(&r);
    assert_true(membership_append_members(&r.m, NULL, row, &json, &err));
    assert_string_equal(json.ptr, "\"join\":{\"name\":\"remark\",\"parent\":\"answer:10\"}");
    assert_true(membership_append_routing(&r.m, NULL, row, STR("remark:1"), &routing, &err));
    assert_string_equal(routing.ptr, "question:7");
    buf_clear(&routing);
    assert_true(membership_append_routing(&r.m, swapped, row, STR("remark:1"), &routing, &err));
    assert_string_equal(routing.ptr, "question:10");
    buf_free(&json);
    buf_free(&routing);
}

static void a_parent_may_have_an_id_as_long_as_the_engine_takes(void **state)
{
    static char prefix[KEY_ID_MAX];
    const struct value row[] = {{.kind = VALUE_INT, .i = 1}, {.kind = VALUE_INT, .i = 7}};
    struct buf json = {0};
    struct err err = {0};
    struct remark r;

    (void)state;
    make(&r);
    memset(prefix, 'a', sizeof(prefix));
    r.m.parent.prefix = (struct str){prefix, KEY_ID_MAX - 1};
    assert_true(membership_append_members(&r.m, NULL, row, &json, &err));
    r.m.parent.prefix.len = KEY_ID_MAX;
    assert_false(membership_append_members(&r.m, NULL, row, &json, &err));
    buf_free(&json);
}

static void a_row_by_the_path_has_a_place_only_where_its_parent_has_an_id(void **state)
{
    struct value row[] = {{.kind = VALUE_TEXT, .s = STR("")}, {.kind = VALUE_INT, .i = 7}};
    struct buf routing = {0};
    struct err err = {0};
    struct remark r;

    (void)state;
    make(&r);
    r.answer = (struct column){.name = STR("answer_id"), .type = COLUMN_VARCHAR};
    r.m.n_ancestors = 1;
    assert_false(membership_append_routing(&r.m, NULL, row, STR("remark:1"), &routing, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    row[0].s = STR("a");
    buf_clear(&routing);
    assert_true(membership_append_routing(&r.m, NULL, row, STR("remark:1"), &routing, &err));
    assert_string_equal(routing.ptr, "question:7");
    buf_free(&routing);
}

static void a_root_lies_where_it_is_and_a_table_of_a_pattern_anywhere(void **state)
{
    const struct membership root = {.members = STR("\"join\":\"question\""), .routed = true},
                            shard = {.members = STR("\"origin\":\"a.b\"")};
    struct buf routing = {0};
    struct err err = {0};

    (void)state;
    assert_true(
        membership_append_routing(&root, NULL, NULL, STR("question:7"), &routing, &err));
    assert_string_equal(routing.ptr, "question:7");
    buf_clear(&routing);
    assert_true(membership_append_routing(&shard, NULL, NULL, STR("a.b:7"), &routing, &err));
    assert_int_equal(routing.len, 0);
    buf_free(&routing);
}

static void a_row_without_a_parent_or_a_root_has_no_document(void **state)
{
    const struct value whole[] = {{.kind = VALUE_INT, .i = 10}, {.kind = VALUE_INT, .i = 7}},
                       no_parent[] = {{.kind = VALUE_NULL}, {.kind = VALUE_INT, .i = 7}},
                       no_root[] = {{.kind = VALUE_INT, .i = 10}, {.kind = VALUE_NULL}};
    struct remark r;

    (void)state;
    make(&r);
    assert_true(membership_is_rooted(&r.m, NULL, whole));
    assert_false(membership_is_rooted(&r.m, NULL, no_parent));
    assert_false(membership_is_rooted(&r.m, NULL, no_root));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_names_and_keys_make_the_same_id),
        cmocka_unit_test(a_child_names_its_parent_and_lies_where_its_root_does),
        cmocka_unit_test(a_parent_may_have_an_id_as_long_as_the_engine_takes),
        cmocka_unit_test(a_row_by_the_path_has_a_place_only_where_its_parent_has_an_id),
        cmocka_unit_test(a_root_lies_where_it_is_and_a_table_of_a_pattern_anywhere),
        cmocka_unit_test(a_row_without_a_parent_or_a_root_has_no_document),
    };
    return cmocka_run_group_tests_name("membership", tests, NULL, NULL);
}
