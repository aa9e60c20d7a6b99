#include "config.h"

#include "src/cli/commands.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/cli/session.h"
#include "src/cli/view/inspect_view.h"
#include "src/format/json.h"
#include "src/format/problem.h"
#include "sync/definition/definition.h"
#include "sync/definition/parse.h"
#include "sync/inspect/decode.h"
#include "sync/inspect/inspect.h"
#include "sync/inspect/log_filter_args.h"
#include "sync/server/server_access.h"
#include "sync/source/transport/transport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define WHICH_PART                                                                           \
    {"table", 0, "NAME", "only this DATABASE.TABLE; * and ? are wildcards; may be repeated", \
     NULL},                                                                                  \
        {"topic", 0, "NAME", "read from a topic's server instead of files", "topic"},        \
        {"from", 0, "FILE:OFFSET", "start here; OFFSET alone is in the first file", NULL},   \
        {"to", 0, "FILE:OFFSET", "end before this; OFFSET alone is in the last file", NULL}, \
        {"from-time", 0, "TIME",                                                             \
         "only from this time on: 2026-11-21T10:00:00Z, 2026-11-21 (UTC)", NULL},            \
        {"to-time", 0, "TIME", "only before this time", NULL},                               \
    {                                                                                        \
        "gtid", 0, "GTIDS",                                                                  \
            "only these transactions: a MySQL GTID set, or a list of MariaDB GTIDs", NULL    \
    }

const struct command_option decode_options[] = {
    {"format", 0, "FORM", "json, or none: decode without output (default: json)", "json none"},
    {"count", 0, NULL, "print how many changes, cells and NULLs were decoded", NULL},
    {"events", 0, NULL, "print a line for every event, not only for row changes", NULL},
    WHICH_PART,
    {NULL, 0, NULL, NULL, NULL},
};

const struct command_option inspect_options[] = {WHICH_PART, {NULL, 0, NULL, NULL, NULL}};

#define EVENT_MAX ((size_t)1 << 30)

static bool read_time(const struct invocation *inv, const char *option, uint32_t *out,
                      struct err *err)
{
    const char *text = invocation_value(inv, option);

    return text == NULL || log_filter_args_time(text, out, err) ||
           err_wrap(err, "--%s", option);
}

/* An offset without a file means `file`. */
static bool read_position(const struct invocation *inv, const char *option, const char *file,
                          struct position *out, struct err *err)
{
    const char *text = invocation_value(inv, option);

    return text == NULL || log_filter_args_position(text, file, out, err) ||
           err_wrap(err, "--%s", option);
}

/* The reader (such as head) may have stopped reading: that deserves no message. */
static bool put_failed(struct err *err)
{
    return err_set_code(err, errno == EPIPE ? ERR_STOP : ERR_REJECT, "errno", errno,
                        "cannot write to standard output: %s", strerror(errno));
}

static bool put(void *ctx, struct str bytes, struct err *err)
{
    (void)ctx;
    return fwrite(bytes.ptr, 1, bytes.len, stdout) == bytes.len || put_failed(err);
}

static int fail(const struct err *err)
{
    return err->kind == ERR_STOP ? EXIT_FAILED : command_fail(err);
}

/* How to read the logs, and what for. */
struct binlog_reading {
    const struct invocation *inv;
    struct log_excerpt excerpt; /* of the log being read */
    struct position from, to;   /* as requested */
    struct str *tables;
    struct gtid_choice gtids;
    bool (*read)(struct binlog_reading *r, struct transport *t, struct err *err);
    bool goes_on; /* continue with the next file after a damaged one */

    /* decode */
    bool events, no_output;
    struct decode_counts counts;

    /* inspect */
    struct json_writer *json;
};

/* Collect the tables of all --table options. */
static bool read_tables(struct binlog_reading *r, struct err *err)
{
    const struct invocation *inv = r->inv;

    r->tables = mem_alloc(inv->n_given, sizeof(*r->tables));
    for (size_t i = 0; i < inv->n_given; i++) {
        if (strcmp(inv->given[i].option->name, "table") != 0)
            continue;
        if (!log_filter_args_table(inv->given[i].value, err))
            return err_wrap(err, "--table");
        r->tables[r->excerpt.filter.n_tables++] = str_from(inv->given[i].value);
    }
    r->excerpt.filter.tables = r->tables;
    return true;
}

static bool read_gtids(struct binlog_reading *r, struct err *err)
{
    const char *text = invocation_value(r->inv, "gtid");

    if (text == NULL)
        return true;
    if (!gtid_choice_parse(&r->gtids, str_from(text), err))
        return err_wrap(err, "--gtid");
    r->excerpt.filter.gtids = r->gtids.gtids;
    r->excerpt.filter.ids = r->gtids.ids;
    r->excerpt.filter.n_ids = r->gtids.n_ids;
    return true;
}

static bool read_format(struct binlog_reading *r, struct err *err)
{
    const char *format = invocation_value(r->inv, "format");

    r->events = invocation_has(r->inv, "events");
    r->no_output = format != NULL && strcmp(format, "none") == 0;
    return format == NULL || strcmp(format, "json") == 0 || r->no_output ||
           err_set(err, ERR_REJECT, "--format takes json or none, not \"%.40s\"", format);
}

static bool read_options(struct binlog_reading *r, struct err *err)
{
    const struct invocation *inv = r->inv;

    if ((inv->n_args > 0) == invocation_has(inv, "topic"))
        return err_set(err, ERR_REJECT, "which log? give either files or --topic");

    const char *first = inv->n_args > 0 ? inv->args[0] : NULL;
    const char *last = inv->n_args > 0 ? inv->args[inv->n_args - 1] : NULL;

    return read_tables(r, err) && read_format(r, err) && read_gtids(r, err) &&
           read_time(inv, "from-time", &r->excerpt.filter.from_time, err) &&
           read_time(inv, "to-time", &r->excerpt.filter.to_time, err) &&
           read_position(inv, "from", first, &r->from, err) &&
           read_position(inv, "to", last, &r->to, err);
}

static void free_options(struct binlog_reading *r)
{
    gtid_choice_fini(&r->gtids);
    free(r->tables);
}

/*
 * Read all of t, then close it.  t is the file of that name, or a dump from a server that
 * begins at start.
 */
static bool read_all(struct binlog_reading *r, struct transport *t, struct str file,
                     struct position start, struct err *err)
{
    r->excerpt.file = file;
    r->excerpt.start = start;

    const bool ok = r->read(r, t, err);

    transport_close(t);
    return ok;
}

/* The index of the file with that name; n_args if there is none. */
static size_t find_file(const struct invocation *inv, struct str name)
{
    size_t i = 0;

    while (i < inv->n_args &&
           !str_equal(str_from(log_filter_args_file_name(inv->args[i])), name))
        i++;
    return i;
}

static bool read_file(struct binlog_reading *r, const char *path, struct err *err)
{
    struct transport *t = NULL;

    return transport_open_file(&t, path, 4, EVENT_MAX, err) &&
           read_all(r, t, str_from(log_filter_args_file_name(path)), (struct position){0}, err);
}

/*
 * The files are taken in the order given.  If a bound lies in none of them, positions are
 * compared by the numbers in the file names.
 */
static int read_files(struct binlog_reading *r)
{
    const struct invocation *inv = r->inv;
    const size_t n = inv->n_args, from = find_file(inv, r->from.file),
                 to = find_file(inv, r->to.file);
    const struct position none = {0};
    int code = EXIT_DONE;

    for (size_t i = from < n ? from : 0; i < n && (to == n || i <= to); i++) {
        struct err err = {0};

        r->excerpt.filter.from = from == n || i == from ? r->from : none;
        r->excerpt.filter.to = to == n || i == to ? r->to : none;
        if (read_file(r, inv->args[i], &err))
            continue;
        code = fail(&err);
        if (!r->goes_on)
            return code;
    }
    return code;
}

/* ---- from a server ---- */

/* Read a topic's definition, as the API returned it, like a file that holds nothing else. */
static struct definitions *read_topic(struct str item, struct err *err)
{
    struct problems *p = problems_new();
    struct buf text = {0};

    buf_printf(&text, "{\"topics\":[%" STR_FMT "]}", STR_ARG(item));

    struct definition_file file = {.name = STR("topic"), .text = buf_str(&text)};
    struct definitions *d = definition_apply(NULL, &file, 1, false, p);

    if (d == NULL && problems_n(p) > 0)
        err_set(err, ERR_REJECT, "the topic's definition: %" STR_FMT,
                STR_ARG(problems_get(p, 0)->message));
    buf_free(&text);
    problems_free(p);
    return d;
}

static int ask_topic(const struct invocation *inv, struct definitions **out)
{
    struct call call = {.method = METHOD_GET};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};
    struct str item;

    if (!session_open(&s, inv, &err))
        return command_fail(&err);
    call_path(&call, "/api/v1/topics");
    call_segment(&call, invocation_value(inv, "topic"));

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE) {
        *out = json_find(buf_str(&answer), "/items/0", &item) ? read_topic(item, &err) : NULL;
        code = *out != NULL ? EXIT_DONE : command_fail(&err);
    }
    session_close(s);
    buf_free(&answer);
    return code;
}

/*
 * Connect as another client beside the daemon, with a random server id that no other client
 * should have.
 */
static bool open_dump(struct transport **out, const struct definitions *d,
                      struct position start, struct err *err)
{
    struct server_access *server;
    struct random r;
    struct transport_options dump = {.uuid = "00000000-0000-0000-0000-000000000000",
                                     .file = start.file,
                                     .offset = start.offset,
                                     .event_max = EVENT_MAX,
                                     .non_block = true};

    random_init_system(&r);
    dump.server_id = (uint32_t)(UINT32_C(0xf0000000) + random_below(&r, 0x0fffffff));
    if (!server_access_new(&server, &d->topics[0], NULL, ".", err))
        return false;

    bool ok = transport_open_server(out, &server->options, &dump, err);

    server_access_unref(server);
    return ok;
}

static int read_topic_log(struct binlog_reading *r)
{
    struct position start = r->from;
    struct definitions *d = NULL;
    struct transport *t = NULL;
    struct err err = {0};
    int code = ask_topic(r->inv, &d);

    r->excerpt.filter.from = r->from;
    r->excerpt.filter.to = r->to;
    if (start.file.len == 0)
        start.offset = 4;
    if (code == EXIT_DONE &&
        (!open_dump(&t, d, start, &err) || !read_all(r, t, (struct str){0}, start, &err)))
        code = fail(&err);
    definitions_unref(d);
    return code;
}

static int read_log(struct binlog_reading *r)
{
    return invocation_has(r->inv, "topic") ? read_topic_log(r) : read_files(r);
}

/* ---- decode ---- */

static void add_counts(struct decode_counts *sum, const struct decode_counts *c)
{
    sum->inserts += c->inserts;
    sum->updates += c->updates;
    sum->deletes += c->deletes;
    sum->rows.cells += c->rows.cells;
    sum->rows.nulls += c->rows.nulls;
    sum->rows.idsum += c->rows.idsum;
}

static void warn(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "millrace: warning: %s\n", text);
}

static bool decode(struct binlog_reading *r, struct transport *t, struct err *err)
{
    const struct decode_options opt = {
        .events = r->events,
        .no_output = r->no_output,
        .excerpt = r->excerpt,
        .write = put,
        .warn = warn,
    };
    struct decode_counts counts;
    bool ok = decode_run(t, &opt, &counts, err);

    add_counts(&r->counts, &counts);
    if (fflush(stdout) != 0 && ok)
        ok = put_failed(err);
    return ok;
}

/* Counts go to standard output only if no data goes there. */
static void say_counts(const struct binlog_reading *r)
{
    char text[160];

    decode_counts_format(&r->counts, text);
    fputs(text, r->no_output ? stdout : stderr);
    fflush(stdout);
}

int command_binlog_decode(const struct invocation *inv)
{
    struct binlog_reading r = {.inv = inv, .read = decode};
    struct err err = {0};
    int code;

    if (read_options(&r, &err)) {
        code = read_log(&r);
        if (invocation_has(inv, "count"))
            say_counts(&r);
    } else {
        code = command_usage(inv, &err);
    }
    free_options(&r);
    return code;
}

/* ---- inspect ---- */

static bool inspect(struct binlog_reading *r, struct transport *t, struct err *err)
{
    return inspect_run(t, &r->excerpt, r->json, err);
}

int command_binlog_inspect(const struct invocation *inv)
{
    struct buf text = {0};
    struct json_writer json = {.out = &text};
    struct binlog_reading r = {.inv = inv, .read = inspect, .goes_on = true, .json = &json};
    struct err err = {0};

    if (!read_options(&r, &err)) {
        free_options(&r);
        return command_usage(inv, &err);
    }
    json_open_object(&json);
    json_put_cstr(&json, STR("schema"), "millrace/binlog/1");
    json_write_key(&json, STR("items"));
    json_open_array(&json);

    int code = read_log(&r);

    json_close_array(&json);
    json_close_object(&json);

    int printed = session_print(inv, buf_str(&text), inspect_view);

    buf_free(&text);
    free_options(&r);
    return code != EXIT_DONE ? code : printed;
}
