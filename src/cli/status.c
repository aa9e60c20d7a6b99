#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/cli/view/doctor_view.h"
#include "src/cli/view/screen.h"
#include "src/cli/view/status_view.h"
#include "src/format/json.h"

#include <unistd.h>

/* ---- status ---- */

static void view_status(struct buf *out, struct render_style style, struct str json)
{
    size_t rows;

    if (!screen_size(STDOUT_FILENO, &style.width, &rows))
        style.width = 0;
    status_view(out, style, json);
}

int command_status(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/status");
    return session_run(inv, &call, view_status);
}

/* ---- doctor ---- */

static void view_doctor(struct buf *out, struct render_style style, struct str json)
{
    doctor_view_verdict(out, json, doctor_view_checks(out, style, json, "/items", true));
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
