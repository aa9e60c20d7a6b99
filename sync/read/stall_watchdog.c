#include "config.h"

#include "sync/read/stall_watchdog.h"

#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/server/server_access.h"

#include <pthread.h>
#include <stdlib.h>

#define AFTER_MS 20000
#define EVERY_MS 10000
#define ANSWER_S 5

struct watched_read {
    struct watched_read *next;
    struct mysql_conn *conn;
    struct server_access *server; /* a reference */
    uint64_t asked;               /* the round in which its server was asked last */
};

struct stall_watchdog {
    enum magic magic;
    struct stall_watchdog_options opt;
    pthread_t thread;

    struct lock lock;
    pthread_cond_t changed;

    /* All guarded by lock. */
    struct watched_read *entries;
    bool started, stopping;
    uint64_t wait; /* the number of the present one, or the last */
    bool waiting;
    bool interrupted; /* in the present wait */
    int64_t due_ms;   /* when servers are asked next, while it waits */
};

/* The server says no, also when it has no room for one more: then it answers. */
static bool answers(const struct server_access *server)
{
    struct mysql_options opt = server->options;
    struct mysql_conn *c = NULL;
    struct err err = {0};

    opt.connect_timeout_s = opt.read_timeout_s = ANSWER_S;
    if (mysql_conn_open(&c, &opt, &err)) {
        mysql_conn_close(c);
        return true;
    }
    return mysql_err_is_of_server(&err);
}

struct stall_watchdog *stall_watchdog_new(const struct stall_watchdog_options *opt)
{
    struct stall_watchdog *p = mem_alloc(1, sizeof(*p));

    p->magic = MAGIC_stall_watchdog;
    p->opt = *opt;
    if (p->opt.after_ms == 0)
        p->opt.after_ms = AFTER_MS;
    if (p->opt.every_ms == 0)
        p->opt.every_ms = EVERY_MS;
    if (p->opt.answers == NULL)
        p->opt.answers = answers;
    lock_init(&p->lock, LOCK_private);
    lock_init_cond(&p->changed);
    return p;
}

/* ---- who looks ---- */

/* Find one whose server was not asked in this round; NULL if none is left. */
static struct watched_read *next_to_ask(struct stall_watchdog *p, uint64_t round) NEEDS(p->lock)
{
    for (struct watched_read *e = p->entries; e != NULL; e = e->next)
        if (e->asked != round)
            return e;
    return NULL;
}

static void give_up(struct stall_watchdog *p, const struct server_access *server) NEEDS(p->lock)
{
    for (struct watched_read *e = p->entries; e != NULL; e = e->next)
        if (e->server == server) {
            mysql_conn_interrupt(e->conn);
            p->interrupted = true;
        }
}

/* Lets the lock go while a server is asked. */
static void ask_all(struct stall_watchdog *p, uint64_t round) NEEDS(p->lock)
{
    const uint64_t wait = p->wait;
    struct watched_read *e;

    while (!p->stopping && p->waiting && p->wait == wait &&
           (e = next_to_ask(p, round)) != NULL) {
        struct server_access *server = server_access_ref(e->server);

        e->asked = round;
        lock_release(&p->lock);

        const bool fine = p->opt.answers(server);

        lock_acquire(&p->lock);
        if (!fine && p->waiting && p->wait == wait)
            give_up(p, server);
        server_access_unref(server);
    }
}

static void rest(struct stall_watchdog *p) NEEDS(p->lock)
{
    if (p->waiting)
        lock_wait_until(&p->lock, &p->changed, p->due_ms);
    else
        lock_wait(&p->lock, &p->changed);
}

static void *stall_watchdog_main(void *arg)
{
    struct stall_watchdog *p = MAGIC_CAST(stall_watchdog, arg);
    uint64_t round = 0;

    lock_acquire(&p->lock);
    while (!p->stopping) {
        if (!p->waiting || clock_mono_ms() < p->due_ms) {
            rest(p);
            continue;
        }
        ask_all(p, ++round);
        p->due_ms = clock_mono_ms() + p->opt.every_ms;
    }
    lock_release(&p->lock);
    return NULL;
}

/* ---- who waits ---- */

void stall_watchdog_enter(struct stall_watchdog *p, struct mysql_conn *c,
                          struct server_access *server)
{
    struct watched_read *e = mem_alloc(1, sizeof(*e));

    *e = (struct watched_read){.conn = c, .server = server_access_ref(server)};
    lock_acquire(&p->lock);
    e->next = p->entries;
    p->entries = e;
    if (p->stopping)
        mysql_conn_interrupt(c);
    lock_release(&p->lock);
}

void stall_watchdog_leave(struct stall_watchdog *p, struct mysql_conn *c)
{
    struct watched_read *gone = NULL;

    lock_acquire(&p->lock);
    for (struct watched_read **at = &p->entries; *at != NULL && gone == NULL;)
        if ((*at)->conn == c) {
            gone = *at;
            *at = gone->next;
        } else {
            at = &(*at)->next;
        }
    lock_release(&p->lock);
    if (gone != NULL)
        server_access_unref(gone->server);
    free(gone);
}

void stall_watchdog_begin(struct stall_watchdog *p)
{
    lock_acquire(&p->lock);
    p->wait++;
    p->waiting = true;
    p->interrupted = false;
    p->due_ms = clock_mono_ms() + p->opt.after_ms;
    pthread_cond_signal(&p->changed);
    lock_release(&p->lock);
}

bool stall_watchdog_end(struct stall_watchdog *p)
{
    lock_acquire(&p->lock);
    p->waiting = false;

    const bool interrupted = p->interrupted;

    lock_release(&p->lock);
    return interrupted;
}

/* ---- life ---- */

void stall_watchdog_start(struct stall_watchdog *p)
{
    p->started = true;
    p->thread = thread_start("stall_watchdog", stall_watchdog_main, p);
}

static void interrupt_all(struct stall_watchdog *p) NEEDS(p->lock)
{
    p->stopping = true;
    for (struct watched_read *e = p->entries; e != NULL; e = e->next)
        mysql_conn_interrupt(e->conn);
    pthread_cond_signal(&p->changed);
}

void stall_watchdog_interrupt(struct stall_watchdog *p)
{
    lock_acquire(&p->lock);
    interrupt_all(p);
    lock_release(&p->lock);
}

void stall_watchdog_stop(struct stall_watchdog *p)
{
    lock_acquire(&p->lock);
    interrupt_all(p);

    const bool started = p->started;

    p->started = false;
    lock_release(&p->lock);
    if (started)
        pthread_join(p->thread, NULL);
}

void stall_watchdog_free(struct stall_watchdog *p)
{
    if (p == NULL)
        return;
    while (p->entries != NULL)
        stall_watchdog_leave(p, p->entries->conn);
    pthread_cond_destroy(&p->changed);
    lock_fini(&p->lock);
    MAGIC_END(stall_watchdog, p);
    free(p);
}
