#include "config.h"

#include "src/cli/commands.h"

#include "src/base/clock.h"
#include "src/cli/report.h"
#include "src/cli/session.h"
#include "src/cli/view/build_view.h"
#include "src/cli/view/progress_line.h"
#include "src/format/json.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOON_MS  20 /* a small table is built in no time */
#define POLL_MS  500
#define STILL_MS 3000
#define LATE_MS \
    10000 /* our node may know the end of another node's build only a moment later */

static void index_path(struct call *call, const char *table)
{
    call_path(call, "/api/v1/tables");
    call_segment(call, table);
    call_segment(call, "index");
}

/* ---- following a build ---- */

/* Set by SIGINT: stop following the build, which continues. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

static double number_at(struct str item, const char *pointer, double otherwise)
{
    struct str raw;

    if (!json_find(item, pointer, &raw) || raw.len == 0 || raw.len > 40 || raw.ptr[0] == 'n')
        return otherwise;
    return strtod(raw.ptr, NULL);
}

/* The build being followed. */
struct followed {
    struct session *s;
    const struct invocation *inv;
    const char *table;
    struct buf job, index, version; /* as text */
    struct progress_facts facts;
    struct progress_line meter;
    int64_t moved_ms; /* when rows_done last rose, or when a reason was last printed */
    struct buf said;  /* the last reason printed */
    struct buf step;  /* the text of facts.step */
    bool parked;      /* the version waits to be published */
    bool is_slow;     /* rows come faster than it reads them */
};

static void get(struct call *call, const char *what, const char *name)
{
    call->method = METHOD_GET;
    call_path(call, "/api/v1");
    call_segment(call, what);
    call_segment(call, name);
}

/* Print once why the build makes no progress. */
static void say_reason(struct followed *f, struct str reason, struct str fix)
{
    if (reason.len == 0 || str_equal(reason, buf_str(&f->said)))
        return;
    progress_line_end(&f->meter);
    fprintf(stderr, "millrace: the build %s%" STR_FMT "%s%" STR_FMT "\n",
            f->is_slow ? "goes on, but " : "waits: ", STR_ARG(reason),
            fix.len > 0 ? "\n  fix: " : "", STR_ARG(fix));
    buf_clear(&f->said);
    buf_append(&f->said, reason);
}

/*
 * Print what the build waits for: at once if somebody must act, otherwise after STILL_MS
 * without progress.
 */
static void explain_stop(struct followed *f, struct str job)
{
    const struct render_style plain = {0};
    struct buf reason = {0}, fix = {0};

    render_value(&reason, plain, job, "/waits_for", RENDER_TEXT);
    render_value(&fix, plain, job, "/fix", RENDER_TEXT);
    json_find_bool(job, "/slow", &f->is_slow);
    if (fix.len > 0 || clock_mono_ms() - f->moved_ms >= STILL_MS) {
        f->moved_ms = clock_mono_ms();
        say_reason(f, buf_str(&reason), buf_str(&fix));
    }
    buf_free(&reason);
    buf_free(&fix);
}

/* True if the version is built but waits to be published. */
static bool is_parked(struct str job)
{
    struct buf state = {0};

    render_value(&state, (struct render_style){0}, job, "/state", RENDER_TEXT);

    const bool is = str_equal(buf_str(&state), STR("waiting"));

    buf_free(&state);
    return is;
}

/* What a build waits for that has written all rows is its step, unless it is in trouble. */
static void note_step(struct followed *f, struct str job)
{
    const struct render_style plain = {0};
    struct buf phase = {0};

    buf_clear(&f->step);
    render_value(&phase, plain, job, "/phase", RENDER_TEXT);
    if (str_equal(buf_str(&phase), STR("finishing")))
        render_value(&f->step, plain, job, "/waits_for", RENDER_TEXT);
    f->facts.step = buf_str(&f->step);
    buf_free(&phase);
}

static void show(struct followed *f, struct str job)
{
    uint64_t before = f->facts.done;

    f->facts.rate = number_at(job, "/rate", 0);
    f->facts.remaining_seconds = number_at(job, "/remaining_seconds", -1);
    json_find_u64(job, "/rows_done", &f->facts.done);
    json_find_u64(job, "/rows_total", &f->facts.total);
    if (f->facts.done != before)
        f->moved_ms = clock_mono_ms();
    note_step(f, job);
    explain_stop(f, job);
    progress_line_show(&f->meter, &f->facts, clock_mono_ms());
}

/*
 * Watch the job until it is gone, which means the build has ended, or until it waits to be
 * published.
 */
static int watch(struct followed *f)
{
    long pause_ms = SOON_MS;
    struct buf answer = {0};
    struct str job;
    int code = EXIT_DONE;

    while (!interrupted) {
        struct call call = {0};
        int status;

        get(&call, "jobs", f->job.ptr);
        code = session_try(f->s, &call, &answer, &status);
        if (code != EXIT_DONE || status != 200 ||
            !json_find(buf_str(&answer), "/items/0", &job))
            break;
        show(f, job);
        f->parked = is_parked(job);
        if (f->parked)
            break;
        nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000}, NULL);
        pause_ms = pause_ms * 2 < POLL_MS ? pause_ms * 2 : POLL_MS;
    }
    buf_free(&answer);
    return code;
}

/* Find the list's item with our version and this text in `member`. */
static bool find_item(const struct followed *f, struct str items, const char *member,
                      const char *text, struct str *item)
{
    const struct render_style plain = {0};
    struct json_reader r;
    bool found = false;

    json_reader_init(&r, items);
    if (!json_enter_array(&r))
        return false;
    while (!found && json_next_element(&r) && json_read_raw(&r, item)) {
        struct buf version = {0}, value = {0};

        render_value(&version, plain, *item, "/version", RENDER_TEXT);
        render_value(&value, plain, *item, member, RENDER_TEXT);
        found = str_equal(buf_str(&version), buf_str(&f->version)) &&
                str_equal(buf_str(&value), str_from(text));
        buf_free(&version);
        buf_free(&value);
    }
    return found;
}

static void fail_with(enum err_kind kind, struct str message)
{
    report_error(&(struct report){.kind = kind, .exit = EXIT_FAILED, .message = message});
}

/* The build is gone and left no version: find the reason in the log and print it. */
static int fail_build(struct followed *f)
{
    struct call call = {0};
    struct buf answer = {0}, why = {0};
    struct str items, item;
    int status;

    get(&call, "log", f->table);
    if (session_try(f->s, &call, &answer, &status) == EXIT_DONE &&
        json_find(buf_str(&answer), "/items", &items) &&
        find_item(f, items, "/event", "failed", &item))
        render_value(&why, (struct render_style){0}, item, "/detail", RENDER_TEXT);
    buf_clear(&answer);
    buf_printf(&answer, "the build of %s was ended%s%s", f->facts.what.ptr,
               why.len > 0 ? ": " : " by an index reset", why.len > 0 ? why.ptr : "");
    fail_with(ERR_REJECT, buf_str(&answer));
    buf_free(&answer);
    buf_free(&why);
    return EXIT_FAILED;
}

/* A build succeeds even if the engine refused some documents, so mention them. */
static void say_letters(struct followed *f, struct str version)
{
    struct call call = {.method = METHOD_GET};
    struct buf answer = {0}, name = {0};
    struct str first;
    int status;

    render_value(&name, (struct render_style){0}, version, "/name", RENDER_TEXT);
    call_path(&call, "/api/v1/dead-letters");
    call_param(&call, "index", name.ptr);
    call_param(&call, "limit", "1");
    if (session_try(f->s, &call, &answer, &status) == EXIT_DONE && status == 200 &&
        json_find(buf_str(&answer), "/items/0", &first))
        fprintf(stderr,
                "millrace: the version lacks documents that the engine refused: millrace "
                "dead-letter list --index %s\n",
                name.ptr);
    buf_free(&answer);
    buf_free(&name);
}

/*
 * Read the versions of the index, and again while ours is still being built, as our node knows
 * it. *item: our version, if it is in that state; else empty.
 */
static int ask_versions(struct followed *f, const char *state, struct buf *answer,
                        struct str *item)
{
    const int64_t until_ms = clock_mono_ms() + LATE_MS;
    bool is_late = true;
    int code = EXIT_DONE;

    *item = (struct str){0};
    while (is_late && code == EXIT_DONE && !interrupted) {
        struct call call = {0};
        struct str items, other;

        get(&call, "versions", f->index.ptr);
        code = session_ask(f->s, &call, answer);
        if (code != EXIT_DONE || !json_find(buf_str(answer), "/items", &items) ||
            find_item(f, items, "/state", state, item))
            break;
        *item = (struct str){0};
        is_late =
            find_item(f, items, "/state", "changing", &other) && clock_mono_ms() < until_ms;
        if (is_late)
            nanosleep(&(struct timespec){.tv_nsec = POLL_MS / 5 * 1000000L}, NULL);
    }
    return code;
}

/* The job is gone, or waits: find out whether the version is in that state, or has failed. */
static int judge(struct followed *f, const char *state)
{
    struct buf answer = {0}, one = {0};
    struct str item;
    int code = ask_versions(f, state, &answer, &item);

    if (code == EXIT_DONE && item.len > 0) {
        f->facts.finished = true;
        f->facts.done = f->facts.total > f->facts.done ? f->facts.total : f->facts.done;
        progress_line_show(&f->meter, &f->facts, clock_mono_ms());
        progress_line_end(&f->meter);
        say_letters(f, item);
        buf_printf(&one, "{\"schema\":\"millrace/version/1\",\"items\":[%" STR_FMT "]}",
                   STR_ARG(item));
        code = session_print(f->inv, buf_str(&one), view_built);
    } else if (code == EXIT_DONE) {
        progress_line_end(&f->meter);
        code = fail_build(f);
    }
    buf_free(&answer);
    buf_free(&one);
    return code;
}

static int leave_parked(struct followed *f)
{
    progress_line_end(&f->meter);
    struct buf text = {0};

    buf_printf(&text, "%s is not published: searches use the version before",
               f->facts.what.ptr);
    fail_with(ERR_REJECT, buf_str(&text));
    buf_free(&text);
    return EXIT_FAILED;
}

static int leave_build(const char *table)
{
    struct buf text = {0};

    buf_printf(&text,
               "the build goes on; millrace status shows it, millrace index reset %s ends it",
               table);
    fail_with(ERR_STOP, buf_str(&text));
    buf_free(&text);
    return EXIT_FAILED;
}

/* The version waits.  That is what --hold asks for. */
static int leave(struct followed *f)
{
    return invocation_has(f->inv, "hold") ? judge(f, "waiting") : leave_parked(f);
}

static int follow(struct session *s, const struct invocation *inv, const char *table,
                  struct str started)
{
    const struct render_style plain = {0};
    struct followed f = {.s = s,
                         .inv = inv,
                         .table = table,
                         .facts.remaining_seconds = -1,
                         .moved_ms = clock_mono_ms()};
    struct buf what = {0};

    render_value(&f.job, plain, started, "/job", RENDER_TEXT);
    render_value(&f.index, plain, started, "/index", RENDER_TEXT);
    render_value(&f.version, plain, started, "/version", RENDER_TEXT);
    buf_printf(&what, "%s v%s", f.index.ptr, f.version.ptr);
    f.facts.what = buf_str(&what);
    progress_line_init(&f.meter, STDERR_FILENO);
    catch_interrupt();

    int code = watch(&f);

    if (interrupted || code != EXIT_DONE)
        progress_line_end(&f.meter);
    if (interrupted)
        code = leave_build(table);
    else if (code == EXIT_DONE)
        code = f.parked ? leave(&f) : judge(&f, "available");
    buf_free(&f.job);
    buf_free(&f.index);
    buf_free(&f.version);
    buf_free(&f.said);
    buf_free(&f.step);
    buf_free(&what);
    return code;
}

/* If the build replaces something, print whose that was. */
static void say_taken(struct str started)
{
    struct buf taken = {0};

    render_value(&taken, (struct render_style){0}, started, "/taken", RENDER_TEXT);
    if (taken.len > 0)
        fprintf(stderr, "millrace: the build replaces an index of another owner: %s\n",
                taken.ptr);
    buf_free(&taken);
}

static int start(struct session *s, const struct invocation *inv, const char *table,
                 struct call *call)
{
    struct buf answer = {0};
    int code = session_ask_in_turn(s, inv, call, &answer);

    if (code == EXIT_DONE)
        say_taken(buf_str(&answer));
    if (code == EXIT_DONE)
        code = invocation_has(inv, "no-wait")
                   ? session_print(inv, buf_str(&answer), view_building)
                   : follow(s, inv, table, buf_str(&answer));
    buf_free(&answer);
    return code;
}

/* What the options say of a build. */
struct wish {
    uint64_t rate, chunk, buckets, nodes;
    uint64_t keep; /* if --keep is given */
};

static void put_wish(struct call *call, const struct invocation *inv, const char *table,
                     const struct wish *wish, bool dry_run)
{
    struct json_writer w = {.out = &call->body};

    index_path(call, table);
    json_open_object(&w);
    json_put_u64(&w, STR("rate"), wish->rate);
    json_put_u64(&w, STR("chunk"), wish->chunk);
    json_put_u64(&w, STR("buckets"), wish->buckets);
    json_put_u64(&w, STR("nodes"), wish->nodes);
    if (invocation_has(inv, "buckets-by"))
        json_put_cstr(&w, STR("buckets_by"), invocation_value(inv, "buckets-by"));
    json_put_bool(&w, STR("take_index"), invocation_has(inv, "take-index"));
    json_put_bool(&w, STR("take_alias"), invocation_has(inv, "take-alias"));
    json_put_bool(&w, STR("hold"), invocation_has(inv, "hold"));
    if (invocation_has(inv, "keep"))
        json_put_u64(&w, STR("keep"), wish->keep);
    if (invocation_has(inv, "verify"))
        json_put_cstr(&w, STR("verify"), invocation_value(inv, "verify"));
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* Ask what the build will read, and build nothing. */
static int ask_cost(struct session *s, const struct invocation *inv, const char *table,
                    const struct wish *wish, struct buf *answer)
{
    struct call call = {.method = METHOD_POST};

    put_wish(&call, inv, table, wish, true);
    return session_ask(s, &call, answer);
}

/* Buckets by mod read each row once a bucket: say so before any is read. */
static int say_cost(struct session *s, const struct invocation *inv, const char *table,
                    const struct wish *wish)
{
    struct buf answer = {0}, text = {0};
    const int code = ask_cost(s, inv, table, wish, &answer);

    if (code == EXIT_DONE) {
        view_build_cost(&text, (struct render_style){0}, buf_str(&answer));
        fprintf(stderr, "millrace: %s", text.ptr);
    }
    buf_free(&answer);
    buf_free(&text);
    return code;
}

static bool is_by_mod(const struct invocation *inv)
{
    return invocation_has(inv, "buckets-by") &&
           strcmp(invocation_value(inv, "buckets-by"), "mod") == 0;
}

static int create(struct session *s, const struct invocation *inv, const char *table,
                  const struct wish *wish)
{
    struct call call = {.method = METHOD_POST};
    struct buf answer = {0};
    int code = EXIT_DONE;

    if (invocation_has(inv, "dry-run")) {
        code = ask_cost(s, inv, table, wish, &answer);
        if (code == EXIT_DONE)
            code = session_print(inv, buf_str(&answer), view_build_cost);
        buf_free(&answer);
        return code;
    }
    if (is_by_mod(inv))
        code = say_cost(s, inv, table, wish);
    if (code != EXIT_DONE)
        return code;
    put_wish(&call, inv, table, wish, false);
    return start(s, inv, table, &call);
}

/* Build the table's index, unless it is among those of earlier tables, each between breaks. */
static int create_next(struct session *s, const struct invocation *inv, struct str item,
                       const struct wish *wish, struct buf *indexes)
{
    struct buf table = {0}, index = {0};
    int code = EXIT_DONE;

    render_value(&table, (struct render_style){0}, item, "/table", RENDER_TEXT);
    if (table.len == 0)
        render_value(&table, (struct render_style){0}, item, "/pattern", RENDER_TEXT);
    buf_append_char(&index, '\n'); /* no name has one */
    render_value(&index, (struct render_style){0}, item, "/index", RENDER_TEXT);
    buf_append_char(&index, '\n');
    if (strstr(indexes->ptr, index.ptr) == NULL)
        code = create(s, inv, table.ptr, wish);
    buf_append(indexes, buf_str(&index));
    buf_free(&table);
    buf_free(&index);
    return code;
}

/* Build the indexes of all tables, one after another.  Goes on after a failure. */
static int create_each(struct session *s, const struct invocation *inv, struct str tables,
                       const struct wish *wish)
{
    struct buf indexes = {0};
    struct json_reader r;
    struct str item;
    int code = EXIT_DONE;

    buf_append_char(&indexes, '\n');
    json_reader_init(&r, tables);
    if (json_enter_array(&r))
        while (!interrupted && json_next_element(&r) && json_read_raw(&r, &item)) {
            const int one = create_next(s, inv, item, wish, &indexes);

            code = code == EXIT_DONE ? one : code;
        }
    buf_free(&indexes);
    return code;
}

static int create_all(struct session *s, const struct invocation *inv, const struct wish *wish)
{
    struct call call = {.method = METHOD_GET};
    struct buf answer = {0};
    struct str tables;

    call_path(&call, "/api/v1/tables");

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE && json_find(buf_str(&answer), "/items", &tables))
        code = create_each(s, inv, tables, wish);
    buf_free(&answer);
    return code;
}

int command_index_create(const struct invocation *inv)
{
    struct session *s = NULL;
    struct wish wish = {0};
    struct err err = {0};
    const bool all = invocation_has(inv, "all");
    int code;

    if (!invocation_number(inv, "rate", &wish.rate, &err) ||
        !invocation_number(inv, "chunk", &wish.chunk, &err) ||
        !invocation_number(inv, "buckets", &wish.buckets, &err) ||
        !invocation_number(inv, "nodes", &wish.nodes, &err) ||
        !invocation_number(inv, "keep", &wish.keep, &err))
        return command_usage(inv, &err);
    if (all == (inv->n_args > 0)) {
        err_set(&err, ERR_REJECT, "give a TABLE, or --all");
        return command_usage(inv, &err);
    }
    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    code = all ? create_all(s, inv, &wish) : create(s, inv, inv->args[0], &wish);
    session_close(s);
    return code;
}

int command_index_cutover(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};
    struct session *s = NULL;
    uint64_t accepted = 0;
    int code;

    if (!invocation_number(inv, "accept-dead-letters", &accepted, &err))
        return command_usage(inv, &err);
    index_path(&call, inv->args[0]);
    call_segment(&call, "cutover");
    call_dry_run(&call, inv);
    buf_printf(&call.body, "{\"accept_dead_letters\":%llu}", (unsigned long long)accepted);
    if (invocation_has(inv, "dry-run"))
        return session_run(inv, &call, NULL);
    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    code = start(s, inv, inv->args[0], &call);
    session_close(s);
    return code;
}
