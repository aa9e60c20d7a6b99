#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/cli/commands.h"
#include "src/cli/complete.h"
#include "src/cli/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS(...)                              \
    ((const char *const[]){__VA_ARGS__, NULL}), \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static bool parse(struct invocation *inv, const char *const *argv, int argc, struct err *err)
{
    static const char *args[32];

    inv->set = &commands;
    return command_parse(inv, args, argc, argv, err);
}

static void a_command_is_found_by_its_longest_name(void **state)
{
    struct invocation inv;
    struct err err;

    (void)state;
    assert_true(parse(&inv, WORDS("version"), &err));
    assert_string_equal(inv.command->name, "version");
    assert_true(parse(&inv, WORDS("version", "list", "orders"), &err));
    assert_string_equal(inv.command->name, "version list");
    assert_int_equal(inv.n_args, 1);
    assert_string_equal(inv.args[0], "orders");
}

static void options_may_stand_anywhere(void **state)
{
    struct invocation inv;
    struct err err;
    uint64_t rate = 0;

    (void)state;
    assert_true(parse(&inv,
                      WORDS("-o", "json", "index", "--rate=500", "create", "shop.orders",
                            "--no-wait", "-cx.yaml", "--set", "a=b", "--set=c=d"),
                      &err));
    assert_string_equal(inv.command->name, "index create");
    assert_int_equal(inv.n_args, 1);
    assert_string_equal(inv.args[0], "shop.orders");
    assert_string_equal(invocation_value(&inv, "output"), "json");
    assert_string_equal(invocation_value(&inv, "config"), "x.yaml");
    assert_string_equal(invocation_value(&inv, "set"), "c=d");
    assert_true(invocation_has(&inv, "no-wait"));
    assert_false(invocation_has(&inv, "wait"));
    assert_true(invocation_number(&inv, "rate", &rate, &err));
    assert_int_equal(rate, 500);
}

static void after_two_dashes_everything_is_an_argument(void **state)
{
    struct invocation inv;
    struct err err;

    (void)state;
    assert_true(parse(&inv, WORDS("explain", "--", "shop.orders", "--key"), &err));
    assert_string_equal(inv.args[1], "--key");
    assert_true(parse(&inv, WORDS("explain", "shop.orders", "-5"), &err));
    assert_string_equal(inv.args[1], "-5");
}

static void wrong_usage_says_what_was_meant(void **state)
{
    static const struct {
        const char *words[4];
        int n;
        const char *text;
    } cases[] = {
        {{"statsu"}, 1, "did you mean \"status\""},
        {{"index", "creat", "x"}, 3, "did you mean \"index create\""},
        {{"index"}, 1, "see millrace index --help"},
        {{"frobnicate"}, 1, "millrace --help lists them"},
        {{"status", "--stocket", "x"}, 3, "did you mean --socket"},
        {{"status", "--rate", "x"}, 3, "there is no option --rate"},
        {{"status", "extra"}, 2, "does not take \"extra\""},
        {{"explain", "shop.orders"}, 2, "needs TABLE KEY"},
        {{"apply", "x", "--prune=1"}, 3, "takes no value"},
        {{"status", "--socket"}, 2, "needs PATH"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct invocation inv;
        struct err err = {0};

        assert_false(parse(&inv, cases[i].words, cases[i].n, &err));
        if (strstr(err.msg, cases[i].text) == NULL)
            fail_msg("\"%s\" is missing from: %s", cases[i].text, err.msg);
    }
}

static void a_number_is_a_whole_number(void **state)
{
    static const char *const bad[] = {"--rate=", "--rate=-1", "--rate=1k",
                                      "--rate=99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct invocation inv;
        struct err err = {0};
        uint64_t rate = 7;

        char *word = mem_copy(bad[i]);

        assert_true(parse(&inv, WORDS("index", "create", "t", word), &err));
        assert_false(invocation_number(&inv, "rate", &rate, &err));
        assert_int_equal(rate, 7);
        free(word);
    }
}

/* `verify --version N` is of the index; `millrace --version` is the program's. */
static bool is_of_verify(const struct command *c, const struct command_option *o)
{
    return strcmp(c->name, "verify") == 0 && strcmp(o->name, "version") == 0;
}

/* Every row of the table, so that --help, the manual page and the completion can be made. */
static void each_command_is_complete(void **state)
{
    (void)state;
    for (const struct command *c = NULL; (c = command_next(&commands, c)) != NULL;) {
        size_t n_named;
        struct err err;

        assert_non_null(c->run);
        assert_true(islower((unsigned char)c->summary[0]));
        assert_true(c->summary[strlen(c->summary) - 1] != '.');
        assert_true(c->min_args <= c->max_args);
        assert_true((c->args[0] == '\0') == (c->max_args == 0));

        char name[40] = "", *rest = name;
        const char *words[3];
        size_t n = 0;

        assert_true(strlen(c->name) < sizeof(name));
        memcpy(name, c->name, strlen(c->name));
        while (rest != NULL && n < ARRAY_LEN(words))
            words[n++] = strsep(&rest, " ");
        assert_ptr_equal(command_find(&commands, words, n, &n_named, &err), c);
        for (const struct command_option *o = c->options; o != NULL && o->name != NULL; o++)
            for (const struct command_option *g = commands.options; g->name != NULL; g++) {
                assert_true(strcmp(o->name, g->name) != 0 || is_of_verify(c, o));
                assert_true(o->letter == 0 || o->letter != g->letter);
            }
    }
}

static void an_option_means_the_same_in_every_command(void **state)
{
    (void)state;
    for (const struct command *c = NULL; (c = command_next(&commands, c)) != NULL;)
        for (const struct command *d = NULL; (d = command_next(&commands, d)) != NULL;)
            for (const struct command_option *a = c->options; a != NULL && a->name != NULL; a++)
                for (const struct command_option *b = d->options; b != NULL && b->name != NULL;
                     b++)
                    if (strcmp(a->name, b->name) == 0)
                        assert_int_equal(a->value != NULL, b->value != NULL);
}

static void no_line_of_help_is_too_long(void **state)
{
    struct buf out = {0};

    (void)state;
    help_overview(&out, &commands);
    for (const struct command *c = NULL; (c = command_next(&commands, c)) != NULL;)
        help_command(&out, &commands, c);
    for (const char *line = out.ptr; *line != '\0';) {
        size_t len = strcspn(line, "\n");

        if (len > 110)
            fail_msg("%.*s", (int)len, line);
        line += len + 1;
    }
    buf_free(&out);
}

/* Parse a line whose words have one space between them. */
/* A quoted word is the last. */
static bool parse_line(struct invocation *inv, char *line, struct err *err)
{
    const char *words[16];
    int n = 0;

    for (char *rest = line; rest != NULL && *rest != '\0'; n++) {
        const bool is_quoted = *rest == '\'';

        rest += is_quoted;
        words[n] = strsep(&rest, is_quoted ? "'" : " ");
    }
    return parse(inv, words, n, err);
}

static void help_of_each_command_ends_with_an_example_that_works(void **state)
{
    (void)state;
    for (const struct command *c = NULL; (c = command_next(&commands, c)) != NULL;) {
        struct invocation inv;
        struct buf help = {0}, line = {0};
        struct err err;

        if (c->hidden)
            continue;
        if (c->example == NULL)
            fail_msg("%s has no example in src/cli/table", c->name);
        help_command(&help, &commands, c);
        buf_printf(&line, "\nExample\n  millrace %s\n", c->example);
        assert_true(help.len > line.len);
        assert_string_equal(help.ptr + help.len - line.len, line.ptr);
        buf_clear(&line);
        buf_append(&line, str_from(c->example));
        if (!parse_line(&inv, line.ptr, &err))
            fail_msg("%s: %s", c->example, err.msg);
        assert_ptr_equal(inv.command, c);
        buf_free(&help);
        buf_free(&line);
    }
}

static void the_programs_version_is_not_that_of_an_index(void **state)
{
    char of_verify[] = "verify shop.orders --version 2", of_program[] = "--version",
         beside[] = "verify shop.orders -V", before[] = "--version --config x";
    struct invocation inv;
    struct err err;

    (void)state;
    assert_true(parse_line(&inv, of_verify, &err));
    assert_string_equal(invocation_value(&inv, "version"), "2");
    assert_false(invocation_has_global(&inv, "version"));
    assert_true(parse_line(&inv, of_program, &err));
    assert_true(invocation_has_global(&inv, "version"));
    assert_true(parse_line(&inv, beside, &err));
    assert_true(invocation_has_global(&inv, "version"));
    assert_true(parse_line(&inv, before, &err));
    assert_true(invocation_has_global(&inv, "version"));
    assert_string_equal(invocation_value(&inv, "config"), "x");
}

/* The last word of the line is begun. */
static void expect_offer(const char *line, const char *offered, const char *noun)
{
    const char *words[16], *args[16], *asked;
    struct invocation inv = {.set = &commands};
    struct buf copy = {0}, out = {0};
    size_t n = 0;

    buf_append(&copy, str_from(line));
    buf_append(&out, STR(""));
    for (char *rest = copy.ptr, *word; (word = strsep(&rest, " ")) != NULL;)
        words[n++] = word;
    asked = complete_words(&out, &inv, args, words, n);
    assert_string_equal(asked != NULL ? asked : "no noun", noun != NULL ? noun : "no noun");
    if (offered[0] == '\0' ? out.len > 0 : strstr(out.ptr, offered) == NULL)
        fail_msg("%s: offered %s", line, out.ptr);
    buf_free(&copy);
    buf_free(&out);
}

static void a_line_that_is_begun_is_completed_from_the_table(void **state)
{
    (void)state;
    expect_offer("", "\nindex\n", NULL);
    expect_offer("index ", "create\tbuild a new version", NULL);
    expect_offer("config delivery ", "set\tchange", NULL);
    expect_offer("help index ", "cutover\t", NULL);
    expect_offer("version ", "list\t", NULL);
    expect_offer("nothing ", "", NULL);
    expect_offer("index create ", "", "table");
    expect_offer("index create a.b ", "", NULL);
    expect_offer("explain a.b ", "", NULL);
    expect_offer("--output json index list ", "", "index");
    expect_offer("index create --", "--no-wait\treturn at once\n", NULL);
    expect_offer("index create -", "--config\t", NULL);
    expect_offer("dead-letter list --index ", "", "version");
    expect_offer("dead-letter list --index=x ", "", NULL);
    expect_offer("dead-letter list --limit ", "", NULL);
    expect_offer("dead-letter list --all ", "", NULL);
    expect_offer("status -o ", "table\njson\nyaml\n", NULL);
    expect_offer("status --set ", "log.level=\t", NULL);
    expect_offer("config delivery set a=1 ", "helpers\t", NULL);
    expect_offer("apply a.yaml ", "/\n", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_found_by_its_longest_name),
        cmocka_unit_test(options_may_stand_anywhere),
        cmocka_unit_test(after_two_dashes_everything_is_an_argument),
        cmocka_unit_test(wrong_usage_says_what_was_meant),
        cmocka_unit_test(a_number_is_a_whole_number),
        cmocka_unit_test(each_command_is_complete),
        cmocka_unit_test(the_programs_version_is_not_that_of_an_index),
        cmocka_unit_test(an_option_means_the_same_in_every_command),
        cmocka_unit_test(no_line_of_help_is_too_long),
        cmocka_unit_test(help_of_each_command_ends_with_an_example_that_works),
        cmocka_unit_test(a_line_that_is_begun_is_completed_from_the_table),
    };
    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
