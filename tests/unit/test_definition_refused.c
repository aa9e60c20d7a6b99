#include "config.h"

#include "tests/unit/definition_text.h"

#include "src/base/err.h"
#include "src/store/store.h"
#include "sync/definition/delayed.h"
#include "sync/definition/doubt.h"

static void a_wrong_field_is_refused_at_its_place(void **state)
{
    (void)state;
    assert_refused("topics: [{name: a, adress: b, address: /}]", 1, 20,
                   "did you mean `address`");
    assert_refused("topics: [{name: a}]", 1, 10, "`topic` needs `address`");
    assert_refused("topics: [{name: a, address: /, server_id: -1}]", 1, 43,
                   "from 1 to 4294967295");
    assert_refused("topics: [{name: a, address: /, server_id: 4294967296}]", 1, 43,
                   "from 1 to");
    assert_refused("topics: [{name: a, address: /, tls: yes}]", 1, 37, "is a map of fields");
    assert_refused("topics: [{name: a, address: /, tls: {verify: yes}}]", 1, 46,
                   "true or false");
    assert_refused("topics: [{name: a, address: /, zero_date: nul}]", 1, 43,
                   "did you mean `null`");
    assert_refused("topics: [{name: a, address: /, user: [x]}]", 1, 38, "must be a text");
    assert_refused("topics: [{name: a, address: /, user: }]", 1, 32, "`user` has no value");
    assert_refused("topics: {name: a}", 1, 9, "`topics` must be a list");
    assert_refused("topic: []", 1, 1, "did you mean `topics`");
    assert_refused("- a", 1, 1, "a definition file has");
    assert_refused("databases: [{name: a, topic: b}]", 1, 30, "there is no topic `b`");
    assert_refused("topics: [{name: a, address: /}]\ndatabases: [{name: caf\u00e9, topic: a}]",
                   2, 20, "`schema` has the server's name");
    assert_refused(HEAD "  - {table: shap.orders}", 4, 13, "did you mean `shop`");
    assert_refused(HEAD "  - {table: orders}", 4, 13, "is not DATABASE.TABLE");
    assert_refused(HEAD "  - {index: orders}", 4, 5, "a table needs `table`");
    assert_refused(HEAD "  - {table: shop.Orders}", 4, 13, "lower case");
    assert_refused(HEAD "  - {table: shop.a, index: a_v1}", 4, 28, "mark the versions");
    assert_refused(HEAD "  - {table: shop.a, settings: [x]}", 4, 31, "must be a map");
    assert_refused(HEAD "  - {table: shop.a, columns: [b, {name: a, value: 1, skip: true}]}", 4,
                   34, "leave out `skip`");
    assert_refused(HEAD "  - {table: shop.a, columns: [{name: a, value: 1, default: 2}]}", 4,
                   31, "leave out `default`");
    assert_refused(HEAD "  - {table: shop.a, columns: [{name: '*', default: 2}]}", 4, 31,
                   "it has no fields of its own");
    assert_refused(HEAD "  - {table: shop.a, columns: [{name: a, transform: [{kind: split}]}]}",
                   4, 52, "needs `by`");
    assert_refused(HEAD "  - {table: shop.a, soft_delete: {column: a, deleted: [1]}}", 4, 55,
                   "must be a single value");
    assert_refused(HEAD "  - {table: shop.a, filter: a = 1;}", 4, 29, "ends a statement");
    assert_refused(HEAD "  - {table: shop.a, key: [a, a]}", 4, 30, "listed twice");
    assert_refused(HEAD "  - {table: shop.a, columns: [a, {name: b, as: a}]}", 4, 48,
                   "two fields of one document are called `a`");
    assert_refused(HEAD "  - {table: shop.a, columns: [_id]}", 4, 31, "the engines reserve");
    assert_refused(HEAD "  - {table: shop.a, columns: [{name: '*', type: text}]}", 4, 31,
                   "it has no fields of its own");
    assert_refused(HEAD "  - {table: shop.a}\n  - {table: shop.a}", 5, 13, "defined twice");
    assert_refused(HEAD "  - {table: shop.a, index: x}\n  - {table: shop.b, index: x}", 5, 28,
                   "belongs to table `shop.a`");
}

static void what_does_not_hang_on_the_row_alone_is_refused_with_its_name_and_a_fix(void **state)
{
    (void)state;
    assert_refused(HEAD "  - {table: shop.a, filter: 'shop.f(n) = 1'}", 4, 29,
                   "`shop.f` in `filter` is a stored function");
    assert_refused(HEAD "  - {table: shop.a, filter: 'n > 1 AND a < NOW()'}", 4, 29,
                   "`NOW` in `filter` is not known to give the same value");
    assert_refused(HEAD "  - {table: shop.a, filter: 'a < CURRENT_DATE'}", 4, 29,
                   "`CURRENT_DATE` in `filter` changes while its row stays the same");
    assert_refused(HEAD "  - {table: shop.a, filter: 'a IN (SELECT 1)'}", 4, 29,
                   "`SELECT` in `filter` reads other rows");
    assert_refused(HEAD
                   "  - {table: shop.a, relations: [{from: a, table: shop.b, to: b, relations: "
                   "[{from: a, table: shop.c, to: b, where: 'f(a)'}]}]}",
                   4, 116, "`f` in `where`");
    assert_refused(HEAD
                   "  - {table: shop.a, relations: [{from: a, table: shop.b, to: b, order_by: "
                   "'a, RAND()'}]}",
                   4, 75, "`RAND` in `order_by`");
}

/* From before it was refused. */
static void a_stored_expression_that_is_refused_goes_on_until_its_table_is_applied(void **state)
{
    const struct stored_definition stored[] = {
        {STR("topic"), STR("t"), STR("{\"name\": \"t\", \"address\": \"b\"}")},
        {STR("database"), STR("shop"), STR("{\"name\": \"shop\", \"topic\": \"t\"}")},
        {STR("table"), STR("shop.a"), STR("{\"table\": \"shop.a\", \"filter\": \"f(n) = 1\"}")},
    };
    const struct definition_file other = {STR("f"), STR("tables: [{table: shop.b}]"), STR(""),
                                          NULL},
                                 same = {STR("f"),
                                         STR("tables: [{table: shop.a, filter: f(n) = 1}]"),
                                         STR(""), NULL};
    struct problems *p = problems_new();
    struct definitions *d = definition_from_store(stored, ARRAY_LEN(stored), p), *more;

    (void)state;
    assert_non_null(d);
    more = definition_apply(d, &other, 1, false, p);
    assert_non_null(more);
    assert_int_equal(problems_n(p), 0);
    definition_check_doubt(more, definitions_table(more, STR("shop.a")), p);
    definition_check_doubt(more, definitions_table(more, STR("shop.b")), p);
    assert_int_equal(problems_n(p), 1);
    assert_null(definition_apply(more, &same, 1, false, p));
    assert_int_equal(problems_n(p), 2);
    assert_string_equal(problems_get(p, 0)->message.ptr, problems_get(p, 1)->message.ptr);
    assert_true(problems_get(p, 1)->fix.len > 0);
    definitions_unref(more);
    definitions_unref(d);
    problems_free(p);
}

static void
an_index_that_a_stored_table_has_is_refused_where_it_is_asked_for_again(void **state)
{
    static const char now[] = HEAD "  - {table: shop.b, index: x}";
    static const char then[] = "tables:\n  - {table: shop.a, index: x}";
    const struct definition_file files[] = {{STR("then.yaml"), str_from(now), STR(""), NULL},
                                            {STR("now.yaml"), str_from(then), STR(""), NULL}};
    struct problems *p = problems_new();
    struct definitions *stored = definition_apply(NULL, &files[0], 1, false, p);
    struct definitions *again;
    const struct problem *first;

    (void)state;
    assert_non_null(stored);
    again = definition_apply(stored, &files[1], 1, false, p);
    assert_null(again);
    assert_int_equal(problems_n(p), 1);
    first = problems_get(p, 0);
    assert_string_equal(first->place.file, "now.yaml");
    assert_int_equal(first->place.line, 2);
    assert_non_null(strstr(first->message.ptr, "belongs to table `shop.b`"));
    problems_free(p);
    definitions_unref(stored);
}

static void a_wrong_relation_is_refused_at_its_place(void **state)
{
    static const char table[] =
        HEAD "  - table: shop.a\n    columns: [id]\n    relations:\n      - ";
    static const struct {
        const char *relation;
        unsigned column;
        const char *message;
    } cases[] = {
        {"{from: id, to: a}", 9, "needs `table`"},
        {"{table: shop.b, to: a}", 9, "needs `from`"},
        {"{from: [a, b], table: shop.b, to: c}", 43, "`to` has 1 column and `from` has 2"},
        {"{from: [], table: shop.b, to: c}", 16, "`from` is empty"},
        {"{from: a, table: shop.b, to: c, where: 'x; y'}", 48, "ends a statement"},
        {"{from: a, table: shop.b, to: c, as: id}", 45, "two fields"},
        {"{from: a, table: shop.b, to: c, refresh: parents}", 50, "did you mean `parent`"},
        {"{from: a, table: sho.b, to: c}", 26, "did you mean `shop`"},
        {"{from: a, table: shop.b, to: c, relations: [{from: d, table: x.c, to: e}]}", 70,
         "there is no database `x`"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_printf(&b, "%s%s", table, cases[i].relation);
        assert_refused(b.ptr, 7, cases[i].column, cases[i].message);
        buf_free(&b);
    }
}

static void fields_of_a_relation_that_make_no_sense_together_are_refused(void **state)
{
    static const struct {
        const char *fields, *message;
    } cases[] = {
        {"distinct: true", "need an array"},
        {"limit: 3", "need an array"},
        {"nested: true, flattened: true", "both `nested` and"},
        {"values: v, nested: true", "makes no objects"},
        {"values: v, flattened: true", "makes no objects"},
        {"values: v, relations: [{from: a, table: shop.c, to: b}]", "could hold relations"},
        {"values: v, columns: [w]", "may only list that column"},
        {"values: v, columns: [v, w]", "may only list that column"},
        {"values: v, columns: [{name: v, as: w}]", "may only list that column"},
        {"max_depth: 2", "for a table that leads to itself"},
        {"through: {table: shop.l, from: [a, b], to: c}", "`from` of `through` has 2"},
        {"through: {table: shop.l, from: a, to: [b, c]}", "`to` of `through` has 2"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_printf(&b,
                   HEAD "  - {table: shop.a, relations: [{from: x, table: shop.b, to: y, %s}]}",
                   cases[i].fields);
        assert_null(apply(NULL, b.ptr));
        if (problems_n(problems) != 1 ||
            strstr(problems_get(problems, 0)->message.ptr, cases[i].message) == NULL)
            fail_msg("%s: %s", b.ptr, problems_get(problems, 0)->message.ptr);
        problems_free(problems);
        problems = problems_new();
        buf_free(&b);
    }
    assert_refused(HEAD
                   "  - {table: shop.a, relations: [{from: x, table: shop.a, to: y, as: r, "
                   "max_depth: 11}]}",
                   4, 33, "10 at most");
    assert_refused(HEAD "  - {table: shop.a, relations: [{from: x, table: shop.b, to: y, "
                        "through: {table: sho.l, from: a, to: b}}]}",
                   4, 82, "did you mean `shop`");
}

static void what_a_relation_can_show_is_taken(void **state)
{
    struct definitions *d;
    const struct relation_definition *r;
    struct column_definition room;
    struct relation_columns shown;

    (void)state;
    d = apply_fine(
        NULL,
        HEAD "  - {table: shop.a, relations: [{from: x, table: shop.a, to: y, as: r, many: "
             "true, max_depth: 3, through: {table: shop.l, from: a, to: b}, order_by: c "
             "DESC, limit: 3, distinct: true}, {from: x, table: shop.b, to: y, values: v}, "
             "{from: x, table: shop.b, to: y, as: w, values: v, columns: [{name: v, type: "
             "text}]}, {from: x, table: shop.c, to: y, flattened: true}]}");
    r = d->tables[0].relations;
    assert_true(r[0].through.given);
    assert_text(r[0].through.to[0], "b");
    assert_text(r[0].order_by, "c DESC");
    assert_int_equal(r[0].limit, 3);
    assert_int_equal(r[0].max_depth, 3);
    shown = relation_columns(&r[0], &room);
    assert_true(shown.all);
    shown = relation_columns(&r[1], &room);
    assert_false(shown.all);
    assert_int_equal(shown.n, 1);
    assert_text(shown.columns[0].name, "v");
    shown = relation_columns(&r[2], &room);
    assert_int_equal(shown.n, 1);
    assert_text(shown.columns[0].type, "text");
    assert_true(r[3].flattened);
    definitions_unref(d);
}

#define TWO_TOPICS                                               \
    "topics: [{name: s, address: /a}, {name: t, address: /b}]\n" \
    "databases: [{name: s, topic: s}, {name: t, topic: t}]\n"

/* Two tables: label is delayed, goods shows it. */
#define LABELS(fields)                                                                         \
    HEAD "  - {table: shop.label, delayed: true, " fields "}\n"                                \
         "  - {table: shop.goods, relations: [{from: label_id, table: shop.label, to: id}]}\n" \
         "  - {table: shop.other}\n"
#define TOP(table, sql)                                                                       \
    "top_relations: [{table: " table ", column: id, level_sql: \"" sql "\", business_id: a, " \
    "target_key: b}]"
#define CIRCLE(table, other)                                                    \
    "  - {table: " table ", delayed: true, relations: [{from: x, table: " other \
    ", to: y}], " TOP(other, GLUE) "}\n"
#define GLUE \
    "SELECT l.id AS a, g.id AS b FROM shop.label l JOIN shop.goods g ON (g.label_id = l.id)"

static void assert_refused_with(const char *text, const char *message)
{
    bool found = false;

    problems_free(problems);
    problems = problems_new();
    assert_null(apply(NULL, text));
    for (size_t i = 0; i < problems_n(problems); i++)
        found = found || strstr(problems_get(problems, i)->message.ptr, message) != NULL;
    if (!found)
        fail_msg("%s: %s, not %s", text, problems_get(problems, 0)->message.ptr, message);
}

static void a_delayed_table_is_taken_with_its_top_relations(void **state)
{
    struct definitions *d = apply(NULL, LABELS(TOP("shop.goods", GLUE)));
    struct top_relation *list;

    (void)state;
    assert_non_null(d);
    assert_true(definitions_table(d, STR("shop.label"))->delayed);
    assert_int_equal(
        top_relations_read(d->arena, definitions_table(d, STR("shop.label")), &list), 1);
    assert_text(list[0].table, "shop.goods");
    assert_text(list[0].level_sql, GLUE);
    assert_text(list[0].target_key, "b");
    definitions_unref(d);
}

static void a_top_relation_that_leads_nowhere_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {LABELS(TOP("shop.nothing", GLUE)), "has no index"},
        {LABELS(TOP("shop.label", GLUE)), "its own documents follow at once"},
        {LABELS(TOP("shop.other", GLUE)), "show no rows of `shop.label`"},
        {HEAD "  - {table: shop.label, top_relations: [{table: shop.b, column: c, "
              "level_sql: SELECT 1, business_id: a, target_key: b}]}",
         "are for a delayed table"},
        {HEAD "  - {pattern: 'shop\\.l.*', index: l, delayed: true}", "not for a `pattern`"},
        {HEAD CIRCLE("shop.a", "shop.b") CIRCLE("shop.b", "shop.a"),
         "lead back to it, in a circle"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_refused_with(wrong[i].text, wrong[i].message);
}

static void a_statement_that_is_more_than_a_select_that_reads_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {LABELS(TOP("shop.goods", "SELECT 1 AS a, 2 AS b; DROP TABLE x")), "ends a statement"},
        {LABELS(TOP("shop.goods", "DELETE FROM shop.label")), "does not begin so"},
        {LABELS(TOP("shop.goods", "WITH x AS (SELECT 1) DELETE FROM x")), "does not begin so"},
        {LABELS(TOP("shop.goods", "SELECT 1 AS a, 2 AS b INTO OUTFILE '/tmp/x'")), "`INTO`"},
        {LABELS(TOP("shop.goods", "SELECT 1 AS a, 2 AS b FROM x FOR UPDATE")), "`FOR`"},
        {LABELS(TOP("shop.goods", "SELECT 1 AS a, 2 AS b FROM x LOCK IN SHARE MODE")),
         "`LOCK`"},
        {LABELS(TOP("shop.goods", "SELECT shop.f(1) AS a, 2 AS b")), "stored function"},
        {LABELS(TOP("shop.goods", "SELECT f(1) AS a, 2 AS b")),
         "is not known to give the same"},
        {LABELS(TOP("shop.goods", "SELECT SLEEP(9) AS a, 2 AS b")), "`SLEEP`"},
        {LABELS(TOP("shop.goods", "SELECT @x AS a, 2 AS b")), "`@`"},
        {LABELS(TOP("shop.goods", "SELECT 1 AS a, 2 AS b -- c")), "comments"},
        {LABELS(TOP("shop.goods", "SELECT (1 AS a")), "without `)`"},
    };
    static const char *const right[] = {
        LABELS(TOP("shop.goods", "select max(x) as a, count(*) as b from t group by (c)")),
        LABELS(TOP("shop.goods",
                   "SELECT a, b FROM (SELECT id AS a, id AS b FROM shop.x WHERE id "
                   "IN (SELECT y FROM shop.z) AND UNIX_TIMESTAMP(c) MOD 4 = 1) q")),
        LABELS(TOP("shop.goods", "SELECT l.`for` AS a, 'into' AS b FROM shop.l")),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_refused_with(wrong[i].text, wrong[i].message);
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        struct definitions *d = apply(NULL, right[i]);

        if (d == NULL)
            fail_msg("%s: %s", right[i], problems_get(problems, 0)->message.ptr);
        definitions_unref(d);
    }
}

static void a_link_table_on_another_server_than_its_target_is_refused(void **state)
{
    (void)state;
    assert_refused(TWO_TOPICS
                   "tables: [{table: s.a, relations: [{from: x, table: t.b, to: y, many: true, "
                   "refresh: none, through: {table: s.l, from: x, to: y}}]}]",
                   3, 108, "no statement can join them");
}

static void a_topic_that_others_lead_to_is_not_deleted(void **state)
{
    struct definitions *d =
        apply(NULL, TWO_TOPICS "tables: [{table: s.a, relations: [{from: x, table: t.b, to: y, "
                               "refresh: none}]}]");
    struct err err = {0};

    (void)state;
    assert_non_null(d);
    assert_null(definition_remove(d, STR("topic"), STR("t"), &err));
    assert_non_null(strstr(err.msg, "is used by"));
    assert_null(definition_remove(d, STR("database"), STR("t"), &err));
    assert_non_null(strstr(err.msg, "is used by"));
    definitions_unref(d);
}

static void every_mistake_is_reported_at_once(void **state)
{
    (void)state;
    assert_null(apply(
        NULL, "topics: [{nam: a, server_id: x}]\ndatabases: [{name: 'a b'}]\ntables: 5\n"));
    assert_int_equal(problems_count(problems, SEVERITY_ERROR), 7);
}

static void more_than_can_be_taken_is_refused_before_it_is_read(void **state)
{
    struct buf text = {0};

    (void)state;
    buf_append(&text, STR(HEAD));
    for (size_t i = 0; i <= DEFINITIONS_MAX; i++)
        buf_printf(&text, "  - {table: shop.t%zu, unknown: 1}\n", i);
    assert_refused(text.ptr, 1, 1, "10001 tables are too many: Millrace takes 10000");
    buf_free(&text);
}

static void an_expression_of_a_pattern_that_grows_without_bound_is_refused(void **state)
{
    (void)state;
    assert_refused(HEAD "  - {pattern: '((a{1,255}){1,255}){1,255}', index: i}", 4, 15,
                   "repetitions make it too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEFINITION_TEST(a_wrong_field_is_refused_at_its_place),
        DEFINITION_TEST(what_does_not_hang_on_the_row_alone_is_refused_with_its_name_and_a_fix),
        DEFINITION_TEST(a_stored_expression_that_is_refused_goes_on_until_its_table_is_applied),
        DEFINITION_TEST(
            an_index_that_a_stored_table_has_is_refused_where_it_is_asked_for_again),
        DEFINITION_TEST(a_wrong_relation_is_refused_at_its_place),
        DEFINITION_TEST(fields_of_a_relation_that_make_no_sense_together_are_refused),
        DEFINITION_TEST(what_a_relation_can_show_is_taken),
        DEFINITION_TEST(a_delayed_table_is_taken_with_its_top_relations),
        DEFINITION_TEST(a_top_relation_that_leads_nowhere_is_refused),
        DEFINITION_TEST(a_statement_that_is_more_than_a_select_that_reads_is_refused),
        DEFINITION_TEST(a_link_table_on_another_server_than_its_target_is_refused),
        DEFINITION_TEST(a_topic_that_others_lead_to_is_not_deleted),
        DEFINITION_TEST(every_mistake_is_reported_at_once),
        DEFINITION_TEST(more_than_can_be_taken_is_refused_before_it_is_read),
        DEFINITION_TEST(an_expression_of_a_pattern_that_grows_without_bound_is_refused),
    };
    return cmocka_run_group_tests_name("definition_refused", tests, NULL, NULL);
}
