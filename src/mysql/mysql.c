#include "config.h"

#include "src/mysql/mysql.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/file/whole_file.h"
#include "src/mysql/errors.h"
#include "src/mysql/group.h"
#include "src/mysql/login.h"
#include "src/mysql/trace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mysql.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOGIN_ANSWER_MS 10000 /* time limit for asking the server what it is */

struct mysql_result {
    MYSQL_RES *res; /* NULL if the statement gave no rows */
    struct str *cells;
    size_t n_columns;
    size_t cells_cap;
};

struct mysql_conn {
    MYSQL *my;
    struct buf where; /* "127.0.0.1:3306", for messages */
    struct buf version_text;
    unsigned version;
    enum mysql_flavor flavor;
    struct mysql_group *group;
    struct mysql_socket socket;
    struct mysql_trace *trace; /* NULL if none */
    uint64_t *statements;      /* NULL if nobody counts */
    int64_t answer_max_ms;     /* 0 if none */
    int64_t answer_until_ms;
    bool in_result;
    struct mysql_result result; /* at most one at a time */
};

static bool is_interrupted(const struct mysql_conn *c)
{
    return __atomic_load_n(&c->socket.shut, __ATOMIC_ACQUIRE);
}

bool mysql_conn_fail(const struct mysql_conn *c, struct err *err)
{
    unsigned number = mysql_errno(c->my);

    if (is_interrupted(c))
        return err_set_code(err, ERR_STOP, "mysql", (int)number, "MySQL at %s: interrupted",
                            c->where.ptr);
    return err_set_code(err, mysql_errors_kind(number), "mysql", (int)number,
                        "MySQL at %s: %s (error %u)", c->where.ptr, mysql_error(c->my), number);
}

static bool fail_login(const struct mysql_conn *c, const char *user, struct err *err)
{
    const unsigned number = mysql_errno(c->my);
    const char *text = mysql_error(c->my), *fix;

    /* The library's own text names a method that we have disabled. */
    if (number == MYSQL_ERROR_LOGIN_REFUSED)
        text =
            "the server asks for a log-in that gives it the password, and without TLS it could "
            "be anybody";

    const enum err_kind kind = mysql_errors_login_kind(number, text, &fix);

    return err_set_code(err, kind, "mysql", (int)number,
                        "cannot connect to MySQL at %s as '%s': %s (error %u)%s%s",
                        c->where.ptr, user, text, number, fix != NULL ? "; " : "",
                        fix != NULL ? fix : "");
}

static enum mysql_login allowed_login(const struct mysql_options *opt)
{
    return mysql_login_allowed(opt->tls.enabled, opt->tls.verify, opt->public_key_file != NULL,
                               str_from(opt->socket != NULL ? opt->socket : opt->host));
}

/* If the library could not read the file, it would ask the server for its key. */
static bool has_public_key(const struct mysql_options *opt, struct err *err)
{
    struct buf text = {0};
    bool ok = true;

    if (opt->public_key_file == NULL)
        return true;
    if (!whole_file_read(opt->public_key_file, &text, NULL))
        ok = err_set_code(err, ERR_REJECT, "errno", errno, "server_public_key_file %s: %s",
                          opt->public_key_file, strerror(errno));
    else if (memmem(text.ptr != NULL ? text.ptr : "", text.len, "PUBLIC KEY", 10) == NULL)
        ok = err_set(err, ERR_REJECT,
                     "server_public_key_file %s is not a PEM public key; fix: copy the "
                     "server's public_key.pem",
                     opt->public_key_file);
    buf_free(&text);
    return ok;
}

#ifdef HAVE_LIBMARIADB

static void set_tls(MYSQL *my, const struct mysql_tls *tls)
{
    my_bool enforce = tls->enabled;
    my_bool verify = tls->enabled && tls->verify;

    mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &enforce);
    mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    if (!tls->enabled)
        return;
    mysql_options(my, MYSQL_OPT_SSL_CA, tls->ca_file);
    mysql_options(my, MYSQL_OPT_SSL_CERT, tls->cert_file);
    mysql_options(my, MYSQL_OPT_SSL_KEY, tls->key_file);
}

static void set_library_options(MYSQL *my)
{
    my_bool off = 0;

    mysql_options(my, MYSQL_OPT_RECONNECT, &off);
}

static bool set_login(MYSQL *my, const struct mysql_options *opt, struct err *err)
{
    if (!has_public_key(opt, err))
        return false;
    mysql_options(my, MARIADB_OPT_RESTRICTED_AUTH, mysql_login_methods(allowed_login(opt)));
    if (opt->public_key_file != NULL)
        mysql_options(my, MYSQL_SERVER_PUBLIC_KEY, opt->public_key_file);
    return true;
}

static int socket_of(MYSQL *my)
{
    return (int)mysql_get_socket(my);
}

#else

static void set_tls(MYSQL *my, const struct mysql_tls *tls)
{
    unsigned mode = SSL_MODE_DISABLED;

    if (tls->enabled)
        mode = tls->verify ? SSL_MODE_VERIFY_IDENTITY : SSL_MODE_REQUIRED;
    mysql_options(my, MYSQL_OPT_SSL_MODE, &mode);
    if (!tls->enabled)
        return;
    /* Unlike libmariadb, this library does not fall back on the system's authorities. */
    if (tls->ca_file != NULL)
        mysql_options(my, MYSQL_OPT_SSL_CA, tls->ca_file);
    else if (tls->verify)
        mysql_options(my, MYSQL_OPT_SSL_CAPATH, "/etc/ssl/certs");
    mysql_options(my, MYSQL_OPT_SSL_CERT, tls->cert_file);
    mysql_options(my, MYSQL_OPT_SSL_KEY, tls->key_file);
}

/* Reconnecting is off by default in this library, and setting the option prints a warning. */
static void set_library_options(MYSQL *my)
{
    (void)my;
}

/*
 * This library takes no list of methods: a server may choose among the built-in ones, and
 * sha256_password encrypts the password with any key that the server offers. So we do not
 * connect where only proofs are allowed. The library finds no methods in plugin files (dialog,
 * LDAP).
 */
static bool set_login(MYSQL *my, const struct mysql_options *opt, struct err *err)
{
    const enum mysql_login allowed = allowed_login(opt);
    bool clear = allowed == MYSQL_LOGIN_ANY;
    bool get_public_key = opt->public_key_file == NULL;

    if (!has_public_key(opt, err))
        return false;
    if (allowed == MYSQL_LOGIN_PROVEN)
        return err_set(
            err, ERR_REJECT,
            "MySQL at %s:%u is on another machine and tls is off, so the password "
            "could go to whoever answers; fix: switch tls on, or name the server's key "
            "in server_public_key_file",
            opt->host, (unsigned)opt->port);
    mysql_options(my, MYSQL_ENABLE_CLEARTEXT_PLUGIN, &clear);
    mysql_options(my, MYSQL_PLUGIN_DIR, "/nonexistent");
    mysql_options(my, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &get_public_key);
    if (opt->public_key_file != NULL)
        mysql_options(my, MYSQL_SERVER_PUBLIC_KEY, opt->public_key_file);
    return true;
}

static int socket_of(MYSQL *my)
{
    return (int)my->net.fd;
}

#endif

static void init_library(void)
{
    mysql_library_init(0, NULL, NULL);
}

static void set_options(MYSQL *my, const struct mysql_options *opt)
{
    unsigned connect_s = opt->connect_timeout_s != 0 ? opt->connect_timeout_s : 10;
    unsigned read_s = opt->read_timeout_s != 0 ? opt->read_timeout_s : MYSQL_READ_TIMEOUT_S;
    unsigned infile = 0;
    unsigned long packet_max = opt->packet_max != 0 ? opt->packet_max : 1UL << 30;

    mysql_options(my, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(my, MYSQL_OPT_READ_TIMEOUT, &read_s);
    mysql_options(my, MYSQL_OPT_WRITE_TIMEOUT, &read_s);
    mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &infile);
    mysql_options(my, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet_max);
    mysql_options(my, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    set_tls(my, &opt->tls);
    set_library_options(my);
}

/* Parses 10.11.19-MariaDB as 101119. */
static unsigned parse_version(const char *text)
{
    unsigned part[3] = {0, 0, 0};
    const char *p = text;

    for (size_t i = 0; i < 3; i++) {
        char *end;

        part[i] = (unsigned)strtoul(p, &end, 10);
        if (end == p || *end != '.')
            break;
        p = end + 1;
    }
    return part[0] * 10000 + part[1] * 100 + part[2];
}

static bool identify(struct mysql_conn *c, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;

    if (!mysql_conn_query(c, STR("SELECT VERSION(), @@version_comment"), &r, err))
        return false;
    int got = mysql_result_next(r, &row, err);

    if (got == 1 && row.n_cells == 2) {
        buf_append(&c->version_text, row.cells[0]);
        c->version = parse_version(c->version_text.ptr);
        if (memmem(row.cells[0].ptr, row.cells[0].len, "MariaDB", 7) != NULL ||
            memmem(row.cells[1].ptr, row.cells[1].len, "MariaDB", 7) != NULL ||
            memmem(row.cells[1].ptr, row.cells[1].len, "mariadb", 7) != NULL)
            c->flavor = FLAVOR_MARIADB;
    } else if (got >= 0) {
        err_set(err, ERR_RETRY, "MySQL at %s does not report its version", c->where.ptr);
    }
    mysql_result_close(r);
    return c->version_text.len > 0;
}

/* Our statements have one meaning, whatever the server, init_connect or a proxy set. */
#define SESSION_VARIABLES                                                                  \
    "SET NAMES utf8mb4, SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',"  \
    " SESSION time_zone = '+00:00', SESSION autocommit = 1, SESSION sql_safe_updates = 0," \
    " SESSION sql_auto_is_null = 0, SESSION sql_big_selects = 1,"                          \
    " SESSION sql_select_limit = DEFAULT, SESSION wait_timeout = 28800,"                   \
    " SESSION net_write_timeout = 600, SESSION completion_type = 0,"                       \
    " SESSION sql_quote_show_create = 1, SESSION max_sort_length = 1024,"                  \
    " SESSION lc_time_names = 'en_US', SESSION default_week_format = 0,"                   \
    " SESSION div_precision_increment = 4, "

/*
 * MariaDB's query cache can answer from before a commit until just after that commit is in the
 * binlog and in new snapshots. A server without a cache, or with the cache disabled at startup,
 * refuses the statement.
 */
static bool shun_query_cache(struct mysql_conn *c, struct err *err)
{
    if (c->flavor != FLAVOR_MARIADB ||
        mysql_conn_exec(c, STR("SET SESSION query_cache_type = OFF"), err))
        return true;
    if (err->kind != ERR_REJECT)
        return false;
    *err = (struct err){0};
    return true;
}

/* MariaDB caches subquery results by the collation of the parameters, but our subqueries
 * compare texts byte by byte. */
#define NO_SUBQUERY_CACHE "SESSION optimizer_switch = 'subquery_cache=off', "

/* A machine of ours that lost its power would hold up each ALTER of a table that it reads until
 * the server's TCP notices. */
#define NO_ENDLESS_TRANSACTION "SESSION idle_transaction_timeout = 600, "

static bool set_session(struct mysql_conn *c, struct err *err)
{
    static const struct str sets[] = {
        [FLAVOR_MYSQL] = STR(SESSION_VARIABLES "SESSION max_execution_time = 0"),
        [FLAVOR_MARIADB] = STR(SESSION_VARIABLES NO_SUBQUERY_CACHE NO_ENDLESS_TRANSACTION
                               "SESSION max_statement_time = 0"),
    };

    return mysql_conn_exec(c, sets[c->flavor], err) &&
           mysql_conn_exec(c, STR("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
                           err) &&
           shun_query_cache(c, err);
}

static void describe(struct buf *where, const struct mysql_options *opt)
{
    if (opt->socket != NULL)
        buf_printf(where, "%s", opt->socket);
    else
        buf_printf(where, "%s:%u", opt->host, (unsigned)opt->port);
}

bool mysql_conn_open(struct mysql_conn **out, const struct mysql_options *opt, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct mysql_conn *c = mem_alloc(1, sizeof(*c));

    pthread_once(&once, init_library);
    c->socket.fd = -1;
    c->answer_max_ms = LOGIN_ANSWER_MS;
    c->my = mysql_init(NULL);
    assert(c->my != NULL);
    describe(&c->where, opt);
    set_options(c->my, opt);
    if (!set_login(c->my, opt, err))
        goto close;
    if (mysql_real_connect(c->my, opt->socket != NULL ? NULL : opt->host, opt->user,
                           opt->password, opt->database, opt->port, opt->socket, 0) == NULL) {
        fail_login(c, opt->user, err);
        goto close;
    }
    if (opt->tls.enabled && mysql_get_ssl_cipher(c->my) == NULL) {
        err_set(err, ERR_REJECT,
                "MySQL at %s does not support TLS; fix: enable TLS in the server "
                "(ssl_cert, ssl_key), or remove tls here",
                c->where.ptr);
        goto close;
    }
    c->socket.fd = fcntl(socket_of(c->my), F_DUPFD_CLOEXEC, 0);
    if (c->socket.fd < 0) {
        err_set(err, ERR_RETRY, "MySQL at %s: no file descriptor left", c->where.ptr);
        goto close;
    }
    c->group = opt->group;
    mysql_group_enter(c->group, &c->socket);
    if (!identify(c, err) || !set_session(c, err))
        goto close;
    c->answer_max_ms = (int64_t)opt->answer_timeout_s * 1000;
    *out = c;
    return true;

close:
    mysql_conn_close(c);
    return false;
}

void mysql_conn_close(struct mysql_conn *c)
{
    if (c == NULL)
        return;
    if (c->in_result) {
        /* The caller does not need the remaining rows: do not read them. */
        mysql_conn_interrupt(c);
        mysql_result_close(&c->result);
    }
    mysql_group_leave(c->group, &c->socket);
    mysql_close(c->my);
    if (c->socket.fd >= 0)
        close(c->socket.fd);
    free(c->result.cells);
    buf_free(&c->where);
    buf_free(&c->version_text);
    free(c);
}

enum mysql_flavor mysql_conn_flavor(const struct mysql_conn *c)
{
    return c->flavor;
}

unsigned mysql_conn_version(const struct mysql_conn *c)
{
    return c->version;
}

const char *mysql_conn_version_text(const struct mysql_conn *c)
{
    return c->version_text.ptr;
}

const char *mysql_conn_where(const struct mysql_conn *c)
{
    return c->where.ptr;
}

void mysql_conn_trace(struct mysql_conn *c, struct mysql_trace *trace)
{
    c->trace = trace;
}

void mysql_conn_count(struct mysql_conn *c, uint64_t *statements)
{
    c->statements = statements;
}

struct st_mysql *mysql_conn_handle(struct mysql_conn *c)
{
    return (struct st_mysql *)c->my;
}

void mysql_conn_interrupt(struct mysql_conn *c)
{
    mysql_socket_shut(&c->socket);
}

/* Ends a result that takes too long, since a server may send without end. The connection is
 * unusable afterwards: the remaining rows are still in it. */
static bool is_too_long(struct mysql_conn *c, struct err *err)
{
    if (c->answer_max_ms == 0 || clock_mono_ms() < c->answer_until_ms)
        return false;
    err_set(err, ERR_RETRY, "MySQL at %s: its answer was not complete after %lld s",
            c->where.ptr, (long long)(c->answer_max_ms / 1000));
    mysql_conn_interrupt(c);
    return true;
}

/* Reads and discards the remaining rows of a result. */
static void skip_rows(struct mysql_conn *c, MYSQL_RES *res)
{
    struct err ignored = {0};

    while (res != NULL && c->answer_max_ms > 0 && !is_too_long(c, &ignored) &&
           mysql_fetch_row(res) != NULL)
        ;
    mysql_free_result(res); /* reads to the end, however long that takes */
}

/* Discards further results of a procedure, so that we can send the next statement. */
static bool drain_results(struct mysql_conn *c)
{
    struct err ignored = {0};

    while (mysql_more_results(c->my)) {
        if (is_too_long(c, &ignored) || mysql_next_result(c->my) > 0)
            return false;
        skip_rows(c, mysql_use_result(c->my));
    }
    return true;
}

bool mysql_conn_exec(struct mysql_conn *c, struct str sql, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    if (!mysql_conn_query(c, sql, &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0)
        ;
    mysql_result_close(r);
    return got == 0;
}

static bool fail_statement(struct mysql_conn *c, struct err *err)
{
    mysql_trace_end(c->trace);
    return mysql_conn_fail(c, err);
}

/* Takes what the server says next: rows, or only how it went. */
static bool take_result(struct mysql_conn *c)
{
    struct mysql_result *r = &c->result;

    r->res = mysql_use_result(c->my);
    if (r->res == NULL && mysql_field_count(c->my) != 0)
        return false;
    r->n_columns = r->res == NULL ? 0 : mysql_num_fields(r->res);
    if (r->n_columns > r->cells_cap) {
        r->cells = mem_resize(r->cells, r->n_columns, sizeof(*r->cells));
        r->cells_cap = r->n_columns;
    }
    return true;
}

bool mysql_conn_query(struct mysql_conn *c, struct str sql, struct mysql_result **out,
                      struct err *err)
{
    assert(!c->in_result);
    mysql_trace_begin(c->trace, sql);
    if (c->statements != NULL)
        __atomic_add_fetch(c->statements, 1, __ATOMIC_RELAXED);
    if (mysql_real_query(c->my, sql.ptr, sql.len) != 0 || !take_result(c))
        return fail_statement(c, err);
    c->in_result = true;
    c->answer_until_ms = clock_mono_ms() + c->answer_max_ms;
    *out = &c->result;
    return true;
}

int mysql_result_next(struct mysql_result *r, struct mysql_row *row, struct err *err)
{
    struct mysql_conn *c = CONTAINER_OF(r, struct mysql_conn, result);

    if (r->res == NULL)
        return 0;
    if (is_too_long(c, err))
        return -1;
    MYSQL_ROW cells = mysql_fetch_row(r->res);

    if (cells == NULL) {
        if (mysql_errno(c->my) == 0)
            return 0;
        mysql_conn_fail(c, err);
        return -1;
    }
    const unsigned long *lengths = mysql_fetch_lengths(r->res);

    mysql_trace_row(c->trace);

    for (size_t i = 0; i < r->n_columns; i++)
        r->cells[i] = (struct str){cells[i], lengths[i]};
    row->cells = r->cells;
    row->n_cells = r->n_columns;
    return 1;
}

int mysql_result_more(struct mysql_result *r, struct err *err)
{
    struct mysql_conn *c = CONTAINER_OF(r, struct mysql_conn, result);

    mysql_free_result(r->res);
    r->res = NULL;
    if (!mysql_more_results(c->my))
        return 0;
    if (mysql_next_result(c->my) <= 0 && take_result(c))
        return 1;
    mysql_conn_fail(c, err);
    return -1;
}

struct str mysql_result_name(const struct mysql_result *r, size_t column)
{
    assert(column < r->n_columns);
    const MYSQL_FIELD *field = mysql_fetch_field_direct(r->res, (unsigned)column);

    return (struct str){field->name, field->name_length};
}

void mysql_result_close(struct mysql_result *r)
{
    struct mysql_conn *c = CONTAINER_OF(r, struct mysql_conn, result);

    skip_rows(c, r->res);
    r->res = NULL;
    c->in_result = false;
    mysql_trace_end(c->trace);
    /* If this fails, the next statement reports it. */
    (void)drain_results(c);
}

bool mysql_conn_scalar(struct mysql_conn *c, struct str sql, struct buf *out, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;

    if (!mysql_conn_query(c, sql, &r, err))
        return false;
    int got = mysql_result_next(r, &row, err);

    if (got == 1 && row.n_cells > 0)
        buf_append(out, row.cells[0]);
    if (got == 0)
        err->kind = ERR_NONE;
    mysql_result_close(r);
    return got == 1;
}
