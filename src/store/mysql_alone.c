#include "config.h"

#include "src/store/mysql_alone.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"

#include <stdlib.h>

#define WAIT_S      10
#define SHARERS_MAX 64

/* A lock's name has at most 64 characters; a database's may have so many itself. */
#define OF_STORE "CONCAT('millrace/', MD5(DATABASE()))"

static void of_place(struct buf *out, const char *place)
{
    buf_append(out, STR("CONCAT('millrace/', "));
    mysql_quote_text(out, str_from(place));
    buf_append(out, STR(")"));
}

/* Sets *number to what the expression says; NULL is 0. */
static bool ask(struct mysql_conn *c, const char *what, uint64_t *number, struct err *err)
{
    struct buf sql = {0}, got = {0};

    buf_printf(&sql, "SELECT COALESCE(%s, 0)", what);

    const bool ok = mysql_conn_scalar(c, buf_str(&sql), &got, err);

    *number = ok && got.len > 0 ? strtoull(got.ptr, NULL, 10) : 0;
    buf_free(&sql);
    buf_free(&got);
    return ok;
}

static bool take(struct mysql_conn *c, const char *lock, int wait_s, uint64_t *taken,
                 struct err *err)
{
    struct buf what = {0};

    buf_printf(&what, "GET_LOCK(%s, %d)", lock, wait_s);

    const bool ok = ask(c, what.ptr, taken, err);

    buf_free(&what);
    return ok;
}

static bool who_has(struct mysql_conn *c, const char *lock, uint64_t *connection,
                    struct err *err)
{
    struct buf what = {0};

    buf_printf(&what, "IS_USED_LOCK(%s)", lock);

    const bool ok = ask(c, what.ptr, connection, err);

    buf_free(&what);
    return ok;
}

static void of_sharer(struct buf *out, int number)
{
    buf_printf(out, "CONCAT('millrace/%d/', MD5(DATABASE()))", number);
}

bool mysql_alone_find_sharer(struct mysql_conn *c, uint64_t *connection, struct err *err)
{
    struct buf what = {0};
    bool ok;

    buf_append(&what, STR("COALESCE("));
    for (int i = 1; i <= SHARERS_MAX; i++) {
        buf_append(&what, i > 1 ? STR(", NULLIF(IS_USED_LOCK(") : STR("NULLIF(IS_USED_LOCK("));
        of_sharer(&what, i);
        buf_append(&what, STR("), CONNECTION_ID())"));
    }
    buf_append_char(&what, ')');
    ok = ask(c, what.ptr, connection, err);
    buf_free(&what);
    return ok;
}

/* Our folder is locked, so what its last daemon left is nobody's any more. */
static bool end_our_last(struct mysql_conn *c, const char *place_lock, struct err *err)
{
    uint64_t of_store, ours;
    struct buf sql = {0};
    struct err ignored;

    if (!who_has(c, OF_STORE, &of_store, err) || !who_has(c, place_lock, &ours, err))
        return false;
    if (of_store != 0 && of_store == ours) {
        buf_printf(&sql, "KILL CONNECTION %llu", (unsigned long long)ours);
        (void)!mysql_conn_exec(c, buf_str(&sql), &ignored); /* it may have ended meanwhile */
    }
    buf_free(&sql);
    return true;
}

static bool refuse(struct mysql_conn *c, struct err *err)
{
    uint64_t connection;

    if (!who_has(c, OF_STORE, &connection, err))
        return false;
    return err_set(
        err, ERR_RETRY,
        "another Millrace uses this store (connection %llu of its server); fix: stop "
        "that one, or give this one a store of its own; if its machine is gone, run "
        "KILL %llu there",
        (unsigned long long)connection, (unsigned long long)connection);
}

static bool nobody_shares(struct mysql_conn *c, struct err *err)
{
    uint64_t connection;

    return mysql_alone_find_sharer(c, &connection, err) &&
           (connection == 0 ||
            err_set(err, ERR_RETRY,
                    "daemons of a cluster use this store (connection %llu of its server is "
                    "one of them); fix: set the same coordination here (docs/cluster.md), "
                    "stop them, or give this one a store of its own",
                    (unsigned long long)connection));
}

bool mysql_alone_take(struct mysql_conn *c, const char *place, struct err *err)
{
    struct buf lock = {0};
    uint64_t taken = 0;

    of_place(&lock, place);

    bool ok = take(c, OF_STORE, 0, &taken, err);

    if (ok && taken != 1)
        ok = end_our_last(c, lock.ptr, err) && take(c, OF_STORE, WAIT_S, &taken, err);
    if (ok && taken != 1)
        ok = refuse(c, err);
    ok = ok && take(c, lock.ptr, 0, &taken, err) && nobody_shares(c, err);
    buf_free(&lock);
    return ok;
}

bool mysql_alone_share(struct mysql_conn *c, unsigned *number, struct err *err)
{
    uint64_t taken = 0, connection;
    bool ok = true;

    for (int i = 1; ok && taken != 1 && i <= SHARERS_MAX; i++) {
        struct buf lock = {0};

        of_sharer(&lock, i);
        ok = take(c, lock.ptr, 0, &taken, err);
        *number = (unsigned)i;
        buf_free(&lock);
    }
    if (ok && taken != 1)
        ok = err_set(err, ERR_RETRY, "%d daemons share this store already; fix: stop one",
                     SHARERS_MAX);
    ok = ok && who_has(c, OF_STORE, &connection, err);
    return ok && (connection == 0 ||
                  err_set(err, ERR_RETRY,
                          "a Millrace without a cluster uses this store (connection %llu of "
                          "its server); fix: stop that one, and start it again with the same "
                          "coordination as this one",
                          (unsigned long long)connection));
}

bool mysql_alone_enter(struct mysql_conn *c, const struct mysql_sharer *s, struct err *err)
{
    struct buf sql = {0};

    buf_printf(&sql,
               "REPLACE INTO setting (name, content) VALUES"
               " ('sharer/%u', CONCAT(CONNECTION_ID(), ' %zu ', ",
               s->number, s->n_known);
    mysql_quote_text(&sql, str_from(s->who));
    buf_append(&sql, STR("))"));

    const bool ok = mysql_conn_exec(c, buf_str(&sql), err);

    buf_free(&sql);
    return ok;
}

bool mysql_alone_find_older(struct mysql_conn *c, size_t n_known, struct buf *names,
                            struct err *err)
{
    struct buf sql = {0};

    buf_printf(
        &sql,
        "SELECT COALESCE("
        "  GROUP_CONCAT(who, ', connection ', id ORDER BY who SEPARATOR '; '), '')"
        " FROM (SELECT CAST(SUBSTRING(name, 8) AS UNSIGNED) AS number,"
        "  CAST(SUBSTRING_INDEX(content, ' ', 1) AS UNSIGNED) AS id,"
        "  CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(content, ' ', 2), ' ', -1) AS UNSIGNED)"
        "  AS n_known, SUBSTRING(content, LENGTH(SUBSTRING_INDEX(content, ' ', 2)) + 2) AS who"
        "  FROM setting WHERE name LIKE 'sharer/%%') AS sharer"
        " WHERE n_known < %zu"
        " AND IS_USED_LOCK(CONCAT('millrace/', number, '/', MD5(DATABASE()))) = id",
        n_known);

    const bool ok = mysql_conn_scalar(c, buf_str(&sql), names, err);

    buf_free(&sql);
    return ok;
}
