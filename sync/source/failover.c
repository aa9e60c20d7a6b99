#include "config.h"

#include "sync/source/failover.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/position/gtid_set.h"
#include "sync/position/gtid_state.h"
#include "sync/server/server_info.h"
#include "sync/source/transport/transport.h"

#define SHOWN_MAX 120 /* of a GTID list in a message */

static bool refuse(const struct failover_from *from, const char *to, const char *why,
                   struct err *err)
{
    return transport_fail(err, TRANSPORT_DIVERGED,
                          "the address leads to another server: it is %s and was %s, so "
                          "positions cannot be compared, and %s",
                          to, from->identity, why);
}

static int shown(const struct buf *gtids)
{
    return gtids->len < SHOWN_MAX ? (int)gtids->len : SHOWN_MAX;
}

static bool behind(const struct failover_from *from, const char *to, const struct buf *missing,
                   struct err *err)
{
    return transport_fail(err, TRANSPORT_BEHIND,
                          "the address leads to another server: it is %s and was %s; waiting "
                          "until it has the transactions %.*s%s, which were read before",
                          to, from->identity, shown(missing), missing->ptr,
                          missing->len > SHOWN_MAX ? "..." : "");
}

static bool purged_past(const struct failover_from *from, const char *to,
                        const struct buf *gone, struct err *err)
{
    return transport_fail(err, TRANSPORT_GTID_PURGED,
                          "the address leads to another server: it is %s and was %s, and its "
                          "log does not go back to what was read before: it does not hold the "
                          "transactions %.*s%s (purged, or logged without log_replica_updates)",
                          to, from->identity, shown(gone), gone->ptr,
                          gone->len > SHOWN_MAX ? "..." : "");
}

/* Print the part of a that b lacks. */
static void format_minus(struct buf *out, const struct gtid_set *a, const struct gtid_set *b)
{
    struct gtid_set *left = gtid_set_minus(a, b);

    gtid_set_format(out, left);
    gtid_set_free(left);
}

bool failover_judge_mysql(const struct failover_from *from, const char *to, struct str executed,
                          struct str purged, struct err *err)
{
    struct gtid_set *read = NULL, *stored = NULL, *has = NULL, *gone = NULL;
    struct buf missing = {0}, lost = {0};
    bool ok = gtid_set_parse(from->read, &read, err) &&
              gtid_set_parse(from->stored, &stored, err) &&
              gtid_set_parse(executed, &has, err) && gtid_set_parse(purged, &gone, err);

    if (ok) {
        format_minus(&missing, read, has);
        format_minus(&lost, gone, stored);
    }
    if (ok && lost.len > 0)
        ok = purged_past(from, to, &lost, err);
    if (ok && missing.len > 0)
        ok = behind(from, to, &missing, err);
    gtid_set_free(read);
    gtid_set_free(stored);
    gtid_set_free(has);
    gtid_set_free(gone);
    buf_free(&missing);
    buf_free(&lost);
    return ok;
}

bool failover_judge_mariadb(const struct failover_from *from, const char *to, struct str state,
                            bool strict, struct err *err)
{
    struct gtid_set *read = NULL;
    struct buf missing = {0};
    bool passed = false;
    bool ok = gtid_set_parse(from->read, &read, err) &&
              gtid_state_missing(state, read, &missing, &passed, err);

    if (ok && passed && strict)
        ok = refuse(from, to, "it continued without transactions that were read before", err);
    if (ok && missing.len > 0)
        ok = behind(from, to, &missing, err);
    gtid_set_free(read);
    buf_free(&missing);
    return ok;
}

static bool ask_two(struct mysql_conn *c, const char *sql, struct buf *first,
                    struct buf *second, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;

    if (!mysql_conn_query(c, str_from(sql), &r, err))
        return false;

    const int got = mysql_result_next(r, &row, err);

    if (got > 0) {
        buf_append(first, row.cells[0]);
        buf_append(second, row.cells[1]);
    }
    mysql_result_close(r);
    return got >= 0;
}

bool failover_check(struct mysql_conn *c, const struct server_info *info,
                    const struct failover_from *from, struct err *err)
{
    const enum gtid_family family = info->mariadb ? GTID_MARIADB : GTID_MYSQL;
    struct buf first = {0}, second = {0};
    bool ok;

    if (!info->gtid)
        return refuse(from, info->identity, "its transactions have no GTIDs", err);
    if (from->anonymous || from->read.len == 0)
        return refuse(from, info->identity, "the changes read before had no GTIDs", err);
    if (gtid_family_of(from->read) != family)
        return refuse(from, info->identity, "MySQL's and MariaDB's GTIDs cannot be compared",
                      err);
    ok = ask_two(c,
                 info->mariadb ? "SELECT @@GLOBAL.gtid_binlog_state, @@GLOBAL.gtid_strict_mode"
                               : "SELECT @@GLOBAL.gtid_executed, @@GLOBAL.gtid_purged",
                 &first, &second, err);
    if (ok && info->mariadb)
        ok = failover_judge_mariadb(from, info->identity, buf_str(&first),
                                    str_equal(buf_str(&second), STR("1")), err);
    else if (ok)
        ok = failover_judge_mysql(from, info->identity, buf_str(&first), buf_str(&second), err);
    buf_free(&first);
    buf_free(&second);
    return ok;
}
