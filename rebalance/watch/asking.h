/*
 * struct asking: the database connections of people's requests. A request holds no lock while
 * it waits for a server.
 *
 * On shutdown asking_end() interrupts them all, so that the daemon waits for no server.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WATCH_ASKING_H
#define REBALANCE_WATCH_ASKING_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/mysql/mysql.h"

#include <stdbool.h>
#include <stdint.h>

/* The time limit for a whole answer. */
#define ASKING_ANSWER_S 60

struct asking;

/*
 * wait_s: limit for connecting and for each row of an answer; 0: the connection's own defaults.
 * signs: counts opened connections and statements (atomic, borrowed); NULL: does not count.
 */
struct asking *asking_new(unsigned wait_s, uint64_t *signs) RETURNS_NONNULL MUST_CHECK;
void asking_free(struct asking *a); /* close every connection first; NULL is fine */

/*
 * Like mysql_conn_open(). ERR_STOP after asking_end(). If a is NULL, nothing interrupts the
 * connection.
 */
bool asking_open(struct asking *a, const struct mysql_options *opt, struct mysql_conn **out,
                 struct err *err) MUST_CHECK;
/* Like mysql_conn_close(). */
void asking_close(struct asking *a, struct mysql_conn *conn);

/* Interrupt every connection. Requests fail with ERR_STOP from now on. */
void asking_end(struct asking *a);

#endif
