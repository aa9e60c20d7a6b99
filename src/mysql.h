/*
 * One connection to a MySQL or MariaDB server.
 *
 * Every session has utf8mb4, time zone +00:00, autocommit, repeatable read, an sql_mode of our
 * own (strict, without ANSI_QUOTES and NO_BACKSLASH_ESCAPES), LOCAL INFILE off and one
 * statement a call; it never connects again by itself.  Errors are classified here: lost
 * connections, lock waits, deadlocks and full disks are ERR_RETRY; wrong statements and missing
 * rights ERR_REJECT (err.code is the server's number); after mysql_conn_interrupt all are
 * ERR_STOP.
 *
 * @thread one at a time; every call may block up to the timeouts
 */
#ifndef SRC_MYSQL_H
#define SRC_MYSQL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct mysql_trace;
struct st_mysql; /* the client library's handle */

struct mysql_tls {
    bool enabled;
    bool verify;           /* certificate and name; on by default when enabled */
    const char *ca_file;   /* NULL: the system's */
    const char *cert_file; /* NULL: none */
    const char *key_file;
};

/* Strings are borrowed for the call only. */
#define MYSQL_READ_TIMEOUT_S 60 /* without a row, or an answer */

struct mysql_options {
    const char *host;
    uint16_t port;
    const char *socket; /* a unix socket instead of host and port; NULL: none */
    const char *user;
    const char *password;
    const char *database; /* NULL: none */
    struct mysql_tls tls;
    unsigned connect_timeout_s; /* 0: 10 */
    unsigned read_timeout_s;    /* 0: MYSQL_READ_TIMEOUT_S */
    size_t packet_max;          /* largest packet that is taken, in bytes; 0: 1 GiB */
};

enum mysql_flavor { FLAVOR_MYSQL = 0, FLAVOR_MARIADB };

struct mysql_conn;
struct mysql_result;

/* One row: NULL cells have ptr NULL.  Borrowed until the next call on the result. */
struct mysql_row {
    const struct str *cells;
    size_t n_cells;
};

bool mysql_conn_open(struct mysql_conn **out, const struct mysql_options *opt,
                     struct err *err) MUST_CHECK;
void mysql_conn_close(struct mysql_conn *c); /* NULL is fine */

enum mysql_flavor mysql_conn_flavor(const struct mysql_conn *c);
unsigned mysql_conn_version(const struct mysql_conn *c); /* 101106, 80031, 90704 */
const char *mysql_conn_version_text(const struct mysql_conn *c);

/* Run a statement without a result, or throw its result away. */
bool mysql_conn_exec(struct mysql_conn *c, struct str sql, struct err *err) MUST_CHECK;

/*
 * Run a statement and stream its rows; memory is one row.  The result must be closed before the
 * next statement, which reads what is left of it.  mysql_result_next: 1 a row, 0 the end, -1
 * err.
 */
bool mysql_conn_query(struct mysql_conn *c, struct str sql, struct mysql_result **out,
                      struct err *err) MUST_CHECK;
int mysql_result_next(struct mysql_result *r, struct mysql_row *row,
                      struct err *err) MUST_CHECK;
struct str mysql_result_name(const struct mysql_result *r, size_t column);
void mysql_result_close(struct mysql_result *r);

/* The server itself said no, so that it answers; else it is away, or what leads there. */
bool mysql_err_is_of_server(const struct err *err);
/* A statement failed as a right is missing, which may be given back; not a log-in. */
bool mysql_err_is_denial(const struct err *err);

/* The first cell of the first row, copied into out; false with ERR_NONE when there is no row.
 */
bool mysql_conn_scalar(struct mysql_conn *c, struct str sql, struct buf *out,
                       struct err *err) MUST_CHECK;

/* Every statement from now on is noted in trace (borrowed; NULL: no more). */
void mysql_conn_trace(struct mysql_conn *c, struct mysql_trace *trace);
/* Every statement from now on is counted there (atomic, borrowed; NULL: no more). */
void mysql_conn_count(struct mysql_conn *c, uint64_t *statements);

/* Append `name` with backticks doubled. */
void mysql_quote_name(struct buf *b, struct str name);
/* Append 'text' safe in every sql_mode and charset of our sessions (hex for odd bytes). */
void mysql_quote_text(struct buf *b, struct str text);
/* Append x'0a0b'. */
void mysql_quote_bytes(struct buf *b, struct str bytes);

/* Wake a thread blocked in this connection's socket (shutdown(2)); from any thread, for good.
 */
void mysql_conn_interrupt(struct mysql_conn *c);

/* "127.0.0.1:3306" or the socket's path, for messages. */
const char *mysql_conn_where(const struct mysql_conn *c);

/*
 * For the dump transport only: the library's own handle (its MYSQL), and the last error of what
 * was done with it, classified as all others.  mysql_conn_fail returns false.
 */
struct st_mysql *mysql_conn_handle(struct mysql_conn *c);
bool mysql_conn_fail(const struct mysql_conn *c, struct err *err);

#endif
