#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const which[] = {"topic", "table", "index", "reason"};

struct page_table {
    struct render_style style;
    const struct render_column *columns;
    size_t n;
};

/* A page of a list, and where the next one begins. */
static void view_page(struct buf *out, struct str json, const char *none,
                      const struct page_table *t)
{
    struct str items, last;

    if (!json_find(json, "/items", &items))
        return;
    if (items.len <= 2)
        buf_append(out, str_from(none));
    else
        render_table(out, t->style, items, t->columns, t->n);
    if (json_find(json, "/more_after", &last))
        buf_printf(out, "there are more: --after %" STR_FMT "\n", STR_ARG(last));
}

static void view_letters(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ID", "/id", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT},
        {"INDEX", "/index", RENDER_TEXT},
        {"DOCUMENT", "/doc_id", RENDER_START},
        {"OP", "/op", RENDER_TEXT},
        {"STATUS", "/status", RENDER_TEXT},
        {"TRIES", "/attempts", RENDER_COUNT},
        {"LAST", "/last", RENDER_TEXT},
        {"POSITION", "/position", RENDER_TEXT},
        {"GTID", "/gtid", RENDER_TEXT},
        {"REASON", "/reason", RENDER_TEXT},
    };
    view_page(out, json, "no dead letters\n",
              &(struct page_table){style, columns, ARRAY_LEN(columns)});
}

int command_dead_letter_list(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct err err = {0};
    uint64_t n;

    if (!invocation_number(inv, "limit", &n, &err) ||
        !invocation_number(inv, "after", &n, &err))
        return command_usage(inv, &err);
    call_path(&call, "/api/v1/dead-letters");
    for (size_t i = 0; i < ARRAY_LEN(which); i++)
        call_param(&call, which[i], invocation_value(inv, which[i]));
    call_param(&call, "limit", invocation_value(inv, "limit"));
    call_param(&call, "after", invocation_value(inv, "after"));
    return session_run(inv, &call, view_letters);
}

static void view_letter(struct buf *out, struct render_style style, struct str json)
{
    struct str item;

    (void)style;
    if (json_find(json, "/items/0", &item))
        render_yaml(out, item);
}

int command_dead_letter_show(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/dead-letters");
    call_segment(&call, inv->args[0]);
    return session_run(inv, &call, view_letter);
}

/*
 * Put the command line's filters into the body.  Returns false if there are none, or --all
 * beside others.
 */
static bool add_filter(struct buf *body, const struct invocation *inv, struct err *err)
{
    struct json_writer w = {.out = body};
    bool all = invocation_has(inv, "all");
    size_t n = inv->n_args;

    json_open_object(&w);
    if (inv->n_args > 0)
        json_put_cstr(&w, STR("id"), inv->args[0]);
    for (size_t i = 0; i < ARRAY_LEN(which); i++) {
        const char *value = invocation_value(inv, which[i]);

        if (value != NULL)
            json_put_cstr(&w, str_from(which[i]), value);
        n += value != NULL;
    }
    if (all)
        json_put_bool(&w, STR("all"), true);
    json_close_object(&w);
    if (n == 0 && !all)
        return err_set(err, ERR_REJECT,
                       "which ones? an ID, --table, --topic, --index, --reason, or --all");
    if (all && n > 0)
        return err_set(err, ERR_REJECT, "--all excludes an ID and the other options");
    return true;
}

static void view_count(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append(out, STR(" dead letters\n"));
}

static int act(const struct invocation *inv, const char *verb)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};

    call_path(&call, "/api/v1/dead-letters");
    call_segment(&call, verb);
    call_dry_run(&call, inv);
    if (!add_filter(&call.body, inv, &err))
        return command_usage(inv, &err);
    return session_run(inv, &call, view_count);
}

int command_dead_letter_replay(const struct invocation *inv)
{
    return act(inv, "replay");
}

int command_dead_letter_discard(const struct invocation *inv)
{
    int code = session_confirm(inv, "Forget these dead letters?", "");

    return code == EXIT_DONE ? act(inv, "discard") : code;
}

/* ---- changes of delayed tables, which wait as dead letters do ---- */

#define POLL_MS 500 /* between looks at a run */

static void view_snapshots(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ID", "/id", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT},
        {"GONE", "/table_is_gone", RENDER_TEXT},
        {"OP", "/op", RENDER_TEXT},
        {"ROW", "/row", RENDER_START},
        {"DAY", "/day", RENDER_TEXT},
        {"STATUS", "/status", RENDER_TEXT},
        {"UPDATED", "/updated", RENDER_TEXT},
    };
    view_page(out, json, "no delayed changes\n",
              &(struct page_table){style, columns, ARRAY_LEN(columns)});
}

int command_delayed_list(const struct invocation *inv)
{
    static const char *const params[] = {"topic", "table",  "op",    "row",
                                         "day",   "status", "limit", "after"};
    struct call call = {.method = METHOD_GET};
    struct err err = {0};
    uint64_t n;

    if (!invocation_number(inv, "limit", &n, &err) ||
        !invocation_number(inv, "after", &n, &err))
        return command_usage(inv, &err);
    call_path(&call, "/api/v1/delayed");
    for (size_t i = 0; i < ARRAY_LEN(params); i++)
        call_param(&call, params[i], invocation_value(inv, params[i]));
    return session_run(inv, &call, view_snapshots);
}

static void view_runs(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column runs[] = {
        {"RUN", "/run", RENDER_TEXT},
        {"TOPIC", "/topic", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT},
        {"SNAPSHOTS", "/snapshots", RENDER_COUNT},
        {"PUT", "/put", RENDER_COUNT},
        {"BEGUN", "/begun", RENDER_TEXT},
        {"WAITS FOR", "/waits_for", RENDER_TEXT},
    };
    static const struct render_column waiting[] = {
        {"TABLE", "/table", RENDER_TEXT},         {"GONE", "/table_is_gone", RENDER_TEXT},
        {"WAITING", "/snapshots", RENDER_COUNT},  {"OLDEST", "/oldest", RENDER_TEXT},
        {"WAITS FOR", "/waits_for", RENDER_TEXT},
    };
    struct str items;

    if (json_find(json, "/items", &items) && items.len > 2)
        render_table(out, style, items, runs, ARRAY_LEN(runs));
    else
        buf_append(out, STR("no delayed runs\n"));
    if (json_find(json, "/waiting", &items) && items.len > 2)
        render_table(out, style, items, waiting, ARRAY_LEN(waiting));
}

int command_delayed_runs(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    call_path(&call, "/api/v1/delayed/runs");
    return session_run(inv, &call, view_runs);
}

static bool put_ids(struct json_writer *w, const char *const *ids, size_t n, struct err *err)
{
    json_write_key(w, STR("ids"));
    json_open_array(w);
    for (size_t i = 0; i < n; i++) {
        char *end;
        const unsigned long long id = strtoull(ids[i], &end, 10);

        if (id == 0 || *end != '\0')
            return err_set(err, ERR_REJECT, "%s is no number of a snapshot", ids[i]);
        json_write_u64(w, id);
    }
    json_close_array(w);
    return true;
}

static bool put_which(struct buf *body, const struct invocation *inv, bool dry_run,
                      struct err *err)
{
    struct json_writer w = {.out = body};
    const char *one = invocation_value(inv, "one");
    const bool all = invocation_has(inv, "all");

    if ((inv->n_args > 0) + all + (one != NULL) != 1)
        return err_set(err, ERR_REJECT, "what to run? give TABLE, --all or --one ID");
    json_open_object(&w);
    if (inv->n_args > 0)
        json_put_cstr(&w, STR("table"), inv->args[0]);
    else if (all)
        json_put_bool(&w, STR("all"), true);
    else if (!put_ids(&w, &one, 1, err))
        return false;
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
    return true;
}

static void view_cost(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"TABLE", "/table", RENDER_TEXT},
        {"WAITING", "/snapshots", RENDER_COUNT},
        {"FOUND BY", "/found_by", RENDER_TEXT},
        {"DOCUMENTS OF", "/documents_of", RENDER_TEXT},
        {"STATEMENTS", "/statements", RENDER_COUNT},
        {"ROWS EXAMINED", "/rows_examined", RENDER_COUNT},
    };
    struct str items;

    if (json_find(json, "/items", &items) && items.len > 2)
        render_table(out, style, items, columns, ARRAY_LEN(columns));
    else
        buf_append(out, STR("nothing waits\n"));
}

static void say_rows(struct str item)
{
    static const struct render_style plain;
    struct buf table = {0}, rows = {0}, times = {0};

    render_value(&table, plain, item, "/documents_of", RENDER_TEXT);
    render_value(&rows, plain, item, "/rows_examined", RENDER_COUNT);
    render_value(&times, plain, item, "/statements", RENDER_COUNT);
    if (table.len > 0)
        fprintf(stderr,
                "millrace: `level_sql` of %s is asked %s times or more; the server will read "
                "about %s rows for that\n",
                table.ptr, times.ptr, rows.ptr);
    buf_free(&table);
    buf_free(&rows);
    buf_free(&times);
}

static void call_run(struct call *call, const struct buf *body)
{
    call->body = *body;
    call_path(call, "/api/v1/delayed/run");
}

/* A `level_sql` may read very much: say so before any runs.  A run does not fail for that. */
static int say_cost(struct session *s, struct buf *body)
{
    struct call call = {.method = METHOD_POST};
    struct buf answer = {0};
    struct json_reader r;
    struct str items;
    int status;

    call_run(&call, body);

    const int code = session_try(s, &call, &answer, &status);

    if (code == EXIT_DONE && status == 200 && json_find(buf_str(&answer), "/items", &items)) {
        json_reader_init(&r, items);
        if (json_enter_array(&r))
            while (json_next_element(&r) && json_read_raw(&r, &items))
                say_rows(items);
    }
    buf_free(&answer);
    return code;
}

static int show_cost(struct session *s, const struct invocation *inv, struct buf *body)
{
    struct call call = {.method = METHOD_POST};
    struct buf answer = {0};

    call_run(&call, body);

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), view_cost);
    buf_free(&answer);
    return code;
}

static void view_begun(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append(out,
               STR(" snapshots are being run; millrace delayed runs shows how far it is\n"));
}

static void view_over(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append(out, STR(" snapshots are run\n"));
}

/* Ask until no run is left. */
static int wait_for_runs(struct session *s)
{
    for (;;) {
        struct call call = {.method = METHOD_GET};
        struct buf answer = {0};
        struct str items;

        call_path(&call, "/api/v1/delayed/runs");
        call_param(&call, "waiting", "false");

        const int code = session_ask(s, &call, &answer);
        const bool is_over = code != EXIT_DONE ||
                             !json_find(buf_str(&answer), "/items", &items) || items.len <= 2;

        buf_free(&answer);
        if (is_over)
            return code;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}

static bool tell_unbuilt(struct str item, const char *one)
{
    static const struct render_style plain;
    struct err err = {0};
    struct buf why = {0}, id = {0}, table = {0};

    render_value(&id, plain, item, "/id", RENDER_TEXT);
    render_value(&table, plain, item, "/table", RENDER_TEXT);

    const bool is = json_find_text(item, "/kept/waits_again", &why) &&
                    (one == NULL || str_equal(buf_str(&id), str_from(one)));

    if (is) {
        err_set(&err, ERR_REJECT, "snapshot %s of %s waits for the next run: %s", id.ptr,
                table.ptr, why.ptr);
        (void)command_fail(&err);
    }
    buf_free(&why);
    buf_free(&id);
    buf_free(&table);
    return is;
}

/* EXIT_FAILED: the run could not have an index built that shows a whole table as it was. */
static int tell_all_unbuilt(struct session *s, const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct buf answer = {0};
    struct json_reader r;
    struct str items;
    bool any = false;

    call_path(&call, "/api/v1/delayed");
    call_param(&call, "op", "table");
    call_param(&call, "status", "init");
    call_param(&call, "table", inv->n_args > 0 ? inv->args[0] : NULL);

    const int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE && json_find(buf_str(&answer), "/items", &items)) {
        json_reader_init(&r, items);
        if (json_enter_array(&r))
            while (json_next_element(&r) && json_read_raw(&r, &items))
                any = tell_unbuilt(items, invocation_value(inv, "one")) || any;
    }
    buf_free(&answer);
    return code == EXIT_DONE && any ? EXIT_FAILED : code;
}

static int run_delayed(struct session *s, const struct invocation *inv, struct buf *body)
{
    struct call call = {.method = METHOD_POST};
    struct buf answer = {0};

    call_run(&call, body);

    int code = session_ask_in_turn(s, inv, &call, &answer);

    if (code == EXIT_DONE && invocation_has(inv, "wait"))
        code = wait_for_runs(s);
    if (code == EXIT_DONE && invocation_has(inv, "wait"))
        code = tell_all_unbuilt(s, inv);
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer),
                             invocation_has(inv, "wait") ? view_over : view_begun);
    buf_free(&answer);
    return code;
}

int command_delayed_run(const struct invocation *inv)
{
    struct session *s = NULL;
    struct buf body = {0}, question = {0};
    struct err err = {0};

    if (!put_which(&body, inv, false, &err) || !put_which(&question, inv, true, &err)) {
        buf_free(&body);
        buf_free(&question);
        return command_usage(inv, &err);
    }
    if (!session_open(&s, inv, &err)) {
        buf_free(&body);
        buf_free(&question);
        return command_fail(&err);
    }

    int code;

    if (invocation_has(inv, "dry-run")) {
        code = show_cost(s, inv, &question);
        buf_free(&body);
    } else {
        code = say_cost(s, &question);
        if (code == EXIT_DONE)
            code = run_delayed(s, inv, &body);
        else
            buf_free(&body);
    }
    session_close(s);
    return code;
}

static void view_marked(struct buf *out, struct render_style style, struct str json)
{
    render_value(out, style, json, "/count", RENDER_COUNT);
    buf_append(out, STR(" snapshots are marked as done\n"));
}

int command_delayed_done(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};
    struct err err = {0};

    json_open_object(&w);
    if (!put_ids(&w, (const char *const *)inv->args, inv->n_args, &err)) {
        buf_free(&call.body);
        return command_usage(inv, &err);
    }
    json_close_object(&w);
    call_path(&call, "/api/v1/delayed/done");
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_marked);
}
