#include "config.h"

#include "src/cli/commands.h"

#include "src/base/buf.h"
#include "src/cli/report.h"
#include "src/cli/session.h"
#include "src/cli/view/doctor_view.h"
#include "src/cli/view/trace_view.h"
#include "src/cli/view/verify_view.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the options say. */
struct verify_wish {
    const struct invocation *inv;
    bool keys, all, changed; /* changed: check, not verify */
    bool refreshes;
    bool replay; /* nor is it that one */
    uint64_t rate, version, sample;
};

/* ---- the request ---- */

static void put_keys(struct json_writer *w, const struct invocation *inv)
{
    json_write_key(w, STR("keys"));
    json_open_array(w);
    for (size_t i = 0; i < inv->n_given; i++)
        if (strcmp(inv->given[i].option->name, "key") == 0)
            json_write_string(w, str_from(inv->given[i].value));
    json_close_array(w);
}

static const char *since_of(const struct invocation *inv)
{
    return invocation_has(inv, "since") ? invocation_value(inv, "since") : "";
}

static void put_replay(struct buf *body, const struct verify_wish *wish)
{
    struct json_writer w = {.out = body};

    json_open_object(&w);
    if (invocation_has(wish->inv, "day"))
        json_put_cstr(&w, STR("day"), invocation_value(wish->inv, "day"));
    if (invocation_has(wish->inv, "rate"))
        json_put_u64(&w, STR("rate"), wish->rate);
    json_close_object(&w);
}

static void put_request(struct buf *body, const struct verify_wish *wish)
{
    const struct invocation *inv = wish->inv;
    struct json_writer w = {.out = body};

    json_open_object(&w);
    json_put_bool(&w, STR("repair"),
                  invocation_has(inv, "repair") && !invocation_has(inv, "dry-run"));
    json_put_bool(&w, STR("values"), invocation_has(inv, "values"));
    if (wish->keys) {
        put_keys(&w, inv);
    } else {
        json_put_bool(&w, STR("yes"), invocation_has(inv, "yes"));
        json_put_u64(&w, STR("rate"), wish->rate);
        json_put_u64(&w, STR("version"), wish->version);
        if (invocation_has(inv, "sample"))
            json_put_u64(&w, STR("sample"), wish->sample);
        if (invocation_has(inv, "where"))
            json_put_cstr(&w, STR("where"), invocation_value(inv, "where"));
        if (wish->changed)
            json_put_cstr(&w, STR("since"), since_of(inv));
    }
    json_close_object(&w);
}

static void make_call(struct call *call, const struct verify_wish *wish, const char *table)
{
    *call = (struct call){.method = METHOD_POST, .is_question = true};
    if (wish->replay)
        put_replay(&call->body, wish);
    else
        put_request(&call->body, wish);
    call_path(call, "/api/v1/tables");
    call_segment(call, table);
    call_segment(call, wish->replay ? "replay" : "verify");
    if (wish->replay)
        call_dry_run(call, wish->inv);
}

/* ---- the answer ---- */

static int exit_of(struct str json)
{
    static const struct {
        const char *verdict;
        int code;
    } codes[] = {
        {"equal", EXIT_DONE},     {"different", EXIT_FAILED}, {"replayed", EXIT_DONE},
        {"by_column", EXIT_DONE}, {"partly", EXIT_FAILED},    {"not_replayed", EXIT_FAILED},
    };
    struct buf verdict = {0};
    int code = EXIT_BUSY;

    json_find_text(json, "/verdict", &verdict);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (str_equal(buf_str(&verdict), str_from(codes[i].verdict)))
            code = codes[i].code;
    buf_free(&verdict);
    return code;
}

static int show(const struct invocation *inv, struct str report, view_fn view)
{
    const int code = session_print(inv, report, view);

    return code == EXIT_DONE ? exit_of(report) : code;
}

static void say_started(struct buf *out, struct render_style style, struct str json,
                        const char *does)
{
    struct str day;

    buf_append(out, STR("job "));
    render_value(out, style, json, "/job", RENDER_TEXT);
    buf_append(out, json_find(json, "/day", &day) ? STR(" replays a day of ") : str_from(does));
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(": millrace report get "));
    render_value(out, style, json, "/job", RENDER_TEXT);
    buf_append(out, STR(" says how far it is\n"));
}

static void view_started(struct buf *out, struct render_style style, struct str json)
{
    say_started(out, style, json, " compares ");
}

static void view_refreshing(struct buf *out, struct render_style style, struct str json)
{
    say_started(out, style, json, " reads rows again for ");
}

static void view_tried(struct buf *out, struct render_style style, struct str json)
{
    struct buf why = {0};

    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, STR(": it can begin\n"));
    if (json_find_text(json, "/why", &why) && why.len > 0)
        buf_printf(out,
                   "  the log does not say what changed that day (%s); rows are found by "
                   "daily_check_column, where the table has one\n",
                   why.ptr);
    buf_free(&why);
}

static int follow(struct session *s, const struct verify_wish *wish, const char *table,
                  struct str started)
{
    struct buf job = {0}, report = {0};
    int code;

    if (session_say_dry_run(started))
        return session_print(wish->inv, started, view_tried);
    if (invocation_has(wish->inv, "no-wait"))
        return session_print(wish->inv, started,
                             wish->refreshes ? view_refreshing : view_started);
    (void)json_find_text(started, "/job", &job);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "millrace: job %s; Ctrl-C leaves it running\n", job.ptr);
    code = session_wait_for_job(s, table, job.ptr, &report);
    if (code == EXIT_DONE)
        code = show(wish->inv, buf_str(&report), view_verify);
    buf_free(&job);
    buf_free(&report);
    return code;
}

static int verify(struct session *s, const struct verify_wish *wish, const char *table)
{
    struct buf answer = {0};
    struct call call;
    int code;

    make_call(&call, wish, table);
    code = session_ask(s, &call, &answer);
    if (code == EXIT_DONE)
        code = wish->keys ? show(wish->inv, buf_str(&answer), view_verify)
                          : follow(s, wish, table, buf_str(&answer));
    buf_free(&answer);
    return code;
}

/* ---- all tables ---- */

/* A difference counts more than what could not be judged; wrong usage is none of all. */
static int worse(int a, int b)
{
    if (a == EXIT_FAILED || b == EXIT_FAILED)
        return EXIT_FAILED;
    return a == EXIT_DONE && b == EXIT_DONE ? EXIT_DONE : EXIT_BUSY;
}

/* Tables that share an index are compared together: take the first. */
static bool is_new(struct buf *indexes, struct str index)
{
    struct buf quoted = {0};
    bool is;

    buf_printf(&quoted, " %" STR_FMT " ", STR_ARG(index));
    is =
        indexes->len == 0 || memmem(indexes->ptr, indexes->len, quoted.ptr, quoted.len) == NULL;
    buf_append(indexes, buf_str(&quoted));
    buf_free(&quoted);
    return is;
}

/* A check needs a column that tells which rows have changed. */
static bool may_be_checked(const struct verify_wish *wish, struct str item, const char *table)
{
    struct str column;

    if (!wish->changed || json_find(item, "/daily_check_column", &column))
        return true;
    fprintf(stderr, "millrace: %s has no daily_check_column and is not checked\n", table);
    return false;
}

static int verify_each(struct session *s, const struct verify_wish *wish, struct str items)
{
    struct buf indexes = {0};
    struct json_reader r;
    struct str item;
    int code = EXIT_DONE;

    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item)) {
            struct buf table = {0}, index = {0};

            if (!json_find_text(item, "/table", &table))
                (void)json_find_text(item, "/pattern", &table);
            render_value(&index, (struct render_style){0}, item, "/index", RENDER_TEXT);
            if (table.len > 0 && may_be_checked(wish, item, table.ptr) &&
                is_new(&indexes, buf_str(&index)))
                code = worse(code, verify(s, wish, table.ptr));
            buf_free(&table);
            buf_free(&index);
        }
    buf_free(&indexes);
    return code;
}

static int verify_all(struct session *s, const struct verify_wish *wish)
{
    struct call call = {.method = METHOD_GET};
    struct buf answer = {0};
    struct str items;
    int code;

    call_path(&call, "/api/v1/tables");
    code = session_ask(s, &call, &answer);
    if (code == EXIT_DONE && json_find(buf_str(&answer), "/items", &items))
        code = verify_each(s, wish, items);
    buf_free(&answer);
    return code;
}

/* ---- index refresh ---- */

static void view_cancelled(struct buf *out, struct render_style style, struct str json)
{
    uint64_t n = 0;

    (void)json_find_u64(json, "/count", &n);
    render_value(out, style, json, "/index", RENDER_TEXT);
    buf_append(out, n > 0 ? STR(": its refresh has ended\n")
                          : STR(": no refresh runs, so nothing was done\n"));
}

static void put_refresh(struct buf *body, const struct invocation *inv, uint64_t rate)
{
    struct json_writer w = {.out = body};

    json_open_object(&w);
    json_put_u64(&w, STR("rate"), rate);
    if (invocation_has(inv, "where"))
        json_put_cstr(&w, STR("where"), invocation_value(inv, "where"));
    if (invocation_has(inv, "key"))
        put_keys(&w, inv);
    json_close_object(&w);
}

static void refresh_path(struct call *call, const struct invocation *inv)
{
    call_path(call, "/api/v1/tables");
    call_segment(call, inv->args[0]);
    call_segment(call, "index");
    call_segment(call, "refresh");
}

static int refresh(const struct verify_wish *wish)
{
    struct call call = {.method = METHOD_POST, .is_question = true};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    int code;

    if (!session_open(&s, wish->inv, &err))
        return command_fail(&err);
    put_refresh(&call.body, wish->inv, wish->rate);
    refresh_path(&call, wish->inv);
    call_dry_run(&call, wish->inv);
    code = session_ask(s, &call, &answer);
    if (code == EXIT_DONE)
        code = follow(s, wish, wish->inv->args[0], buf_str(&answer));
    session_close(s);
    buf_free(&answer);
    return code;
}

int command_index_refresh(const struct invocation *inv)
{
    const bool where = invocation_has(inv, "where"), key = invocation_has(inv, "key");
    struct call call = {.method = METHOD_POST};
    struct verify_wish wish = {.inv = inv, .refreshes = true};
    struct err err = {0};

    if (invocation_has(inv, "cancel") && (where || key || invocation_has(inv, "rate")))
        err_set(&err, ERR_REJECT, "--cancel goes alone");
    else if (invocation_has(inv, "cancel")) {
        refresh_path(&call, inv);
        call_segment(&call, "cancel");
        call_dry_run(&call, inv);
        return session_run(inv, &call, view_cancelled);
    } else if (where == key)
        err_set(&err, ERR_REJECT,
                "which rows? give either --where SQL or --key ID; all of them are read by "
                "millrace index create");
    else if (invocation_number(inv, "rate", &wish.rate, &err))
        return refresh(&wish);
    return command_usage(inv, &err);
}

/* ---- the commands ---- */

static bool read_options(struct verify_wish *wish, struct err *err)
{
    static const char *const of_jobs[] = {"all",     "yes",    "rate", "version",
                                          "no-wait", "sample", "where"};
    const struct invocation *inv = wish->inv;

    wish->all = invocation_has(inv, "all");
    wish->keys = invocation_has(inv, "key");
    if (wish->all == (inv->n_args > 0))
        return err_set(err, ERR_REJECT, "%s which table? give TABLE or --all",
                       inv->command->name);
    for (size_t i = 0; wish->keys && i < ARRAY_LEN(of_jobs); i++)
        if (invocation_has(inv, of_jobs[i]))
            return err_set(err, ERR_REJECT,
                           "--key goes with --repair and --values only: single documents are "
                           "compared at once");
    if (invocation_has(inv, "where") && (wish->all || *invocation_value(inv, "where") == 0))
        return err_set(err, ERR_REJECT, "--where is a condition on the rows of one TABLE");
    return invocation_number(inv, "rate", &wish->rate, err) &&
           invocation_number(inv, "version", &wish->version, err) &&
           invocation_number(inv, "sample", &wish->sample, err);
}

static int run(struct verify_wish *wish)
{
    const struct invocation *inv = wish->inv;
    struct session *s = NULL;
    struct err err = {0};

    if (!read_options(wish, &err))
        return command_usage(inv, &err);
    if (!session_open(&s, inv, &err))
        return command_fail(&err);

    const int code = wish->all ? verify_all(s, wish) : verify(s, wish, inv->args[0]);

    session_close(s);
    return code;
}

int command_verify(const struct invocation *inv)
{
    return run(&(struct verify_wish){.inv = inv});
}

int command_check(const struct invocation *inv)
{
    return run(&(struct verify_wish){.inv = inv, .changed = true});
}

int command_replay(const struct invocation *inv)
{
    struct err err = {0};

    if (invocation_has(inv, "all") && invocation_has(inv, "no-wait")) {
        err_set(&err, ERR_REJECT, "--all replays one table after another, so it waits");
        return command_usage(inv, &err);
    }
    return run(&(struct verify_wish){.inv = inv, .replay = true});
}

static void view_report(struct buf *out, struct render_style style, struct str json)
{
    struct str found;

    if (json_find(json, "/end", &found) && json_find(json, "/queued", &found))
        view_drain(out, style, json);
    else if (json_find(json, "/ok", &found))
        doctor_view_verdict(out, json, doctor_view_checks(out, style, json, "/items", true));
    else
        view_verify(out, style, json);
}

int command_report(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/reports");
    call_segment(&call, inv->args[0]);
    return session_run(inv, &call, view_report);
}

int command_trace(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET, .is_question = true};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    int code;

    if (invocation_has(inv, "from") && !invocation_has(inv, "log")) {
        err_set(&err, ERR_REJECT, "--from goes with --log");
        return command_usage(inv, &err);
    }
    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    call_path(&call, "/api/v1/tables");
    call_segment(&call, inv->args[0]);
    call_segment(&call, "trace");
    call_param(&call, "key", inv->args[1]);
    call_param(&call, "log", invocation_has(inv, "log") ? "true" : NULL);
    call_param(&call, "from", invocation_value(inv, "from"));
    code = session_ask(s, &call, &answer);
    if (code == EXIT_DONE)
        code = show(inv, buf_str(&answer), view_trace);
    session_close(s);
    buf_free(&answer);
    return code;
}
