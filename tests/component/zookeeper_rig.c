#include "config.h"

#include "tests/component/zookeeper_rig.h"

#include "src/base/clock.h"

#include <stdio.h>
#include <unistd.h>

#define PLAIN_TIMEOUT_MS 60000 /* whatever a test does to the clock */

static char root[64];
static zhandle_t *plain_client;

uint16_t server_port(void)
{
    const char *port = getenv("ZOOKEEPER_TEST_PORT");

    if (port == NULL)
        fail_msg("ZOOKEEPER_TEST_PORT is not set: run this through with_zookeeper.sh");
    return (uint16_t)strtoul(port, NULL, 10);
}

int new_root(void **state)
{
    static unsigned n;

    (void)state;
    snprintf(root, sizeof(root), "/test-%u", ++n);
    return 0;
}

static void on_wake(void *ctx)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS / 2;
    struct seat *s = ctx;

    lock_acquire(&s->lock);
    s->n_wakes++;
    pthread_cond_broadcast(&s->woken_cond);
    while (s->holds_wakes && lock_wait_until(&s->lock, &s->woken_cond, until_ms))
        ;
    lock_release(&s->lock);
}

void hold_wakes(struct seat *s, bool holds)
{
    lock_acquire(&s->lock);
    s->holds_wakes = holds;
    pthread_cond_broadcast(&s->woken_cond);
    lock_release(&s->lock);
}

static void begin_seat(struct seat *s, const struct seat_options *opt, const char *servers)
{
    struct err err = {0};

    *s = (struct seat){0};
    lock_init(&s->lock, LOCK_private);
    lock_init_cond(&s->woken_cond);
    if (!zookeeper_open(
            &(struct zookeeper_options){
                .servers = str_from(servers),
                .auth = str_from(opt->auth != NULL ? opt->auth : ""),
                .timeout_ms = opt->timeout_ms != 0 ? opt->timeout_ms : TIMEOUT_MS,
                .wake = on_wake,
                .wake_ctx = s,
            },
            &s->c, &err))
        fail_msg("%s", err.msg);
}

void open_seat(struct seat *s, const struct seat_options *opt)
{
    char servers[256];
    const uint16_t port = opt->port != 0 ? opt->port : server_port();

    if (opt->servers != NULL)
        snprintf(servers, sizeof(servers), "%s%s", opt->servers, root);
    else
        snprintf(servers, sizeof(servers), "127.0.0.1:%u%s", port, root);
    begin_seat(s, opt, servers);
}

void append_address(struct buf *out, uint16_t port)
{
    buf_printf(out, "127.0.0.1:%u%s", port, root);
}

void open_seat_at(struct seat *s, const char *address)
{
    begin_seat(s, &(struct seat_options){0}, address);
}

void take_seat(struct seat *s, const struct seat_options *opt)
{
    open_seat(s, opt);
    wait_for_status(s, COORDINATION_CONNECTED);
    take_all_events(s);
}

void leave_seat(struct seat *s)
{
    coordination_close(s->c);
    pthread_cond_destroy(&s->woken_cond);
    lock_fini(&s->lock);
}

struct coordination_state state_of(struct seat *s)
{
    struct coordination_state now;

    coordination_state(s->c, &now);
    return now;
}

enum coordination_status status_of(struct seat *s)
{
    return state_of(s).status;
}

unsigned wakes_of(struct seat *s)
{
    lock_acquire(&s->lock);

    const unsigned n = s->n_wakes;

    lock_release(&s->lock);
    return n;
}

static bool take_event(struct seat *s, struct coordination_event *e)
{
    if (!coordination_next(s->c, e))
        return false;
    s->n_events[e->change]++;
    return true;
}

/* As the deciding thread does: after a wake, and now and then. */
static void wait_for_wake(struct seat *s, unsigned seen)
{
    lock_acquire(&s->lock);
    while (s->n_wakes == seen &&
           lock_wait_until(&s->lock, &s->woken_cond, clock_mono_ms() + 100))
        ;
    lock_release(&s->lock);
}

void wait_for_event(struct seat *s, enum coordination_change change, const char *name)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;

    while (clock_mono_ms() < until_ms) {
        const unsigned seen = wakes_of(s);
        struct coordination_event e;

        while (take_event(s, &e))
            if (e.change == change && str_equal(e.name, str_from(name)))
                return;
        wait_for_wake(s, seen);
    }
    fail_msg("no event %d of %s", change, name);
}

void wait_untaken(struct seat *s, enum coordination_status status)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;

    while (status_of(s) != status && clock_mono_ms() < until_ms)
        wait_for_wake(s, wakes_of(s));
    assert_int_equal(status_of(s), status);
}

void wait_for_status(struct seat *s, enum coordination_status status)
{
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;
    struct coordination_state state;

    while (clock_mono_ms() < until_ms) {
        const unsigned seen = wakes_of(s);
        struct coordination_event e;

        if (status_of(s) == status)
            return;
        while (status_of(s) != status && take_event(s, &e))
            ;
        if (status_of(s) != status)
            wait_for_wake(s, seen);
    }
    coordination_state(s->c, &state);
    fail_msg("status %d instead of %d: %s", state.status, status, state.why.msg);
}

void take_all_events(struct seat *s)
{
    struct coordination_event e;

    while (take_event(s, &e))
        ;
}

/* A watched value, changed by ourselves, comes behind all that the server had to tell before.
 */
void settle_seat(struct seat *s)
{
    struct buf data = {0};
    struct err err = {0};
    int32_t version;

    if (!coordination_read_value(s->c, STR("settle"), &data, &version, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(coordination_write(s->c,
                                        &(struct coordination_write){.what = COORDINATION_VALUE,
                                                                     .name = STR("settle"),
                                                                     .version = version},
                                        &err),
                     WRITTEN_DONE);
    buf_free(&data);
    wait_for_event(s, COORDINATION_VALUE, "settle");
}

void join(struct seat *s, const char *id, const char *data)
{
    struct err err = {0};

    if (!coordination_join(s->c, str_from(id), str_from(data), &err))
        fail_msg("%s", err.msg);
}

size_t count_nodes(struct seat *s)
{
    const struct str *ids;
    struct err err = {0};
    size_t n = 0;

    if (!coordination_list(s->c, &ids, &n, &err))
        fail_msg("%s", err.msg);
    return n;
}

struct coordination_node find_node(struct seat *s, const char *id)
{
    struct coordination_node n = {0};
    struct err err = {0};
    bool found = false;

    if (!coordination_read_node(s->c, str_from(id), &n, &found, &err) || !found)
        fail_msg("%s is not there: %s", id, err.msg);
    return n;
}

void lock(struct seat *s, const char *name)
{
    struct err err = {0};

    if (!coordination_lock(s->c, str_from(name), &err))
        fail_msg("%s", err.msg);
}

bool holds(struct seat *s, const char *name)
{
    return coordination_holds(s->c, str_from(name));
}

static void ignore(zhandle_t *client, int type, int state, const char *path, void *ctx)
{
    (void)client, (void)type, (void)state, (void)path, (void)ctx;
}

static zhandle_t *connect_plain(const clientid_t *id)
{
    char servers[64];
    const int64_t until_ms = clock_mono_ms() + LIMIT_MS;

    snprintf(servers, sizeof(servers), "127.0.0.1:%u", server_port());
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);

    zhandle_t *client = zookeeper_init(servers, ignore, PLAIN_TIMEOUT_MS, id, NULL, 0);

    assert_non_null(client);
    zoo_set_servers_resolution_delay(client, -1);
    while (zoo_state(client) != ZOO_CONNECTED_STATE && clock_mono_ms() < until_ms)
        usleep(2000);
    assert_int_equal(zoo_state(client), ZOO_CONNECTED_STATE);
    return client;
}

zhandle_t *plain(void)
{
    if (plain_client == NULL)
        plain_client = connect_plain(NULL);
    return plain_client;
}

const char *below_root(const char *path)
{
    static char all[512];

    snprintf(all, sizeof(all), "%s%s", root, path);
    return all;
}

void plain_create(const char *path, const char *data, const struct ACL_vector *acl, int flags)
{
    assert_int_equal(zoo_create(plain(), below_root(path), data, (int)strlen(data),
                                acl != NULL ? acl : &ZOO_OPEN_ACL_UNSAFE, flags, NULL, 0),
                     ZOK);
}

void plain_delete(const char *path)
{
    assert_int_equal(zoo_delete(plain(), below_root(path), -1), ZOK);
}

void plain_set(const char *path, const char *data)
{
    assert_int_equal(zoo_set(plain(), below_root(path), data, (int)strlen(data), -1), ZOK);
}

int32_t plain_count(const char *path)
{
    struct String_vector names = {0};
    const int rc = zoo_get_children(plain(), below_root(path), 0, &names);
    const int32_t n = names.count;

    deallocate_String_vector(&names);
    return rc == ZOK ? n : 0;
}

void end_session(int64_t session, const char *password)
{
    clientid_t id = {.client_id = session};

    memcpy(id.passwd, password, sizeof(id.passwd));
    zookeeper_close(connect_plain(&id));
}
