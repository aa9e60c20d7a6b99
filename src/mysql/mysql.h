/*
 * One connection to a MySQL or MariaDB server.
 *
 * Every session uses utf8mb4, time zone +00:00, autocommit, repeatable read, an sql_mode of our
 * own (strict, without ANSI_QUOTES and NO_BACKSLASH_ESCAPES), LOCAL INFILE off and one
 * statement a call. A connection never reconnects by itself. This file classifies errors: lost
 * connections, lock waits, deadlocks and full disks are ERR_RETRY; wrong statements and missing
 * rights ERR_REJECT (err.code is the server's number); after mysql_conn_interrupt() every error
 * is ERR_STOP.
 *
 * @thread one at a time; every call may block up to the timeouts
 */
#ifndef SRC_MYSQL_MYSQL_H
#define SRC_MYSQL_MYSQL_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct mysql_group;
struct mysql_trace;
struct st_mysql; /* the client library's handle */

struct mysql_tls {
    bool enabled;
    bool verify;           /* certificate and name; on by default when enabled */
    const char *ca_file;   /* NULL: the system's */
    const char *cert_file; /* NULL if none */
    const char *key_file;
};

/* Strings are borrowed for the call only. */
#define MYSQL_READ_TIMEOUT_S 60 /* for the next row, or an answer */

struct mysql_options {
    const char *host;
    uint16_t port;
    const char *socket; /* a unix socket instead of host and port; NULL if none */
    const char *user;
    const char *password;
    const char *database; /* NULL if none */
    struct mysql_tls tls;
    const char
        *public_key_file; /* PEM: the server's RSA key, for log-ins without TLS; NULL if none */
    unsigned connect_timeout_s; /* 0: 10 */
    unsigned read_timeout_s;    /* 0: MYSQL_READ_TIMEOUT_S */
    unsigned answer_timeout_s;  /* for a whole result; 0: no limit */
    size_t packet_max;          /* largest packet that we accept, in bytes; 0: 1 GiB */
    struct mysql_group *group;  /* ends it; must outlive it; NULL if none */
};

enum mysql_flavor { FLAVOR_MYSQL = 0, FLAVOR_MARIADB };

struct mysql_conn;
struct mysql_result;

/* One row. A NULL cell has ptr NULL. Borrowed until the next call on the result. */
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

/* Runs a statement and discards its result, if any. */
bool mysql_conn_exec(struct mysql_conn *c, struct str sql, struct err *err) MUST_CHECK;

/*
 * Runs a statement and streams its rows, holding one row in memory. Close the result before the
 * next statement; closing reads the remaining rows. mysql_result_next() returns 1 for a row, 0
 * at the end, -1 with err.
 */
bool mysql_conn_query(struct mysql_conn *c, struct str sql, struct mysql_result **out,
                      struct err *err) MUST_CHECK;
int mysql_result_next(struct mysql_result *r, struct mysql_row *row,
                      struct err *err) MUST_CHECK;
/* Goes on to the statement's next result, after the last row of this one. Returns 1 if there is
 * one, 0 if not, -1 with err. */
int mysql_result_more(struct mysql_result *r, struct err *err) MUST_CHECK;
struct str mysql_result_name(const struct mysql_result *r, size_t column);
void mysql_result_close(struct mysql_result *r);

/* Returns true if the server itself refused, so it is reachable. Otherwise the server or the
 * network is down. */
bool mysql_err_is_of_server(const struct err *err);
/* Returns true if a statement failed for a missing right, which somebody may grant again. Not
 * for log-ins. */
bool mysql_err_is_denial(const struct err *err);

/* Copies the first cell of the first row into out. Returns false with ERR_NONE if there is no
 * row. */
bool mysql_conn_scalar(struct mysql_conn *c, struct str sql, struct buf *out,
                       struct err *err) MUST_CHECK;

/* Records every following statement in trace (borrowed; NULL stops it). */
void mysql_conn_trace(struct mysql_conn *c, struct mysql_trace *trace);
/* Counts every following statement there (atomic, borrowed; NULL stops it). */
void mysql_conn_count(struct mysql_conn *c, uint64_t *statements);

/* Appends `name`, doubling backticks inside. */
void mysql_quote_name(struct buf *b, struct str name);
/* Appends 'text', safe in every sql_mode and charset of our sessions (as hex for unusual
 * bytes). */
void mysql_quote_text(struct buf *b, struct str text);
/* Appends x'0a0b'. */
void mysql_quote_bytes(struct buf *b, struct str bytes);

/* Shuts the socket down (shutdown(2)) and wakes a thread that blocks in it. Final; call from
 * any thread. */
void mysql_conn_interrupt(struct mysql_conn *c);

/* Returns "127.0.0.1:3306" or the socket's path, for messages. */
const char *mysql_conn_where(const struct mysql_conn *c);

/*
 * For the dump transport only. mysql_conn_handle() returns the library's handle (its MYSQL).
 * mysql_conn_fail() classifies the last error on that handle and returns false.
 */
struct st_mysql *mysql_conn_handle(struct mysql_conn *c);
bool mysql_conn_fail(const struct mysql_conn *c, struct err *err);

#endif
