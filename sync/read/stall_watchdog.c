#include "config.h"

#include "sync/read/stall_watchdog.h"

#include "src/base/clock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/server/server_access.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define AFTER_MS 20000
#define EVERY_MS 10000
#define ANSWER_S 5

struct entry {
    struct entry *next;
    struct mysql_conn *conn;
    struct server_access *server; /* a reference */
    uint64_t asked;               /* the round in which its server was asked last */
};

struct stall_watchdog {
    enum magic magic;
    struct stall_watchdog_options opt;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* monotonic clock */

    /* All guarded by lock. */
    struct entry *entries;
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
    pthread_condattr_t attr;

    p->magic = MAGIC_stall_watchdog;
    p->opt = *opt;
    if (p->opt.after_ms == 0)
        p->opt.after_ms = AFTER_MS;
    if (p->opt.every_ms == 0)
        p->opt.every_ms = EVERY_MS;
    if (p->opt.answers == NULL)
        p->opt.answers = answers;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
    return p;
}

/* ---- who looks ---- */

/* Called with lock held: one whose server was not asked in this round, NULL: none is left. */
static struct entry *next_to_ask(struct stall_watchdog *p, uint64_t round)
{
    for (struct entry *e = p->entries; e != NULL; e = e->next)
        if (e->asked != round)
            return e;
    return NULL;
}

/* Called with lock held. */
static void give_up(struct stall_watchdog *p, const struct server_access *server)
{
    for (struct entry *e = p->entries; e != NULL; e = e->next)
        if (e->server == server) {
            mysql_conn_interrupt(e->conn);
            p->interrupted = true;
        }
}

/* Called with lock held, which is let go while a server is asked. */
static void ask_all(struct stall_watchdog *p, uint64_t round)
{
    const uint64_t wait = p->wait;
    struct entry *e;

    while (!p->stopping && p->waiting && p->wait == wait &&
           (e = next_to_ask(p, round)) != NULL) {
        struct server_access *server = server_access_ref(e->server);

        e->asked = round;
        pthread_mutex_unlock(&p->lock);

        const bool fine = p->opt.answers(server);

        pthread_mutex_lock(&p->lock);
        if (!fine && p->waiting && p->wait == wait)
            give_up(p, server);
        server_access_unref(server);
    }
}

/* Called with lock held. */
static void rest(struct stall_watchdog *p)
{
    const struct timespec until = {.tv_sec = p->due_ms / 1000,
                                   .tv_nsec = p->due_ms % 1000 * 1000000};

    if (p->waiting)
        (void)pthread_cond_timedwait(&p->changed, &p->lock, &until);
    else
        (void)pthread_cond_wait(&p->changed, &p->lock);
}

static void *stall_watchdog_main(void *arg)
{
    struct stall_watchdog *p = MAGIC_CAST(stall_watchdog, arg);
    uint64_t round = 0;

    pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        if (!p->waiting || clock_mono_ms() < p->due_ms) {
            rest(p);
            continue;
        }
        ask_all(p, ++round);
        p->due_ms = clock_mono_ms() + p->opt.every_ms;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- who waits ---- */

void stall_watchdog_enter(struct stall_watchdog *p, struct mysql_conn *c,
                          struct server_access *server)
{
    struct entry *e = mem_alloc(1, sizeof(*e));

    *e = (struct entry){.conn = c, .server = server_access_ref(server)};
    pthread_mutex_lock(&p->lock);
    e->next = p->entries;
    p->entries = e;
    if (p->stopping)
        mysql_conn_interrupt(c);
    pthread_mutex_unlock(&p->lock);
}

void stall_watchdog_leave(struct stall_watchdog *p, struct mysql_conn *c)
{
    struct entry *gone = NULL;

    pthread_mutex_lock(&p->lock);
    for (struct entry **at = &p->entries; *at != NULL && gone == NULL;)
        if ((*at)->conn == c) {
            gone = *at;
            *at = gone->next;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&p->lock);
    if (gone != NULL)
        server_access_unref(gone->server);
    free(gone);
}

void stall_watchdog_begin(struct stall_watchdog *p)
{
    pthread_mutex_lock(&p->lock);
    p->wait++;
    p->waiting = true;
    p->interrupted = false;
    p->due_ms = clock_mono_ms() + p->opt.after_ms;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

bool stall_watchdog_end(struct stall_watchdog *p)
{
    pthread_mutex_lock(&p->lock);
    p->waiting = false;

    const bool interrupted = p->interrupted;

    pthread_mutex_unlock(&p->lock);
    return interrupted;
}

/* ---- life ---- */

void stall_watchdog_start(struct stall_watchdog *p)
{
    p->started = true;
    p->thread = thread_start("stall_watchdog", stall_watchdog_main, p);
}

void stall_watchdog_stop(struct stall_watchdog *p)
{
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    for (struct entry *e = p->entries; e != NULL; e = e->next)
        mysql_conn_interrupt(e->conn);
    pthread_cond_signal(&p->changed);

    const bool started = p->started;

    p->started = false;
    pthread_mutex_unlock(&p->lock);
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
    pthread_mutex_destroy(&p->lock);
    MAGIC_END(stall_watchdog, p);
    free(p);
}
