#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "sync/mapping/value_change.h"
#include "tests/unit/fake_catalog.h"

static struct column column_of(struct arena *a, const char *text)
{
    struct column c;

    fake_column(a, str_from(text), &c);
    return c;
}

static bool keeps_by(bool (*judge)(const struct column *, const struct column *),
                     const char *was, const char *is)
{
    struct arena *a = arena_new();
    const struct column before = column_of(a, was), after = column_of(a, is);
    const bool does = judge(&before, &after);

    arena_free(a);
    return does;
}

static bool keeps(const char *was, const char *is)
{
    return keeps_by(value_change_keeps_text, was, is);
}

static void types_that_hold_every_value_keep_its_text(void **state)
{
    static const struct {
        const char *was, *is;
        bool keeps, back; /* from was to is, and from is to was */
    } cases[] = {
        {"c int(11)", "c int(10)", true, true},
        {"c int", "c bigint", true, false},
        {"c int unsigned", "c bigint", true, false},
        {"c int", "c int unsigned", false, false},
        {"c int NOT NULL", "c int", true, false},
        {"c varchar(20)", "c varchar(21)", true, false},
        {"c varchar(20)", "c char(20)", false, true},
        {"c varchar(20)", "c mediumtext(16777215)", true, false},
        {"c varchar(200)", "c tinytext(255)", false, false},
        {"c varbinary(3)", "c varbinary(4)", true, false},
        {"c binary(3)", "c binary(4)", false, false},
        {"c binary(3)", "c varbinary(3)", true, false},
        {"c enum('a','b')", "c enum('a','b','c')", true, false},
        {"c enum('a','b')", "c enum('b','a')", false, false},
        {"c set('a')", "c set('a','b')", true, false},
        {"c set('a')", "c enum('a')", false, false},
        {"c decimal(10,2)", "c decimal(12,2)", true, false},
        {"c decimal(10,2)", "c decimal(12,3)", false, false},
        {"c datetime(3)", "c datetime(6)", false, false},
        {"c datetime", "c timestamp", false, false},
        {"c float", "c double", false, false},
        {"c float", "c float(7,3)", false, false},
        {"c bit(3)", "c bit(9)", true, false},
        {"c json", "c json", true, true},
        {"c int", "c varchar(20)", false, false},
        {"c uuid", "c uuid", true, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (keeps(cases[i].was, cases[i].is) != cases[i].keeps)
            fail_msg("from %s to %s", cases[i].was, cases[i].is);
        if (keeps(cases[i].is, cases[i].was) != cases[i].back)
            fail_msg("from %s to %s", cases[i].is, cases[i].was);
    }
}

static void a_character_set_without_some_characters_changes_text(void **state)
{
    static const struct {
        const char *was, *is;
        bool keeps;
    } cases[] = {
        {"utf8mb4", "utf8mb4", true}, {"utf8", "utf8mb3", true},  {"latin1", "utf8mb4", true},
        {"ascii", "latin1", true},    {"utf8mb4", "utf8", false}, {"utf8mb4", "latin1", false},
        {"latin1", "latin2", false},
    };
    struct arena *a = arena_new();
    struct column was = column_of(a, "c varchar(9)"), is = was;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        was.charset = str_from(cases[i].was);
        is.charset = str_from(cases[i].is);
        if (value_change_keeps_text(&was, &is) != cases[i].keeps)
            fail_msg("from %s to %s", cases[i].was, cases[i].is);
    }
    arena_free(a);
}

static void another_expression_is_another_value(void **state)
{
    struct arena *a = arena_new();
    struct column was = column_of(a, "c int"), is = was;

    (void)state;
    is.generated = true;
    is.expression = STR("`a` + 1");
    assert_false(value_change_keeps_text(&was, &is));
    was = is;
    assert_true(value_change_keeps_text(&was, &is));
    is.expression = STR("`a` + 2");
    assert_false(value_change_keeps_text(&was, &is));
    arena_free(a);
}

/* Whatever the two columns are: to stay as it is changes nothing, and holding goes on. */
static void what_is_held_by_what_is_held_is_held(void **state)
{
    static const char *const types[] = {
        "c tinyint",      "c tinyint unsigned",
        "c smallint",     "c mediumint",
        "c int",          "c int unsigned",
        "c bigint",       "c bigint unsigned",
        "c char(5)",      "c varchar(5)",
        "c varchar(50)",  "c tinytext(255)",
        "c text(65535)",  "c binary(4)",
        "c varbinary(4)", "c blob(65535)",
        "c enum('a')",    "c enum('a','b')",
        "c set('a')",     "c decimal(5,2)",
        "c decimal(9,2)", "c decimal(9,3)",
        "c float",        "c double",
        "c date",         "c datetime",
        "c datetime(3)",  "c timestamp",
        "c time",         "c year",
        "c bit(1)",       "c bit(64)",
        "c json",         "c point",
        "c geometry",     "c uuid",
        "c inet4",        "c inet6",
        "c vector(3)",    "c int NOT NULL",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!keeps(types[i], types[i]))
            fail_msg("%s is not itself", types[i]);
        for (size_t k = 0; k < ARRAY_LEN(types); k++)
            for (size_t m = 0; keeps(types[i], types[k]) && m < ARRAY_LEN(types); m++)
                if (keeps(types[k], types[m]) && !keeps(types[i], types[m]))
                    fail_msg("%s, %s, %s", types[i], types[k], types[m]);
    }
}

static void only_a_column_that_may_be_null_and_has_no_default_adds_null(void **state)
{
    struct arena *a = arena_new();
    struct column c = column_of(a, "c int");

    (void)state;
    assert_true(value_change_adds_null(&c));
    c.has_default = true;
    assert_false(value_change_adds_null(&c));
    c.has_default = false;
    c.generated = true;
    assert_false(value_change_adds_null(&c));
    c = column_of(a, "c int NOT NULL");
    assert_false(value_change_adds_null(&c));
    arena_free(a);
}

static void expressions_say_the_same_of_a_column_that_keeps_bytes_sign_and_form(void **state)
{
    static const struct {
        const char *was, *is;
        bool keeps;
    } cases[] = {
        {"c int", "c bigint", true},
        {"c int unsigned", "c bigint unsigned", true},
        {"c int unsigned", "c bigint", false}, /* c - 5 is no error any more */
        {"c int(5) zerofill", "c int(7) zerofill", false},
        {"c int(5) zerofill", "c int(5) unsigned", false},
        {"c int(5)", "c int(7)", true},
        {"c bit(8)", "c bit(16)", false}, /* LENGTH(c) */
        {"c bit(8)", "c bit(8)", true},
        {"c date NOT NULL", "c date", false}, /* a zero date is NULL no more */
        {"c datetime NOT NULL", "c datetime", false},
        {"c int NOT NULL", "c int", true},
        {"c varchar(5)", "c varchar(9)", true},
        {"c varchar(9)", "c varchar(5)", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (keeps_by(value_change_keeps_meaning, cases[i].was, cases[i].is) != cases[i].keeps)
            fail_msg("%s to %s", cases[i].was, cases[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_say_the_same_of_a_column_that_keeps_bytes_sign_and_form),
        cmocka_unit_test(types_that_hold_every_value_keep_its_text),
        cmocka_unit_test(a_character_set_without_some_characters_changes_text),
        cmocka_unit_test(another_expression_is_another_value),
        cmocka_unit_test(what_is_held_by_what_is_held_is_held),
        cmocka_unit_test(only_a_column_that_may_be_null_and_has_no_default_adds_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
