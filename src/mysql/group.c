#include "config.h"

#include "src/mysql/group.h"

#include "src/base/lock.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

struct mysql_group {
    struct lock lock;

    /* All guarded by lock. */
    struct mysql_socket **sockets;
    size_t n_sockets;
    bool has_ended;
};

/*
 * Makes close reset the connection. Otherwise a server that is sending much would wait for its
 * net_write_timeout, and the next dump of the same replica would wait for that.
 */
void mysql_socket_shut(struct mysql_socket *s)
{
    const struct linger at_once = {.l_onoff = 1};

    __atomic_store_n(&s->shut, true, __ATOMIC_RELEASE);
    (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    shutdown(s->fd, SHUT_RDWR);
}

struct mysql_group *mysql_group_new(void)
{
    struct mysql_group *g = mem_alloc(1, sizeof(*g));

    lock_init(&g->lock, LOCK_private);
    return g;
}

void mysql_group_free(struct mysql_group *g)
{
    if (g == NULL)
        return;
    assert(g->n_sockets == 0);
    lock_fini(&g->lock);
    free(g->sockets);
    free(g);
}

void mysql_group_end(struct mysql_group *g)
{
    lock_acquire(&g->lock);
    g->has_ended = true;
    for (size_t i = 0; i < g->n_sockets; i++)
        mysql_socket_shut(g->sockets[i]);
    lock_release(&g->lock);
}

void mysql_group_enter(struct mysql_group *g, struct mysql_socket *s)
{
    if (g == NULL)
        return;
    lock_acquire(&g->lock);
    g->sockets = mem_resize(g->sockets, g->n_sockets + 1, sizeof(struct mysql_socket *));
    g->sockets[g->n_sockets++] = s;
    if (g->has_ended)
        mysql_socket_shut(s);
    lock_release(&g->lock);
}

void mysql_group_leave(struct mysql_group *g, const struct mysql_socket *s)
{
    if (g == NULL)
        return;
    lock_acquire(&g->lock);
    for (size_t i = 0; i < g->n_sockets; i++)
        if (g->sockets[i] == s) {
            g->sockets[i] = g->sockets[--g->n_sockets];
            break;
        }
    lock_release(&g->lock);
}
