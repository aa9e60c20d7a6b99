#include "config.h"

#include "sync/server/server_info.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COMMIT_POLL_MS 10

static void copy_text(char *to, size_t cap, struct str from)
{
    const size_t n = from.len < cap - 1 ? from.len : cap - 1;

    if (n > 0)
        memcpy(to, from.ptr, n);
    to[n] = '\0';
}

static uint64_t number(struct str s)
{
    char text[32];

    copy_text(text, sizeof(text), s);
    return strtoull(text, NULL, 10);
}

static bool is_on(const char *v)
{
    return strcasecmp(v, "ON") == 0 || strcmp(v, "1") == 0;
}

/* Copies one server variable into value; empty if missing. */
struct server_variable {
    const char *name;
    char value[96];
};

static bool load_variables(struct mysql_conn *c, struct server_variable *v, size_t n,
                           struct err *err)
{
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int more;

    buf_append(&sql, STR("SHOW GLOBAL VARIABLES WHERE Variable_name IN ("));
    for (size_t i = 0; i < n; i++)
        buf_printf(&sql, "%s'%s'", i == 0 ? "" : ",", v[i].name);
    buf_append(&sql, STR(")"));

    const bool ok = mysql_conn_query(c, buf_str(&sql), &r, err);

    buf_free(&sql);
    if (!ok)
        return false;
    while ((more = mysql_result_next(r, &row, err)) > 0)
        for (size_t i = 0; i < n; i++)
            if (str_equal_any_case(str_from(v[i].name), row.cells[0]))
                copy_text(v[i].value, sizeof(v[i].value), row.cells[1]);
    mysql_result_close(r);
    return more == 0;
}

enum {
    V_UUID,
    V_ID,
    V_LOG_BIN,
    V_FORMAT,
    V_IMAGE,
    V_GTID_MODE,
    V_ORDER,
    V_EXPIRE_S,
    V_EXPIRE_DAYS,
    N_VARIABLES
};

bool server_info_load(struct mysql_conn *c, struct server_info *out, struct err *err)
{
    struct server_variable v[N_VARIABLES] = {
        [V_UUID] = {.name = "server_uuid"},
        [V_ID] = {.name = "server_id"},
        [V_LOG_BIN] = {.name = "log_bin"},
        [V_FORMAT] = {.name = "binlog_format"},
        [V_IMAGE] = {.name = "binlog_row_image"},
        [V_GTID_MODE] = {.name = "gtid_mode"},
        [V_ORDER] = {.name = "binlog_order_commits"},
        [V_EXPIRE_S] = {.name = "binlog_expire_logs_seconds"},
        [V_EXPIRE_DAYS] = {.name = "expire_logs_days"},
    };

    if (!load_variables(c, v, N_VARIABLES, err))
        return err_wrap(err, "reading the server's variables");
    *out = (struct server_info){
        .mariadb = mysql_conn_flavor(c) == FLAVOR_MARIADB,
        .version = mysql_conn_version(c),
        .server_id = (uint32_t)strtoul(v[V_ID].value, NULL, 10),
        .log_bin = is_on(v[V_LOG_BIN].value),
        .commits_in_order = is_on(v[V_ORDER].value),
        .retention_s = strtoull(v[V_EXPIRE_S].value, NULL, 10),
    };
    if (out->retention_s == 0)
        out->retention_s = (uint64_t)(strtod(v[V_EXPIRE_DAYS].value, NULL) * 86400);
    out->gtid = out->mariadb || strcasecmp(v[V_GTID_MODE].value, "ON") == 0;
    copy_text(out->version_text, sizeof(out->version_text),
              str_from(mysql_conn_version_text(c)));
    /* A server without binlog_format (newer ones drop it) logs rows only. */
    copy_text(out->binlog_format, sizeof(out->binlog_format),
              v[V_FORMAT].value[0] == '\0' ? STR("ROW") : str_from(v[V_FORMAT].value));
    copy_text(out->row_image, sizeof(out->row_image),
              v[V_IMAGE].value[0] == '\0' ? STR("FULL") : str_from(v[V_IMAGE].value));
    server_identity_format(out->identity, out->mariadb ? "" : v[V_UUID].value, out->server_id);
    return true;
}

bool server_info_check(const struct server_info *i, struct err *err)
{
    const char *persist = i->mariadb ? "GLOBAL" : "PERSIST";

    if (!i->log_bin)
        return err_set(err, ERR_REJECT,
                       "the server writes no binlog; fix: start it with --log-bin (and "
                       "server_id), then resume");
    if (strcasecmp(i->binlog_format, "ROW") != 0)
        return err_set(err, ERR_REJECT,
                       "binlog_format is %s, so Millrace cannot follow changes; fix: SET %s "
                       "binlog_format = 'ROW'; and put it into the server's configuration; "
                       "sessions opened before keep the old format",
                       i->binlog_format, persist);
    return true;
}

bool server_info_whole_rows(const struct server_info *i)
{
    return strcasecmp(i->row_image, "FULL") == 0 || strcasecmp(i->row_image, "FULL_NODUP") == 0;
}

/* The statement's name depends on the version: try both. */
static bool query_status(struct mysql_conn *c, struct mysql_result **r, struct err *err)
{
    static const char *const names[] = {"SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"};
    struct err first = {0};

    if (mysql_conn_query(c, str_from(names[mysql_conn_flavor(c) == FLAVOR_MARIADB ? 1 : 0]), r,
                         &first))
        return true;
    if (first.kind == ERR_RETRY ||
        !mysql_conn_query(c, str_from(names[mysql_conn_flavor(c) == FLAVOR_MARIADB ? 0 : 1]), r,
                          err)) {
        *err = first;
        return false;
    }
    return true;
}

static char *text_of(struct str s)
{
    /* Servers print long sets over several lines. */
    char *text = strndup(s.ptr == NULL ? "" : s.ptr, s.len);

    return text;
}

bool server_log_end(struct mysql_conn *c, struct log_end *out, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;

    *out = (struct log_end){0};
    if (!query_status(c, &r, err))
        return err_wrap(err, "asking where the binlog ends (needs the REPLICATION CLIENT or "
                             "BINLOG MONITOR right)");

    const int more = mysql_result_next(r, &row, err);

    if (more > 0) {
        copy_text(out->file, sizeof(out->file), row.cells[0]);
        out->offset = number(row.cells[1]);
        if (row.n_cells > 4)
            out->gtids = text_of(row.cells[4]);
    }
    mysql_result_close(r);
    if (more < 0)
        return false;
    if (more == 0)
        return err_set(err, ERR_REJECT,
                       "the server writes no binlog; fix: start it with --log-bin");
    if (out->gtids == NULL) {
        struct buf b = {0};
        struct err ignored = {0};

        if (mysql_conn_flavor(c) == FLAVOR_MARIADB &&
            !mysql_conn_scalar(c, STR("SELECT @@GLOBAL.gtid_binlog_pos"), &b, &ignored))
            buf_clear(&b);
        out->gtids = text_of(buf_str(&b));
        buf_free(&b);
    }
    return true;
}

/* Parse "UUID:1#12:2#13,..." into a set, without the threads. */
static bool owned_gtids(struct mysql_conn *c, struct gtid_set **out, struct err *err)
{
    struct buf answer = {0}, plain = {0};
    bool skipping = false;
    bool ok = mysql_conn_scalar(c, STR("SELECT @@GLOBAL.gtid_owned"), &answer, err);

    for (size_t i = 0; ok && i < answer.len; i++) {
        const char ch = answer.ptr[i];

        skipping = ch == '#' || (skipping && ch >= '0' && ch <= '9');
        if (!skipping)
            buf_append_char(&plain, ch);
    }
    ok = ok && gtid_set_parse(buf_str(&plain), out, err);
    buf_free(&answer);
    buf_free(&plain);
    return ok;
}

/* Replace *set by the part of it that transactions still own. */
static bool keep_owned(struct mysql_conn *c, struct gtid_set **set, struct err *err)
{
    struct gtid_set *owned = NULL;

    if (!owned_gtids(c, &owned, err))
        return false;

    struct gtid_set *done = gtid_set_minus(*set, owned);
    struct gtid_set *left = gtid_set_minus(*set, done);

    gtid_set_free(done);
    gtid_set_free(owned);
    gtid_set_free(*set);
    *set = left;
    return true;
}

/* A transaction owns its GTID from before it is logged until its commit is visible. */
static bool wait_for_owned(struct mysql_conn *c, int64_t timeout_ms, struct stop *stop,
                           struct err *err)
{
    const int64_t until = clock_mono_ms() + timeout_ms;
    struct gtid_set *left = NULL;
    bool ok = owned_gtids(c, &left, err);

    while (ok && !gtid_set_is_empty(left)) {
        if (clock_mono_ms() >= until)
            ok = err_set(err, ERR_RETRY,
                         "transactions in the binlog are not committed after %lld ms",
                         (long long)timeout_ms);
        else if (stop_wait(stop, COMMIT_POLL_MS))
            ok = err_set(err, ERR_STOP, "stopping");
        else
            ok = keep_owned(c, &left, err);
    }
    gtid_set_free(left);
    return ok;
}

bool server_log_end_committed(struct mysql_conn *c, int64_t timeout_ms, struct stop *stop,
                              struct log_end *out, struct err *err)
{
    struct buf executed = {0};

    if (!server_log_end(c, out, err))
        return false;
    if (mysql_conn_flavor(c) == FLAVOR_MARIADB)
        return true;

    const bool ok = wait_for_owned(c, timeout_ms, stop, err) &&
                    mysql_conn_scalar(c, STR("SELECT @@GLOBAL.gtid_executed"), &executed, err);

    free(out->gtids);
    out->gtids = ok ? text_of(buf_str(&executed)) : NULL;
    buf_free(&executed);
    return ok;
}

/* Ask for owned GTIDs first: they may be executed a moment later. */
static bool known_gtids(struct mysql_conn *c, struct gtid_set **out, struct err *err)
{
    struct gtid_set *executed = NULL;
    struct buf answer = {0};
    bool ok = owned_gtids(c, out, err) &&
              mysql_conn_scalar(c, STR("SELECT @@GLOBAL.gtid_executed"), &answer, err) &&
              gtid_set_parse(buf_str(&answer), &executed, err);

    if (ok)
        gtid_set_merge(*out, executed);
    gtid_set_free(executed);
    buf_free(&answer);
    return ok;
}

bool server_knows_gtids(struct mysql_conn *c, struct str gtids, bool *known, struct err *err)
{
    struct gtid_set *wanted = NULL, *server = NULL;
    bool ok = true;

    *known = true;
    if (mysql_conn_flavor(c) == FLAVOR_MARIADB || gtids.len == 0)
        return true;
    ok = gtid_set_parse(gtids, &wanted, err) && known_gtids(c, &server, err);
    if (ok)
        *known = gtid_set_includes(server, wanted);
    gtid_set_free(wanted);
    gtid_set_free(server);
    return ok;
}

bool server_log_backlog(struct mysql_conn *c, struct str file, uint64_t offset,
                        struct log_backlog *out, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    bool behind = false; /* the file was passed */
    int more;

    *out = (struct log_backlog){0};
    if (!mysql_conn_query(c, STR("SHOW BINARY LOGS"), &r, err))
        return false;
    while ((more = mysql_result_next(r, &row, err)) > 0) {
        const uint64_t size = number(row.cells[1]);

        if (position_file_number(row.cells[0], &out->end_file))
            out->end_offset = size;
        if (str_equal(row.cells[0], file)) {
            behind = true;
            out->found = size >= offset;
            out->bytes = size > offset ? size - offset : 0;
        } else if (behind) {
            out->bytes += size;
        }
    }
    mysql_result_close(r);
    return more == 0;
}
