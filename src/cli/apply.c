#include "config.h"

#include "src/cli/apply.h"
#include "src/cli/commands.h"
#include "src/cli/definition_files.h"

#include "src/base/map.h"
#include "src/base/utf8.h"
#include "src/cli/report.h"
#include "src/cli/session.h"
#include "src/format/json.h"
#include "src/format/variable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)8 << 20)

static bool read_text(struct buf *out, FILE *f, const char *name, struct err *err)
{
    char piece[16384];
    size_t n;

    while ((n = fread(piece, 1, sizeof(piece), f)) > 0) {
        if (n > FILE_MAX - out->len)
            return err_set(err, ERR_REJECT, "%s is larger than %zu MiB", name, FILE_MAX >> 20);
        buf_append(out, (struct str){piece, n});
    }
    return ferror(f) == 0 || err_set_code(err, ERR_REJECT, "errno", errno, "cannot read %s: %s",
                                          name, strerror(errno));
}

static bool read_file(struct buf *out, const char *name, struct err *err)
{
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(name, "re");

    if (f == NULL)
        return err_set_code(err, ERR_REJECT, "errno", errno, "cannot open %s: %s", name,
                            strerror(errno));

    bool ok = read_text(out, f, name, err);

    if (!is_stdin)
        fclose(f);
    return ok;
}

/*
 * Add the file's folder as an absolute path, because the daemon has another working directory.
 */
static void add_folder(struct json_writer *w, const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t len = slash == NULL ? 0 : slash == name ? 1 : (size_t)(slash - name);
    struct buf folder = {0};
    char *real;

    buf_append(&folder, len > 0 ? (struct str){name, len} : STR("."));
    real = realpath(folder.ptr, NULL);
    json_put_cstr(w, STR("folder"), real != NULL ? real : folder.ptr);
    free(real);
    buf_free(&folder);
}

/* Add the values of the variables that a text names, each once. */
static bool add_values(struct json_writer *w, struct str text, struct map *added,
                       struct err *err)
{
    const struct variables environment = variables_of_environment(environ);
    struct variable_use use;

    for (size_t at = 0; variable_next(text, at, &use); at = use.at + use.len) {
        const struct str value = environment.find(environment.from, use.name);

        if (value.ptr == NULL || map_put(added, use.name, added) != NULL)
            continue;
        if (!utf8_valid(value))
            return err_set(err, ERR_REJECT,
                           "the variable %.*s holds bytes that are not UTF-8; fix: set it to a "
                           "text in UTF-8",
                           (int)use.name.len, use.name.ptr);
        json_put_string(w, use.name, value);
    }
    return true;
}

static bool add_file(struct json_writer *w, const char *name, struct buf *text, struct err *err)
{
    if (!read_file(text, name, err))
        return false;
    json_open_object(w);
    json_put_cstr(w, STR("name"), name);
    json_put_string(w, STR("text"), buf_str(text));
    add_folder(w, name);
    json_close_object(w);
    return true;
}

bool definition_files_add(struct json_writer *w, const struct invocation *inv, size_t first,
                          struct err *err)
{
    struct buf values = {0};
    struct json_writer values_w = {.out = &values};
    struct map *added = map_new();
    bool ok = true;

    json_write_key(w, STR("files"));
    json_open_array(w);
    json_open_object(&values_w);
    for (size_t i = first; ok && i < inv->n_args; i++) {
        struct buf text = {0};

        ok = add_file(w, inv->args[i], &text, err) &&
             add_values(&values_w, buf_str(&text), added, err);
        buf_free(&text);
    }
    json_close_object(&values_w);
    json_close_array(w);
    json_put_raw(w, STR("variables"), buf_str(&values));
    map_free(added, NULL);
    buf_free(&values);
    return ok;
}

static void add_given(struct buf *out, struct str field, const char *pointer)
{
    size_t before = out->len;

    render_value(out, (struct render_style){0}, field, pointer, RENDER_TEXT);
    if (out->len == before)
        buf_append(out, STR("(not given)"));
}

/* "shop.orders: columns[title].type: keyword -> text" for each field that changed. */
static void add_fields(struct buf *out, struct str item)
{
    const struct render_style plain = {0};
    struct json_reader r;
    struct str fields, field;

    if (!json_find(item, "/fields", &fields))
        return;
    json_reader_init(&r, fields);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &field)) {
        buf_append(out, STR("  "));
        render_value(out, plain, item, "/name", RENDER_TEXT);
        buf_append(out, STR(": "));
        render_value(out, plain, field, "/path", RENDER_TEXT);
        buf_append(out, STR(": "));
        add_given(out, field, "/before");
        buf_append(out, STR(" -> "));
        add_given(out, field, "/after");
        buf_append_char(out, '\n');
    }
}

static void view_apply(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ACTION", "/action", RENDER_TEXT},
        {"KIND", "/kind", RENDER_TEXT},
        {"NAME", "/name", RENDER_TEXT},
        {"NEEDS A BUILD", "/needs_build", RENDER_YES},
    };
    struct json_reader r;
    struct str items, item;

    if (!json_find(json, "/items", &items))
        return;
    if (items.len <= 2) {
        buf_append(out, STR("nothing changes\n"));
        return;
    }
    render_table(out, style, items, columns, ARRAY_LEN(columns));
    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item))
            add_fields(out, item);
}

/* True if the index is a line of `said`; adds it if not. */
static bool is_said(struct buf *said, struct str index)
{
    struct buf line = {0};
    bool found;

    buf_printf(&line, "\n%" STR_FMT "\n", STR_ARG(index));
    found = said->len > 0 && memmem(said->ptr, said->len, line.ptr, line.len) != NULL;
    if (!found)
        buf_append(said, buf_str(&line));
    buf_free(&line);
    return found;
}

/* Print the commands to run next: one for each index that needs a build. */
static void say_next(struct str json, bool has_daemon)
{
    const struct render_style plain = {0};
    struct json_reader r;
    struct str items, item;
    struct buf said = {0};

    if (!json_find(json, "/items", &items) || items.len <= 2)
        return;
    if (!has_daemon)
        fputs("no daemon runs: this takes effect when it starts\n", stderr);
    json_reader_init(&r, items);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &item)) {
        struct buf kind = {0}, name = {0}, index = {0}, word = {0};
        bool needs = false;

        json_find_bool(item, "/needs_build", &needs);
        render_value(&kind, plain, item, "/kind", RENDER_TEXT);
        render_value(&name, plain, item, "/name", RENDER_TEXT);
        render_value(&index, plain, item, "/index", RENDER_TEXT);
        buf_append_word(&word, buf_str(&name));
        if (needs && str_equal(buf_str(&kind), STR("table")) &&
            !is_said(&said, buf_str(&index)))
            fprintf(stderr, "next: millrace index create %s\n", word.ptr);
        buf_free(&kind);
        buf_free(&name);
        buf_free(&index);
        buf_free(&word);
    }
    buf_free(&said);
}

int apply_send(struct session *s, const struct invocation *inv, struct call *call)
{
    struct buf answer = {0};
    struct str warnings;
    int code = session_ask(s, call, &answer);

    if (code == EXIT_DONE) {
        if (!report_is_json() && json_find(buf_str(&answer), "/warnings", &warnings))
            session_say_problems(warnings);
        code = session_print(inv, buf_str(&answer), view_apply);
        if (!invocation_has(inv, "dry-run"))
            say_next(buf_str(&answer), session_has_daemon(s));
    }
    buf_free(&answer);
    return code;
}

/* The revision that the caller has seen, if he says so. */
static bool read_revision(const struct invocation *inv, struct session *s, struct err *err)
{
    uint64_t revision = 0;

    if (!invocation_number(inv, "if-revision", &revision, err))
        return false;
    if (invocation_has(inv, "if-revision"))
        session_require(s, revision);
    return true;
}

static int send_apply(const struct invocation *inv, struct call *call)
{
    struct session *s = NULL;
    struct err err = {0};
    int code;

    if (!session_open(&s, inv, &err)) {
        buf_free(&call->target);
        buf_free(&call->body);
        return command_fail(&err);
    }
    code = read_revision(inv, s, &err) ? apply_send(s, inv, call) : command_usage(inv, &err);
    buf_free(&call->target);
    buf_free(&call->body);
    session_close(s);
    return code;
}

static bool add_body(struct buf *body, const struct invocation *inv, struct err *err)
{
    struct json_writer w = {.out = body};

    json_open_object(&w);

    bool ok = definition_files_add(&w, inv, 0, err);

    json_put_bool(&w, STR("dry_run"), invocation_has(inv, "dry-run"));
    json_put_bool(&w, STR("prune"), invocation_has(inv, "prune"));
    json_put_bool(&w, STR("take_alias"), invocation_has(inv, "take-alias"));
    json_close_object(&w);
    return ok;
}

int command_apply(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct err err = {0};
    int code = EXIT_DONE;

    if (!add_body(&call.body, inv, &err))
        code = command_fail(&err);
    else if (invocation_has(inv, "prune") && !invocation_has(inv, "dry-run"))
        code = session_confirm(inv, "Remove everything that these files do not name?", "");
    if (code != EXIT_DONE) {
        buf_free(&call.body);
        return code;
    }
    call_path(&call, "/api/v1/apply");
    return send_apply(inv, &call);
}

/* Print YAML as it is; for JSON, wrap it in an object as one string. */
static int put_export(const struct invocation *inv, struct str yaml)
{
    const char *form = invocation_value(inv, "output");
    struct buf out = {0};
    struct json_writer w = {.out = &out};

    if (form == NULL || strcmp(form, "json") != 0)
        return session_put(yaml);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/export/1");
    json_put_string(&w, STR("yaml"), yaml);
    json_close_object(&w);
    buf_append_char(&out, '\n');

    int code = session_put(buf_str(&out));

    buf_free(&out);
    return code;
}

int command_export(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};

    call_path(&call, "/api/v1/export");
    if (!session_open(&s, inv, &err))
        return command_fail(&err);

    int code = session_ask(s, &call, &answer);

    if (code == EXIT_DONE)
        code = put_export(inv, buf_str(&answer));
    session_close(s);
    buf_free(&answer);
    return code;
}
