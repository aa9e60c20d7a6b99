#include "config.h"

#include "tests/unit/unit.h"

#include "sync/definition/expression.h"
#include "sync/definition/expression_functions.h"
#include "sync/definition/rule.h"

#include <string.h>

struct rule_case {
    const char *text;
    bool fine;
};

static void check(rule_fn rule, const struct rule_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((rule(str_from(cases[i].text)) == NULL) != cases[i].fine)
            fail_msg("`%s` is judged wrongly", cases[i].text);
}

static void an_index_name_is_one_that_both_engines_take(void **state)
{
    static const struct rule_case cases[] = {
        {"orders", true},
        {"shop-orders.2024", true},
        {"\xc3\xa9t\xc3\xa9", true},
        {"orders_v", true},
        {"orders_version2", true},
        {"v2", true},
        {"orders_v2", false},
        {"Orders", false},
        {"a b", false},
        {"a/b", false},
        {"a:b", false},
        {"a#b", false},
        {"-a", false},
        {"_a", false},
        {"+a", false},
        {".a", false},
        {"..", false},
        {"", false},
        {"a\tb", false},
        {"a*", false},
    };

    (void)state;
    check(rule_index, cases, ARRAY_LEN(cases));
}

static void an_address_is_host_and_port_or_a_socket(void **state)
{
    static const struct rule_case cases[] = {
        {"db1", true},        {"db1:3306", true},    {"127.0.0.1:3306", true},
        {"[::1]:3306", true}, {"[::1]", true},       {"/run/mysqld/mysqld.sock", true},
        {"", false},          {":3306", false},      {"db1:", false},
        {"db1:0", false},     {"db1:65536", false},  {"db1:999999999999", false},
        {"db1:33x", false},   {"::1", false},        {"[::1", false},
        {"a b:1", false},     {"user@db1:1", false}, {"http://db1:1", false},
    };

    (void)state;
    check(rule_address, cases, ARRAY_LEN(cases));
}

static void a_start_is_now_a_position_or_gtids(void **state)
{
    static const struct rule_case cases[] = {
        {"now", true},
        {"binlog.000001:4", true},
        {"my-bin.log.000012:123456789012", true},
        {"0-1-100", true},
        {"0-1-100,1-2-3", true},
        {"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5", true},
        {"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7,3E11FA47-71CA-11E1-9E33-C80AA9429563:1",
         true},
        {"", false},
        {"later", false},
        {"binlog.000001", false},
        {"binlog.000001:x", false},
        {"binlog:4", false},
        {"../binlog.000001:4", false},
        {"0-1", false},
        {"0-1-100,", false},
        {"3e11fa47-71ca-11e1-9e33-c80aa9429562", false},
        {"3e11fa47-71ca-11e1-9e33-c80aa942956:1-5", false},
    };

    (void)state;
    check(rule_start, cases, ARRAY_LEN(cases));
}

static void a_condition_is_one_expression(void **state)
{
    static const struct rule_case cases[] = {
        {"deleted = 0", true},
        {"a = 'x;y' and b = \"--\" or `c#` = 1", true},
        {"note = 'it''s (' and x in (1, (2))", true},
        {"note = 'it\\'s ;'", true},
        {"a - -1 > 0", true},
        {"a--1", true},
        {"", false},
        {"  ", false},
        {"a = 1; drop table x", false},
        {"a = 1 -- comment", false},
        {"a = 1 --", false},
        {"a = 1 # comment", false},
        {"a = 1 /* comment */", false},
        {"a = 'x", false},
        {"a = `x", false},
        {"1) union select (1", false},
        {"(a = 1", false},
        {"a = 1)", false},
        {"a = 'x\\'", false},
    };

    (void)state;
    check(expression_find_fault, cases, ARRAY_LEN(cases));
    assert_non_null(expression_find_fault(STR("a = 1\0")));
}

/* NULL: no doubt; else what is named. */
static void assert_doubts(const char *text, const char *what)
{
    struct expression_doubt doubt;
    const bool found = expression_find_doubt(str_from(text), &doubt);

    if (expression_find_fault(str_from(text)) != NULL)
        fail_msg("`%s` is no expression", text);
    if (found != (what != NULL) || (found && !str_equal(doubt.what, str_from(what))))
        fail_msg("`%s`: doubts `%.*s`", text, found ? (int)doubt.what.len : 0, doubt.what.ptr);
}

static void an_expression_says_the_same_as_long_as_its_row_does(void **state)
{
    static const char *const cases[][2] = {
        {"n = (SELECT MAX(n) FROM line)", "SELECT"},
        {"EXISTS(select 1)", "select"},
        {"n IN (TABLE line)", "TABLE"},
        {"n > ALL (SELECT 1)", "SELECT"},
        {"ends > NOW()", "NOW"},
        {"ends > now ( )", "now"},
        {"ends > now\n()", "now"},
        {"ends > {fn NOW()}", "NOW"},
        {"day < CURRENT_DATE", "CURRENT_DATE"},
        {"day < Current_Date()", "Current_Date"},
        {"owner = CURRENT_USER", "CURRENT_USER"},
        {"owner = CURRENT_ROLE", "CURRENT_ROLE"},
        {"at < LOCALTIME", "LOCALTIME"},
        {"at < utc_timestamp", "utc_timestamp"},
        {"day < curdate() - interval 7 day", "curdate"},
        {"made > UNIX_TIMESTAMP( )", "UNIX_TIMESTAMP"},
        {"RAND() < 0.5", "RAND"},
        {"owner = USER()", "USER"},
        {"a = @x", "@"},
        {"a = @@hostname", "@"},
        {"(@n := @n + 1) > 5", "@"},
        {"SLEEP(1) = 0", "SLEEP"},
        {"SYS_GUID() = a", "SYS_GUID"},
        {"SCHEMA() = a", "SCHEMA"},
        {"a = DEFAULT(a)", "DEFAULT"},
        {"LOAD_FILE('/x') = a", "LOAD_FILE"},
        {"BENCHMARK(1, a) = 0", "BENCHMARK"},
        {"IS_FREE_LOCK('x')", "IS_FREE_LOCK"},
        {"MASTER_POS_WAIT('x', 1)", "MASTER_POS_WAIT"},
        {"a > NEXT VALUE FOR s", "NEXT"},
        {"a > NEXTVAL(s)", "NEXTVAL"},
        {"a > LASTVAL(s)", "LASTVAL"},
        {"db.f(n) = 1", "db.f"},
        {"db . f (n) = 1", "db . f"},
        {"`db`.`f`(n) = 1", "`db`.`f`"},
        {"a.b.abs(n) = 1", "a.b.abs"},
        {"db.abs(n) = 1", "db.abs"},
        {"`f`(n) = 1", "`f`"},
        {"\"f\" (n) = 1", "\"f\""},
        {"f(n) = 1", "f"},
        {"gr\xc3\xb6\xc3\x9f"
         "enow(1)",
         "gr\xc3\xb6\xc3\x9f"
         "enow"},
        {"ABS(f(n)) = 1", "f"},
        {"a IN (1, f(2))", "f"},
        {"COUNT(*) > 1", "COUNT"},
        {"ROW_NUMBER() OVER (ORDER BY n)", "ROW_NUMBER"},
        {"MATCH (a) AGAINST ('x')", "MATCH"},
        {"CONVERT_TZ(a, 'UTC', 'Europe/Berlin') > 1", "CONVERT_TZ"},
        {"now = 1", NULL},
        {"next = 1 OR value = 2", NULL},
        {"selected = 1 AND user <> 'x' AND now_or_later", NULL},
        {"t.`now` = 1", NULL},
        {"t.current_date = 1 AND `select` = 2", NULL},
        {"note = 'select now()' AND `select` = \"@\"", NULL},
        {"UNIX_TIMESTAMP(made) > 5", NULL},
        {"line.current_date > '2020-01-01'", NULL},
        {"a IN (1, 2) AND b NOT IN ('x') OR NOT (c) XOR (d)", NULL},
        {"a BETWEEN (1) AND (2) AND b LIKE ('x%') ESCAPE ('!') AND c REGEXP ('x') AND d IS "
         "NOT NULL",
         NULL},
        {"CASE WHEN (a) THEN (b) ELSE (c) END = 1 AND CASE (a) WHEN (1) THEN 2 END", NULL},
        {"CAST(a AS CHAR(10)) = 'x' AND CAST(a AS DECIMAL(10,2)) > 1 AND CONVERT(a USING "
         "utf8mb4) = b",
         NULL},
        {"a > DATE '2020-01-01' + INTERVAL (1) DAY AND INTERVAL(a, 1, 2) = 1", NULL},
        {"a DIV (2) = 1 AND a MOD (2) = 1 AND MOD(a, 2) = 1 AND BINARY (a) = 'x'", NULL},
        {"j->'$.a' = 1 AND j->>'$.b' = 'x' AND 1 MEMBER OF (j)", NULL},
        {"SUBSTRING(a FROM (2) FOR (3)) = 'x' AND TRIM(LEADING 'x' FROM a) = _utf8mb4'y'",
         NULL},
        {"(a, b) IN ((1, 2)) AND ROW(a, b) = ROW (1, 2) AND a = x'41' AND b = 0x41 AND c = "
         "b'1'",
         NULL},
        {"JSON_VALUE(j, '$.a' RETURNING DECIMAL(4,2)) > 1", NULL},
        {"if (a, b, c) = 1 and Coalesce(a, b) = lower(c)", NULL},
        {"price DESC, FIELD(status, 'b', 'a'), LENGTH(name) ASC", NULL},
        {"TRUE AND !a AND a <=> NULL AND a SOUNDS LIKE b AND a COLLATE utf8mb4_bin = 'x'",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_doubts(cases[i][0], cases[i][1]);
}

static void the_functions_of_expressions_are_in_order_and_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_expression_functions; i++) {
        const char *at = expression_functions[i].names, *before = "";

        for (size_t len; *at != '\0'; before = at, at += len + strspn(at + len, " ")) {
            len = strcspn(at, " ");
            if (strncmp(before, at, len + 1) >= 0)
                fail_msg("%.*s is in the wrong place", (int)len, at);
            assert_true(expression_function_is_steady((struct str){at, len}));
        }
    }
    assert_true(expression_function_is_steady(STR("upper")));
    assert_false(expression_function_is_steady(STR("UPPE")));
    assert_false(expression_function_is_steady(STR("UPPER ")));
    assert_false(expression_function_is_steady(STR("")));
}

static void zones_of_days_may_have_names(void **state)
{
    static const struct rule_case zones[] = {
        {"UTC", true},
        {"+08:00", true},
        {"-03:30", true},
        {"Europe/Berlin", true},
        {"America/Argentina/Salta", true},
        {"Etc/GMT+5", true},
        {"", false},
        {"+8:00", false},
        {"../etc/passwd", false},
        {"/etc/passwd", false},
        {"Europe//Berlin", false},
        {"Europe/", false},
        {"Europe Berlin", false},
    };

    (void)state;
    check(rule_day_zone, zones, ARRAY_LEN(zones));
}

static void names_fields_and_zones_keep_their_forms(void **state)
{
    static const struct rule_case names[] = {{"shop", true}, {"Shop-1_a", true},
                                             {"", false},    {"a.b", false},
                                             {"a b", false}, {"a/b", false}};
    static const struct rule_case fields[] = {
        {"title", true}, {"a b", true},      {"_x", true},
        {"", false},     {"a.b", false},     {"_millrace_x", false},
        {"_id", false},  {"_source", false}, {"a\nb", false}};
    static const struct rule_case pipelines[] = {{"embed", true}, {"logs@default-1.x", true},
                                                 {"", false},     {"_none", false},
                                                 {"a,b", false},  {"a*", false},
                                                 {"?", false},    {"a b", false},
                                                 {"a/b", false}};
    static const struct rule_case zones[] = {
        {"UTC", true},    {"+08:00", true},  {"-03:30", true},
        {"+14:00", true}, {"+15:00", false}, {"+8:00", false},
        {"CET", false},   {"", false},       {"+01:75", false}};
    static const struct rule_case tables[] = {{"a.b", true}, {"a.b.c", true}, {"a.", false},
                                              {".b", false}, {"ab", false},   {"", false}};
    static const struct rule_case variables[] = {
        {"SHOP_PW1", true}, {"_x", true}, {"1x", false}, {"a-b", false}, {"", false}};

    (void)state;
    check(rule_name, names, ARRAY_LEN(names));
    check(rule_field, fields, ARRAY_LEN(fields));
    check(rule_pipeline, pipelines, ARRAY_LEN(pipelines));
    check(rule_time_zone, zones, ARRAY_LEN(zones));
    check(rule_table, tables, ARRAY_LEN(tables));
    check(rule_environment, variables, ARRAY_LEN(variables));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_name_is_one_that_both_engines_take),
        cmocka_unit_test(an_address_is_host_and_port_or_a_socket),
        cmocka_unit_test(a_start_is_now_a_position_or_gtids),
        cmocka_unit_test(a_condition_is_one_expression),
        cmocka_unit_test(an_expression_says_the_same_as_long_as_its_row_does),
        cmocka_unit_test(the_functions_of_expressions_are_in_order_and_there_once),
        cmocka_unit_test(names_fields_and_zones_keep_their_forms),
        cmocka_unit_test(zones_of_days_may_have_names),
    };
    return cmocka_run_group_tests_name("definition_rule", tests, NULL, NULL);
}
