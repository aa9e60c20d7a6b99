#include "config.h"

#include "tests/unit/unit.h"

#include "sync/model/definition_rule.h"
#include "sync/model/expression.h"

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

static void an_expression_says_the_same_as_long_as_its_row_does(void **state)
{
    static const struct rule_case cases[] = {
        {"n = (SELECT MAX(n) FROM line)", false},
        {"EXISTS(select 1)", false},
        {"ends > NOW()", false},
        {"ends > now ( )", false},
        {"day < CURRENT_DATE", false},
        {"day < curdate() - interval 7 day", false},
        {"made > UNIX_TIMESTAMP( )", false},
        {"RAND() < 0.5", false},
        {"owner = USER()", false},
        {"a = @x", false},
        {"SLEEP(1) = 0", false},
        {"now = 1", true},
        {"selected = 1 AND user <> 'x' AND now_or_later", true},
        {"t.`now` = 1", true},
        {"note = 'select now()' AND `select` = \"@\"", true},
        {"UNIX_TIMESTAMP(made) > 5", true},
        {"line.current_date > '2020-01-01'", true},
        {"größenow(1)", true},
    };

    (void)state;
    check(expression_find_fault, cases, ARRAY_LEN(cases));
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
        cmocka_unit_test(names_fields_and_zones_keep_their_forms),
    };
    return cmocka_run_group_tests_name("definition_rule", tests, NULL, NULL);
}
