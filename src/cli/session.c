#include "config.h"

#include "src/cli/session.h"

#include "rebalance/state/turns.h"
#include "src/app/app.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/client.h"
#include "src/cli/report.h"
#include "src/cli/settings.h"
#include "src/cli/view/progress_line.h"
#include "src/config/configuration.h"
#include "src/file/file_lock.h"
#include "src/format/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOON_MS 20 /* between looks at a job, at first */
#define POLL_MS 500

struct session {
    struct configuration *c; /* NULL: not needed */
    struct app *app;         /* NULL: a daemon answers */
    struct client *client;
    const char *why; /* whoever changes something says; NULL: nothing */
};

/* ---- opening ---- */

static bool no_daemon(const struct session *s, const char *socket, struct err *err)
{
    const char *file = s->c != NULL ? configuration_file(s->c) : NULL;

    return err_set(err, ERR_RETRY,
                   "no daemon listens on %.200s; fix: start it with millrace run%s%.120s",
                   socket, file != NULL ? " --config " : "", file != NULL ? file : "");
}

/* Without a daemon, work on the store itself. */
static bool open_here(struct session *s, const struct invocation *inv, struct err *err)
{
    if (configuration_lacks_variables(s->c)) { /* now they are needed: say which */
        configuration_free(s->c);
        s->c = command_settings(inv, SETTINGS_FOR_PEOPLE, err);
    }
    if (s->c == NULL || !app_open(&s->app, s->c, err))
        return false;
    s->client = client_local(app_api(s->app));
    return true;
}

static bool open_client(struct session *s, const struct invocation *inv, const char *socket,
                        struct err *err)
{
    if (client_connect(&s->client, socket, err))
        return true;
    if (err->kind != ERR_STOP)
        return false;
    if (inv->command->need == NEED_STORE && !invocation_has(inv, "socket"))
        return open_here(s, inv, err);
    return no_daemon(s, socket, err);
}

static void say_waiting(const struct err *why)
{
    fprintf(stderr, "millrace: %s; waiting for it, %d s at most\n", why->msg,
            FILE_LOCK_WAIT_MS / 1000);
}

/*
 * If another process holds the store, wait: a command ends soon, and a starting daemon answers
 * soon.
 */
static bool open_patiently(struct session *s, const struct invocation *inv, const char *socket,
                           struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + FILE_LOCK_WAIT_MS;
    bool said = false;

    while (!open_client(s, inv, socket, err)) {
        if (!file_lock_is_taken(err) || clock_mono_ms() >= until_ms)
            return false;
        if (!said)
            say_waiting(err);
        said = true;
        nanosleep(&(struct timespec){.tv_nsec = FILE_LOCK_POLL_MS * 1000000L}, NULL);
        *err = (struct err){0};
    }
    return true;
}

static bool open_configured(struct session *s, const struct invocation *inv, struct err *err)
{
    struct buf socket = {0};

    s->c = command_settings(inv, SETTINGS_TO_CONNECT, err);
    if (s->c == NULL)
        return false;
    app_socket_path(&socket, s->c);

    bool ok = open_patiently(s, inv, socket.ptr, err);

    buf_free(&socket);
    return ok;
}

bool session_open(struct session **out, const struct invocation *inv, struct err *err)
{
    const char *socket = invocation_value(inv, "socket");
    struct session *s = mem_alloc(1, sizeof(*s));
    bool ok;

    s->why = invocation_value(inv, "why");
    log_set_level(LOG_ERROR); /* a command prints its own messages */
    ok = socket != NULL ? open_client(s, inv, socket, err) : open_configured(s, inv, err);
    if (ok)
        *out = s;
    else
        session_close(s);
    return ok;
}

void session_close(struct session *s)
{
    if (s == NULL)
        return;
    client_close(s->client);
    app_close(s->app);
    configuration_free(s->c);
    free(s);
}

void session_limit(struct session *s, unsigned seconds)
{
    client_limit(s->client, seconds);
}

void session_require(struct session *s, uint64_t revision)
{
    client_require(s->client, revision);
}

bool session_has_daemon(const struct session *s)
{
    return s->app == NULL;
}

/* ---- asking ---- */

/* Append one of a problem's errors in the form a compiler uses. */
static void say_error(struct buf *out, struct str e)
{
    const struct render_style plain = {0};
    uint64_t line = 0, column = 0;
    struct str raw;

    if (json_find(e, "/file", &raw) && raw.len > 2) {
        render_value(out, plain, e, "/file", RENDER_TEXT);
        buf_append_char(out, ':');
    }
    if (json_find_u64(e, "/line", &line) && line > 0) {
        json_find_u64(e, "/column", &column);
        buf_printf(out, "%u:%u:", (unsigned)line, (unsigned)column);
    }
    if (out->len > 0 && out->ptr[out->len - 1] == ':')
        buf_append_char(out, ' ');
    render_value(out, plain, e, "/severity", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, plain, e, "/message", RENDER_TEXT);
    buf_append_char(out, '\n');
    if (json_find(e, "/source", &raw) && raw.len > 2) {
        buf_append(out, STR("    "));
        render_value(out, plain, e, "/source", RENDER_TEXT);
        buf_printf(out, "\n    %*s\n", (int)(column < 200 ? column : 200), "^");
    }
    if (json_find(e, "/fix", &raw) && raw.len > 2) {
        buf_append(out, STR("    fix: "));
        render_value(out, plain, e, "/fix", RENDER_TEXT);
        buf_append_char(out, '\n');
    }
}

void session_say_problems(struct str list)
{
    struct buf out = {0};
    struct json_reader r;
    struct str e;

    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &e))
            say_error(&out, e);
    if (out.len > 0)
        fwrite(out.ptr, 1, out.len, stderr);
    buf_free(&out);
}

static int exit_of(int status, bool is_question)
{
    if (status == 503 || status == TURN_TAKEN)
        return EXIT_BUSY;
    return status == 400 || is_question ? EXIT_USAGE : EXIT_FAILED;
}

/* Print a problem on standard error and return the exit code that fits. */
static int say_problem(int status, struct str body, bool is_question)
{
    const struct render_style plain = {0};
    struct str list;
    struct buf detail = {0}, fix = {0};

    if (json_find(body, "/errors", &list) && report_is_json())
        report_keep(list);
    else if (json_find(body, "/errors", &list))
        session_say_problems(list);
    render_value(&detail, plain, body, "/detail", RENDER_TEXT);
    render_value(&fix, plain, body, "/fix", RENDER_TEXT);
    if (detail.len == 0)
        buf_printf(&detail, "the daemon answered with status %d", status);

    const int code = report_error(&(struct report){
        .kind = exit_of(status, is_question) == EXIT_BUSY ? ERR_RETRY : ERR_REJECT,
        .exit = exit_of(status, is_question),
        .message = buf_str(&detail),
        .fix = buf_str(&fix),
    });

    buf_free(&detail);
    buf_free(&fix);
    return code;
}

int session_try(struct session *s, struct call *call, struct buf *answer, int *status)
{
    struct client_answer got;
    struct err err = {0};

    if (call->method != METHOD_GET)
        call_param(call, "why", s->why);

    bool ok = client_call(s->client, call->method, buf_str(&call->target), buf_str(&call->body),
                          &got, &err);

    buf_free(&call->target);
    buf_free(&call->body);
    buf_free(answer);
    *answer = got.body;
    *status = got.status;
    return ok ? EXIT_DONE : command_fail(&err);
}

static int judge(int status, const struct call *call, struct buf *answer)
{
    int code = EXIT_DONE;

    if (status >= 300) {
        code = say_problem(status, buf_str(answer), call->is_question);
        buf_free(answer);
    }
    return code;
}

int session_ask(struct session *s, struct call *call, struct buf *answer)
{
    int status, code = session_try(s, call, answer, &status);

    return code == EXIT_DONE ? judge(status, call, answer) : code;
}

/* ---- one after the other ---- */

#define ATTEMPTS    10
#define PAUSE_MAX_S 60

/* Say why, wait, and say with which attempt the command goes on. */
static void pause_before(uint64_t attempt, uint64_t attempts, struct str answer)
{
    const unsigned s = attempt > 7 ? PAUSE_MAX_S : 1U << (attempt - 2);
    struct buf why = {0};

    render_value(&why, (struct render_style){0}, answer, "/detail", RENDER_TEXT);
    fprintf(stderr, "millrace: waits%s%s; attempt %llu of %llu in %u s\n",
            why.len > 0 ? ": " : " for the daemon", why.len > 0 ? why.ptr : "",
            (unsigned long long)attempt, (unsigned long long)attempts, s);
    buf_free(&why);
    nanosleep(&(struct timespec){.tv_sec = s}, NULL);
}

/* A daemon that answered before may be back after a restart. */
static bool may_come_again(int code, int status, uint64_t attempt)
{
    return code == EXIT_DONE ? status == TURN_TAKEN : code == EXIT_BUSY && attempt > 1;
}

int session_ask_in_turn(struct session *s, const struct invocation *inv, struct call *call,
                        struct buf *answer)
{
    uint64_t attempts = ATTEMPTS, k = 1;
    struct err err = {0};
    int status, code;

    if (!invocation_number(inv, "attempts", &attempts, &err))
        return command_usage(inv, &err);
    for (;; k++) {
        struct call copy = *call;

        copy.target = copy.body = (struct buf){0};
        buf_append(&copy.target, buf_str(&call->target));
        buf_append(&copy.body, buf_str(&call->body));
        code = session_try(s, &copy, answer, &status);
        if (k >= attempts || !may_come_again(code, status, k))
            break;
        pause_before(k + 1, attempts, code == EXIT_DONE ? buf_str(answer) : STR(""));
    }
    if (code == EXIT_DONE && status == TURN_TAKEN && k > 1)
        fprintf(stderr, "millrace: given up after %llu attempts\n", (unsigned long long)k);
    buf_free(&call->target);
    buf_free(&call->body);
    return code == EXIT_DONE ? judge(status, call, answer) : code;
}

/* ---- jobs ---- */

static void draw(struct progress_line *line, struct str table, struct str progress)
{
    struct progress_facts facts = {.what = table, .remaining_seconds = -1};
    struct buf waits = {0};
    uint64_t n = 0;

    (void)json_find_u64(progress, "/rows_done", &facts.done);
    (void)json_find_u64(progress, "/rows_total", &facts.total);
    if (json_find_u64(progress, "/rate", &n))
        facts.rate = (double)n;
    if (json_find_u64(progress, "/remaining_seconds", &n))
        facts.remaining_seconds = (double)n;
    (void)json_find_text(progress, "/waits_for", &waits);
    facts.waits = buf_str(&waits);
    progress_line_show(line, &facts, clock_mono_ms());
    buf_free(&waits);
}

int session_wait_for_job(struct session *s, const char *what, const char *job,
                         struct buf *report)
{
    struct progress_line line;
    long pause_ms = SOON_MS;
    int code;

    progress_line_init(&line, STDERR_FILENO);
    for (;;) {
        struct call call = {.method = METHOD_GET, .is_question = true};
        struct str phase;

        call_path(&call, "/api/v1/reports");
        call_segment(&call, job);
        code = session_ask(s, &call, report);
        if (code != EXIT_DONE || !json_find(buf_str(report), "/phase", &phase))
            break;
        draw(&line, str_from(what), buf_str(report));
        buf_free(report);
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000}, NULL);
        pause_ms = pause_ms * 2 < POLL_MS ? pause_ms * 2 : POLL_MS;
    }
    progress_line_end(&line);
    return code;
}

/* ---- printing ---- */

int session_put(struct str text)
{
    struct err err;

    if ((text.len == 0 || fwrite(text.ptr, 1, text.len, stdout) == text.len) &&
        fflush(stdout) == 0)
        return EXIT_DONE;
    err_set_code(&err, ERR_REJECT, "errno", errno, "cannot write to standard output: %s",
                 strerror(errno));
    return command_fail(&err);
}

void session_render(const struct invocation *inv, struct str json, view_fn view,
                    struct buf *out)
{
    const char *form = invocation_value(inv, "output");

    if (form != NULL && strcmp(form, "json") == 0) {
        buf_append(out, json);
        if (json.len == 0 || json.ptr[json.len - 1] != '\n')
            buf_append_char(out, '\n');
    } else if (view == NULL || (form != NULL && strcmp(form, "yaml") == 0)) {
        render_yaml(out, json);
    } else {
        view(out, render_style_stdout(), json);
    }
}

int session_print(const struct invocation *inv, struct str json, view_fn view)
{
    struct buf out = {0};

    session_render(inv, json, view, &out);

    const int code = session_put(buf_str(&out));

    buf_free(&out);
    return code;
}

bool session_say_dry_run(struct str json)
{
    bool is = false;

    if (json_find_bool(json, "/dry_run", &is) && is)
        fputs("millrace: a dry run: nothing was changed\n", stderr);
    return is;
}

int session_run_if(const struct invocation *inv, struct call *call, view_fn view,
                   session_fine_fn fine)
{
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};

    if (!session_open(&s, inv, &err)) {
        buf_free(&call->target);
        buf_free(&call->body);
        return command_fail(&err);
    }

    int code = session_ask(s, call, &answer);

    if (code == EXIT_DONE)
        (void)session_say_dry_run(buf_str(&answer));
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), view);
    if (code == EXIT_DONE && fine != NULL && !fine(buf_str(&answer)))
        code = EXIT_FAILED;
    session_close(s);
    buf_free(&answer);
    return code;
}

int session_run(const struct invocation *inv, struct call *call, view_fn view)
{
    return session_run_if(inv, call, view, NULL);
}

int session_confirm(const struct invocation *inv, const char *question, const char *name)
{
    char line[16] = "";

    if (invocation_has(inv, "yes") || invocation_has(inv, "dry-run"))
        return EXIT_DONE;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        struct err err;

        err_set(&err, ERR_REJECT, "%s needs --yes without a terminal", inv->command->name);
        return command_usage(inv, &err);
    }
    fprintf(stderr, "%s%s%s [y/N] ", question, name[0] != '\0' ? " " : "",
            name[0] != '\0' ? name : "");
    if (name[0] != '\0')
        fputs("? ", stderr);
    if (fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y'))
        return EXIT_DONE;
    fputs("nothing was done\n", stderr);
    return EXIT_FAILED;
}

/* ---- calls ---- */

void call_path(struct call *call, const char *path)
{
    buf_append(&call->target, str_from(path));
}

void call_segment(struct call *call, const char *text)
{
    buf_append_char(&call->target, '/');
    client_encode(&call->target, str_from(text));
}

void call_param(struct call *call, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_append_char(&call->target,
                    memchr(call->target.ptr, '?', call->target.len) != NULL ? '&' : '?');
    buf_append(&call->target, str_from(name));
    buf_append_char(&call->target, '=');
    client_encode(&call->target, str_from(value));
}

void call_dry_run(struct call *call, const struct invocation *inv)
{
    call_param(call, "dry_run", invocation_has(inv, "dry-run") ? "true" : NULL);
}
