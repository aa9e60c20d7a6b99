#include "config.h"

#include "src/cli/commands.h"

#include "src/base/clock.h"
#include "src/cli/report.h"
#include "src/cli/session.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LIMIT_MS     120000 /* for all to move: twice what nodes get to stop and to start */
#define START_MS     30000  /* for the topic to run then */
#define TROUBLE_MS   5000   /* ... if it says why it does not */
#define POLL_MS      300
#define FIRST_SAY_MS 2000
#define SAY_MS       10000

/* What a command asks of the cluster. */
struct node_wish {
    const char *plural, *action; /* of the route */
    const char *question;
    bool is_of_topic;
};

/* ---- what moves ---- */

static size_t count_at(struct str json, const char *pointer)
{
    struct str list;

    return json_find(json, pointer, &list) ? json_count_elements(list) : 0;
}

static void add_lines(struct buf *out, struct str json)
{
    struct json_reader r;
    struct buf line = {0};
    struct str list;

    if (!json_find(json, "/moves", &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_text(&r, &line)) {
            buf_append(out, buf_str(&line));
            buf_append_char(out, '\n');
            buf_clear(&line);
        }
    buf_free(&line);
}

/* Says why there is nothing to do. */
static bool has_note(struct str json)
{
    struct buf note = {0};
    const bool has = json_find_text(json, "/note", &note) && note.len > 0;

    buf_free(&note);
    return has;
}

static void view_note(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    render_value(out, (struct render_style){0}, json, "/note", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static void view_moves(struct buf *out, struct render_style style, struct str json)
{
    if (has_note(json)) {
        view_note(out, style, json);
        return;
    }
    if (count_at(json, "/moves") == 0)
        buf_append(out, STR("nothing moves\n"));
    add_lines(out, json);
    if (count_at(json, "/together") > 1) {
        buf_append(out, STR("these move together, as their tables share an index or they have "
                            "one group: "));
        render_value(out, style, json, "/together", RENDER_LIST);
        buf_append_char(out, '\n');
    }
}

static void view_asked(struct buf *out, struct render_style style, struct str json)
{
    (void)style, (void)json;
    buf_append(out, STR("the cluster has the request: millrace node list shows how it goes\n"));
}

static void view_done(struct buf *out, struct render_style style, struct str json)
{
    (void)style, (void)json;
    buf_append(out, STR("done: millrace node list shows which node has which topic\n"));
}

/* ---- waiting for the cluster ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
}

static int fail(enum err_kind kind, enum command_exit code, const struct buf *text)
{
    return report_error(&(struct report){.kind = kind, .exit = code, .message = buf_str(text)});
}

/* Returns the member of the list with this text; false: there is none. */
static bool find_item(struct str json, const char *list, const char *member, struct str text,
                      struct str *item)
{
    struct json_reader r;
    struct str items;
    bool found = false;

    if (!json_find(json, list, &items))
        return false;
    json_reader_init(&r, items);
    if (!json_enter_array(&r))
        return false;
    while (!found && json_next_element(&r) && json_read_raw(&r, item)) {
        struct buf value = {0};

        found = json_find_text(*item, member, &value) && str_equal(buf_str(&value), text);
        buf_free(&value);
    }
    return found;
}

static void add_slow(struct buf *out, struct str item)
{
    struct buf state = {0};

    if (json_find_text(item, "/state", &state) &&
        (str_equal(buf_str(&state), STR("rebalancing")) ||
         str_equal(buf_str(&state), STR("evacuating")))) {
        buf_append(out, out->len > 0 ? STR(", ") : STR(""));
        render_value(out, (struct render_style){0}, item, "/name", RENDER_TEXT);
    }
    buf_free(&state);
}

/* Lists the nodes that have not done what the others wait for. */
static void list_slow(struct buf *out, struct str nodes)
{
    struct json_reader r;
    struct str items, item;

    if (!json_find(nodes, "/items", &items))
        return;
    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item))
            add_slow(out, item);
}

/* The node that leads the rebalance names the others by itself. */
static void put_waits(struct buf *out, struct str nodes)
{
    struct buf waits = {0}, slow = {0};

    if (json_find_text(nodes, "/cluster/waits_for", &waits) && waits.len > 0)
        buf_printf(out, "the cluster %s", waits.ptr);
    else
        render_value(out, (struct render_style){0}, nodes, "/detail", RENDER_TEXT);
    list_slow(&slow, nodes);
    if (slow.len > 0 && (waits.len == 0 || strstr(waits.ptr, slow.ptr) == NULL))
        buf_printf(out, " (not ready yet: %s)", slow.ptr);
    buf_free(&waits);
    buf_free(&slow);
}

static int give_up(struct str nodes)
{
    struct buf text = {0};
    int code;

    buf_printf(&text, "not all has moved after %d s, and it goes on: ", LIMIT_MS / 1000);
    put_waits(&text, nodes);
    code = fail(ERR_RETRY, EXIT_BUSY, &text);
    buf_free(&text);
    return code;
}

static void say_waits(struct str nodes, int64_t *next_ms)
{
    struct buf text = {0};

    if (clock_mono_ms() < *next_ms)
        return;
    *next_ms = clock_mono_ms() + SAY_MS;
    put_waits(&text, nodes);
    if (text.len > 0)
        fprintf(stderr, "millrace: %s\n", text.ptr);
    buf_free(&text);
}

static int ask(struct session *s, const char *path, struct buf *answer)
{
    struct call call = {.method = METHOD_GET};
    int status;

    buf_free(answer);
    call_path(&call, path);
    return session_try(s, &call, answer, &status);
}

static int wait_for_all(struct session *s)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    int64_t say_ms = clock_mono_ms() + FIRST_SAY_MS;
    struct buf nodes = {0};
    bool is_normal = false;
    int code;

    while ((code = ask(s, "/api/v1/nodes", &nodes)) == EXIT_DONE &&
           !(json_find_bool(buf_str(&nodes), "/cluster/normal", &is_normal) && is_normal)) {
        if (clock_mono_ms() >= until_ms) {
            code = give_up(buf_str(&nodes));
            break;
        }
        say_waits(buf_str(&nodes), &say_ms);
        nap();
    }
    buf_free(&nodes);
    return code;
}

/* ---- waiting for the topic ---- */

struct moved {
    struct buf topic, to;            /* to: empty: to any node */
    struct buf owner, state, reason; /* as status shows it now */
    struct buf fix;
};

static void read_into(struct buf *out, struct str json, const char *pointer)
{
    buf_clear(out);
    (void)json_find_text(json, pointer, out);
}

static bool look(struct moved *m, struct str status)
{
    struct str item;

    if (!find_item(status, "/topics", "/name", buf_str(&m->topic), &item))
        return false;
    read_into(&m->owner, item, "/owner");
    read_into(&m->state, item, "/state");
    read_into(&m->reason, item, "/reason");
    read_into(&m->fix, item, "/fix");
    return true;
}

static bool is_in(const struct moved *m, const char *state)
{
    return str_equal(buf_str(&m->state), str_from(state));
}

static bool is_there(const struct moved *m)
{
    return m->to.len == 0 || str_equal(buf_str(&m->owner), buf_str(&m->to));
}

static int refuse(const struct moved *m)
{
    struct buf text = {0};
    int code;

    if (!is_there(m) && !is_in(m, "moving"))
        buf_printf(&text, "topic %s is at %s, as %s could not start it: see the log of %s",
                   m->topic.ptr, m->owner.len > 0 ? m->owner.ptr : "no node", m->to.ptr,
                   m->to.ptr);
    else
        buf_printf(&text, "topic %s is at %s now, and does not run there: it is %s%s%s",
                   m->topic.ptr, m->owner.len > 0 ? m->owner.ptr : "no node",
                   m->state.len > 0 ? m->state.ptr : "unknown", m->reason.len > 0 ? ", " : "",
                   m->reason.len > 0 ? m->reason.ptr : "");
    if (m->fix.len > 0)
        buf_printf(&text, "; fix: %s", m->fix.ptr);
    code = fail(ERR_RETRY, EXIT_FAILED, &text);
    buf_free(&text);
    return code;
}

/* A topic that says what is wrong gets less time; one that is on its way says so, too. */
static int64_t limit_of(const struct moved *m)
{
    return is_in(m, "moving") || (is_there(m) && m->reason.len == 0) ? START_MS : TROUBLE_MS;
}

static int wait_for_topic(struct session *s, struct str answer)
{
    const int64_t began_ms = clock_mono_ms();
    struct buf status = {0};
    struct moved m = {0};
    bool is_paused;
    int code;

    if (json_find_bool(answer, "/paused", &is_paused) && is_paused)
        return EXIT_DONE;
    read_into(&m.topic, answer, "/topic");
    read_into(&m.to, answer, "/node");
    while ((code = ask(s, "/api/v1/status", &status)) == EXIT_DONE &&
           look(&m, buf_str(&status)) &&
           !((is_in(&m, "running") || is_in(&m, "waiting")) && is_there(&m))) {
        if (clock_mono_ms() - began_ms >= limit_of(&m)) {
            code = refuse(&m);
            break;
        }
        nap();
    }
    buf_free(&status);
    buf_free(&m.topic);
    buf_free(&m.to);
    buf_free(&m.owner);
    buf_free(&m.state);
    buf_free(&m.reason);
    buf_free(&m.fix);
    return code;
}

/* ---- the commands ---- */

static int send(struct session *s, const struct invocation *inv, const struct node_wish *wish,
                bool dry_run, struct buf *answer)
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};

    call_path(&call, wish->plural);
    if (inv->n_args > 0)
        call_segment(&call, inv->args[0]);
    call_segment(&call, wish->action);
    json_open_object(&w);
    if (invocation_has(inv, "to"))
        json_put_cstr(&w, STR("to"), invocation_value(inv, "to"));
    json_put_bool(&w, STR("dry_run"), dry_run);
    json_close_object(&w);
    return session_ask(s, &call, answer);
}

/* Shows on standard error what would move, and asks. */
static int confirm(const struct invocation *inv, const struct node_wish *wish, struct str plan)
{
    struct buf text = {0};

    view_moves(&text, (struct render_style){0}, plan);
    fputs(text.ptr, stderr);
    buf_free(&text);
    return session_confirm(inv, wish->question, inv->n_args > 0 ? inv->args[0] : "");
}

static int carry_out(struct session *s, const struct invocation *inv,
                     const struct node_wish *wish)
{
    const bool waits = !invocation_has(inv, "no-wait");
    struct buf answer = {0};
    int code = send(s, inv, wish, false, &answer);
    const bool is_idle = code == EXIT_DONE && has_note(buf_str(&answer));

    if (code == EXIT_DONE && waits && !is_idle)
        code = wait_for_all(s);
    if (code == EXIT_DONE && waits && !is_idle && wish->is_of_topic)
        code = wait_for_topic(s, buf_str(&answer));
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer),
                             is_idle ? view_note
                             : waits ? view_done
                                     : view_asked);
    buf_free(&answer);
    return code;
}

static int change(const struct invocation *inv, const struct node_wish *wish)
{
    struct session *s = NULL;
    struct buf plan = {0};
    struct err err = {0};
    int code;

    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    code = send(s, inv, wish, true, &plan);
    if (code == EXIT_DONE && invocation_has(inv, "dry-run"))
        code = session_print(inv, buf_str(&plan), view_moves);
    else if (code == EXIT_DONE) {
        code = has_note(buf_str(&plan)) ? EXIT_DONE : confirm(inv, wish, buf_str(&plan));
        if (code == EXIT_DONE)
            code = carry_out(s, inv, wish);
    }
    session_close(s);
    buf_free(&plan);
    return code;
}

int command_node_rebalance(const struct invocation *inv)
{
    return change(inv,
                  &(struct node_wish){"/api/v1/nodes", "rebalance", "Move the topics?", false});
}

int command_node_evacuate(const struct invocation *inv)
{
    return change(inv, &(struct node_wish){"/api/v1/nodes", "evacuate",
                                           "Move all topics away, and give no more to", false});
}

static void view_forgotten(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    render_value(out, (struct render_style){0}, json, "/node", RENDER_TEXT);
    buf_append(out, STR(" is forgotten\n"));
}

int command_node_forget(const struct invocation *inv)
{
    struct call call = {.method = METHOD_DELETE};
    int code = session_confirm(inv, "Forget the node", inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    call_path(&call, "/api/v1/nodes");
    call_segment(&call, inv->args[0]);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_forgotten);
}

int command_node_admit(const struct invocation *inv)
{
    return change(inv,
                  &(struct node_wish){"/api/v1/nodes", "admit", "Give topics again to", false});
}

int command_topic_move(const struct invocation *inv)
{
    struct err err = {0};

    if (!invocation_has(inv, "to")) {
        err_set(&err, ERR_REJECT, "to which node? give --to NODE, or --to any");
        return command_usage(inv, &err);
    }
    return change(inv, &(struct node_wish){"/api/v1/topics", "move", "Move the topic", true});
}
