#include "config.h"

#include "src/base/mem.h"
#include "src/cli/commands.h"
#include "src/cli/help.h"
#include "src/cli/report.h"
#include "src/cli/session.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --help of a command, of a group, or of everything. */
static void add_help(struct buf *out, const struct invocation *inv)
{
    if (inv->command != NULL)
        help_command(out, inv->set, inv->command);
    else if (inv->n_args == 0 || !help_group(out, inv->set, inv->args[0]))
        help_overview(out, inv->set);
}

static int show_help(const struct invocation *inv)
{
    struct buf out = {0};

    add_help(&out, inv);

    int code = session_put(buf_str(&out));

    buf_free(&out);
    return code;
}

/* No command was given: list the commands, and exit as for wrong usage. */
static int show_usage(const struct invocation *inv)
{
    struct buf out = {0};

    add_help(&out, inv);
    fputs(out.ptr, stderr);
    buf_free(&out);
    return EXIT_USAGE;
}

static bool is_form(const char *form)
{
    return form == NULL || strcmp(form, "table") == 0 || strcmp(form, "json") == 0 ||
           strcmp(form, "yaml") == 0;
}

static int start(const struct invocation *inv, bool understood, struct err *err)
{
    if (invocation_has(inv, "help"))
        return show_help(inv);
    if (!understood)
        return command_usage(inv, err);
    if (invocation_has_global(inv, "version"))
        return command_version(inv);
    if (inv->command == NULL && report_is_json()) {
        err_set(err, ERR_REJECT, "no command is named; millrace --help lists them");
        return command_usage(inv, err);
    }
    if (inv->command == NULL)
        return show_usage(inv);
    if (!is_form(invocation_value(inv, "output"))) {
        err_set(err, ERR_REJECT, "-o takes table, json or yaml, not \"%.40s\"",
                invocation_value(inv, "output"));
        return command_usage(inv, err);
    }
    return inv->command->run(inv);
}

int main(int argc, char **argv)
{
    const char **args = mem_alloc((size_t)argc, sizeof(*args));
    struct invocation inv = {.set = &commands};
    struct err err = {0};

    setlocale(LC_CTYPE, "");
    report_choose_form(argc - 1, (const char *const *)(argv + 1));

    bool understood =
        command_parse(&inv, args, argc - 1, (const char *const *)(argv + 1), &err);
    int code = start(&inv, understood, &err);

    free(args);
    return code;
}
