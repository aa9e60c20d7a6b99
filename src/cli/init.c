#include "config.h"

#include "src/cli/commands.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/doctor/mysql.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/nearest.h"
#include "src/cli/init_config.h"
#include "src/cli/session.h"
#include "src/cli/settings.h"
#include "src/cli/view/doctor_view.h"
#include "src/config/configuration.h"
#include "src/file/new_files.h"
#include "src/format/json.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "src/search/access.h"
#include "src/search/search.h"
#include "sync/draft/draft.h"
#include "sync/draft/survey.h"
#include "sync/server/server_access.h"

#include <stdio.h>
#include <string.h>

#define SEARCH_WAIT_MS 5000

/* One run of the command. */
struct initing {
    const struct invocation *inv;
    struct arena *arena;
    struct init_config config;
    struct server_access *access;
    struct survey survey;
    bool *wanted; /* tables, or NULL */
    struct engine engine;
    struct doctor_list checks;
    struct draft_counts counts;
    struct buf configuration, definition, password; /* texts of the files */
};

/* ---- what is there ---- */

/* Name the GRANT that is missing. */
static bool deny(struct initing *x, struct mysql_conn *c, struct err *err)
{
    struct buf schema = {0}, account = {0};

    mysql_quote_name(&schema, x->config.schema);
    *err = (struct err){0};
    if (mysql_account_append(c, &account, err))
        err_set(err, ERR_REJECT,
                "user %s may not read the database %" STR_FMT
                "; fix: GRANT SELECT ON %s.* TO %s",
                account.ptr, STR_ARG(x->config.schema), schema.ptr, account.ptr);
    buf_free(&schema);
    buf_free(&account);
    return false;
}

static bool has_usable(const struct survey *s)
{
    for (size_t i = 0; i < s->n_tables; i++)
        if (survey_is_usable(&s->tables[i]))
            return true;
    return false;
}

static bool survey_server(struct initing *x, struct err *err)
{
    struct mysql_conn *c = NULL;
    bool fine;

    if (!server_access_new(&x->access, &x->config.topic, NULL, ".", err) ||
        !mysql_conn_open(&c, &x->access->options, err))
        return false;
    fine = survey_load(c, x->config.schema, x->arena, &x->survey, err);
    if ((!fine && mysql_err_is_denial(err)) ||
        (fine && x->survey.n_tables > 0 && !has_usable(&x->survey)))
        fine = deny(x, c, err);
    else if (fine && x->survey.n_tables == 0)
        fine = err_set(err, ERR_REJECT,
                       "the database %" STR_FMT " has no table that this user can see; fix: "
                       "create the tables first, or GRANT SELECT on them",
                       STR_ARG(x->config.schema));
    mysql_conn_close(c);
    return fine;
}

static bool want(struct initing *x, struct str name, struct err *err)
{
    const size_t at = survey_find(&x->survey, name);
    struct nearest near = nearest_to(name);

    if (at < x->survey.n_tables) {
        x->wanted[at] = true;
        return true;
    }
    for (size_t i = 0; i < x->survey.n_views; i++)
        if (str_equal(x->survey.views[i], name))
            return err_set(err, ERR_REJECT,
                           "%" STR_FMT " is a view: the binlog does not say when it changes; "
                           "fix: name its tables",
                           STR_ARG(name));
    for (size_t i = 0; i < x->survey.n_tables; i++)
        nearest_offer(&near, x->survey.tables[i].name);
    return err_set(
        err, ERR_REJECT, "the database %" STR_FMT " has no table %" STR_FMT "%s%" STR_FMT "%s",
        STR_ARG(x->config.schema), STR_ARG(name), near.best.len > 0 ? "; did you mean " : "",
        STR_ARG(near.best), near.best.len > 0 ? "?" : "");
}

static bool choose_tables(struct initing *x, struct err *err)
{
    const struct invocation *inv = x->inv;

    for (size_t i = 0; i < inv->n_given; i++) {
        if (strcmp(inv->given[i].option->name, "table") != 0)
            continue;
        if (x->wanted == NULL)
            x->wanted = arena_alloc(x->arena, x->survey.n_tables + 1, sizeof(*x->wanted));
        if (!want(x, str_from(inv->given[i].value), err))
            return false;
    }
    return true;
}

static void ask_engine(struct initing *x, const struct search_options *options)
{
    struct search *s = search_new(options);
    struct err err = {0};
    const bool found = search_detect(s, &err);
    struct buf message = {0};

    x->engine = search_engine(s);
    if (found)
        buf_printf(&message, "%s %s", engine_name(&x->engine), search_version_text(s));
    else
        buf_append(&message, str_from(err.msg));
    doctor_add(&x->checks,
               &(struct doctor_check){
                   .id = STR("search.reach"),
                   .group = STR("search engine"),
                   .status = found ? DOCTOR_OK : DOCTOR_FAIL,
                   .message = buf_str(&message),
                   .why = STR("nothing can be indexed; types follow the newest OpenSearch"),
                   .fix = STR("start it, or correct search.url, search.user and "
                              "search.password_file in millrace.yaml"),
               });
    buf_free(&message);
    search_free(s);
}

/* The engine that the configuration names which is there already. */
static bool ask_configured_engine(struct initing *x, struct err *err)
{
    struct configuration *c = command_settings_of_file(x->config.configuration_path.ptr, err);
    struct search_access access;
    const bool ok = c != NULL && search_access_open(&access, c, err);

    if (ok) {
        access.options.timeout_ms = SEARCH_WAIT_MS;
        ask_engine(x, &access.options);
    }
    if (c != NULL)
        search_access_close(&access);
    configuration_free(c);
    return ok;
}

static bool look_at_engine(struct initing *x, struct err *err)
{
    if (x->config.keeps_configuration)
        return ask_configured_engine(x, err);
    ask_engine(x, &(struct search_options){.urls = x->config.urls,
                                           .n_urls = x->config.n_urls,
                                           .verify = true,
                                           .timeout_ms = SEARCH_WAIT_MS});
    return true;
}

/* ---- what is written ---- */

static void write_texts(struct initing *x)
{
    const struct draft_request r = {.survey = &x->survey,
                                    .name = x->config.name,
                                    .server = &x->config.drafted,
                                    .wanted = x->wanted,
                                    .engine = x->engine};

    init_config_append_schema(&x->definition, "definition");
    x->counts = draft_append_yaml(&r, &x->definition);
    init_config_append_schema(&x->configuration, "millrace");
    init_config_append_yaml(&x->config, &x->configuration);
    buf_printf(&x->password, "%" STR_FMT "\n", STR_ARG(x->config.password));
}

static size_t list_files(const struct initing *x, struct new_file files[3])
{
    const struct init_config *c = &x->config;
    size_t n = 0;

    if (!c->keeps_configuration)
        files[n++] =
            (struct new_file){c->configuration_path.ptr, buf_str(&x->configuration), 0644};
    files[n++] = (struct new_file){c->definition_path.ptr, buf_str(&x->definition), 0644};
    if (c->password.len > 0)
        files[n++] = (struct new_file){c->password_path.ptr, buf_str(&x->password), 0600};
    return n;
}

/* The doctor looks at the server, and at one table for the log's filter. */
static void check_server(struct initing *x)
{
    const struct survey *s = &x->survey;
    const bool any = x->counts.first < s->n_tables;
    const struct doctor_table table = {
        .schema = s->schema,
        .table = any ? s->tables[x->counts.first].name : (struct str){0},
        .has_key = true,
    };
    struct buf group = {0};

    buf_printf(&group, "topic %" STR_FMT, STR_ARG(x->config.name));
    (void)!doctor_mysql(&x->checks, &(struct doctor_mysql_options){
                                        .group = buf_str(&group),
                                        .server = &x->access->options,
                                        .follows_log = true,
                                        .tables = &table,
                                        .n_tables = any,
                                    });
    buf_free(&group);
}

/* ---- what is said ---- */

static void append_word(struct buf *command, struct str word)
{
    bool plain = word.len > 0;

    for (size_t i = 0; i < word.len; i++)
        plain = plain && (unsigned char)word.ptr[i] > ' ' &&
                strchr("'\"\\$`!*?[](){}<>|&;#~", word.ptr[i]) == NULL;
    if (plain) {
        buf_append(command, word);
        return;
    }
    buf_append_char(command, '\'');
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '\'')
            buf_append(command, STR("'\\''"));
        else
            buf_append_char(command, word.ptr[i]);
    buf_append_char(command, '\'');
}

static void write_command(struct json_writer *w, const char *start, struct str word,
                          const char *end)
{
    struct buf command = {0};

    buf_append(&command, str_from(start));
    if (word.len > 0)
        append_word(&command, word);
    buf_append(&command, str_from(end));
    json_write_string(w, buf_str(&command));
    buf_free(&command);
}

static void write_next(const struct initing *x, struct json_writer *w)
{
    const struct survey *s = &x->survey;
    const char *file = strrchr(x->config.definition_path.ptr, '/');
    struct buf table = {0};

    json_write_key(w, STR("next"));
    json_open_array(w);
    if (!x->config.keeps_configuration) /* else apply works with a daemon, and without */
        write_command(w, "millrace run", STR(""), "");
    write_command(w, "millrace apply ",
                  file != NULL ? str_from(file + 1) : x->config.definition_path, "");
    if (x->counts.first < s->n_tables) {
        buf_printf(&table, "%" STR_FMT ".%" STR_FMT, STR_ARG(x->config.name),
                   STR_ARG(s->tables[x->counts.first].name));
        write_command(w, "millrace index create ", buf_str(&table), " --wait");
    }
    json_close_array(w);
    buf_free(&table);
}

static void write_answer(const struct initing *x, const struct new_file *files, size_t n_files,
                         struct json_writer *w)
{
    json_open_object(w);
    json_put_cstr(w, STR("schema"), "millrace/init/1");
    json_put_string(w, STR("folder"), x->config.folder);
    json_write_key(w, STR("files"));
    json_open_array(w);
    for (size_t i = 0; i < n_files; i++)
        json_write_string(w, str_from(files[i].path));
    json_close_array(w);
    json_put_u64(w, STR("tables"), x->counts.n_tables);
    json_put_u64(w, STR("without_key"), x->counts.n_without_key);
    json_put_u64(w, STR("unreadable"), x->counts.n_denied);
    json_put_u64(w, STR("views"), x->wanted == NULL ? x->survey.n_views : 0);
    json_put_bool(w, STR("ok"), doctor_worst(&x->checks) != DOCTOR_FAIL);
    json_write_key(w, STR("items"));
    doctor_write(&x->checks, w);
    write_next(x, w);
    json_close_object(w);
}

static void view_count(struct buf *out, struct str json, const char *pointer, const char *what)
{
    uint64_t n;

    if (json_find_u64(json, pointer, &n) && n > 0)
        buf_printf(out, "left out, and said in the file: %llu %s\n", (unsigned long long)n,
                   what);
}

static void view_list(struct buf *out, struct str json, const char *pointer, const char *before)
{
    struct json_reader r;
    struct str list, item;

    if (!json_find(json, pointer, &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item)) {
            buf_append(out, str_from(before));
            render_value(out, (struct render_style){0}, item, "", RENDER_TEXT);
            buf_append_char(out, '\n');
        }
}

static void view_init(struct buf *out, struct render_style style, struct str json)
{
    uint64_t n_tables = 0;
    bool ok = false;

    if (!doctor_view_checks(out, style, json, "/items", false))
        buf_append(out, STR("Every check of the servers is well.\n"));
    json_find_bool(json, "/ok", &ok);
    view_list(out, json, "/files", "wrote ");
    (void)!json_find_u64(json, "/tables", &n_tables);
    buf_printf(out, "tables: %llu\n", (unsigned long long)n_tables);
    view_count(out, json, "/without_key", "tables without a key");
    view_count(out, json, "/unreadable", "tables that the user may not read");
    view_count(out, json, "/views", "views and sequences");
    buf_append(out, STR("\nnext, in "));
    render_value(out, (struct render_style){0}, json, "/folder", RENDER_TEXT);
    buf_append(out, ok ? STR(":\n") : STR(", once the failed checks are repaired:\n"));
    view_list(out, json, "/next", "  ");
}

/* ---- the whole ---- */

static bool prepare(struct initing *x, struct err *err)
{
    struct new_file files[3];

    doctor_init(&x->checks, x->arena);
    if (!new_files_are_free(files, list_files(x, files), err) || !survey_server(x, err) ||
        !choose_tables(x, err) || !look_at_engine(x, err))
        return false;
    write_texts(x);
    if (x->counts.n_tables <= DEFINITIONS_MAX)
        return true;
    return err_set(err, ERR_REJECT,
                   "%zu tables are more than %d, which Millrace can follow; fix: name those "
                   "that searches need with --table",
                   x->counts.n_tables, DEFINITIONS_MAX);
}

static int finish(struct initing *x, const struct new_file *files, size_t n_files)
{
    struct buf json = {0};
    struct json_writer w = {.out = &json};

    check_server(x);
    write_answer(x, files, n_files, &w);

    const int code = session_print(x->inv, buf_str(&json), view_init);

    buf_free(&json);
    return code == EXIT_DONE && doctor_worst(&x->checks) == DOCTOR_FAIL ? EXIT_FAILED : code;
}

int command_init(const struct invocation *inv)
{
    struct initing x = {.inv = inv, .arena = arena_new()};
    struct new_file files[3];
    struct err err = {0};
    int code;

    if (!init_config_read(inv, x.arena, &x.config, &err)) {
        arena_free(x.arena);
        return command_usage(inv, &err);
    }
    if (x.config.is_password_seen)
        fputs("millrace: warning: every user of this machine can see a password on a command "
              "line; use --password-file or MYSQL_PWD\n",
              stderr);

    bool ok = prepare(&x, &err);
    const size_t n_files = list_files(&x, files);

    ok = ok && new_files_write(files, n_files, &err);
    code = ok ? finish(&x, files, n_files) : command_fail(&err);
    survey_fini(&x.survey);
    server_access_unref(x.access);
    buf_free(&x.configuration);
    buf_free(&x.definition);
    buf_free(&x.password);
    arena_free(x.arena);
    return code;
}
