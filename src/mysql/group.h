/*
 * struct mysql_group: connections that end together, whatever they wait for.
 *
 * A server that a firewall hides answers nothing and ends nothing; whoever joins the threads
 * that read from it would wait for their time-outs.
 *
 * struct mysql_socket: what any thread may shut of a connection.
 *
 * @thread any (locked inside)
 */
#ifndef SRC_MYSQL_GROUP_H
#define SRC_MYSQL_GROUP_H

#include "src/base/base.h"

#include <stdbool.h>

struct mysql_group;

struct mysql_socket {
    int fd;    /* a duplicate: the client library cannot reuse its number */
    bool shut; /* atomic */
};

/* Wake whoever waits in it, for good.  Does not block. */
void mysql_socket_shut(struct mysql_socket *s);

struct mysql_group *mysql_group_new(void) RETURNS_NONNULL MUST_CHECK;
void mysql_group_free(struct mysql_group *g); /* NULL is fine; none of it may be open */

/* Interrupt all of it, and whatever enters from now on.  Does not block. */
void mysql_group_end(struct mysql_group *g);

/* For mysql_conn_open() and mysql_conn_close().  g: NULL is fine. */
void mysql_group_enter(struct mysql_group *g, struct mysql_socket *s);
void mysql_group_leave(struct mysql_group *g, const struct mysql_socket *s);

#endif
