#include "config.h"

#include "web/routes.h"

#include "rebalance/repeat/repeat.h"
#include "src/format/json.h"
#include "web/api_audit.h"
#include "web/body.h"
#include "web/list/list_page.h"
#include "web/operation/operation.h"
#include "web/pass_on.h"
#include "web/revision.h"

#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#define BODY  ((size_t)1 << 20)
#define LOGIN ((size_t)4 << 10)  /* what somebody unknown may send is short */
#define FILES ((size_t)16 << 20) /* definition files travel in the body */

static const struct route table[] = {
    {METHOD_GET, "/", ROLE_PAGE, api_page, NULL, 0, CONCERNS_NODE, 0,
     "the admin page, or the status page if the program was built without", &op_page},
    {METHOD_GET, "/ui/{name}", ROLE_PAGE, api_page_file, NULL, 0, CONCERNS_NODE, 0,
     "a file of the admin page", &op_page_file},
    {METHOD_GET, "/status", ROLE_PAGE, api_status_page, NULL, 0, CONCERNS_NODE, 0,
     "the status page, without scripts", &op_status_page},
    {METHOD_GET, "/metrics", ROLE_PROBE, api_metrics, NULL, 0, CONCERNS_NODE, 0,
     "metrics as Prometheus text", &op_metrics},
    {METHOD_GET, "/livez", ROLE_PROBE, api_live, NULL, 0, CONCERNS_NODE, 0,
     "answers while the process lives", &op_live},
    {METHOD_GET, "/readyz", ROLE_PROBE, api_ready, NULL, 0, CONCERNS_NODE, 0,
     "whether it is ready, else why not", &op_ready},

    {METHOD_GET, "/api/v1/version", ROLE_VIEWER, api_version, NULL, 0, CONCERNS_NODE, 0,
     "the program's version", &op_version},
    {METHOD_GET, "/api/v1/openapi.json", ROLE_VIEWER, api_openapi, NULL, 0, CONCERNS_NODE, 0,
     "this description of the API", &op_openapi},
    {METHOD_GET, "/api/v1/config", ROLE_ADMIN, api_config, NULL, 0, CONCERNS_NODE, 0,
     "the settings in force", &op_config},
    {METHOD_GET, "/api/v1/config/delivery", ROLE_ADMIN, api_delivery, NULL, 0, CONCERNS_NODE, 0,
     "the settings of delivery", &op_delivery},
    {METHOD_PATCH, "/api/v1/config/delivery", ROLE_ADMIN, api_delivery_set, NULL, BODY,
     CONCERNS_NODE, ANSWERS_BEFORE, "change some of these settings", &op_delivery_set},
    {METHOD_POST, "/api/v1/config/delivery/reset", ROLE_ADMIN, api_delivery_reset, NULL, BODY,
     CONCERNS_NODE, ANSWERS_BEFORE, "return to the configured settings", &op_delivery_reset},
    {METHOD_GET, "/api/v1/config/delivery/{name}", ROLE_ADMIN, api_delivery, NULL, 0,
     CONCERNS_NODE, 0, "one setting of delivery", &op_delivery},
    {METHOD_POST, "/api/v1/drain", ROLE_OPERATOR, api_drain, NULL, BODY, CONCERNS_NODE,
     TAKES_KEY, "deliver what is queued", &op_drain},
    {METHOD_POST, "/api/v1/drain/cancel", ROLE_OPERATOR, api_drain_cancel, NULL, BODY,
     CONCERNS_NODE, 0, "cancel a drain", &op_drain_cancel},
    {METHOD_POST, "/api/v1/alarms/test", ROLE_ADMIN, api_alarm_test, NULL, BODY, CONCERNS_NODE,
     0, "send a test to the receivers of alarms", &op_alarm_test},
    {METHOD_GET, "/api/v1/status", ROLE_VIEWER, api_status, NULL, 0, CONCERNS_NODE, 0,
     "the state of topics, tables and builds", &op_status},
    {METHOD_GET, "/api/v1/events", ROLE_VIEWER, api_events, NULL, 0, CONCERNS_NODE, 0,
     "the state of topics, tables and builds, as often as it changes", &op_events},
    {METHOD_GET, "/api/v1/history", ROLE_VIEWER, api_history, NULL, 0, CONCERNS_ASKED_TOPIC,
     MAY_REPEAT, "lag, rates and latencies of the last hours", &op_history},
    {METHOD_GET, "/api/v1/doctor", ROLE_OPERATOR, api_doctor, NULL, 0, CONCERNS_NODE, 0,
     "check requirements", &op_doctor},
    {METHOD_POST, "/api/v1/doctor", ROLE_OPERATOR, api_doctor_start, NULL, BODY, CONCERNS_NODE,
     TAKES_KEY | IS_QUESTION, "check requirements as a job", &op_doctor_start},

    {METHOD_POST, "/api/v1/apply", ROLE_ADMIN, api_apply, NULL, FILES, CONCERNS_NODE,
     ANSWERS_BEFORE | TAKES_KEY, "store definitions", &op_apply},
    {METHOD_GET, "/api/v1/export", ROLE_VIEWER, api_export, NULL, 0, CONCERNS_NODE, 0,
     "definitions as YAML", &op_export},

    {METHOD_GET, "/api/v1/topics", ROLE_VIEWER, api_list, "topic", 0, CONCERNS_NODE, 0,
     "the topics", &op_list_definitions},
    {METHOD_GET, "/api/v1/topics/{name}", ROLE_VIEWER, api_list, "topic", 0, CONCERNS_NODE, 0,
     "one topic", &op_list_definitions},
    {METHOD_PUT, "/api/v1/topics/{name}", ROLE_ADMIN, api_put_definition, "topic", FILES,
     CONCERNS_NODE, ANSWERS_BEFORE, "store the definition of a topic", &op_put_definition},
    {METHOD_DELETE, "/api/v1/topics/{name}", ROLE_ADMIN, api_delete, "topic", 0, CONCERNS_NODE,
     ANSWERS_BEFORE, "remove a topic", &op_delete},
    {METHOD_POST, "/api/v1/topics/{name}/reset", ROLE_ADMIN, api_topic_reset, NULL, BODY,
     CONCERNS_TOPIC, TAKES_KEY, "continue from the server's current position", &op_topic_reset},
    {METHOD_POST, "/api/v1/topics/{name}/pause", ROLE_OPERATOR, api_topic_pause, NULL, BODY,
     CONCERNS_TOPIC, MAY_REPEAT | OR_HERE, "stop reading a topic's log", &op_topic_pause},
    {METHOD_POST, "/api/v1/topics/{name}/resume", ROLE_OPERATOR, api_topic_resume, NULL, BODY,
     CONCERNS_TOPIC, MAY_REPEAT | OR_HERE, "end a pause, or retry a failed topic now",
     &op_topic_resume},
    {METHOD_POST, "/api/v1/topics/{name}/move", ROLE_OPERATOR, api_topic_move, NULL, BODY,
     CONCERNS_NODE, TAKES_KEY, "let another node follow a topic", &op_topic_move},

    {METHOD_GET, "/api/v1/me", ROLE_PAGE, api_me, NULL, 0, CONCERNS_NODE, 0,
     "who the caller is, and what role it has", &op_me},
    {METHOD_POST, "/api/v1/login", ROLE_PAGE, api_log_in, NULL, LOGIN, CONCERNS_NODE,
     IS_QUESTION, "log in", &op_log_in},
    {METHOD_POST, "/api/v1/logout", ROLE_PAGE, api_log_out, NULL, LOGIN, CONCERNS_NODE,
     IS_QUESTION, "log out", &op_log_out},
    {METHOD_PUT, "/api/v1/me/password", ROLE_VIEWER, api_put_password, NULL, LOGIN,
     CONCERNS_NODE, ANSWERS_BEFORE, "change one's own password", &op_put_password},
    {METHOD_POST, "/api/v1/first-admin", ROLE_PAGE, api_first_admin, NULL, LOGIN, CONCERNS_NODE,
     ANSWERS_BEFORE, "add the first admin, by the token of the start", &op_first_admin},
    {METHOD_GET, "/api/v1/users", ROLE_ADMIN, api_list, "user", 0, CONCERNS_NODE, 0,
     "the users", &op_list},
    {METHOD_GET, "/api/v1/users/{name}", ROLE_ADMIN, api_list, "user", 0, CONCERNS_NODE, 0,
     "one user", &op_list},
    {METHOD_PUT, "/api/v1/users/{name}", ROLE_ADMIN, api_put_user, NULL, LOGIN, CONCERNS_NODE,
     ANSWERS_BEFORE, "add or change a user", &op_put_user},
    {METHOD_DELETE, "/api/v1/users/{name}", ROLE_ADMIN, api_delete_user, NULL, 0, CONCERNS_NODE,
     0, "remove a user", &op_delete_access},
    {METHOD_GET, "/api/v1/tokens", ROLE_ADMIN, api_list, "token", 0, CONCERNS_NODE, 0,
     "the tokens of scripts", &op_list},
    {METHOD_GET, "/api/v1/tokens/{name}", ROLE_ADMIN, api_list, "token", 0, CONCERNS_NODE, 0,
     "one token", &op_list},
    {METHOD_PUT, "/api/v1/tokens/{name}", ROLE_ADMIN, api_put_token, NULL, BODY, CONCERNS_NODE,
     0, "add a token for a script", &op_put_token},
    {METHOD_PATCH, "/api/v1/tokens/{name}", ROLE_ADMIN, api_set_token, NULL, BODY,
     CONCERNS_NODE, ANSWERS_BEFORE, "change the role or the end of a token", &op_set_token},
    {METHOD_DELETE, "/api/v1/tokens/{name}", ROLE_ADMIN, api_delete_token, NULL, 0,
     CONCERNS_NODE, 0, "remove a token", &op_delete_access},

    {METHOD_GET, "/api/v1/nodes", ROLE_VIEWER, api_nodes, NULL, 0, CONCERNS_NODE, 0,
     "the nodes that share the store", &op_nodes},
    {METHOD_GET, "/api/v1/nodes/{name}", ROLE_VIEWER, api_nodes, NULL, 0, CONCERNS_NODE, 0,
     "one node", &op_nodes},
    {METHOD_DELETE, "/api/v1/nodes/{name}", ROLE_OPERATOR, api_node_forget, NULL, 0,
     CONCERNS_NODE, 0, "forget a node that does not come back", &op_node_forget},
    {METHOD_POST, "/api/v1/nodes/rebalance", ROLE_OPERATOR, api_node_rebalance, NULL, BODY,
     CONCERNS_NODE, TAKES_KEY, "share the topics evenly", &op_node_change},
    {METHOD_POST, "/api/v1/nodes/{name}/evacuate", ROLE_OPERATOR, api_node_evacuate, NULL, BODY,
     CONCERNS_NODE, TAKES_KEY, "move a node's topics away, and give it none", &op_node_change},
    {METHOD_POST, "/api/v1/nodes/{name}/admit", ROLE_OPERATOR, api_node_admit, NULL, BODY,
     CONCERNS_NODE, TAKES_KEY, "give an evacuated node topics again", &op_node_change},
    {METHOD_GET, "/api/v1/databases", ROLE_VIEWER, api_list, "database", 0, CONCERNS_NODE, 0,
     "the databases", &op_list_definitions},
    {METHOD_GET, "/api/v1/databases/{name}", ROLE_VIEWER, api_list, "database", 0,
     CONCERNS_NODE, 0, "one database", &op_list_definitions},
    {METHOD_PUT, "/api/v1/databases/{name}", ROLE_ADMIN, api_put_definition, "database", FILES,
     CONCERNS_NODE, ANSWERS_BEFORE, "store the definition of a database", &op_put_definition},
    {METHOD_DELETE, "/api/v1/databases/{name}", ROLE_ADMIN, api_delete, "database", 0,
     CONCERNS_NODE, ANSWERS_BEFORE, "remove a database", &op_delete},
    {METHOD_GET, "/api/v1/tables", ROLE_VIEWER, api_list, "table", 0, CONCERNS_NODE, 0,
     "the tables", &op_list_definitions},
    {METHOD_GET, "/api/v1/tables/{name}", ROLE_VIEWER, api_list, "table", 0, CONCERNS_NODE, 0,
     "one table", &op_list_definitions},
    {METHOD_PUT, "/api/v1/tables/{name}", ROLE_ADMIN, api_put_definition, "table", FILES,
     CONCERNS_NODE, ANSWERS_BEFORE, "store the definition of a table", &op_put_definition},
    {METHOD_DELETE, "/api/v1/tables/{name}", ROLE_ADMIN, api_delete, "table", 0, CONCERNS_NODE,
     ANSWERS_BEFORE, "remove a table", &op_delete},
    {METHOD_POST, "/api/v1/tables/{name}/delete", ROLE_ADMIN, api_table_delete, NULL, BODY,
     CONCERNS_TABLE, ANSWERS_BEFORE, "remove a table and delete its indexes", &op_table_delete},
    {METHOD_GET, "/api/v1/tables/{name}/explain", ROLE_OPERATOR, api_explain, NULL, 0,
     CONCERNS_NODE, SHOWS_ROWS, "the SQL, the document and the bulk lines of one row",
     &op_explain},
    {METHOD_POST, "/api/v1/tables/{name}/explain", ROLE_ADMIN, api_explain_draft, NULL, FILES,
     CONCERNS_NODE, IS_QUESTION, "the same of definitions that are not stored",
     &op_explain_draft},
    {METHOD_GET, "/api/v1/tables/{name}/mapping", ROLE_VIEWER, api_mapping, NULL, 0,
     CONCERNS_NODE, 0, "the index mapping", &op_mapping},
    {METHOD_POST, "/api/v1/tables/{name}/mapping", ROLE_ADMIN, api_mapping_draft, NULL, FILES,
     CONCERNS_NODE, IS_QUESTION, "the same of definitions that are not stored",
     &op_mapping_draft},
    {METHOD_GET, "/api/v1/tables/{name}/columns", ROLE_OPERATOR, api_columns, NULL, 0,
     CONCERNS_NODE, 0, "a definition with every column of the table", &op_columns},

    {METHOD_POST, "/api/v1/tables/{name}/verify", ROLE_OPERATOR, api_verify, NULL, BODY,
     CONCERNS_TABLE, TAKES_KEY, "compare documents with their rows", &op_verify},
    {METHOD_POST, "/api/v1/tables/{name}/replay", ROLE_OPERATOR, api_replay, NULL, BODY,
     CONCERNS_TABLE, TAKES_KEY, "read and write again what changed on a day", &op_replay},
    {METHOD_GET, "/api/v1/tables/{name}/trace", ROLE_OPERATOR, api_trace, NULL, 0,
     CONCERNS_TABLE, MAY_REPEAT | SHOWS_ROWS, "why a document is, or is not, as its row",
     &op_trace},
    {METHOD_POST, "/api/v1/tables/{name}/index", ROLE_OPERATOR, api_index_create, NULL, BODY,
     CONCERNS_TABLE, TAKES_KEY, "build a new index version", &op_index_create},
    {METHOD_PATCH, "/api/v1/tables/{name}/index", ROLE_OPERATOR, api_index_set, NULL, BODY,
     CONCERNS_TABLE, MAY_REPEAT, "change a running build", &op_index_set},
    {METHOD_POST, "/api/v1/tables/{name}/index/cutover", ROLE_OPERATOR, api_index_cutover, NULL,
     BODY, CONCERNS_TABLE, TAKES_KEY, "publish a waiting version", &op_index_cutover},
    {METHOD_POST, "/api/v1/tables/{name}/index/pause", ROLE_OPERATOR, api_index_pause, NULL,
     BODY, CONCERNS_TABLE, MAY_REPEAT | OR_HERE, "write nothing to an index", &op_index_pause},
    {METHOD_POST, "/api/v1/tables/{name}/index/resume", ROLE_OPERATOR, api_index_resume, NULL,
     BODY, CONCERNS_TABLE, MAY_REPEAT | OR_HERE, "write to a paused index again",
     &op_index_resume},
    {METHOD_POST, "/api/v1/tables/{name}/index/refresh", ROLE_OPERATOR, api_index_refresh, NULL,
     BODY, CONCERNS_TABLE, TAKES_KEY, "read some rows again and write their documents",
     &op_index_refresh},
    {METHOD_POST, "/api/v1/tables/{name}/index/refresh/cancel", ROLE_OPERATOR,
     api_index_refresh_cancel, NULL, BODY, CONCERNS_TABLE, MAY_REPEAT, "end a refresh",
     &op_index_refresh_cancel},
    {METHOD_POST, "/api/v1/tables/{name}/index/rollback", ROLE_OPERATOR, api_index_rollback,
     NULL, BODY, CONCERNS_TABLE, TAKES_KEY, "return searches to an older version that was kept",
     &op_index_rollback},
    {METHOD_POST, "/api/v1/tables/{name}/index/reset", ROLE_ADMIN, api_index_reset, NULL, BODY,
     CONCERNS_TABLE, 0, "drop a running build", &op_index_reset},
    {METHOD_DELETE, "/api/v1/tables/{name}/versions", ROLE_ADMIN, api_index_delete, NULL, 0,
     CONCERNS_TABLE, 0, "delete the versions that searches do not use", &op_index_delete},
    {METHOD_DELETE, "/api/v1/tables/{name}/versions/{number}", ROLE_ADMIN, api_index_delete,
     NULL, 0, CONCERNS_TABLE, 0, "delete one version", &op_index_delete},

    {METHOD_GET, "/api/v1/relations", ROLE_VIEWER, api_list, "relation", 0, CONCERNS_NODE, 0,
     "the relations", &op_list_definitions},
    {METHOD_GET, "/api/v1/relations/{name}", ROLE_VIEWER, api_list, "relation", 0,
     CONCERNS_NODE, 0, "the relations of a table", &op_list_definitions},
    {METHOD_GET, "/api/v1/versions", ROLE_VIEWER, api_list, "version", 0, CONCERNS_NODE, 0,
     "the index versions", &op_list},
    {METHOD_GET, "/api/v1/versions/{name}", ROLE_VIEWER, api_list, "version", 0, CONCERNS_NODE,
     0, "the versions of an index", &op_list},
    {METHOD_GET, "/api/v1/indexes", ROLE_VIEWER, api_list, "index", 0, CONCERNS_NODE, 0,
     "the indexes, with the reason why each exists", &op_list},
    {METHOD_GET, "/api/v1/indexes/{name}", ROLE_VIEWER, api_list, "index", 0, CONCERNS_NODE, 0,
     "the indexes of one alias", &op_list},
    {METHOD_GET, "/api/v1/jobs", ROLE_VIEWER, api_list, "job", 0, CONCERNS_NODE, 0,
     "builds and other long work, with their progress", &op_list},
    {METHOD_GET, "/api/v1/jobs/{name}", ROLE_VIEWER, api_list, "job", 0, CONCERNS_NODE, 0,
     "one job", &op_list},
    {METHOD_GET, "/api/v1/reports", ROLE_VIEWER, api_reports, NULL, 0, CONCERNS_NODE, 0,
     "the reports of verifications", &op_reports},
    {METHOD_GET, "/api/v1/reports/{job}", ROLE_OPERATOR, api_report, NULL, 0, CONCERNS_NODE,
     SHOWS_ROWS, "the report of one verification, or how far it is", &op_report},
    {METHOD_GET, "/api/v1/audit", ROLE_ADMIN, api_audit, NULL, 0, CONCERNS_NODE, 0,
     "who has changed what, the newest first", &op_audit},
    {METHOD_GET, "/api/v1/log", ROLE_VIEWER, api_log, "log", 0, CONCERNS_NODE, 0,
     "the event log", &op_log},
    {METHOD_GET, "/api/v1/log/{name}", ROLE_VIEWER, api_log, "log", 0, CONCERNS_NODE, 0,
     "the events of one table, or one event", &op_log},

    {METHOD_GET, "/api/v1/dead-letters", ROLE_OPERATOR, api_dead_letters, NULL, 0,
     CONCERNS_NODE, SHOWS_ROWS, "the dead letters: documents that could not be written",
     &op_dead_letters},
    {METHOD_GET, "/api/v1/dead-letters/{id}", ROLE_OPERATOR, api_dead_letter, NULL, 0,
     CONCERNS_NODE, SHOWS_ROWS, "one dead letter, with its document", &op_dead_letter},
    {METHOD_POST, "/api/v1/dead-letters/replay", ROLE_OPERATOR, api_dead_letter_replay, NULL,
     BODY, CONCERNS_LETTERS, TAKES_KEY,
     "read the rows of dead letters again and write their documents", &op_dead_letter_replay},
    {METHOD_POST, "/api/v1/dead-letters/discard", ROLE_ADMIN, api_dead_letter_discard, NULL,
     BODY, CONCERNS_LETTERS, 0, "delete dead letters", &op_dead_letter_discard},

    {METHOD_GET, "/api/v1/delayed", ROLE_OPERATOR, api_delayed, NULL, 0, CONCERNS_NODE,
     SHOWS_ROWS, "changes of delayed tables: what waits for a run, and what was run",
     &op_delayed},
    {METHOD_GET, "/api/v1/delayed/runs", ROLE_VIEWER, api_delayed_runs, NULL, 0, CONCERNS_NODE,
     0, "the runs that go on, and how much waits of each table", &op_delayed_runs},
    {METHOD_POST, "/api/v1/delayed/run", ROLE_OPERATOR, api_delayed_run, NULL, BODY,
     CONCERNS_DELAYED, TAKES_KEY, "read the documents again that delayed changes concern",
     &op_delayed_run},
    {METHOD_POST, "/api/v1/delayed/done", ROLE_ADMIN, api_delayed_done, NULL, BODY,
     CONCERNS_DELAYED, MAY_REPEAT, "mark delayed changes as done", &op_delayed_done},

    {METHOD_GET, "/words/{token}/{file}", ROLE_WORDS, api_words_file, NULL, 0, CONCERNS_NODE, 0,
     "a published list of words, for the analyzer", &op_words_file},
    {METHOD_GET, "/api/v1/words", ROLE_VIEWER, api_words, NULL, 0, CONCERNS_NODE, 0,
     "the words of a list of the IK analyzer", &op_words},
    {METHOD_POST, "/api/v1/words", ROLE_OPERATOR, api_word_add, NULL, BODY, CONCERNS_NODE, 0,
     "add words", &op_word_add},
    {METHOD_GET, "/api/v1/words/status", ROLE_VIEWER, api_word_status, NULL, 0, CONCERNS_NODE,
     0, "what is published, who pulled it, and which tables use it", &op_word_status},
    {METHOD_GET, "/api/v1/words/export", ROLE_VIEWER, api_word_export, NULL, 0, CONCERNS_NODE,
     0, "a list as text, a word a line", &op_word_export},
    {METHOD_POST, "/api/v1/words/import", ROLE_OPERATOR, api_word_import, NULL, FILES,
     CONCERNS_NODE, 0, "add the words of a text, a word a line", &op_word_import},
    {METHOD_POST, "/api/v1/words/publish", ROLE_OPERATOR, api_word_publish, NULL, BODY,
     CONCERNS_NODE, 0, "publish words", &op_word_publish},
    {METHOD_POST, "/api/v1/words/delete", ROLE_OPERATOR, api_words_delete, NULL, BODY,
     CONCERNS_NODE, 0, "delete words", &op_words_delete},
    {METHOD_POST, "/api/v1/words/try", ROLE_OPERATOR, api_word_try, NULL, BODY, CONCERNS_NODE,
     IS_QUESTION, "what an analyzer makes of a text", &op_word_try},
    {METHOD_GET, "/api/v1/words/{list}/{word}", ROLE_VIEWER, api_word, NULL, 0, CONCERNS_NODE,
     0, "one word", &op_word},
    {METHOD_PATCH, "/api/v1/words/{list}/{word}", ROLE_OPERATOR, api_word_set, NULL, BODY,
     CONCERNS_NODE, 0, "change a word that is not published", &op_word_set},
    {METHOD_DELETE, "/api/v1/words/{list}/{word}", ROLE_OPERATOR, api_word_delete, NULL, 0,
     CONCERNS_NODE, 0, "delete a word", &op_word_delete},
};

const struct route *routes_table(size_t *n)
{
    *n = ARRAY_LEN(table);
    return table;
}

/* Take the next segment of a pattern; *pattern is at the '/' before it. */
static struct str next_segment(const char **pattern)
{
    const char *start = *pattern + 1;
    size_t n = strcspn(start, "/");

    *pattern = start + n;
    return (struct str){start, n};
}

static bool matches(const struct route *r, const struct request_target *t, struct str args[2])
{
    const char *pattern = r->pattern;
    size_t n_args = 0;

    if (strcmp(pattern, "/") == 0)
        return t->n_segments == 0;
    for (size_t i = 0; i < t->n_segments; i++) {
        if (*pattern == '\0')
            return false;

        struct str part = next_segment(&pattern);

        if (part.ptr[0] == '{')
            args[n_args++] = t->segments[i];
        else if (!str_equal(part, t->segments[i]))
            return false;
    }
    return *pattern == '\0' && t->n_segments > 0;
}

/* The listeners of metrics.listen and words.listen tell nobody that there are other routes. */
static bool is_served(const struct route *r, const struct request *req)
{
    if (r->role == ROLE_WORDS || req->role == ROLE_WORDS)
        return r->role == req->role;
    return req->role > ROLE_PROBE || r->role == ROLE_PROBE;
}

/* what: "this", or a member of the body. */
static bool refuse_role(const struct request *req, enum access_role needed, const char *what,
                        struct response *res)
{
    char detail[120];

    snprintf(detail, sizeof(detail), "%s needs the role %s, and you have %s", what,
             role_name(needed), role_name(req->role));
    response_set_problem(
        res, &(struct response_problem){.status = 403,
                                        .code = "role-too-low",
                                        .detail = str_from(detail),
                                        .fix = STR("ask an admin of this Millrace")});
    return false;
}

static bool is_for(const struct route *r, const struct request *req)
{
    return req->role >= r->role ||
           (req->role == ROLE_VIEWER && (r->traits & SHOWS_ROWS) != 0 && req->sees_rows);
}

static bool may_use(const struct request *req, const struct route *r, struct response *res)
{
    if (is_for(r, req))
        return true;
    if (req->role > ROLE_PAGE)
        return refuse_role(req, r->role, "this", res);
    response_ask_for_token(
        res, req->is_open ? STR("without a token or a log-in, this port serves the page, "
                                "/metrics, /livez and /readyz only")
                          : STR("without a token or a log-in, this port serves the page, "
                                "/status, /metrics, /livez and /readyz only"));
    return false;
}

/* A port that is for looking only takes no change, whoever asks. */
static bool may_change(const struct request *req, const struct route *r, struct response *res)
{
    if (!req->is_read_only || r->method == METHOD_GET || (r->traits & IS_QUESTION) != 0)
        return true;
    response_set_problem(
        res, &(struct response_problem){
                 .status = 403,
                 .code = "read-only",
                 .detail = STR("this port takes no changes (web.read_only)"),
                 .fix = STR("use the millrace command on the daemon's machine, whose socket "
                            "takes them, or set web.read_only to false")});
    return false;
}

/* Name the methods that the path has. */
static void add_allow_header(struct response *res, unsigned methods)
{
    struct buf text = {0};

    for (int m = 0; m < N_METHODS; m++)
        if ((methods & 1U << m) != 0)
            buf_printf(&text, "%s%s%s", text.len > 0 ? ", " : "",
                       request_method_name((enum request_method)m),
                       m == METHOD_GET ? ", HEAD" : "");
    response_add_header(res, "Allow", text.ptr);
    buf_free(&text);
}

static void refuse(const struct request *req, unsigned methods, struct response *res)
{
    if (methods == 0) {
        response_set_problem(res, &(struct response_problem){
                                      .status = 404,
                                      .code = "no-such-route",
                                      .detail = STR("nothing is served at this address")});
        return;
    }
    response_set_problem(res,
                         &(struct response_problem){
                             .status = 405,
                             .detail = req->method == N_METHODS
                                           ? STR("unknown method")
                                           : STR("this address does not support the method")});
    add_allow_header(res, methods);
}

const struct route *routes_find(const struct request *req, struct str args[2],
                                struct response *res)
{
    unsigned methods = 0; /* of the routes that fit except for their method */

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct str found[2] = {{0}};

        if (!is_served(&table[i], req) || !matches(&table[i], &req->target, found))
            continue;
        if (table[i].method != req->method) {
            methods |= 1U << table[i].method;
            continue;
        }
        memcpy(args, found, sizeof(found));
        return may_use(req, &table[i], res) && may_change(req, &table[i], res) ? &table[i]
                                                                               : NULL;
    }
    refuse(req, methods, res);
    return NULL;
}

/* Some members of a body ask for more than their route: SQL may read what no index shows. */
static bool may_send(const struct request *req, const struct operation *op,
                     struct response *res)
{
    const struct input *m = req->role < ROLE_ADMIN ? op->members : NULL;
    cJSON *body = NULL;
    struct err err;

    while (m != NULL && m->name != NULL && !m->is_for_admins)
        m++;
    if (m == NULL || m->name == NULL || !body_parse(&body, req, NULL, &err))
        return true; /* whoever handles it refuses what is no body */
    while (m->name != NULL && !(m->is_for_admins && cJSON_HasObjectItem(body, m->name)))
        m++;
    cJSON_Delete(body);
    return m->name == NULL || refuse_role(req, ROLE_ADMIN, m->name, res);
}

static bool has_dry_run(const struct operation *op)
{
    const struct input *p = op->params;

    while (p != NULL && p->name != NULL && strcmp(p->name, "dry_run") != 0)
        p++;
    return p != NULL && p->name != NULL;
}

static bool check_params(const struct request *req, const struct route *r,
                         struct list_want *page, bool *dry_run, struct err *err)
{
    const struct operation *op = r->op;
    const bool is_change = r->method != METHOD_GET;
    struct str reason;

    page->after = request_param(&req->target, "after");
    return (op->any_params || params_known(&req->target, op->params, is_change, err)) &&
           (!is_change || param_reason(&req->target, &reason, err)) &&
           (!has_dry_run(op) || param_bool(&req->target, "dry_run", dry_run, err)) &&
           (!op->is_list || param_uint(&req->target, "limit", &page->limit, err));
}

/* Leave the page that was asked for. */
static void turn_page(const struct list_want *page, struct response *res)
{
    struct err err = {0};

    if (res->status == 200 && !list_page(&res->body, page, &err))
        response_set_err(res, &err, STR(""));
}

/* ---- requests that come again ---- */

/* The address of the caller is no part: it may be another one the second time. */
static struct str caller_of(const struct request *req)
{
    const char *paren = memchr(req->user.ptr, '(', req->user.len);

    return paren == NULL ? req->user
                         : (struct str){req->user.ptr, (size_t)(paren - req->user.ptr)};
}

static void cut_target(struct str raw, struct repeat_key *k)
{
    const char *mark = memchr(raw.ptr, '?', raw.len);

    k->path = mark == NULL ? raw : (struct str){raw.ptr, (size_t)(mark - raw.ptr)};
    k->query = (struct str){raw.ptr + k->path.len, raw.len - k->path.len};
}

/* The header of the first answer, which had it in its body, too. */
static void tell_revision_again(const struct route *r, struct response *res)
{
    uint64_t revision;

    if (r->op->tells_revision && json_find_u64(buf_str(&res->body), "/revision", &revision))
        revision_tell(res, revision);
}

/* Returns false if the request has its answer: the one of the first time, or a refusal. */
static bool begin_once(const struct route *r, const struct api_call *c, struct repeated *once)
{
    const struct request *req = c->req;
    struct response *res = c->res;
    struct err err = {0};

    if (req->idempotency_key.ptr == NULL || (r->traits & TAKES_KEY) == 0)
        return true;

    struct repeat_key k = {.caller = caller_of(req),
                           .method = str_from(request_method_name(req->method)),
                           .key = req->idempotency_key,
                           .body = req->body};

    cut_target(req->target.raw, &k);
    if (!coordinator_begin_repeat(c->api->coordinator, &k, once, &res->status, &res->body,
                                  &err)) {
        response_set_err(res, &err, STR(""));
        if (once->still_runs)
            response_add_header(res, "Retry-After", "1");
    } else if (!once->is_first) {
        res->type = res->status >= 400 ? "application/problem+json" : res->type;
        response_add_header(res, "Idempotency-Replayed", "true");
        tell_revision_again(r, res);
    }
    return once->is_first;
}

/*
 * Of what was refused nothing was done.  Of a failure at another node nobody knows, so that
 * answer is kept, too.
 */
static void end_once(const struct api_call *c, const struct repeated *once, bool was_passed_on)
{
    const int status = c->res->status;
    const bool is_kept = status < 400 || (status >= 500 && was_passed_on);

    if (once->is_first)
        coordinator_end_repeat(c->api->coordinator, once, is_kept ? status : 0,
                               buf_str(&c->res->body));
}

static void carry_out(const struct route *r, struct api_call *c)
{
    struct repeated once = {.is_first = false};

    if (!begin_once(r, c, &once))
        return;

    const bool was_passed_on = pass_on(r, c);

    if (!was_passed_on)
        r->handle(c);
    end_once(c, &once, was_passed_on);
    audit_note(r, c);
}

void routes_handle(const struct api *api, const struct request *req, struct response *res)
{
    struct api_call call = {
        .api = api, .req = req, .res = res, .routes = table, .n_routes = ARRAY_LEN(table)};
    const struct route *r = routes_find(req, call.args, res);
    struct list_want page = {0};
    struct err err = {0};

    if (r == NULL)
        return;
    if (req->body.len > r->body_max) {
        response_set_problem(
            res, &(struct response_problem){.status = 413,
                                            .detail = r->body_max == 0
                                                          ? STR("this address takes no body")
                                                          : STR("the body is too large")});
        return;
    }
    if (!check_params(req, r, &page, &call.dry_run, &err)) {
        response_set_err(res, &err, STR(""));
        return;
    }
    if (!may_send(req, r->op, res))
        return;
    call.noun = r->noun;
    call.op = r->op;
    res->status = 200;
    res->type = "application/json";
    carry_out(r, &call);
    if (r->op->is_list)
        turn_page(&page, res);
}
