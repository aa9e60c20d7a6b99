#include "config.h"

#include "rebalance/doctor/mysql.h"

#include "rebalance/doctor/visit.h"
#include "rebalance/watch/asking.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/account.h"
#include "src/mysql/login.h"
#include "src/mysql/mysql.h"
#include "sync/server/server_info.h"
#include "sync/source/transport/transport.h"

#include <stdlib.h>

/* A log kept for a shorter time is gone after a long night. */
#define RETENTION_MIN_S 86400

/* All variables that the checks use. A server leaves out the ones that it lacks. */
static const struct str variables_sql =
    STR("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'binlog_format',"
        " 'binlog_row_image', 'binlog_row_metadata', 'gtid_mode', 'server_id',"
        " 'log_slave_updates', 'log_replica_updates', 'expire_logs_days',"
        " 'binlog_expire_logs_seconds', 'binlog_expire_logs_auto_purge',"
        " 'max_binlog_total_size', 'binlog_space_limit')");

/* A setting that decides whether the log shows every change. */
struct rule {
    const char *id;
    const char *variable;
    const char *wanted;
    enum doctor_status otherwise;
    bool absent_is_fine; /* a server without the variable lacks the feature */
    const char *why;
};

static const struct rule rules[] = {
    {"mysql.binlog_format", "binlog_format", "ROW", DOCTOR_FAIL, true,
     "only row events say which rows changed and their new values"},
    {"mysql.binlog_row_image", "binlog_row_image", "FULL", DOCTOR_WARN, true,
     "with other images Millrace reads documents again when a change lacks a column, and "
     "stops a table with relations when a change lacks the old value of a joining column"},
    {"mysql.binlog_row_metadata", "binlog_row_metadata", "FULL", DOCTOR_WARN, false,
     "without column names in the log Millrace must look an altered table up, which is only "
     "right if nobody altered it again since"},
};

static bool find_variable(const struct visit *v, const char *name, struct str *value)
{
    for (size_t i = 0; i < v->n_variables; i++)
        if (str_equal(v->variables[i].name, str_from(name))) {
            *value = v->variables[i].value;
            return true;
        }
    return false;
}

static bool is(struct str value, const char *wanted)
{
    return str_equal_any_case(value, str_from(wanted));
}

/* Returns a variable as a number, 0 if the server lacks it. */
static uint64_t variable_number(const struct visit *v, const char *name)
{
    struct str value;

    return find_variable(v, name, &value) ? strtoull(value.ptr, NULL, 10) : 0;
}

/*
 * MySQL from 8.0 on can persist the value. MariaDB and older servers need it in their
 * configuration file.
 */
static struct str set_statement(struct visit *v, const char *variable, const char *value)
{
    bool number = value[0] >= '0' && value[0] <= '9';
    struct str literal = number ? str_from(value) : visit_text(v, "'%s'", value);

    if (v->mariadb || v->version < 80000)
        return visit_text(v,
                          "SET GLOBAL %s = %" STR_FMT
                          " -- and %s = %s under [mysqld] of the server's "
                          "configuration; then reconnect open sessions",
                          variable, STR_ARG(literal), variable, value);
    return visit_text(v, "SET PERSIST %s = %" STR_FMT " -- then reconnect open sessions",
                      variable, STR_ARG(literal));
}

static void check_rule(struct visit *v, const struct rule *rule)
{
    struct str value;

    if (!find_variable(v, rule->variable, &value)) {
        if (!rule->absent_is_fine)
            visit_add(v, rule->otherwise, rule->id,
                      visit_text(v, "this server does not have %s", rule->variable),
                      str_from(rule->why), STR("use MariaDB 10.5, MySQL 8.0 or newer"));
        return;
    }
    struct str message = visit_text(v, "%s is %" STR_FMT, rule->variable,
                                    STR_ARG(value.len > 0 ? value : STR("empty")));

    if (is(value, rule->wanted))
        visit_ok(v, rule->id, message);
    else
        visit_add(v, rule->otherwise, rule->id, message, str_from(rule->why),
                  set_statement(v, rule->variable, rule->wanted));
}

static bool check_log_bin(struct visit *v)
{
    struct str value;
    bool on = find_variable(v, "log_bin", &value) && is(value, "ON");

    if (on)
        visit_ok(v, "mysql.log_bin", STR("the server writes a binary log"));
    else
        visit_add(
            v, DOCTOR_FAIL, "mysql.log_bin", STR("the server writes no binary log"),
            STR("Millrace reads changes from the binary log and has no other way to see them"),
            STR("log_bin = binlog, binlog_format = ROW, binlog_row_metadata = FULL and a "
                "server_id under [mysqld] of the server's configuration, then restart it"));
    return on;
}

static void check_gtid(struct visit *v)
{
    struct str value;

    if (v->mariadb) {
        visit_ok(v, "mysql.gtid", STR("MariaDB always writes GTIDs"));
        return;
    }
    if (find_variable(v, "gtid_mode", &value) && is(value, "ON")) {
        visit_ok(v, "mysql.gtid", STR("gtid_mode is ON"));
        return;
    }
    visit_add(
        v, DOCTOR_WARN, "mysql.gtid", STR("gtid_mode is not ON"),
        STR("without GTIDs a re-read waits for the lock of the changed row, or, in a table "
            "without a primary key, for a fixed delay, to be sure that it sees the change; "
            "and Millrace cannot follow the log to another server"),
        STR("SET PERSIST enforce_gtid_consistency = ON; SET PERSIST gtid_mode = "
            "OFF_PERMISSIVE; SET PERSIST gtid_mode = ON_PERMISSIVE; SET PERSIST gtid_mode = "
            "ON"));
}

/*
 * Whether another replica is listed with our id. The list is not essential, so ignore a
 * failure.
 */
static bool is_taken(struct visit *v)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;
    bool taken = false;

    if (!mysql_conn_query(v->conn, STR("SHOW REPLICAS"), &r, &err) &&
        !mysql_conn_query(v->conn, STR("SHOW SLAVE HOSTS"), &r, &err))
        return false;
    while (mysql_result_next(r, &row, &err) > 0)
        if (strtoull(row.cells[0].ptr, NULL, 10) == v->opt->server_id &&
            !str_equal(row.cells[1], STR("millrace")))
            taken = true;
    mysql_result_close(r);
    return taken;
}

static void check_server_id(struct visit *v)
{
    uint64_t server = variable_number(v, "server_id");
    unsigned ours = v->opt->server_id;

    if (server == 0)
        visit_add(v, DOCTOR_FAIL, "mysql.server_id", STR("the server has server_id 0"),
                  STR("such a server refuses to send its log, or stops sending it"),
                  STR("SET GLOBAL server_id = 1 -- and server_id = 1 under [mysqld] of the "
                      "server's configuration"));
    else if (ours != 0 && (server == ours || is_taken(v)))
        visit_add(
            v, DOCTOR_FAIL, "mysql.server_id.taken",
            visit_text(v, "server id %u, which we would use, is %s", ours,
                       server == ours ? "the server's own" : "that of another replica"),
            STR("the server serves only the latest client with an id, so two with one id keep "
                "throwing each other out"),
            STR("give the topic another `server_id`"));
    else
        visit_ok(
            v, "mysql.server_id",
            visit_text(v, "the server is %llu, we are %u", (unsigned long long)server, ours));
}

/* Returns how long the server keeps its log, in seconds; 0: for ever. */
static uint64_t retention(const struct visit *v)
{
    struct str value;
    uint64_t seconds = variable_number(v, "binlog_expire_logs_seconds");

    if (find_variable(v, "binlog_expire_logs_auto_purge", &value) && is(value, "OFF"))
        return 0;
    return seconds != 0 ? seconds : variable_number(v, "expire_logs_days") * 86400;
}

static void check_retention(struct visit *v)
{
    uint64_t seconds = retention(v);

    if (seconds == 0)
        visit_ok(v, "mysql.retention",
                 STR("the server keeps its log until somebody purges it"));
    else if (seconds >= RETENTION_MIN_S)
        visit_ok(v, "mysql.retention",
                 visit_text(v, "the server keeps its log for %llu hours",
                            (unsigned long long)seconds / 3600));
    else
        visit_add(v, DOCTOR_WARN, "mysql.retention",
                  visit_text(v, "the server keeps its log for only %llu seconds",
                             (unsigned long long)seconds),
                  STR("if Millrace or the search engine is down for longer, the tables must be "
                      "rebuilt"),
                  set_statement(v, "binlog_expire_logs_seconds", "604800"));
}

/* Returns the name of the setting that limits the log's size, NULL if there is no limit. */
static const char *size_limit(const struct visit *v, uint64_t *bytes)
{
    static const char *const names[] = {"max_binlog_total_size", "binlog_space_limit"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        *bytes = variable_number(v, names[i]);
        if (*bytes > 0)
            return names[i];
    }
    return NULL;
}

/*
 * Whether the server still has the log from where Millrace goes on.  How long that stays so
 * only its settings tell: nobody knows what a person or another program will purge.
 */
static void check_log_kept(struct visit *v)
{
    static const char why[] =
        "if the server purges the log before Millrace has read it, the tables must be rebuilt";
    const struct str file = v->opt->file;
    struct log_backlog behind;
    uint64_t limit;
    const char *const name = size_limit(v, &limit);
    struct err err;

    /* Without the right to ask, check_status() fails. */
    if (file.len == 0 || !server_log_backlog(v->conn, file, v->opt->offset, &behind, &err))
        return;
    if (!behind.found)
        visit_add(v, DOCTOR_WARN, "mysql.log_kept.gone",
                  visit_text(v,
                             "the server's log has no %" STR_FMT ":%llu, from where Millrace "
                             "goes on: it was purged, or this is another server",
                             STR_ARG(file), (unsigned long long)v->opt->offset),
                  str_from(why),
                  STR("if the topic fails, its reason says what to do; if it is paused, "
                      "millrace topic resume shows whether it can go on"));
    else if (name != NULL && behind.bytes > limit / 2)
        visit_add(
            v, DOCTOR_WARN, "mysql.log_kept",
            visit_text(v,
                       "%llu MiB of log wait for Millrace, more than half of the %llu MiB "
                       "that the server keeps at most",
                       (unsigned long long)behind.bytes >> 20, (unsigned long long)limit >> 20),
            str_from(why),
            visit_text(v,
                       "raise %s, find what is slow, or end the pause with millrace "
                       "topic resume",
                       name));
    else
        visit_ok(v, "mysql.log_kept",
                 visit_text(v,
                            "the server still has the log from %" STR_FMT " on, where Millrace "
                            "goes on, %llu MiB (what a person or a program purges by hand "
                            "cannot be foreseen)",
                            STR_ARG(file), (unsigned long long)behind.bytes >> 20));
}

/* Whether the server is a replica. No if we lack the privilege to see that. */
static bool is_replica(struct visit *v)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;

    if (!mysql_conn_query(v->conn, STR("SHOW REPLICA STATUS"), &r, &err) &&
        !mysql_conn_query(v->conn, STR("SHOW SLAVE STATUS"), &r, &err))
        return false;
    bool replica = mysql_result_next(r, &row, &err) > 0;

    mysql_result_close(r);
    return replica;
}

static void check_replica(struct visit *v)
{
    struct str value;
    bool logs = (find_variable(v, "log_replica_updates", &value) ||
                 find_variable(v, "log_slave_updates", &value)) &&
                is(value, "ON");

    if (logs || !is_replica(v))
        visit_ok(v, "mysql.log_replica_updates",
                 logs ? STR("the server logs what it receives by replication")
                      : STR("the server is not a replica"));
    else
        visit_add(
            v, DOCTOR_FAIL, "mysql.log_replica_updates",
            STR("the server is a replica, and log_slave_updates is OFF"),
            STR("its log then lacks the changes from its source"),
            STR("log_slave_updates = ON under [mysqld] of the server's configuration, then "
                "restart it; or follow the source instead"));
}

/* Whether the list "a,b" contains name. */
static bool listed(struct str list, struct str name)
{
    while (list.len > 0) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma != NULL ? (size_t)(comma - list.ptr) : list.len;

        if (str_equal((struct str){list.ptr, len}, name))
            return true;
        list = comma != NULL ? (struct str){comma + 1, list.len - len - 1} : STR("");
    }
    return false;
}

static void check_filters(struct visit *v, struct str only, struct str ignored)
{
    for (size_t i = 0; i < v->opt->n_tables; i++) {
        struct str schema = v->opt->tables[i].schema;

        if (!listed(ignored, schema) && (only.len == 0 || listed(only, schema)))
            continue;
        visit_add(v, DOCTOR_FAIL, "mysql.binlog_filter",
                  visit_text(v, "the log leaves out the database %" STR_FMT, STR_ARG(schema)),
                  STR("Millrace cannot see its changes"),
                  visit_text(v,
                             "take binlog_do_db and binlog_ignore_db out of the server's "
                             "configuration (or add %" STR_FMT
                             " to the first), then restart it",
                             STR_ARG(schema)));
        return;
    }
    visit_ok(v, "mysql.binlog_filter", STR("the log leaves out none of the defined databases"));
}

/* This also checks a privilege: every re-read needs to know where the log ends. */
static void check_status(struct visit *v)
{
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;
    bool ok = mysql_conn_query(v->conn, STR("SHOW MASTER STATUS"), &r, &err);

    /* MySQL 8.4 has renamed the statement. */
    if (!ok && err.code == 1064)
        ok = mysql_conn_query(v->conn, STR("SHOW BINARY LOG STATUS"), &r, &err);
    if (!ok) {
        bool monitor = v->mariadb && v->version >= 100502;

        visit_add(v, DOCTOR_FAIL, "mysql.grant_status", str_from(err.msg),
                  STR("Millrace needs the end of the log to start, and to measure its lag"),
                  visit_text(v, "GRANT %s ON *.* TO %" STR_FMT,
                             monitor ? "BINLOG MONITOR" : "REPLICATION CLIENT",
                             STR_ARG(v->account)));
        return;
    }
    visit_ok(v, "mysql.grant_status", STR("the topic's user may see where the log ends"));
    int got = mysql_result_next(r, &row, &err);
    struct str only = got > 0 ? arena_copy(v->arena, row.cells[2]) : STR("");
    struct str ignored = got > 0 ? arena_copy(v->arena, row.cells[3]) : STR("");

    mysql_result_close(r);
    check_filters(v, only, ignored);
}

static void check_dump(struct visit *v)
{
    struct err err;

    if (transport_try_server(v->opt->server, v->opt->server_id, &err))
        visit_ok(v, "mysql.grant_dump", STR("the topic's user may read the log"));
    else if (transport_reason_of(&err) == TRANSPORT_PRIVILEGE)
        visit_add(
            v, DOCTOR_FAIL, "mysql.grant_dump.denied", str_from(err.msg),
            STR("Millrace cannot read the log without this right"),
            visit_text(v, "GRANT REPLICATION SLAVE ON *.* TO %" STR_FMT, STR_ARG(v->account)));
    else
        visit_add(v, DOCTOR_FAIL, "mysql.grant_dump", str_from(err.msg),
                  STR("Millrace cannot read the log"), STR("see the server's error log"));
}

static bool load_variables(struct visit *v, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    v->variables = arena_alloc(v->arena, 32, sizeof(*v->variables));
    if (!mysql_conn_query(v->conn, variables_sql, &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0 && v->n_variables < 32)
        v->variables[v->n_variables++] = (struct variable){arena_copy(v->arena, row.cells[0]),
                                                           arena_copy(v->arena, row.cells[1])};
    mysql_result_close(r);
    return got >= 0;
}

static bool load_account(struct visit *v, struct err *err)
{
    struct buf account = {0};
    const bool ok = mysql_account_append(v->conn, &account, err);

    if (ok)
        v->account = arena_copy(v->arena, buf_str(&account));
    buf_free(&account);
    return ok;
}

static void check_version(struct visit *v)
{
    unsigned wanted = v->mariadb ? 100500 : 80000;
    unsigned refused = v->mariadb ? 100200 : 50700;
    struct str message = visit_text(v, "%s %s", v->mariadb ? "MariaDB" : "MySQL",
                                    mysql_conn_version_text(v->conn));

    if (v->version >= wanted)
        visit_ok(v, "mysql.version", message);
    else
        visit_add(v, v->version < refused ? DOCTOR_FAIL : DOCTOR_WARN, "mysql.version", message,
                  STR("Millrace is tested with MariaDB 10.11 and 11.8 and MySQL 8.0 and 9; "
                      "the logs of older servers lack what it needs"),
                  STR("use MariaDB 10.5, MySQL 8.0 or newer"));
}

static void check_tls(struct visit *v)
{
    const struct mysql_options *server = v->opt->server;

    if (server->tls.enabled && server->tls.verify)
        visit_ok(v, "mysql.tls",
                 STR("the connection is encrypted and Millrace checks the server's "
                     "certificate"));
    else if (server->tls.enabled)
        visit_add(v, DOCTOR_WARN, "mysql.tls.unchecked",
                  STR("the connection is encrypted, but Millrace does not check the server's "
                      "certificate"),
                  STR("somebody between the two can pretend to be the server"),
                  STR("tls: {ca_file: ..., verify: true}"));
    else if (server->socket != NULL || mysql_login_is_local(str_from(server->host)))
        visit_ok(v, "mysql.tls", STR("the connection stays on this machine"));
    else
        visit_add(v, DOCTOR_WARN, "mysql.tls", STR("the connection is not encrypted"),
                  STR("everybody between the two can read every row"),
                  STR("tls: {ca_file: ...} in the topic"));
}

/* The client's message ends with the fix, after "; ". */
static void add_unreachable(struct visit *v, const struct err *err)
{
    struct str message = arena_copy(v->arena, str_from(err->msg));
    const char *fix = strstr(message.ptr, "; ");

    visit_add(v, DOCTOR_FAIL, "mysql.reach",
              fix != NULL ? (struct str){message.ptr, (size_t)(fix - message.ptr)} : message,
              STR("nothing else can be checked or done until it answers"),
              fix != NULL ? str_from(fix + 2) : STR("try again"));
}

static void check_log(struct visit *v)
{
    check_server_id(v);
    if (!check_log_bin(v))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        check_rule(v, &rules[i]);
    check_gtid(v);
    check_retention(v);
    check_log_kept(v);
    check_replica(v);
    check_status(v);
    check_dump(v);
}

bool doctor_mysql(struct doctor_list *l, const struct doctor_mysql_options *opt)
{
    struct visit v = {.list = l, .opt = opt, .arena = l->arena};
    struct err err;

    if (!asking_open(opt->asking, opt->server, &v.conn, &err)) {
        add_unreachable(&v, &err);
        return false;
    }
    v.mariadb = mysql_conn_flavor(v.conn) == FLAVOR_MARIADB;
    v.version = mysql_conn_version(v.conn);
    visit_ok(&v, "mysql.reach", visit_text(&v, "%s answers", mysql_conn_where(v.conn)));

    const bool answers = load_variables(&v, &err) && load_account(&v, &err);

    if (answers) {
        check_tls(&v);
        check_version(&v);
        if (opt->follows_log)
            check_log(&v);
        visit_tables(&v);
    } else {
        add_unreachable(&v, &err);
    }
    asking_close(opt->asking, v.conn);
    return answers;
}
