/* Which topics must be on one node, of the definitions. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/state/catalogue.h"
#include "rebalance/topic/things.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/parse.h"

#define TOPIC(name, more) "  - {name: " name ", address: 'db:3306', password: p" more "}\n"

/* Four topics, each with a database of its letter. */
#define HEAD(group_of_c, group_of_d)                                       \
    "topics:\n" TOPIC("a", "") TOPIC("b", "") TOPIC("c", group_of_c)       \
        TOPIC("d", group_of_d) "databases: [{name: da, topic: a}, {name: " \
                               "db, topic: b}, {name: dc, topic: c}, "     \
                               "{name: dd, topic: d}]\n"                   \
                               "tables:\n"

static void assert_things(const char *text, size_t n_versions, size_t n_sets,
                          const char *wanted)
{
    struct problems *problems = problems_new();
    const struct definition_file file = {STR("f"), str_from(text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);
    struct arena *a = arena_new();
    const struct stored_version list[] = {
        {.topic = STR("a")}, {.topic = STR("gone")}, {.topic = STR("gone")}};
    const struct catalogue versions = {.versions = list, .n_versions = n_versions};
    struct str shown[] = {STR("d"), STR("nowhere"), STR("b")};
    const struct topic_set set = {shown, ARRAY_LEN(shown)};
    const struct things_stored stored = {&versions, &set, n_sets};
    struct barrier_thing *things;
    struct buf got = {0};
    size_t n;

    if (d == NULL)
        fail_msg("%s", problems_get(problems, problems_n(problems) - 1)->message.ptr);
    n = things_of(d, &stored, a, &things);
    for (size_t i = 0; i < n; i++)
        buf_printf(&got, "%" STR_FMT ":%" STR_FMT " ", STR_ARG(things[i].name),
                   STR_ARG(things[i].group));
    assert_string_equal(got.ptr, wanted);
    buf_free(&got);
    arena_free(a);
    problems_free(problems);
    definitions_unref(d);
}

static void assert_groups(const char *text, const char *wanted)
{
    assert_things(text, 0, 0, wanted);
}

static void a_topic_that_is_deleted_and_has_indexes_needs_an_owner(void **state)
{
    (void)state;
    assert_things(HEAD("", "") "  - {table: da.x}\n", 3, 0,
                  "topic/a: topic/b: topic/c: topic/d: topic/gone: ");
}

static void what_an_index_version_still_shows_keeps_topics_together(void **state)
{
    (void)state;
    assert_things(HEAD("", "") "  - {table: da.x}\n", 0, 1,
                  "topic/a: topic/b:b topic/c: topic/d:b ");
}

static void topics_without_common_documents_are_each_by_itself(void **state)
{
    (void)state;
    assert_groups(HEAD("", "") "  - {table: da.x}\n  - {table: db.y}\n",
                  "topic/a: topic/b: topic/c: topic/d: ");
}

static void a_document_with_rows_of_two_topics_keeps_them_on_one_node(void **state)
{
    (void)state;
    assert_groups(
        HEAD("", "") "  - table: db.x\n"
                     "    relations: [{from: id, table: dd.y, to: x_id, as: r, many: true}]\n",
        "topic/a: topic/b:b topic/c: topic/d:b ");
}

static void what_two_tables_join_is_one_set(void **state)
{
    (void)state;
    assert_groups(
        HEAD("", "") "  - table: da.x\n"
                     "    relations: [{from: id, table: db.y, to: x_id, as: r, many: true}]\n"
                     "  - table: dc.x\n    index: other\n"
                     "    relations: [{from: id, table: db.z, to: x_id, as: r, many: true}]\n",
        "topic/a:a topic/b:a topic/c:a topic/d: ");
}

static void topics_of_one_group_are_one_set(void **state)
{
    (void)state;
    assert_groups(HEAD(", group: g", ", group: g") "  - {table: da.x}\n",
                  "topic/a: topic/b: topic/c:c topic/d:c ");
}

static void a_pattern_whose_documents_show_another_topic_keeps_both_together(void **state)
{
    (void)state;
    assert_groups(
        HEAD("", "") "  - pattern: 'dc\\.x_.*'\n"
                     "    index: x\n"
                     "    relations: [{from: id, table: da.y, to: x_id, as: r, many: true}]\n",
        "topic/a:a topic/b: topic/c:a topic/d: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_that_is_deleted_and_has_indexes_needs_an_owner),
        cmocka_unit_test(what_an_index_version_still_shows_keeps_topics_together),
        cmocka_unit_test(topics_without_common_documents_are_each_by_itself),
        cmocka_unit_test(a_document_with_rows_of_two_topics_keeps_them_on_one_node),
        cmocka_unit_test(what_two_tables_join_is_one_set),
        cmocka_unit_test(topics_of_one_group_are_one_set),
        cmocka_unit_test(a_pattern_whose_documents_show_another_topic_keeps_both_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
