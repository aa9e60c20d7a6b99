#include "config.h"

#include "src/cli/commands.h"

#include "src/app/service.h"
#include "src/base/clock.h"
#include "src/cli/session.h"
#include "src/cli/view/doctor_view.h"
#include "src/cli/view/screen.h"
#include "src/cli/view/status_view.h"
#include "src/format/json.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_S       10   /* status waits for nobody: a daemon that takes longer hangs */
#define WATCH_MS       2000 /* between two looks */
#define UNKNOWN_MS     5000 /* how long to wait for the first answer of engine and store */
#define UNKNOWN_ASK_MS 200

/* ---- status ---- */

static int ask_status(struct session *s, struct buf *answer)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/status");
    return session_ask(s, &call, answer);
}

static void view_status(struct buf *out, struct render_style style, struct str json)
{
    size_t rows;

    if (!screen_size(STDOUT_FILENO, &style.width, &rows))
        style.width = 0;
    status_view(out, style, json);
}

static int look(const struct invocation *inv, struct session *s)
{
    struct buf answer = {0};
    int code = ask_status(s, &answer);

    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), view_status);
    buf_free(&answer);
    return code;
}

/* ---- --check ---- */

static int ask_judgement(struct session *s, struct buf *answer, bool *is_known, bool *ok)
{
    const int code = ask_status(s, answer);

    *is_known = code == EXIT_DONE && json_find_bool(buf_str(answer), "/ok", ok);
    return code;
}

static int check(const struct invocation *inv, struct session *s)
{
    const int64_t until_ms = clock_mono_ms() + UNKNOWN_MS;
    struct buf answer = {0};
    bool is_known, ok = false;
    int code = ask_judgement(s, &answer, &is_known, &ok);

    while (code == EXIT_DONE && !is_known && clock_mono_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = UNKNOWN_ASK_MS * 1000000L}, NULL);
        buf_free(&answer);
        code = ask_judgement(s, &answer, &is_known, &ok);
    }
    if (code == EXIT_DONE && !is_known) {
        struct err err;

        err_set(&err, ERR_RETRY,
                "the search engine or the store has not answered yet, so "
                "nobody can say whether all is well");
        code = command_fail(&err);
    } else if (code == EXIT_DONE) {
        code = session_print(inv, buf_str(&answer), view_status);
        if (code == EXIT_DONE && !ok)
            code = EXIT_FAILED;
    }
    buf_free(&answer);
    return code;
}

/* ---- --watch ---- */

static bool is_form(const struct invocation *inv, const char *form)
{
    const char *given = invocation_value(inv, "output");

    return strcmp(given != NULL ? given : "table", form) == 0;
}

/* Over what the window shows, as much as it has room for. */
static void draw(struct buf *out, struct str text, size_t rows)
{
    buf_append(out, STR("\033[H"));
    for (size_t i = 1; text.len > 0 && (rows == 0 || i < rows); i++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        const size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;

        buf_append(out, (struct str){text.ptr, len});
        buf_append(out, STR("\033[K\n"));
        text = (struct str){text.ptr + len + (end != NULL), text.len - len - (end != NULL)};
    }
    buf_append(out, STR("\033[J"));
}

static int show(const struct invocation *inv, struct str json, bool first)
{
    const bool is_text = is_form(inv, "table");
    struct buf text = {0}, out = {0};
    size_t columns, rows;

    session_render(inv, json, view_status, &text);
    if (is_text && render_redraws(STDOUT_FILENO) &&
        screen_size(STDOUT_FILENO, &columns, &rows)) {
        buf_append(&out, first ? STR("\033[2J") : STR(""));
        draw(&out, buf_str(&text), rows);
    } else {
        if (!first && !is_form(inv, "json"))
            buf_append(&out, is_text ? STR("\n") : STR("---\n"));
        buf_append(&out, buf_str(&text));
    }

    const int code = session_put(buf_str(&out));

    buf_free(&text);
    buf_free(&out);
    return code;
}

/* Until the user interrupts, which is no failure. */
static int watch(const struct invocation *inv, struct session *s)
{
    struct buf answer = {0};
    int code;

    service_block_signals();
    for (bool first = true;; first = false) {
        code = ask_status(s, &answer);
        if (code == EXIT_DONE)
            code = show(inv, buf_str(&answer), first);
        buf_free(&answer);
        if (code != EXIT_DONE || service_stops_within(WATCH_MS))
            return code;
    }
}

int command_status(const struct invocation *inv)
{
    const bool checks = invocation_has(inv, "check"), watches = invocation_has(inv, "watch");
    struct session *s = NULL;
    struct err err = {0};

    if (checks && watches) {
        err_set(&err, ERR_REJECT, "--check and --watch exclude one another");
        return command_usage(inv, &err);
    }
    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    session_limit(s, ANSWER_S);

    const int code = checks ? check(inv, s) : watches ? watch(inv, s) : look(inv, s);

    session_close(s);
    return code;
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
