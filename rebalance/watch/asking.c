#include "config.h"

#include "rebalance/watch/asking.h"

#include "src/base/lock.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct asking {
    unsigned wait_s;
    uint64_t *signs;

    struct lock lock;
    /* All guarded by lock. */
    struct mysql_conn **conns;
    size_t n, cap;
    bool is_over;
};

struct asking *asking_new(unsigned wait_s, uint64_t *signs)
{
    struct asking *a = mem_alloc(1, sizeof(*a));

    a->wait_s = wait_s;
    a->signs = signs;
    lock_init(&a->lock, LOCK_asking_lock);
    return a;
}

void asking_free(struct asking *a)
{
    if (a == NULL)
        return;
    assert(a->n == 0);
    lock_fini(&a->lock);
    free(a->conns);
    free(a);
}

/* Returns false after asking_end(). Adds conn either way. */
static bool add(struct asking *a, struct mysql_conn *conn)
{
    lock_acquire(&a->lock);
    if (a->n == a->cap) {
        a->cap = a->cap == 0 ? 8 : 2 * a->cap;
        a->conns = mem_resize(a->conns, a->cap, sizeof(struct mysql_conn *));
    }
    a->conns[a->n++] = conn;

    const bool in_time = !a->is_over;

    lock_release(&a->lock);
    return in_time;
}

bool asking_open(struct asking *a, const struct mysql_options *opt, struct mysql_conn **out,
                 struct err *err)
{
    struct mysql_options own = *opt;

    own.answer_timeout_s = ASKING_ANSWER_S;
    if (a != NULL && a->wait_s > 0)
        own.connect_timeout_s = own.read_timeout_s = a->wait_s;
    if (!mysql_conn_open(out, &own, err)) {
        *out = NULL;
        return false;
    }
    if (a == NULL)
        return true;
    if (a->signs != NULL) {
        __atomic_add_fetch(a->signs, 1, __ATOMIC_RELAXED);
        mysql_conn_count(*out, a->signs);
    }
    if (add(a, *out))
        return true;
    asking_close(a, *out);
    *out = NULL;
    return err_set(err, ERR_STOP, "the daemon is stopping");
}

void asking_close(struct asking *a, struct mysql_conn *conn)
{
    if (a != NULL && conn != NULL) {
        lock_acquire(&a->lock);
        for (size_t i = 0; i < a->n; i++)
            if (a->conns[i] == conn)
                a->conns[i] = a->conns[--a->n];
        lock_release(&a->lock);
    }
    mysql_conn_close(conn);
}

void asking_end(struct asking *a)
{
    lock_acquire(&a->lock);
    a->is_over = true;
    for (size_t i = 0; i < a->n; i++)
        mysql_conn_interrupt(a->conns[i]);
    lock_release(&a->lock);
}
