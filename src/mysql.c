#include "config.h"

#include "src/mysql.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql_errors.h"
#include "src/mysql_trace.h"

#include <assert.h>
#include <fcntl.h>
#include <mysql.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct mysql_result {
    MYSQL_RES *res; /* NULL: the statement gave no rows */
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
    bool interrupted; /* atomic */
    int wake_fd;      /* the same socket under a number that the library cannot reuse */
    struct mysql_trace *trace; /* NULL: none */
    uint64_t *statements;      /* NULL: nobody counts them */
    bool in_result;
    struct mysql_result result; /* there is one at a time */
};

static bool is_interrupted(const struct mysql_conn *c)
{
    return __atomic_load_n(&c->interrupted, __ATOMIC_ACQUIRE);
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

/* The client libraries have numbers of their own. */
#define CLIENT_ERRORS     2000
#define CLIENT_ERRORS_END 3000

bool mysql_err_is_of_server(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, "mysql") == 0 && err->code > 0 &&
           (err->code < CLIENT_ERRORS || err->code >= CLIENT_ERRORS_END);
}

bool mysql_err_is_denial(const struct err *err)
{
    return err->origin != NULL && strcmp(err->origin, "mysql") == 0 && err->code > 0 &&
           mysql_errors_is_denial((unsigned)err->code);
}

static bool fail_login(const struct mysql_conn *c, const char *user, struct err *err)
{
    const unsigned number = mysql_errno(c->my);
    const char *text = mysql_error(c->my), *fix;
    const enum err_kind kind = mysql_errors_login_kind(number, text, &fix);

    return err_set_code(err, kind, "mysql", (int)number,
                        "cannot connect to MySQL at %s as '%s': %s (error %u)%s%s",
                        c->where.ptr, user, text, number, fix != NULL ? "; " : "",
                        fix != NULL ? fix : "");
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
    /* Unlike libmariadb it does not fall back on the system's authorities by itself. */
    if (tls->ca_file != NULL)
        mysql_options(my, MYSQL_OPT_SSL_CA, tls->ca_file);
    else if (tls->verify)
        mysql_options(my, MYSQL_OPT_SSL_CAPATH, "/etc/ssl/certs");
    mysql_options(my, MYSQL_OPT_SSL_CERT, tls->cert_file);
    mysql_options(my, MYSQL_OPT_SSL_KEY, tls->key_file);
}

/* Reconnecting is off by default here, and asking for that prints a warning. */
static void set_library_options(MYSQL *my)
{
    bool get_public_key = true; /* caching_sha2_password without TLS, as libmariadb does it */

    mysql_options(my, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &get_public_key);
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

/* 10.11.19-MariaDB becomes 101119. */
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
        err_set(err, ERR_RETRY, "MySQL at %s does not tell its version", c->where.ptr);
    }
    mysql_result_close(r);
    return c->version_text.len > 0;
}

/* Whatever the server, its init_connect or a proxy set: our statements mean one thing only. */
#define SESSION_VARIABLES                                                                  \
    "SET NAMES utf8mb4, SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION',"  \
    " SESSION time_zone = '+00:00', SESSION autocommit = 1, SESSION sql_safe_updates = 0," \
    " SESSION sql_auto_is_null = 0, SESSION sql_big_selects = 1,"                          \
    " SESSION sql_select_limit = DEFAULT, SESSION wait_timeout = 28800,"                   \
    " SESSION net_write_timeout = 600, SESSION completion_type = 0,"                       \
    " SESSION sql_quote_show_create = 1, SESSION max_sort_length = 1024, "

/*
 * MariaDB's cache gives answers from before a commit until right after that is in the log and in
 * new snapshots.  A server without one, or where it is off for good, says no.
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

/* MariaDB keeps what a subquery gave by the collation of what it was asked for, and ours ask for texts
 * byte by byte. */
#define NO_SUBQUERY_CACHE "SESSION optimizer_switch = 'subquery_cache=off', "

static bool set_session(struct mysql_conn *c, struct err *err)
{
    static const struct str sets[] = {
        [FLAVOR_MYSQL] = STR(SESSION_VARIABLES "SESSION max_execution_time = 0"),
        [FLAVOR_MARIADB] =
            STR(SESSION_VARIABLES NO_SUBQUERY_CACHE "SESSION max_statement_time = 0"),
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
    c->wake_fd = -1;
    c->my = mysql_init(NULL);
    assert(c->my != NULL);
    describe(&c->where, opt);
    set_options(c->my, opt);
    if (mysql_real_connect(c->my, opt->socket != NULL ? NULL : opt->host, opt->user,
                           opt->password, opt->database, opt->port, opt->socket, 0) == NULL) {
        fail_login(c, opt->user, err);
        goto close;
    }
    c->wake_fd = fcntl(socket_of(c->my), F_DUPFD_CLOEXEC, 0);
    if (c->wake_fd < 0) {
        err_set(err, ERR_RETRY, "MySQL at %s: no file descriptor left", c->where.ptr);
        goto close;
    }
    if (!identify(c, err) || !set_session(c, err))
        goto close;
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
        /* Nobody wants the rest: do not read it. */
        mysql_conn_interrupt(c);
        mysql_result_close(&c->result);
    }
    mysql_close(c->my);
    if (c->wake_fd >= 0)
        close(c->wake_fd);
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

/*
 * Closing it resets the connection then: a server in the middle of sending much would else wait
 * for its net_write_timeout, and have the next dump of the same replica wait for that.
 */
void mysql_conn_interrupt(struct mysql_conn *c)
{
    const struct linger at_once = {.l_onoff = 1};

    __atomic_store_n(&c->interrupted, true, __ATOMIC_RELEASE);
    (void)setsockopt(c->wake_fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(c->wake_fd, SHUT_RDWR);
}

/* A procedure's further results: read and thrown away, so that the next statement can be sent.
 */
static bool drain_results(struct mysql_conn *c)
{
    while (mysql_more_results(c->my)) {
        if (mysql_next_result(c->my) > 0)
            return false;
        MYSQL_RES *res = mysql_use_result(c->my);

        mysql_free_result(res);
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

bool mysql_conn_query(struct mysql_conn *c, struct str sql, struct mysql_result **out,
                      struct err *err)
{
    struct mysql_result *r = &c->result;

    assert(!c->in_result);
    mysql_trace_begin(c->trace, sql);
    if (c->statements != NULL)
        __atomic_add_fetch(c->statements, 1, __ATOMIC_RELAXED);
    if (mysql_real_query(c->my, sql.ptr, sql.len) != 0)
        return fail_statement(c, err);
    r->res = mysql_use_result(c->my);
    if (r->res == NULL && mysql_field_count(c->my) != 0)
        return fail_statement(c, err);
    r->n_columns = r->res == NULL ? 0 : mysql_num_fields(r->res);
    if (r->n_columns > r->cells_cap) {
        r->cells = mem_resize(r->cells, r->n_columns, sizeof(*r->cells));
        r->cells_cap = r->n_columns;
    }
    c->in_result = true;
    *out = r;
    return true;
}

int mysql_result_next(struct mysql_result *r, struct mysql_row *row, struct err *err)
{
    struct mysql_conn *c = CONTAINER_OF(r, struct mysql_conn, result);

    if (r->res == NULL)
        return 0;
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

struct str mysql_result_name(const struct mysql_result *r, size_t column)
{
    assert(column < r->n_columns);
    const MYSQL_FIELD *field = mysql_fetch_field_direct(r->res, (unsigned)column);

    return (struct str){field->name, field->name_length};
}

void mysql_result_close(struct mysql_result *r)
{
    struct mysql_conn *c = CONTAINER_OF(r, struct mysql_conn, result);

    mysql_free_result(r->res); /* reads what is left */
    r->res = NULL;
    c->in_result = false;
    mysql_trace_end(c->trace);
    /* A failure here is met again by the next statement. */
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
