#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/complete.h"
#include "src/cli/help.h"
#include "src/cli/session.h"

#include <stdio.h>
#include <string.h>

static int put_and_free(struct buf *text)
{
    int code = session_put(buf_str(text));

    buf_free(text);
    return code;
}

int command_version(const struct invocation *inv)
{
    const char *form = invocation_value(inv, "output");

    if (form != NULL && strcmp(form, "table") != 0)
        return session_print(
            inv, STR("{\"schema\":\"millrace/program/1\",\"version\":\"" PACKAGE_VERSION "\"}"),
            NULL);
    return session_put(STR("millrace " PACKAGE_VERSION "\n"));
}

int command_help(const struct invocation *inv)
{
    struct buf out = {0};
    struct err err = {0};
    size_t n_named;

    if (inv->n_args == 0) {
        help_overview(&out, inv->set);
        return put_and_free(&out);
    }
    if (inv->n_args == 1 && help_group(&out, inv->set, inv->args[0]))
        return put_and_free(&out);

    const struct command *c = command_find(inv->set, inv->args, inv->n_args, &n_named, &err);

    if (c == NULL)
        return command_usage(inv, &err);
    help_command(&out, inv->set, c);
    return put_and_free(&out);
}

int command_manual(const struct invocation *inv)
{
    struct buf out = {0};

    help_manual(&out, inv->set);
    return put_and_free(&out);
}

int command_completion(const struct invocation *inv)
{
    const char *script = complete_script(inv->args[0]);
    struct err err = {0};

    if (script != NULL)
        return session_put(str_from(script));
    err_set(&err, ERR_REJECT, "completion exists for bash, zsh and fish");
    return command_usage(inv, &err);
}
