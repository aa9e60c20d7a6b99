/*
 * Seats at a real ZooKeeper: each a coordination with its wakes counted, and a plain client
 * that looks at the same tree from outside.
 */
#ifndef TESTS_COMPONENT_ZOOKEEPER_RIG_H
#define TESTS_COMPONENT_ZOOKEEPER_RIG_H
#ifdef HAVE_ZOOKEEPER

#include "tests/component/parts.h"
#include "tests/component/zookeeper_proxy.h"

#include "rebalance/coordination/coordination.h"
#include "rebalance/coordination/zookeeper.h"
#include "src/base/buf.h"
#include "src/base/lock.h"

#define THREADED
#include <zookeeper/zookeeper.h>

#define NODE(digit) "00000000-0000-4000-8000-00000000000" #digit /* an id */
#define TIMEOUT_MS  4000
#define LIMIT_MS    20000

extern const struct test_part nodes_part, values_part, locks_part, session_part, rights_part,
    time_part, members_part;

/* The deciding thread is the test's. */
struct seat {
    struct coordination *c;
    struct lock lock;
    pthread_cond_t woken_cond;
    /* Guarded by lock */
    unsigned n_wakes;
    bool holds_wakes;
    /* Not guarded */
    unsigned n_events[COORDINATION_TAKEN + 1]; /* that were taken */
};

struct seat_options {
    const char *auth;
    unsigned timeout_ms;
    uint16_t port; /* 0: the server's own */
    const char *servers;
};

uint16_t server_port(void);

/* A path that no other test has, below the server's root. */
int new_root(void **state);

/* Opens, and waits until it is connected. */
void take_seat(struct seat *s, const struct seat_options *opt);
/* Does not wait. */
void open_seat(struct seat *s, const struct seat_options *opt);
/* At a root that the address names. */
void open_seat_at(struct seat *s, const char *address);
void leave_seat(struct seat *s);

struct coordination_state state_of(struct seat *s);
enum coordination_status status_of(struct seat *s);
void wait_for_status(struct seat *s, enum coordination_status status);
/* Without taking events. */
void wait_untaken(struct seat *s, enum coordination_status status);
/* Takes events until this one comes. */
void wait_for_event(struct seat *s, enum coordination_change change, const char *name);
void take_all_events(struct seat *s);
unsigned wakes_of(struct seat *s);
/* Wakes wait in the client's thread, so its close would, too. */
void hold_wakes(struct seat *s, bool holds);
/* Waits until the server has told the seat of all changes made before by anybody. */
void settle_seat(struct seat *s);

/* What went wrong must not. */
void join(struct seat *s, const char *id, const char *data);
size_t count_nodes(struct seat *s);
struct coordination_node find_node(struct seat *s, const char *id);
void lock(struct seat *s, const char *name);
bool holds(struct seat *s, const char *name);

/* The address of this test's root at the server, or at a proxy. */
void append_address(struct buf *out, uint16_t port);

/* The plain client: paths are below this test's root. */
zhandle_t *plain(void);
const char *below_root(const char *path);
void plain_create(const char *path, const char *data, const struct ACL_vector *acl, int flags);
void plain_delete(const char *path);
void plain_set(const char *path, const char *data);
int32_t plain_count(const char *path);
/* Ends a session from outside. */
void end_session(int64_t session, const char *password);

#endif
#endif
