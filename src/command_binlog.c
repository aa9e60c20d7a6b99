#include "config.h"

#include "src/commands.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/json.h"
#include "src/problem.h"
#include "src/session.h"
#include "sync/binlog/decode.h"
#include "sync/binlog/transport.h"
#include "sync/model/definition.h"
#include "sync/model/definition_parse.h"
#include "sync/server_access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENT_MAX ((size_t)1 << 30)

/* "2026-11-21T10:00:00Z" to seconds since 1970. */
static bool read_time(const struct invocation *inv, const char *option, uint32_t *out,
                      struct err *err)
{
    const char *text = invocation_value(inv, option);
    struct tm tm = {0};

    if (text == NULL)
        return true;

    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    time_t t = end != NULL && (strcmp(end, "Z") == 0 || *end == '\0') ? timegm(&tm) : -1;

    *out = (uint32_t)t;
    return (t >= 0 && t <= (time_t)UINT32_MAX) ||
           err_set(err, ERR_REJECT,
                   "--%s takes a time like 2026-11-21T10:00:00Z, not \"%.40s\"", option, text);
}

static bool read_position(const struct invocation *inv, const char *option,
                          struct position *out, struct err *err)
{
    const char *text = invocation_value(inv, option);

    return text == NULL || position_parse(str_from(text), out, err) ||
           err_wrap(err, "--%s", option);
}

/* Whoever reads us may have enough (head): that is no error worth a word. */
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

/* The tables that were named, any number of times; *tables is to be freed. */
static void read_tables(const struct invocation *inv, struct decode_options *opt,
                        struct str **tables)
{
    *tables = mem_alloc(inv->n_given, sizeof(**tables));
    for (size_t i = 0; i < inv->n_given; i++)
        if (strcmp(inv->given[i].option->name, "table") == 0)
            (*tables)[opt->n_tables++] = str_from(inv->given[i].value);
    opt->tables = *tables;
}

static bool read_options(const struct invocation *inv, struct decode_options *opt,
                         struct err *err)
{
    const char *format = invocation_value(inv, "format");

    *opt = (struct decode_options){.events = invocation_has(inv, "events"),
                                   .no_output = format != NULL && strcmp(format, "none") == 0,
                                   .write = put};
    if (format != NULL && strcmp(format, "json") != 0 && !opt->no_output)
        return err_set(err, ERR_REJECT, "--format takes json or none, not \"%.40s\"", format);
    return read_time(inv, "from-time", &opt->from_time, err) &&
           read_time(inv, "to-time", &opt->to_time, err) &&
           read_position(inv, "from", &opt->from, err) &&
           read_position(inv, "to", &opt->to, err);
}

/* Decode all of t and close it. */
static bool decode(struct transport *t, const struct decode_options *opt, struct err *err)
{
    struct decode_counts counts = {0};
    char text[160];
    bool ok = decode_run(t, opt, &counts, err);

    transport_close(t);
    if (opt->no_output) {
        decode_counts_format(&counts, text);
        fputs(text, stdout);
    }
    if (fflush(stdout) != 0 && ok)
        ok = err_set_code(err, ERR_REJECT, "errno", errno,
                          "cannot write to standard output: %s", strerror(errno));
    return ok;
}

static int decode_files(const struct invocation *inv, const struct decode_options *opt)
{
    struct err err = {0};

    for (size_t i = 0; i < inv->n_args; i++) {
        const char *slash = strrchr(inv->args[i], '/');
        struct decode_options of_file = *opt;
        struct transport *t = NULL;

        of_file.file = str_from(slash != NULL ? slash + 1 : inv->args[i]);
        if (!transport_open_file(&t, inv->args[i], 4, EVENT_MAX, &err) ||
            !decode(t, &of_file, &err))
            return fail(&err);
    }
    return EXIT_DONE;
}

/* ---- from a server ---- */

/* The definition of a topic, as the API tells it, read like a file that holds nothing else. */
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

/* A client of our own beside the daemon's: no other has its server id by chance. */
static bool open_dump(struct transport **out, const struct definitions *d,
                      struct decode_options *opt, struct err *err)
{
    struct server_access *server;
    struct random r;
    struct transport_options dump = {.uuid = "00000000-0000-0000-0000-000000000000",
                                     .file = opt->from.file,
                                     .offset = opt->from.offset,
                                     .event_max = EVENT_MAX,
                                     .non_block = true};

    random_init_system(&r);
    dump.server_id = (uint32_t)(UINT32_C(0xf0000000) + random_below(&r, 0x0fffffff));
    if (dump.file.len == 0)
        dump.offset = 4;
    if (!server_access_new(&server, &d->topics[0], NULL, ".", err))
        return false;
    opt->start = (struct position){dump.file, dump.offset};

    bool ok = transport_open_server(out, &server->options, &dump, err);

    server_access_unref(server);
    return ok;
}

static int decode_topic(const struct invocation *inv, struct decode_options *opt)
{
    struct definitions *d = NULL;
    struct transport *t = NULL;
    struct err err = {0};
    int code = ask_topic(inv, &d);

    if (code == EXIT_DONE && (!open_dump(&t, d, opt, &err) || !decode(t, opt, &err)))
        code = fail(&err);
    definitions_unref(d);
    return code;
}

int command_binlog_decode(const struct invocation *inv)
{
    bool from_topic = invocation_has(inv, "topic");
    struct decode_options opt;
    struct str *tables = NULL;
    struct err err = {0};

    if (!read_options(inv, &opt, &err))
        return command_usage(inv, &err);
    if ((inv->n_args > 0) == from_topic) {
        err_set(&err, ERR_REJECT, "which log? give either files or --topic");
        return command_usage(inv, &err);
    }
    read_tables(inv, &opt, &tables);

    int code = from_topic ? decode_topic(inv, &opt) : decode_files(inv, &opt);

    free(tables);
    return code;
}
