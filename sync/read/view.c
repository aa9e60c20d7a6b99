#include "config.h"

#include "sync/read/view.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/checkpoint/read_position.h"
#include "sync/position/position.h"

#include <assert.h>
#include <stdlib.h>

#define SETTLE_MS     200 /* MySQL without GTIDs: how long a commit may stay unseen */
#define COMMIT_WAIT_S "2" /* how long the locking read waits, in seconds */
#define GAP           18  /* event ends are at least 19 bytes apart */

/* The server's error numbers. */
#define LOCK_WAIT 1205
#define DEADLOCK  1213

static bool begin_snapshot(struct mysql_conn *c, struct err *err)
{
    return mysql_conn_exec(c, STR("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"),
                           err);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Asked for twice in one statement: the server fills a schema table for each SELECT of it. */
#define SHOWN_TIMES 2
#define SHOWN                                                                       \
    "SELECT MAX(IF(VARIABLE_NAME = 'BINLOG_SNAPSHOT_FILE', VARIABLE_VALUE, NULL))," \
    " MAX(IF(VARIABLE_NAME = 'BINLOG_SNAPSHOT_POSITION', VARIABLE_VALUE, NULL))"    \
    " FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'BINLOG_SNAPSHOT%'"

static bool shown_version(const struct mysql_row *row, uint64_t epoch, uint64_t *version,
                          struct err *err)
{
    const struct str file = row->cells[0], offset = row->cells[1];

    if (file.len == 0 || offset.len == 0)
        return err_set(err, ERR_RETRY,
                       "the server gives no binlog_snapshot_position; is log_bin on?");
    return position_version((struct position){file, strtoull(offset.ptr, NULL, 10)}, epoch,
                            version, err);
}

/*
 * Everything up to *version is committed, so that a snapshot that is opened now includes it.
 *
 * MariaDB keeps the two variables once for all sessions: whoever asks for the status at the
 * same time sets them to where its own snapshot is, or, without one, to the last commit.  So
 * inside a snapshot they may show a later commit than the snapshot has, but before it whatever
 * they show has been committed.  File and position may come from two sessions around a change
 * of the file; the smaller of two answers is then the right one.
 */
static bool committed_version(struct mysql_conn *c, uint64_t epoch, uint64_t *version,
                              struct err *err)
{
    return read_view_shown(c, STR(SHOWN " UNION ALL " SHOWN), epoch, version, err);
}

bool read_view_shown(struct mysql_conn *c, struct str sql, uint64_t epoch, uint64_t *version,
                     struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    unsigned times = 0;
    bool ok = true;
    int more = 1;

    if (!mysql_conn_query(c, sql, &r, err))
        return false;
    *version = UINT64_MAX;
    while (ok && (more = mysql_result_next(r, &row, err)) > 0) {
        uint64_t one;

        ok = shown_version(&row, epoch, &one, err);
        if (ok)
            *version = smaller(*version, one);
        times++;
    }
    mysql_result_close(r);
    assert(!ok || more < 0 || times == SHOWN_TIMES);
    return ok && more == 0;
}

static bool out_of_time(const struct read_view_options *opt, int64_t until, struct err *err)
{
    if (stop_is_set(opt->stop))
        return !err_set(err, ERR_STOP, "stopping");
    if (clock_mono_ms() >= until)
        return !err_set(
            err, ERR_RETRY,
            "a change that was read from the binlog is not visible to SELECT after %lld ms",
            (long long)opt->timeout_ms);
    return false;
}

static bool open_mariadb(struct mysql_conn *c, const struct read_view_options *opt,
                         uint64_t *stamp, struct err *err)
{
    const int64_t until = clock_mono_ms() + opt->timeout_ms;
    int64_t pause_ms = 1;

    for (;;) {
        const uint64_t read = read_position_version(opt->reader);
        uint64_t committed;

        if (!committed_version(c, read >> 53, &committed, err))
            return false;
        *stamp = smaller(committed, read);
        if (*stamp + GAP >= opt->at_least)
            return begin_snapshot(c, err);
        if (out_of_time(opt, until, err))
            return false;
        (void)stop_wait(opt->stop, pause_ms);
        pause_ms = pause_ms < 50 ? pause_ms * 2 : 50;
    }
}

/* Asked for after the stamp, which they are counted before. */
static bool late_ones(const struct read_view_options *opt)
{
    const uint64_t late = read_position_late(opt->reader);
    const bool more = opt->late != NULL && *opt->late != late;

    if (more)
        *opt->late = late;
    return more;
}

/* wait is a function of (gtids, seconds) that gives 0 when all of them are applied. */
static bool open_gtid(struct mysql_conn *c, const struct read_view_options *opt,
                      const char *wait, uint64_t *stamp, struct err *err)
{
    struct buf gtids = {0}, sql = {0}, answer = {0};

    bool complete;

    *stamp = read_position_get(opt->reader, &gtids, &complete);
    if (opt->replica && (!complete || gtids.len == 0)) {
        buf_free(&gtids);
        return err_set(err, ERR_RETRY,
                       "the changes read have no GTIDs to wait for on a replica");
    }
    if (gtids.len > 0) {
        buf_printf(&sql, "SELECT %s(", wait);
        mysql_quote_text(&sql, buf_str(&gtids));
        buf_printf(&sql, ", %lld)", (long long)(opt->timeout_ms + 999) / 1000);
    }

    bool ok = sql.len == 0 || mysql_conn_scalar(c, buf_str(&sql), &answer, err);

    if (ok && sql.len > 0 && !str_equal(buf_str(&answer), STR("0")))
        ok = err_set(
            err, ERR_RETRY,
            "the server has not applied the transactions read from the binlog within %lld ms",
            (long long)opt->timeout_ms);
    if (ok && read_view_must_settle(complete, late_ones(opt)) && !read_view_settle(opt->stop))
        ok = err_set(err, ERR_STOP, "stopping");
    buf_free(&gtids);
    buf_free(&sql);
    buf_free(&answer);
    return ok && begin_snapshot(c, err);
}

bool read_view_must_settle(bool is_complete, bool is_late)
{
    return !is_complete || is_late;
}

enum commit_wait_answer read_view_ask(struct mysql_conn *c, struct str sql, struct err *err)
{
    *err = (struct err){0};
    if (sql.len == 0)
        return COMMIT_WAIT_MUTE;
    if (mysql_conn_exec(c, STR("SET SESSION innodb_lock_wait_timeout = " COMMIT_WAIT_S), err) &&
        mysql_conn_exec(c, sql, err))
        return COMMIT_WAIT_COMMITTED;
    return err->code == LOCK_WAIT || err->code == DEADLOCK ? COMMIT_WAIT_LOCKED
                                                           : COMMIT_WAIT_MUTE;
}

bool read_view_settle(struct stop *stop)
{
    return !stop_wait(stop, SETTLE_MS);
}

/*
 * A lock that is not had may be that of the commit, which waits for a semi-synchronous replica
 * for any time: what is read then would be stale for good.
 */
static bool open_after_commit(struct mysql_conn *c, const struct read_view_options *opt,
                              uint64_t *stamp, struct err *err)
{
    enum commit_wait_answer answer = COMMIT_WAIT_MUTE;
    struct buf sql = {0};
    struct err why;

    *stamp = read_position_get_commit_wait(opt->reader, &sql);
    if (!opt->replica)
        answer = read_view_ask(c, buf_str(&sql), &why);
    buf_free(&sql);
    if (answer == COMMIT_WAIT_LOCKED)
        return err_set(err, ERR_RETRY,
                       "the row changed last is still locked: its commit is not done, or "
                       "another transaction holds it");
    if (answer == COMMIT_WAIT_MUTE && !read_view_settle(opt->stop))
        return err_set(err, ERR_STOP, "stopping");
    return begin_snapshot(c, err);
}

static bool open_any(struct mysql_conn *c, const struct read_view_options *opt, uint64_t *stamp,
                     struct err *err)
{
    const bool mariadb = mysql_conn_flavor(c) == FLAVOR_MARIADB;

    if (mariadb && !opt->replica)
        return open_mariadb(c, opt, stamp, err);
    if (mariadb)
        return open_gtid(c, opt, "MASTER_GTID_WAIT", stamp, err);
    if (opt->gtid)
        return open_gtid(c, opt, "WAIT_FOR_EXECUTED_GTID_SET", stamp, err);
    return open_after_commit(c, opt, stamp, err);
}

bool read_view_open(struct mysql_conn *c, const struct read_view_options *opt, uint64_t *stamp,
                    struct err *err)
{
    if (!open_any(c, opt, stamp, err))
        return false;
    if (*stamp + GAP < opt->at_least)
        return err_set(err, ERR_RETRY,
                       "the stream has not reached the position that the read must include");
    if (*stamp < opt->at_least)
        *stamp = opt->at_least;
    return true;
}

bool read_view_close(struct mysql_conn *c, struct err *err)
{
    return mysql_conn_exec(c, STR("COMMIT"), err);
}
