#include "config.h"

#include "src/cli/commands.h"

#include "src/base/clock.h"
#include "src/cli/report.h"
#include "src/cli/session.h"
#include "src/format/json.h"

#include <stdio.h>
#include <time.h>

#define LIMIT_MS     120000 /* for all to move: twice what nodes get to stop and to start */
#define POLL_MS      300
#define FIRST_SAY_MS 2000
#define SAY_MS       10000

/* What a command asks of the cluster. */
struct node_wish {
    const char *plural, *action; /* of the route */
    const char *question;
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

static void view_moves(struct buf *out, struct render_style style, struct str json)
{
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

/* ---- waiting ---- */

static void add_slow(struct buf *out, struct str item)
{
    struct buf state = {0};

    if (json_find_text(item, "/state", &state) &&
        str_equal(buf_str(&state), STR("rebalancing"))) {
        buf_append(out, out->len > 0 ? STR(", ") : STR(" (not ready: "));
        render_value(out, (struct render_style){0}, item, "/name", RENDER_TEXT);
    }
    buf_free(&state);
}

/* Says for whom the cluster waits, and which nodes are not ready. */
static void put_waits(struct buf *out, struct str nodes)
{
    struct json_reader r;
    struct buf waits = {0}, slow = {0};
    struct str items, item;

    if (json_find_text(nodes, "/cluster/waits_for", &waits) && waits.len > 0)
        buf_printf(out, "the cluster %s", waits.ptr);
    else
        render_value(out, (struct render_style){0}, nodes, "/detail", RENDER_TEXT);
    buf_free(&waits);
    if (json_find(nodes, "/items", &items)) {
        json_reader_init(&r, items);
        if (json_enter_array(&r))
            while (json_next_element(&r) && json_read_raw(&r, &item))
                add_slow(&slow, item);
    }
    if (slow.len > 0)
        buf_printf(out, "%s)", slow.ptr);
    buf_free(&slow);
}

static int give_up(struct str nodes)
{
    struct buf text = {0};
    int code;

    buf_printf(&text, "not all has moved after %d s, and it goes on: ", LIMIT_MS / 1000);
    put_waits(&text, nodes);
    code = report_error(
        &(struct report){.kind = ERR_RETRY, .exit = EXIT_BUSY, .message = buf_str(&text)});
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

static int wait_for_all(struct session *s)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    int64_t say_ms = clock_mono_ms() + FIRST_SAY_MS;
    struct buf nodes = {0};
    bool is_normal = false;
    int code = EXIT_DONE, status;

    while (code == EXIT_DONE) {
        struct call call = {.method = METHOD_GET};

        call_path(&call, "/api/v1/nodes");
        code = session_try(s, &call, &nodes, &status);
        if (code != EXIT_DONE ||
            (json_find_bool(buf_str(&nodes), "/cluster/normal", &is_normal) && is_normal))
            break;
        if (clock_mono_ms() >= until_ms) {
            code = give_up(buf_str(&nodes));
            break;
        }
        say_waits(buf_str(&nodes), &say_ms);
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
    }
    buf_free(&nodes);
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

    if (code == EXIT_DONE && waits)
        code = wait_for_all(s);
    if (code == EXIT_DONE)
        code = session_print(inv, buf_str(&answer), waits ? view_done : view_asked);
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
        code = confirm(inv, wish, buf_str(&plan));
        if (code == EXIT_DONE)
            code = carry_out(s, inv, wish);
    }
    session_close(s);
    buf_free(&plan);
    return code;
}

int command_node_rebalance(const struct invocation *inv)
{
    return change(inv, &(struct node_wish){"/api/v1/nodes", "rebalance", "Move the topics?"});
}

int command_node_evacuate(const struct invocation *inv)
{
    return change(inv, &(struct node_wish){"/api/v1/nodes", "evacuate",
                                           "Move all topics away, and give no more to"});
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
    return session_run(inv, &call, view_forgotten);
}

int command_node_admit(const struct invocation *inv)
{
    return change(inv, &(struct node_wish){"/api/v1/nodes", "admit", "Give topics again to"});
}

int command_topic_move(const struct invocation *inv)
{
    struct err err = {0};

    if (!invocation_has(inv, "to")) {
        err_set(&err, ERR_REJECT, "to which node? give --to NODE, or --to any");
        return command_usage(inv, &err);
    }
    return change(inv, &(struct node_wish){"/api/v1/topics", "move", "Move the topic"});
}
