#include "config.h"

#include "src/cli/commands.h"

#include "src/cli/session.h"
#include "src/format/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)12 << 20) /* of a file to import */

static const char *list_of(const struct invocation *inv)
{
    const char *list = invocation_value(inv, "list");

    return list != NULL ? list : "ext";
}

/* Text that was indexed before stays as it was cut then. */
static void add_hints(struct buf *out, struct str json)
{
    struct str tables, table;
    struct json_reader r;
    bool older;

    if (!json_find(json, "/tables", &tables))
        return;
    json_reader_init(&r, tables);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &table)) {
        struct buf name = {0};

        if (json_find_bool(table, "/older_than_words", &older) && older &&
            json_find_text(table, "/table", &name))
            buf_printf(out,
                       "text of %s that is indexed stays as it is until its next build: "
                       "millrace index create %s\n",
                       name.ptr, name.ptr);
        buf_free(&name);
    }
}

static void view_change(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_part parts[] = {
        {"added ", "/added", RENDER_COUNT, NULL},
        {", published ", "/published", RENDER_COUNT, NULL},
        {", deleted ", "/deleted", RENDER_COUNT, NULL},
        {" in the list ", "/list", RENDER_TEXT, NULL},
    };

    (void)style;
    render_line(out, json, parts, ARRAY_LEN(parts));
    add_hints(out, json);
}

static void add_words(struct json_writer *w, const struct invocation *inv)
{
    json_write_key(w, STR("words"));
    json_open_array(w);
    for (size_t i = 0; i < inv->n_args; i++)
        json_write_string(w, str_from(inv->args[i]));
    json_close_array(w);
}

/* Send the words of the command line to a path of the API. */
static int send_words(const struct invocation *inv, const char *path)
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};

    json_open_object(&w);
    json_put_cstr(&w, STR("list"), list_of(inv));
    if (inv->n_args > 0)
        add_words(&w, inv);
    if (invocation_has(inv, "publish"))
        json_put_bool(&w, STR("publish"), true);
    if (invocation_has(inv, "all"))
        json_put_bool(&w, STR("all"), true);
    json_close_object(&w);
    call_path(&call, path);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_change);
}

int command_word_add(const struct invocation *inv)
{
    return send_words(inv, "/api/v1/words");
}

int command_word_publish(const struct invocation *inv)
{
    struct err err;

    if (invocation_has(inv, "all") != (inv->n_args > 0))
        return send_words(inv, "/api/v1/words/publish");
    err_set(&err, ERR_REJECT, "name the words to publish, or give --all");
    return command_usage(inv, &err);
}

int command_word_delete(const struct invocation *inv)
{
    const int code = session_confirm(inv, "Delete from the list", list_of(inv));

    return code != EXIT_DONE ? code : send_words(inv, "/api/v1/words/delete");
}

static void view_set(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    (void)json;
    buf_append(out, STR("changed; millrace word publish gives it to the analyzer\n"));
}

int command_word_set(const struct invocation *inv)
{
    struct call call = {.method = METHOD_PATCH};
    struct json_writer w = {.out = &call.body};

    json_open_object(&w);
    json_put_cstr(&w, STR("word"), inv->args[1]);
    json_close_object(&w);
    call_path(&call, "/api/v1/words");
    call_segment(&call, list_of(inv));
    call_segment(&call, inv->args[0]);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_set);
}

/* ---- import ---- */

static bool read_stream(struct buf *out, FILE *f, const char *name, struct err *err)
{
    char piece[65536];
    size_t n;

    while ((n = fread(piece, 1, sizeof(piece), f)) > 0 && out->len <= TEXT_MAX)
        buf_append(out, (struct str){piece, n});
    if (ferror(f) != 0)
        return err_set(err, ERR_REJECT, "%s: %s", name, strerror(errno));
    return out->len <= TEXT_MAX ||
           err_set(err, ERR_REJECT, "%s has more than %zu MiB; fix: import it in parts", name,
                   TEXT_MAX >> 20);
}

static bool read_words_file(struct buf *out, const char *name, struct err *err)
{
    const bool is_stdin = strcmp(name, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(name, "re");
    bool ok;

    if (f == NULL)
        return err_set(err, ERR_REJECT, "%s: %s", name, strerror(errno));
    ok = read_stream(out, f, name, err);
    if (!is_stdin)
        fclose(f);
    return ok;
}

int command_word_import(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    struct json_writer w = {.out = &call.body};
    struct buf text = {0};
    struct err err = {0};

    if (!read_words_file(&text, inv->args[0], &err)) {
        buf_free(&text);
        return command_fail(&err);
    }
    json_open_object(&w);
    json_put_cstr(&w, STR("list"), list_of(inv));
    json_put_string(&w, STR("text"), buf_str(&text));
    json_put_bool(&w, STR("publish"), invocation_has(inv, "publish"));
    json_close_object(&w);
    buf_free(&text);
    call_path(&call, "/api/v1/words/import");
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_change);
}
