#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/cli/view/doctor_view.h"
#include "src/cli/view/status_view.h"
#include "src/format/json.h"

/* ---- status ---- */

int command_status(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/status");
    return session_run(inv, &call, status_view);
}

/* ---- doctor ---- */

static void view_doctor(struct buf *out, struct render_style style, struct str json)
{
    const bool warned = doctor_view_checks(out, style, json, true);
    bool ok = false;

    json_find_bool(json, "/ok", &ok);
    buf_append(out, !ok      ? STR("Something needs fixing.\n")
                    : warned ? STR("Millrace works; look at the warnings.\n")
                             : STR("All is well.\n"));
}

int command_doctor(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    bool ok = false;

    call_path(&call, "/api/v1/doctor");
    if (!session_open(&s, inv, &err))
        return command_fail(&err);

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), view_doctor);
    if (code == EXIT_DONE && !(json_find_bool(buf_str(&answer), "/ok", &ok) && ok))
        code = EXIT_FAILED;
    session_close(s);
    buf_free(&answer);
    return code;
}
