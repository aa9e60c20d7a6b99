#include "config.h"

#include "src/store/store.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "src/store/backend.h"
#include "src/store/core.h"
#include "src/store/migrate.h"
#include "src/store/mysql_alone.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define LOCK_WAIT_S 60

/*
 * A node that stands still or lost its network in the middle of a transaction would keep its
 * locks from all others until the server gives its connection up.  So the server waits no
 * longer than this for the next statement of a transaction.  MySQL does not tell a transaction
 * from other idle time, in which it is to wait as long as in every session of ours: the
 * connection carries our lock.
 */
#define HELD_MAX_S "10"
#define IDLE_MAX_S "28800"

struct mysql_backend {
    struct store_backend base;
    struct mysql_options opt; /* we own its strings */
    struct mysql_conn *conn;  /* NULL: the next transaction connects */
    char *place;              /* whose lock each connection has; NULL: of those that share */
    char *who;                /* we, for people */
    unsigned sharer;          /* the number of our connection's lock among those that share */
    bool is_open;             /* it was migrated */
    size_t packet_max;        /* the server's max_allowed_packet */
    struct buf sql;
};

/* VARBINARY, because utf8mb4_bin ignores spaces at the end. */
static const struct store_token tokens[] = {
    {"{key}", "VARBINARY(255)"},
    {"{word}", "VARBINARY(64)"},
    {"{id}", "VARBINARY(512)"},
    {"{text}", "LONGBLOB"},
    {"{number}", "BIGINT"},
    {"{now_ms}", "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)"},
    {"{serial}", "BIGINT AUTO_INCREMENT PRIMARY KEY"},
    {"{keyed}", "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"},
    {"{rows}", "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"},
    {"{lock}", " FOR UPDATE"},
    {NULL, NULL},
};

static struct mysql_backend *mysql_of(struct store_backend *b)
{
    return CONTAINER_OF(b, struct mysql_backend, base);
}

/* Statements: translate SQLite's dialect to MySQL's and insert the values. */

static bool starts_with(const char *p, const char *word)
{
    return strncmp(p, word, strlen(word)) == 0;
}

static void append_value(struct buf *b, const struct bind *value)
{
    if (value->is_text)
        mysql_quote_text(b, value->text);
    else
        buf_printf(b, "%lld", (long long)value->number);
}

/* Translate p to end, taking values from *binds as needed. */
static void translate(struct mysql_backend *b, const char *p, const char *end,
                      const struct bind **binds)
{
    const struct store_token *t;

    while (p < end) {
        if (*p == '?') {
            append_value(&b->sql, (*binds)++);
            p++;
        } else if (*p == '{' && (t = store_backend_token(
                                     &b->base, (struct str){p, (size_t)(end - p)})) != NULL) {
            buf_append(&b->sql, str_from(t->text));
            p += strlen(t->name);
        } else if (starts_with(p, "ON CONFLICT")) {
            buf_append(&b->sql, STR("ON DUPLICATE KEY UPDATE"));
            p = strstr(p, "UPDATE SET");
            assert(p != NULL);
            p += strlen("UPDATE SET");
        } else if (starts_with(p, "excluded.")) {
            p += strlen("excluded.");
            size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz_");

            buf_printf(&b->sql, "VALUES(%.*s)", (int)len, p);
            p += len;
        } else {
            buf_append_char(&b->sql, *p++);
        }
    }
}

/* Find the tuple after VALUES, including its brackets. */
static const char *find_tuple(const char *sql, const char **end)
{
    const char *tuple = strstr(sql, "VALUES (");

    assert(tuple != NULL);
    tuple += strlen("VALUES ");
    *end = strchr(tuple, ')');
    assert(*end != NULL);
    (*end)++;
    return tuple;
}

static void translate_rows(struct mysql_backend *b, const char *sql, const struct bind *binds,
                           size_t n_rows)
{
    const char *sql_end = sql + strlen(sql);

    buf_clear(&b->sql);
    if (n_rows == 1) {
        translate(b, sql, sql_end, &binds);
        return;
    }
    const char *tuple_end;
    const char *tuple = find_tuple(sql, &tuple_end);

    translate(b, sql, tuple, &binds);
    for (size_t i = 0; i < n_rows; i++) {
        if (i > 0)
            buf_append_char(&b->sql, ',');
        translate(b, tuple, tuple_end, &binds);
    }
    translate(b, tuple_end, sql_end, &binds);
}

/* The connection. */

static void disconnect(struct mysql_backend *b)
{
    mysql_conn_close(b->conn);
    b->conn = NULL;
}

/* Who is alone keeps nobody waiting. */
static bool share(struct mysql_backend *b, struct err *err)
{
    return (mysql_conn_flavor(b->conn) == FLAVOR_MYSQL ||
            mysql_conn_exec(b->conn, STR("SET SESSION idle_transaction_timeout = " HELD_MAX_S),
                            err)) &&
           mysql_alone_share(b->conn, &b->sharer, err);
}

static bool connect_server(struct mysql_backend *b, struct err *err)
{
    struct buf text = {0};

    if (!mysql_conn_open(&b->conn, &b->opt, err))
        return false;
    bool ok = mysql_conn_scalar(b->conn, STR("SELECT @@max_allowed_packet"), &text, err) &&
              (b->place == NULL ? share(b, err) : mysql_alone_take(b->conn, b->place, err));

    if (ok)
        b->packet_max = strtoull(text.ptr, NULL, 10);
    else
        disconnect(b);
    buf_free(&text);
    return ok;
}

static bool is_limited_each_time(const struct mysql_backend *b)
{
    return b->place == NULL && mysql_conn_flavor(b->conn) == FLAVOR_MYSQL;
}

static bool hold(struct mysql_backend *b, struct err *err)
{
    return !is_limited_each_time(b) ||
           mysql_conn_exec(b->conn, STR("SET SESSION wait_timeout = " HELD_MAX_S), err);
}

/* A connection on which that fails is of no use any more; the next transaction connects. */
static void let_go(struct mysql_backend *b)
{
    struct err ignored;

    if (is_limited_each_time(b) &&
        !mysql_conn_exec(b->conn, STR("SET SESSION wait_timeout = " IDLE_MAX_S), &ignored))
        disconnect(b);
}

static bool start(struct mysql_backend *b, struct err *err)
{
    if (b->conn == NULL)
        return err_set(err, ERR_RETRY, "the connection ended while it was set up");
    return hold(b, err) && mysql_conn_exec(b->conn, STR("START TRANSACTION"), err);
}

/* An idle connection may have been closed by the server: connecting again loses nothing. */
static bool begin(struct store_backend *base, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);

    if (b->conn != NULL) {
        if (start(b, err))
            return true;
        disconnect(b);
    }
    if (!connect_server(b, err))
        return false;
    if ((!b->is_open || migrate_return(base, err)) && start(b, err))
        return true;
    disconnect(b);
    return false;
}

static void rollback(struct store_backend *base)
{
    struct mysql_backend *b = mysql_of(base);
    struct err ignored;

    if (b->conn != NULL && !mysql_conn_exec(b->conn, STR("ROLLBACK"), &ignored))
        disconnect(b);
    if (b->conn != NULL)
        let_go(b);
}

static bool commit(struct store_backend *base, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);

    if (!mysql_conn_exec(b->conn, STR("COMMIT"), err)) {
        disconnect(b);
        return false;
    }
    let_go(b);
    return true;
}

static bool run(struct store_backend *base, const char *sql, struct binds binds, size_t n_rows,
                struct err *err)
{
    struct mysql_backend *b = mysql_of(base);

    translate_rows(b, sql, binds.items, n_rows);
    return mysql_conn_exec(b->conn, buf_str(&b->sql), err);
}

static bool select_rows(struct store_backend *base, const char *sql, struct binds binds,
                        struct row_sink *sink, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    translate_rows(b, sql, binds.items, 1);
    if (!mysql_conn_query(b->conn, buf_str(&b->sql), &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0)
        sink->take(sink, row.cells);
    mysql_result_close(r);
    return got == 0;
}

/* Migrations. */

static bool lock_schema(struct store_backend *base, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);
    struct buf sql = {0}, got = {0};

    buf_printf(&sql, "SELECT GET_LOCK(CONCAT('millrace.', DATABASE()), %d)", LOCK_WAIT_S);
    bool ok = (b->conn != NULL || connect_server(b, err)) &&
              mysql_conn_scalar(b->conn, buf_str(&sql), &got, err);

    if (ok && !str_equal(buf_str(&got), STR("1")))
        ok = err_set(err, ERR_RETRY, "another node has been migrating the store for %d seconds",
                     LOCK_WAIT_S);
    buf_free(&sql);
    buf_free(&got);
    return ok;
}

/* If RELEASE_LOCK fails, closing the connection releases the lock as well. */
static void unlock_schema(struct store_backend *base)
{
    struct mysql_backend *b = mysql_of(base);
    struct err ignored;

    if (b->conn != NULL &&
        !mysql_conn_exec(b->conn, STR("DO RELEASE_LOCK(CONCAT('millrace.', DATABASE()))"),
                         &ignored))
        disconnect(b);
}

static bool is_empty(struct store_backend *base, bool *empty, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);
    struct buf n = {0};
    bool ok = mysql_conn_scalar(b->conn,
                                STR("SELECT COUNT(*) FROM information_schema.TABLES"
                                    " WHERE TABLE_SCHEMA = DATABASE()"),
                                &n, err);

    *empty = ok && str_equal(buf_str(&n), STR("0"));
    buf_free(&n);
    return ok;
}

/*
 * MySQL commits each schema change by itself, so an interrupted migration resumes in the
 * middle.
 */
static bool define(struct store_backend *base, struct str sql, struct err *err)
{
    static const int done_before[] = {
        1050, 1060, 1061, 1091}; /* table, column or key exists; dropped key is missing */

    if (mysql_conn_exec(mysql_of(base)->conn, sql, err))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(done_before); i++)
        if (err->code == done_before[i])
            return true;
    return false;
}

static bool enter(struct store_backend *base, size_t n_known, struct err *err)
{
    struct mysql_backend *b = mysql_of(base);
    const struct mysql_sharer s = {.number = b->sharer, .who = b->who, .n_known = n_known};

    b->is_open = b->place != NULL || mysql_alone_enter(b->conn, &s, err);
    return b->is_open;
}

static bool find_older(struct store_backend *base, size_t n_known, struct buf *names,
                       struct err *err)
{
    return mysql_alone_find_older(mysql_of(base)->conn, n_known, names, err);
}

/* In the worst case a byte is quoted as two hexadecimal digits. */
static size_t text_max(struct store_backend *base)
{
    const struct mysql_backend *b = mysql_of(base);

    return b->packet_max > 65536 ? b->packet_max / 2 - 16384 : b->packet_max / 4;
}

static void close_backend(struct store_backend *base)
{
    struct mysql_backend *b = mysql_of(base);

    disconnect(b);
    mem_free_const(b->opt.host);
    mem_free_const(b->opt.socket);
    mem_free_const(b->opt.user);
    mem_free_const(b->opt.password);
    mem_free_const(b->opt.database);
    mem_free_const(b->opt.tls.ca_file);
    mem_free_const(b->opt.tls.cert_file);
    mem_free_const(b->opt.tls.key_file);
    mem_free_const(b->opt.public_key_file);
    buf_free(&b->sql);
    free(b->place);
    free(b->who);
    free(b);
}

static const struct store_backend_ops ops = {
    .kind = "mysql",
    .tokens = tokens,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .run = run,
    .select = select_rows,
    .lock_schema = lock_schema,
    .unlock_schema = unlock_schema,
    .is_empty = is_empty,
    .define = define,
    .enter = enter,
    .find_older = find_older,
    .text_max = text_max,
    .close = close_backend,
};

bool store_open_mysql(struct store **out, const struct mysql_options *opt, const char *place,
                      const char *who, struct err *err)
{
    struct mysql_backend *b = mem_alloc(1, sizeof(*b));

    assert(opt->database != NULL);
    b->base.ops = &ops;
    b->opt = *opt;
    b->opt.host = mem_copy_any(opt->host);
    b->opt.socket = mem_copy_any(opt->socket);
    b->opt.user = mem_copy_any(opt->user);
    b->opt.password = mem_copy_any(opt->password);
    b->opt.database = mem_copy_any(opt->database);
    b->opt.tls.ca_file = mem_copy_any(opt->tls.ca_file);
    b->opt.tls.cert_file = mem_copy_any(opt->tls.cert_file);
    b->opt.tls.key_file = mem_copy_any(opt->tls.key_file);
    b->opt.public_key_file = mem_copy_any(opt->public_key_file);
    b->place = mem_copy_any(place);
    b->who = mem_copy_any(who);
    return store_open_backend(out, &b->base, place != NULL, err);
}

/* Another path is another cluster, unless all that met there have ended. */
bool store_keep_path(struct store *s, struct str path, struct err *err)
{
    const struct str name = STR("coordination/path");
    struct mysql_backend *b = (struct mysql_backend *)s->backend;
    struct buf kept = {0};
    uint64_t other = 0;
    bool found = false;
    bool ok = store_get_value(s, name, &kept, &found, err);
    const bool differs = ok && found && !str_equal(buf_str(&kept), path);

    if (differs)
        ok = store_begin(s, err) &&
             store_end(s, mysql_alone_find_sharer(b->conn, &other, err), err);
    if (ok && other != 0)
        ok =
            err_set(err, ERR_RETRY,
                    "the nodes that share this store meet at %s in ZooKeeper, and this one has "
                    "%" STR_FMT "; fix: set the same coordination at all of them, or stop the "
                    "others first (connection %llu of the store's server is one)",
                    kept.ptr, STR_ARG(path), (unsigned long long)other);
    else if (ok && (differs || !found))
        ok = store_put_value(s, name, path, err);
    buf_free(&kept);
    return ok;
}
