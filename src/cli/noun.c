#include "config.h"

#include "src/cli/commands.h"

#include "src/base/mem.h"
#include "src/cli/complete.h"
#include "src/cli/session.h"
#include "src/format/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS(name, ...) static const struct render_column name[] = {__VA_ARGS__}

COLUMNS(topic_columns, {"TOPIC", "/name", RENDER_TEXT}, {"ADDRESS", "/address", RENDER_TEXT},
        {"USER", "/user", RENDER_TEXT}, {"DESCRIPTION", "/description", RENDER_TEXT});
COLUMNS(database_columns, {"DATABASE", "/name", RENDER_TEXT}, {"TOPIC", "/topic", RENDER_TEXT},
        {"SCHEMA", "/schema", RENDER_TEXT});
COLUMNS(table_columns, {"TABLE", "/table|/pattern", RENDER_TEXT},
        {"INDEX", "/index", RENDER_TEXT}, {"KEY", "/key", RENDER_TEXT});
COLUMNS(relation_columns, {"IN", "/in", RENDER_TEXT}, {"AS", "/as", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT}, {"MANY", "/many", RENDER_YES},
        {"NESTED", "/nested", RENDER_YES});
COLUMNS(version_columns, {"INDEX", "/index", RENDER_TEXT},
        {"VERSION", "/version", RENDER_COUNT}, {"STATE", "/state", RENDER_STATE},
        {"NAME", "/name", RENDER_TEXT}, {"TOPIC", "/topic", RENDER_TEXT},
        {"CREATED", "/created", RENDER_TEXT}, {"FINISHED", "/finished", RENDER_TEXT},
        {"WAITS FOR", "/wait/detail", RENDER_TEXT});
COLUMNS(index_columns, {"INDEX", "/index", RENDER_TEXT}, {"VERSION", "/version", RENDER_COUNT},
        {"STATE", "/state", RENDER_STATE}, {"TABLE", "/table", RENDER_TEXT},
        {"NAME", "/name", RENDER_TEXT}, {"FINISHED", "/finished", RENDER_TEXT},
        {"KEPT UNTIL", "/kept_until", RENDER_TEXT}, {"RETIRED", "/retired", RENDER_TEXT},
        {"REASON", "/reason", RENDER_TEXT});
COLUMNS(job_columns, {"JOB", "/id", RENDER_TEXT}, {"KIND", "/kind", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT}, {"INDEX", "/index", RENDER_TEXT},
        {"VERSION", "/version", RENDER_COUNT}, {"BUCKET", "/bucket", RENDER_SPARE},
        {"NODE", "/node", RENDER_SHORT}, {"STATE", "/state", RENDER_STATE},
        {"ROWS", "/rows_done", RENDER_COUNT}, {"OF ABOUT", "/rows_total", RENDER_COUNT},
        {"ROWS/S", "/rate", RENDER_COUNT}, {"LEFT", "/remaining_seconds", RENDER_SECONDS},
        {"WAITS FOR", "/waits_for", RENDER_TEXT});
COLUMNS(report_columns, {"JOB", "/job", RENDER_TEXT}, {"TABLE", "/table", RENDER_TEXT},
        {"VERSION", "/version", RENDER_COUNT}, {"VERDICT", "/verdict", RENDER_STATE},
        {"DOCUMENTS", "/documents", RENDER_COUNT}, {"DIFFERING", "/differing", RENDER_COUNT},
        {"REPAIRED", "/repaired", RENDER_COUNT}, {"BEGAN", "/began", RENDER_TEXT},
        {"WHY", "/why", RENDER_TEXT});
COLUMNS(log_columns, {"ID", "/id", RENDER_TEXT}, {"AT", "/at", RENDER_TEXT},
        {"TABLE", "/table", RENDER_TEXT}, {"INDEX", "/index", RENDER_TEXT},
        {"VERSION", "/version", RENDER_COUNT}, {"EVENT", "/event", RENDER_TEXT},
        {"DETAIL", "/detail/text", RENDER_TEXT});

COLUMNS(node_columns, {"NODE", "/name", RENDER_TEXT}, {"ID", "/id", RENDER_SHORT},
        {"STATE", "/state", RENDER_STATE}, {"VERSION", "/version", RENDER_TEXT},
        {"SINCE", "/since", RENDER_TEXT}, {"LAST TOLD", "/told", RENDER_SPARE},
        {"TOPICS", "/topics", RENDER_LIST});

COLUMNS(user_columns, {"USER", "/name", RENDER_TEXT}, {"ROLE", "/role", RENDER_TEXT},
        {"LOG-INS", "/log_ins", RENDER_COUNT}, {"ADDED", "/added", RENDER_TEXT},
        {"PASSWORD SET", "/password_set", RENDER_TEXT});
COLUMNS(token_columns, {"TOKEN", "/name", RENDER_TEXT}, {"ROLE", "/role", RENDER_TEXT},
        {"STATE", "/state", RENDER_STATE}, {"ENDS", "/ends", RENDER_TEXT},
        {"ADDED", "/added", RENDER_TEXT}, {"ADDED BY", "/added_by", RENDER_TEXT});

/* How to print the answer of a list; the schema names the noun. */
static const struct list_view {
    const char *noun;
    const char *plural; /* in the API's paths */
    const char *none;   /* what an empty list has none of */
    const struct render_column *columns;
    size_t n_columns;
} list_views[] = {
#define VIEW(noun, plural, none, columns)               \
    {                                                   \
        noun, plural, none, columns, ARRAY_LEN(columns) \
    }
    VIEW("topic", "topics", "topics", topic_columns),
    VIEW("database", "databases", "databases", database_columns),
    VIEW("table", "tables", "tables", table_columns),
    VIEW("relation", "relations", "relations", relation_columns),
    VIEW("version", "versions", "versions", version_columns),
    VIEW("index", "indexes", "indexes", index_columns),
    VIEW("job", "jobs", "jobs", job_columns),
    VIEW("report", "reports", "reports", report_columns),
    VIEW("node", "nodes", "nodes", node_columns),
    VIEW("log", "log", "events", log_columns),
    VIEW("user", "users", "users", user_columns),
    VIEW("token", "tokens", "tokens", token_columns),
};

/* NULL: this program does not know the noun. */
static const struct list_view *list_view_of(const char *noun)
{
    for (size_t i = 0; i < ARRAY_LEN(list_views); i++)
        if (strcmp(list_views[i].noun, noun) == 0)
            return &list_views[i];
    return NULL;
}

/* The schema "millrace/topic/1" selects the columns of topics. */
static const struct list_view *list_view_of_schema(struct str json)
{
    const struct list_view *view = NULL;
    struct buf schema = {0};
    char noun[40] = "";

    if (json_find_text(json, "/schema", &schema) &&
        sscanf(schema.ptr, "millrace/%39[^/]", noun) == 1)
        view = list_view_of(noun);
    buf_free(&schema);
    return view;
}

static void add_more(struct buf *out, struct str json)
{
    struct str last;

    if (json_find(json, "/more_after", &last))
        buf_printf(out, "there are older ones: --after %" STR_FMT "\n", STR_ARG(last));
}

/* Append for whom the nodes wait, if they do. */
static void add_wait(struct buf *out, struct str json)
{
    struct buf waits = {0};

    if (json_find_text(json, "/cluster/waits_for", &waits) && waits.len > 0)
        buf_printf(out, "\nThe cluster %s\n", waits.ptr);
    buf_free(&waits);
}

static void view_list(struct buf *out, struct render_style style, struct str json)
{
    const struct list_view *view = list_view_of_schema(json);
    struct str items;

    if (view == NULL || !json_find(json, "/items", &items))
        render_yaml(out, json);
    else if (items.len <= 2)
        buf_printf(out, "no %s\n", view->none);
    else
        render_table(out, style, items, view->columns, view->n_columns);
    add_more(out, json);
    add_wait(out, json);
}

static void list_path(struct call *call, const struct invocation *inv)
{
    const struct list_view *view = list_view_of(inv->command->noun);

    assert(view != NULL); /* the command table has only these nouns */
    call_path(call, "/api/v1");
    call_segment(call, view->plural);
    if (inv->n_args > 0)
        call_segment(call, inv->args[0]);
}

int command_list(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    list_path(&call, inv);
    call_param(&call, "limit", invocation_value(inv, "limit"));
    call_param(&call, "after", invocation_value(inv, "after"));
    return session_run(inv, &call, view_list);
}

/* Show one item with all its members, and below it a build in short with its buckets. */
static void view_item(struct buf *out, struct render_style style, struct str json)
{
    const struct list_view *view = list_view_of_schema(json);
    struct str item, items;

    if (json_find(json, "/items/0", &item))
        render_yaml(out, item);
    if (view == NULL || strcmp(view->noun, "job") != 0 || !json_find(json, "/items/1", &item) ||
        !json_find(json, "/items", &items))
        return;
    buf_append_char(out, '\n');
    render_table(out, style, items, view->columns, view->n_columns);
}

int command_get(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};

    list_path(&call, inv);
    return session_run(inv, &call, view_item);
}

static void view_deleted(struct buf *out, struct render_style style, struct str json)
{
    struct str retired;

    buf_append(out, STR("removed "));
    render_value(out, style, json, "/kind", RENDER_TEXT);
    buf_append_char(out, ' ');
    render_value(out, style, json, "/name", RENDER_TEXT);
    buf_append_char(out, '\n');
    if (json_find(json, "/retired", &retired) && json_count_elements(retired) > 0)
        buf_append(out, STR("its index is retired and stays as it is: millrace index list\n"));
}

int command_delete(const struct invocation *inv)
{
    const bool is_of_access =
        strcmp(inv->command->noun, "user") == 0 || strcmp(inv->command->noun, "token") == 0;
    struct call call = {.method = METHOD_DELETE};
    int code = session_confirm(inv,
                               is_of_access ? "Remove, so that it is refused from then on,"
                                            : "Remove the definition of",
                               inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    list_path(&call, inv);
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_deleted);
}

static void view_deleted_indexes(struct buf *out, struct render_style style, struct str json)
{
    struct buf later = {0};

    view_deleted(out, style, json);
    buf_append(out, STR("deleted its indexes: "));
    render_value(out, style, json, "/deleted", RENDER_LIST);
    buf_append_char(out, '\n');
    if (json_find_text(json, "/waits_for", &later) && later.len > 0)
        buf_printf(out, "the search engine deletes them later, see millrace index list: %s\n",
                   later.ptr);
    buf_free(&later);
}

static int delete_with_indexes(const struct invocation *inv)
{
    const char *confirm = invocation_value(inv, "confirm");
    struct call call = {.method = METHOD_POST};
    const int code =
        confirm != NULL
            ? EXIT_DONE
            : session_confirm(inv, "Remove the definition and delete all indexes of",
                              inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    list_path(&call, inv);
    call_segment(&call, "delete");
    call_dry_run(&call, inv);
    buf_append(&call.body, STR("{\"confirm\":"));
    buf_append_json(&call.body, str_from(confirm == NULL ? "" : confirm));
    buf_append_char(&call.body, '}');
    return session_run(inv, &call, view_deleted_indexes);
}

int command_table_delete(const struct invocation *inv)
{
    struct err err;

    if (invocation_has(inv, "with-indexes"))
        return delete_with_indexes(inv);
    if (!invocation_has(inv, "confirm"))
        return command_delete(inv);
    err_set(&err, ERR_REJECT, "--confirm goes with --with-indexes");
    return command_usage(inv, &err);
}

static void view_reset(struct buf *out, struct render_style style, struct str json)
{
    buf_append(out, STR("reset "));
    render_value(out, style, json, "/topic", RENDER_TEXT);
    buf_append(out, STR("; its tables are to be built again: "));
    render_value(out, style, json, "/tables", RENDER_COUNT);
    buf_append_char(out, '\n');
}

static void topic_path(struct call *call, const char *topic, const char *what)
{
    call_path(call, "/api/v1/topics");
    call_segment(call, topic);
    call_segment(call, what);
}

int command_topic_reset(const struct invocation *inv)
{
    struct call call = {.method = METHOD_POST};
    int code = session_confirm(
        inv, "Changes that were not read yet are lost to its indexes.  Reset", inv->args[0]);

    if (code != EXIT_DONE)
        return code;
    topic_path(&call, inv->args[0], "reset");
    call_dry_run(&call, inv);
    return session_run(inv, &call, view_reset);
}

/*
 * Append the first column of each item, one per line: of a version its name (orders_v2), of the
 * versions of an index once what they are versions of.
 */
static void add_names(struct buf *out, struct str answer, const struct list_view *view)
{
    const bool is_version = strcmp(view->noun, "version") == 0;
    const char *first = is_version ? "/name" : view->columns[0].pointer;
    struct buf previous = {0}, pointer = {0};
    struct json_reader r;
    struct str items, item;

    if (!json_find(answer, "/items", &items))
        return;
    json_reader_init(&r, items);
    if (!json_enter_array(&r))
        return;
    buf_append(&pointer, (struct str){first, strcspn(first, "|")}); /* no patterns */
    while (json_next_element(&r) && json_read_raw(&r, &item)) {
        struct buf name = {0};

        render_value(&name, (struct render_style){0}, item, pointer.ptr, RENDER_TEXT);
        if (name.len > 0 && !str_equal(buf_str(&name), buf_str(&previous))) {
            buf_append(out, buf_str(&name));
            buf_append_char(out, '\n');
        }
        buf_free(&previous);
        previous = name;
    }
    buf_free(&previous);
    buf_free(&pointer);
}

/* Append the names of a noun, from the daemon or store that the line leads to. */
static void ask_names(struct buf *out, const struct invocation *line, const char *noun)
{
    const struct list_view *view = list_view_of(noun);
    struct call call = {.method = METHOD_GET};
    struct session *s = NULL;
    struct buf answer = {0};
    struct err err = {0};

    assert(view != NULL);
    if (!session_open(&s, line, &err))
        return;
    call_path(&call, "/api/v1");
    call_segment(&call, view->plural);
    if (session_ask(s, &call, &answer) == EXIT_DONE)
        add_names(out, buf_str(&answer), view);
    session_close(s);
    buf_free(&answer);
}

int command_complete(const struct invocation *inv)
{
    const char **args = mem_alloc(inv->n_args + 1, sizeof(*args));
    struct invocation line = {.set = inv->set};
    struct buf out = {0};
    const char *noun = complete_words(&out, &line, args, inv->args, inv->n_args);

    line.command = inv->command; /* which needs no daemon */
    if (noun != NULL)
        ask_names(&out, &line, noun);

    int code = session_put(buf_str(&out));

    buf_free(&out);
    free(args);
    return code;
}

/* ---- who has changed what ---- */

static void view_audit(struct buf *out, struct render_style style, struct str json)
{
    static const struct render_column columns[] = {
        {"ID", "/id", RENDER_TEXT},         {"AT", "/at", RENDER_TEXT},
        {"WHO", "/who", RENDER_TEXT},       {"NODE", "/node", RENDER_TEXT},
        {"WHAT", "/what", RENDER_TEXT},     {"OBJECT", "/object", RENDER_TEXT},
        {"REASON", "/reason", RENDER_TEXT},
    };
    struct str items;

    if (!json_find(json, "/items", &items))
        return;
    if (items.len <= 2)
        buf_append(out, STR("nobody has changed anything\n"));
    else
        render_table(out, style, items, columns, ARRAY_LEN(columns));
    add_more(out, json);
}

int command_audit_list(const struct invocation *inv)
{
    struct call call = {.method = METHOD_GET};
    struct err err = {0};
    uint64_t n;

    if (!invocation_number(inv, "limit", &n, &err) ||
        !invocation_number(inv, "after", &n, &err))
        return command_usage(inv, &err);
    call_path(&call, "/api/v1/audit");
    call_param(&call, "object", inv->n_args > 0 ? inv->args[0] : NULL);
    call_param(&call, "limit", invocation_value(inv, "limit"));
    call_param(&call, "after", invocation_value(inv, "after"));
    return session_run(inv, &call, view_audit);
}
