#include "config.h"

#include "web/routes.h"

#include "web/pass_on.h"

#include <string.h>

#define BODY  ((size_t)1 << 20)
#define FILES ((size_t)16 << 20) /* definition files travel in the body */

static const struct route table[] = {
    {METHOD_GET, "/", ROLE_PAGE, api_page, NULL, 0, CONCERNS_NODE, 0, "the status page"},
    {METHOD_GET, "/metrics", ROLE_PROBE, api_metrics, NULL, 0, CONCERNS_NODE, 0,
     "metrics as Prometheus text"},
    {METHOD_GET, "/livez", ROLE_PROBE, api_live, NULL, 0, CONCERNS_NODE, 0,
     "answers while the process lives"},
    {METHOD_GET, "/readyz", ROLE_PROBE, api_ready, NULL, 0, CONCERNS_NODE, 0,
     "whether it is ready, else why not"},

    {METHOD_GET, "/api/v1/version", ROLE_VIEWER, api_version, NULL, 0, CONCERNS_NODE, 0,
     "the program's version"},
    {METHOD_GET, "/api/v1/config", ROLE_ADMIN, api_config, NULL, 0, CONCERNS_NODE, 0,
     "the settings in force"},
    {METHOD_GET, "/api/v1/config/delivery", ROLE_ADMIN, api_delivery, NULL, 0, CONCERNS_NODE, 0,
     "the settings of delivery"},
    {METHOD_PATCH, "/api/v1/config/delivery", ROLE_ADMIN, api_delivery_set, NULL, BODY,
     CONCERNS_NODE, 0, "change some of these settings"},
    {METHOD_POST, "/api/v1/config/delivery/reset", ROLE_ADMIN, api_delivery_reset, NULL, BODY,
     CONCERNS_NODE, 0, "return to the configured settings"},
    {METHOD_GET, "/api/v1/config/delivery/{name}", ROLE_ADMIN, api_delivery, NULL, 0,
     CONCERNS_NODE, 0, "one setting of delivery"},
    {METHOD_POST, "/api/v1/drain", ROLE_OPERATOR, api_drain, NULL, BODY, CONCERNS_NODE, 0,
     "deliver what is queued"},
    {METHOD_POST, "/api/v1/drain/cancel", ROLE_OPERATOR, api_drain_cancel, NULL, 0,
     CONCERNS_NODE, 0, "cancel a drain"},
    {METHOD_GET, "/api/v1/status", ROLE_VIEWER, api_status, NULL, 0, CONCERNS_NODE, 0,
     "the state of topics, tables and builds"},
    {METHOD_GET, "/api/v1/doctor", ROLE_OPERATOR, api_doctor, NULL, 0, CONCERNS_NODE, 0,
     "check requirements"},

    {METHOD_POST, "/api/v1/apply", ROLE_ADMIN, api_apply, NULL, FILES, CONCERNS_NODE, 0,
     "store definitions"},
    {METHOD_GET, "/api/v1/export", ROLE_VIEWER, api_export, NULL, 0, CONCERNS_NODE, 0,
     "definitions as YAML"},

    {METHOD_GET, "/api/v1/topics", ROLE_VIEWER, api_list, "topic", 0, CONCERNS_NODE, 0,
     "the topics"},
    {METHOD_GET, "/api/v1/topics/{name}", ROLE_VIEWER, api_list, "topic", 0, CONCERNS_NODE, 0,
     "one topic"},
    {METHOD_DELETE, "/api/v1/topics/{name}", ROLE_ADMIN, api_delete, "topic", 0, CONCERNS_NODE,
     0, "remove a topic"},
    {METHOD_POST, "/api/v1/topics/{name}/reset", ROLE_ADMIN, api_topic_reset, NULL, BODY,
     CONCERNS_TOPIC, 0, "continue from the server's current position"},
    {METHOD_POST, "/api/v1/topics/{name}/pause", ROLE_OPERATOR, api_topic_pause, NULL, BODY,
     CONCERNS_TOPIC, MAY_REPEAT | OR_HERE, "stop reading a topic's log"},
    {METHOD_POST, "/api/v1/topics/{name}/resume", ROLE_OPERATOR, api_topic_resume, NULL, BODY,
     CONCERNS_TOPIC, MAY_REPEAT | OR_HERE, "end a pause, or retry a failed topic now"},
    {METHOD_POST, "/api/v1/topics/{name}/move", ROLE_OPERATOR, api_topic_move, NULL, BODY,
     CONCERNS_NODE, 0, "let another node follow a topic"},
    {METHOD_GET, "/api/v1/nodes", ROLE_VIEWER, api_nodes, NULL, 0, CONCERNS_NODE, 0,
     "the nodes that share the store"},
    {METHOD_GET, "/api/v1/nodes/{name}", ROLE_VIEWER, api_nodes, NULL, 0, CONCERNS_NODE, 0,
     "one node"},
    {METHOD_DELETE, "/api/v1/nodes/{name}", ROLE_OPERATOR, api_node_forget, NULL, 0,
     CONCERNS_NODE, 0, "forget a node that does not come back"},
    {METHOD_POST, "/api/v1/nodes/rebalance", ROLE_OPERATOR, api_node_rebalance, NULL, BODY,
     CONCERNS_NODE, 0, "share the topics evenly"},
    {METHOD_POST, "/api/v1/nodes/{name}/evacuate", ROLE_OPERATOR, api_node_evacuate, NULL, BODY,
     CONCERNS_NODE, 0, "move a node's topics away, and give it none"},
    {METHOD_POST, "/api/v1/nodes/{name}/admit", ROLE_OPERATOR, api_node_admit, NULL, BODY,
     CONCERNS_NODE, 0, "give an evacuated node topics again"},
    {METHOD_GET, "/api/v1/databases", ROLE_VIEWER, api_list, "database", 0, CONCERNS_NODE, 0,
     "the databases"},
    {METHOD_GET, "/api/v1/databases/{name}", ROLE_VIEWER, api_list, "database", 0,
     CONCERNS_NODE, 0, "one database"},
    {METHOD_DELETE, "/api/v1/databases/{name}", ROLE_ADMIN, api_delete, "database", 0,
     CONCERNS_NODE, 0, "remove a database"},
    {METHOD_GET, "/api/v1/tables", ROLE_VIEWER, api_list, "table", 0, CONCERNS_NODE, 0,
     "the tables"},
    {METHOD_GET, "/api/v1/tables/{name}", ROLE_VIEWER, api_list, "table", 0, CONCERNS_NODE, 0,
     "one table"},
    {METHOD_DELETE, "/api/v1/tables/{name}", ROLE_ADMIN, api_delete, "table", 0, CONCERNS_NODE,
     0, "remove a table"},
    {METHOD_POST, "/api/v1/tables/{name}/delete", ROLE_ADMIN, api_table_delete, NULL, BODY,
     CONCERNS_TABLE, 0, "remove a table and delete its indexes"},
    {METHOD_GET, "/api/v1/tables/{name}/explain", ROLE_OPERATOR, api_explain, NULL, 0,
     CONCERNS_NODE, 0, "the SQL, the document and the bulk lines of one row"},
    {METHOD_GET, "/api/v1/tables/{name}/mapping", ROLE_VIEWER, api_mapping, NULL, 0,
     CONCERNS_NODE, 0, "the index mapping"},
    {METHOD_GET, "/api/v1/tables/{name}/columns", ROLE_OPERATOR, api_columns, NULL, 0,
     CONCERNS_NODE, 0, "a definition with every column of the table"},

    {METHOD_POST, "/api/v1/tables/{name}/verify", ROLE_OPERATOR, api_verify, NULL, BODY,
     CONCERNS_TABLE, 0, "compare documents with their rows"},
    {METHOD_POST, "/api/v1/tables/{name}/replay", ROLE_OPERATOR, api_replay, NULL, BODY,
     CONCERNS_TABLE, 0, "read and write again what changed on a day"},
    {METHOD_GET, "/api/v1/tables/{name}/trace", ROLE_OPERATOR, api_trace, NULL, 0,
     CONCERNS_TABLE, MAY_REPEAT, "why a document is, or is not, as its row"},
    {METHOD_POST, "/api/v1/tables/{name}/index", ROLE_OPERATOR, api_index_create, NULL, BODY,
     CONCERNS_TABLE, 0, "build a new index version"},
    {METHOD_PATCH, "/api/v1/tables/{name}/index", ROLE_OPERATOR, api_index_set, NULL, BODY,
     CONCERNS_TABLE, MAY_REPEAT, "change a running build"},
    {METHOD_POST, "/api/v1/tables/{name}/index/cutover", ROLE_OPERATOR, api_index_cutover, NULL,
     BODY, CONCERNS_TABLE, 0, "publish a waiting version"},
    {METHOD_POST, "/api/v1/tables/{name}/index/pause", ROLE_OPERATOR, api_index_pause, NULL,
     BODY, CONCERNS_TABLE, MAY_REPEAT | OR_HERE, "write nothing to an index"},
    {METHOD_POST, "/api/v1/tables/{name}/index/resume", ROLE_OPERATOR, api_index_resume, NULL,
     BODY, CONCERNS_TABLE, MAY_REPEAT | OR_HERE, "write to a paused index again"},
    {METHOD_POST, "/api/v1/tables/{name}/index/refresh", ROLE_OPERATOR, api_index_refresh, NULL,
     BODY, CONCERNS_TABLE, 0, "read some rows again and write their documents"},
    {METHOD_POST, "/api/v1/tables/{name}/index/refresh/cancel", ROLE_OPERATOR,
     api_index_refresh_cancel, NULL, BODY, CONCERNS_TABLE, MAY_REPEAT, "end a refresh"},
    {METHOD_POST, "/api/v1/tables/{name}/index/rollback", ROLE_OPERATOR, api_index_rollback,
     NULL, BODY, CONCERNS_TABLE, 0, "return searches to an older version that was kept"},
    {METHOD_POST, "/api/v1/tables/{name}/index/reset", ROLE_ADMIN, api_index_reset, NULL, BODY,
     CONCERNS_TABLE, 0, "drop a running build"},
    {METHOD_DELETE, "/api/v1/tables/{name}/versions", ROLE_ADMIN, api_index_delete, NULL, 0,
     CONCERNS_TABLE, 0, "delete the versions that searches do not use"},
    {METHOD_DELETE, "/api/v1/tables/{name}/versions/{number}", ROLE_ADMIN, api_index_delete,
     NULL, 0, CONCERNS_TABLE, 0, "delete one version"},

    {METHOD_GET, "/api/v1/relations", ROLE_VIEWER, api_list, "relation", 0, CONCERNS_NODE, 0,
     "the relations"},
    {METHOD_GET, "/api/v1/relations/{name}", ROLE_VIEWER, api_list, "relation", 0,
     CONCERNS_NODE, 0, "the relations of a table"},
    {METHOD_GET, "/api/v1/versions", ROLE_VIEWER, api_list, "version", 0, CONCERNS_NODE, 0,
     "the index versions"},
    {METHOD_GET, "/api/v1/versions/{name}", ROLE_VIEWER, api_list, "version", 0, CONCERNS_NODE,
     0, "the versions of an index"},
    {METHOD_GET, "/api/v1/indexes", ROLE_VIEWER, api_list, "index", 0, CONCERNS_NODE, 0,
     "the indexes, with the reason why each exists"},
    {METHOD_GET, "/api/v1/indexes/{name}", ROLE_VIEWER, api_list, "index", 0, CONCERNS_NODE, 0,
     "the indexes of one alias"},
    {METHOD_GET, "/api/v1/jobs", ROLE_VIEWER, api_list, "job", 0, CONCERNS_NODE, 0,
     "builds and other long work, with their progress"},
    {METHOD_GET, "/api/v1/jobs/{name}", ROLE_VIEWER, api_list, "job", 0, CONCERNS_NODE, 0,
     "one job"},
    {METHOD_GET, "/api/v1/reports", ROLE_VIEWER, api_reports, NULL, 0, CONCERNS_NODE, 0,
     "the reports of verifications"},
    {METHOD_GET, "/api/v1/reports/{job}", ROLE_OPERATOR, api_report, NULL, 0, CONCERNS_NODE, 0,
     "the report of one verification, or how far it is"},
    {METHOD_GET, "/api/v1/log", ROLE_VIEWER, api_list, "log", 0, CONCERNS_NODE, 0,
     "the event log"},
    {METHOD_GET, "/api/v1/log/{name}", ROLE_VIEWER, api_list, "log", 0, CONCERNS_NODE, 0,
     "the events of one table, or one event"},

    {METHOD_GET, "/api/v1/dead-letters", ROLE_OPERATOR, api_dead_letters, NULL, 0,
     CONCERNS_NODE, 0, "the dead letters: documents that could not be written"},
    {METHOD_GET, "/api/v1/dead-letters/{id}", ROLE_OPERATOR, api_dead_letter, NULL, 0,
     CONCERNS_NODE, 0, "one dead letter, with its document"},
    {METHOD_POST, "/api/v1/dead-letters/replay", ROLE_OPERATOR, api_dead_letter_replay, NULL,
     BODY, CONCERNS_LETTERS, 0,
     "read the rows of dead letters again and write their documents"},
    {METHOD_POST, "/api/v1/dead-letters/discard", ROLE_ADMIN, api_dead_letter_discard, NULL,
     BODY, CONCERNS_LETTERS, 0, "delete dead letters"},

    {METHOD_GET, "/api/v1/delayed", ROLE_OPERATOR, api_delayed, NULL, 0, CONCERNS_NODE, 0,
     "changes of delayed tables: what waits for a run, and what was run"},
    {METHOD_GET, "/api/v1/delayed/runs", ROLE_VIEWER, api_delayed_runs, NULL, 0, CONCERNS_NODE,
     0, "the runs that go on, and how much waits of each table"},
    {METHOD_POST, "/api/v1/delayed/run", ROLE_OPERATOR, api_delayed_run, NULL, BODY,
     CONCERNS_DELAYED, 0, "read the documents again that delayed changes concern"},
    {METHOD_POST, "/api/v1/delayed/done", ROLE_OPERATOR, api_delayed_done, NULL, BODY,
     CONCERNS_DELAYED, MAY_REPEAT, "mark delayed changes as done"},
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

/* The listener of metrics.listen tells nobody that there are other routes. */
static bool is_served(const struct route *r, const struct request *req)
{
    return req->role > ROLE_PROBE || r->role == ROLE_PROBE;
}

static bool may_use(const struct request *req, const struct route *r, struct response *res)
{
    if (req->role >= r->role)
        return true;
    response_set_problem(
        res,
        &(struct response_problem){
            .status = 403,
            .code = "socket-only",
            .detail = STR("this port serves the status page, /metrics, /livez and /readyz; "
                          "the API is served on the unix socket only"),
            .fix = STR("use the millrace command, or curl --unix-socket DATA/millrace.sock, "
                       "as the daemon's user or root")});
    return false;
}

/* The Allow header for each set of methods that a path in the table has. */
static const char *allow_header(unsigned methods)
{
    static const struct {
        unsigned methods;
        const char *text;
    } sets[] = {
        {1U << METHOD_GET, "GET, HEAD"},
        {1U << METHOD_POST, "POST"},
        {1U << METHOD_DELETE, "DELETE"},
        {1U << METHOD_GET | 1U << METHOD_DELETE, "GET, HEAD, DELETE"},
        {1U << METHOD_POST | 1U << METHOD_PATCH, "POST, PATCH"},
        {1U << METHOD_GET | 1U << METHOD_POST, "GET, HEAD, POST"},
        {1U << METHOD_GET | 1U << METHOD_PATCH, "GET, HEAD, PATCH"},
    };

    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (sets[i].methods == methods)
            return sets[i].text;
    return "GET, HEAD";
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
    res->allow = allow_header(methods);
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
        return may_use(req, &table[i], res) ? &table[i] : NULL;
    }
    refuse(req, methods, res);
    return NULL;
}

void routes_handle(const struct api *api, const struct request *req, struct response *res)
{
    struct api_call call = {.api = api, .req = req, .res = res};
    const struct route *r = routes_find(req, call.args, res);

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
    call.noun = r->noun;
    res->status = 200;
    res->type = "application/json";
    if (!pass_on(r, &call))
        r->handle(&call);
}
