/*
 * A proxy before a ZooKeeper server that loses connections and answers, and counts requests.
 *
 * @thread any (locked inside); its own thread forwards
 */
#ifndef TESTS_COMPONENT_ZOOKEEPER_PROXY_H
#define TESTS_COMPONENT_ZOOKEEPER_PROXY_H

#include <stdbool.h>
#include <stdint.h>

enum proxy_mode {
    PROXY_PASS,
    PROXY_CUT,    /* no connection */
    PROXY_FREEZE, /* connections stay, and nothing passes */
    PROXY_HOLD,   /* requests pass, answers wait, and the session goes on */
};

struct proxy;

struct proxy *proxy_start(uint16_t server_port);
void proxy_stop(struct proxy *p);
uint16_t proxy_port(const struct proxy *p);
void proxy_set(struct proxy *p, enum proxy_mode mode);
/* Loses the answer of the next such request and the connection with it, and then is PROXY_CUT.
 */
void proxy_lose_answer(struct proxy *p);
/* Requests that were passed on, but for heartbeats and for those to catch up. */
unsigned proxy_requests(struct proxy *p);
unsigned proxy_syncs(struct proxy *p);
/* The session that the server gave last, and its 16 bytes of password. */
int64_t proxy_session(struct proxy *p, char *password);

#endif
