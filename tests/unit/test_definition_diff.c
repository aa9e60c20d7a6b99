#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/diff.h"
#include "sync/definition/parse.h"

#define HEAD                                                 \
    "topics: [{name: t, address: 'db:3306', password: p}]\n" \
    "databases: [{name: d, topic: t}]\n"                     \
    "tables:\n"

static struct definitions *parse(const char *text)
{
    struct problems *problems = problems_new();
    const struct definition_file file = {STR("f"), str_from(text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    if (d == NULL)
        fail_msg("%s", problems_get(problems, 0)->message.ptr);
    problems_free(problems);
    return d;
}

static void assert_diff(const char *before, const char *after, const char *json)
{
    struct definitions *x = parse(before), *y = parse(after);
    struct definition_diff diff;
    struct buf b = {0};

    definition_diff_make(x, y, &diff);
    definition_diff_append_json(&diff, &b);
    assert_string_equal(b.ptr, json);
    buf_free(&b);
    definition_diff_free(&diff);
    definitions_unref(x);
    definitions_unref(y);
}

/* One table, its fields before and after; fields is what the diff says of it. */
static void assert_table_diff(const char *before, const char *after, bool needs_build,
                              const char *fields)
{
    struct buf x = {0}, y = {0}, json = {0};

    buf_printf(&x, HEAD "  - {table: d.a, %s}\n", before);
    buf_printf(&y, HEAD "  - {table: d.a, %s}\n", after);
    buf_printf(&json,
               "[{\"action\":\"change\",\"kind\":\"table\",\"name\":\"d.a\","
               "\"index\":\"%s\",\"needs_build\":%s,\"fields\":[%s]}]",
               strstr(after, "index: i") != NULL ? "i" : "a", needs_build ? "true" : "false",
               fields);
    assert_diff(x.ptr, y.ptr, json.ptr);
    buf_free(&x);
    buf_free(&y);
    buf_free(&json);
}

static void objects_are_added_changed_and_removed(void **state)
{
    (void)state;
    assert_diff(HEAD "  - {table: d.a}\n  - {table: d.b, index: x}\n",
                HEAD "  - {table: d.c}\n  - {table: d.b, index: y}\n",
                "[{\"action\":\"remove\",\"kind\":\"table\",\"name\":\"d.a\",\"index\":\"a\","
                "\"needs_build\":false},"
                "{\"action\":\"change\",\"kind\":\"table\",\"name\":\"d.b\",\"index\":\"y\","
                "\"needs_build\":true,"
                "\"fields\":[{\"path\":\"index\",\"before\":\"x\",\"after\":\"y\","
                "\"needs_build\":true}]},"
                "{\"action\":\"add\",\"kind\":\"table\",\"name\":\"d.c\",\"index\":\"c\","
                "\"needs_build\":true}]");
}

static void the_first_definitions_are_all_added(void **state)
{
    struct definitions *d = parse(HEAD "  - {table: d.a}\n");
    struct definition_diff diff;
    struct buf b = {0};

    (void)state;
    definition_diff_make(NULL, d, &diff);
    assert_int_equal(diff.n, 3);
    definition_diff_append_text(&diff, &b);
    assert_string_equal(b.ptr, "add topic t\nadd database d\nadd table d.a\n"
                               "    takes effect with: millrace index create d.a\n");
    definition_diff_free(&diff);
    definition_diff_make(d, d, &diff);
    assert_int_equal(diff.n, 0);
    definition_diff_free(&diff);
    buf_free(&b);
    definitions_unref(d);
}

static void what_changes_documents_needs_a_build(void **state)
{
    (void)state;
    assert_table_diff("key: [id]", "key: [id, x]", true,
                      "{\"path\":\"key\",\"before\":[\"id\"],\"after\":[\"id\",\"x\"],"
                      "\"needs_build\":true}");
    assert_table_diff("columns: [id, {name: t, type: text}]", "columns: [id, {name: t}, u]",
                      true,
                      "{\"path\":\"columns[t].type\",\"before\":\"text\",\"needs_build\":true},"
                      "{\"path\":\"columns[u]\",\"after\":\"u\",\"needs_build\":true}");
    assert_table_diff("index: i", "index: i, columns: []", true,
                      "{\"path\":\"columns\",\"after\":[],\"needs_build\":true}");
    assert_table_diff("mapping: {a: 1}", "mapping: {a: 2}", true,
                      "{\"path\":\"mapping\",\"before\":{\"a\":1},\"after\":{\"a\":2},"
                      "\"needs_build\":true}");
    assert_table_diff(
        "relations: [{from: x, table: d.b, to: y, as: b2}]",
        "relations: [{from: x, table: d.b, to: y, as: b2, where: z = 1, "
        "columns: [q]}]",
        true,
        "{\"path\":\"relations[b2].where\",\"after\":\"z = 1\",\"needs_build\":true},"
        "{\"path\":\"relations[b2].columns\",\"after\":[\"q\"],\"needs_build\":true}");
    /* A version keeps the relations that it was built with. */
    assert_table_diff("relations: [{from: x, table: d.b, to: y, refresh: none}]",
                      "relations: [{from: x, table: d.b, to: y}]", true,
                      "{\"path\":\"relations[b].refresh\",\"before\":\"none\","
                      "\"needs_build\":true}");
}

static void what_takes_effect_at_once_needs_none(void **state)
{
    (void)state;
    assert_table_diff(
        "columns: [a]", "columns: [a], daily_check_column: z", false,
        "{\"path\":\"daily_check_column\",\"after\":\"z\",\"needs_build\":false}");
    assert_table_diff("columns: [a, b, c]", "columns: [c, a, b]", false,
                      "{\"path\":\"columns.order\",\"before\":[\"a\",\"b\",\"c\"],"
                      "\"after\":[\"c\",\"a\",\"b\"],\"needs_build\":false}");
    assert_diff(
        "topics: [{name: t, address: a}]", "topics: [{name: t, address: b, tls: {}}]",
        "[{\"action\":\"change\",\"kind\":\"topic\",\"name\":\"t\",\"needs_build\":false,"
        "\"fields\":[{\"path\":\"address\",\"before\":\"a\",\"after\":\"b\","
        "\"needs_build\":false},{\"path\":\"tls\",\"after\":{},\"needs_build\":false}]}]");
}

static void each_setting_counts_for_itself(void **state)
{
    (void)state;
    assert_table_diff("settings: {number_of_replicas: 1, index: {refresh_interval: 1s}}",
                      "settings: {index.number_of_replicas: 2, refresh_interval: 1s}", false,
                      "{\"path\":\"settings.number_of_replicas\",\"before\":1,\"after\":2,"
                      "\"needs_build\":false}");
    assert_table_diff("settings: {number_of_shards: 1}",
                      "settings: {number_of_shards: 2, analysis: {analyzer: {a: {type: b}}}}",
                      true,
                      "{\"path\":\"settings.number_of_shards\",\"before\":1,\"after\":2,"
                      "\"needs_build\":true},{\"path\":\"settings.analysis.analyzer.a.type\","
                      "\"after\":\"b\",\"needs_build\":true}");
}

static void a_password_shows_only_that_it_changed(void **state)
{
    (void)state;
    assert_diff(
        "topics: [{name: t, address: a, password: hunter2}]",
        "topics: [{name: t, address: a, password: hunter3}]",
        "[{\"action\":\"change\",\"kind\":\"topic\",\"name\":\"t\",\"needs_build\":false,"
        "\"fields\":[{\"path\":\"password\",\"before\":\"***\",\"after\":\"***\","
        "\"needs_build\":false}]}]");
}

static void one_column_shown_twice_is_two_fields(void **state)
{
    static const char text[] = HEAD
        "  - {table: d.a, columns: [t, {name: t, as: u, type: text}, {name: v, skip: true}, "
        "{name: v, skip: true}]}\n";

    (void)state;
    assert_diff(text, text, "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_added_changed_and_removed),
        cmocka_unit_test(the_first_definitions_are_all_added),
        cmocka_unit_test(what_changes_documents_needs_a_build),
        cmocka_unit_test(what_takes_effect_at_once_needs_none),
        cmocka_unit_test(each_setting_counts_for_itself),
        cmocka_unit_test(a_password_shows_only_that_it_changed),
        cmocka_unit_test(one_column_shown_twice_is_two_fields),
    };
    return cmocka_run_group_tests_name("definition_diff", tests, NULL, NULL);
}
