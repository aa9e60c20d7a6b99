/*
 * Which addresses a URL that somebody configured may lead to.
 *
 * A name that looks public can resolve to an address inside: of this machine, of its network,
 * of the machine that a cloud gives its secrets by. So Millrace judges the address that it is
 * about to connect to, not the name (src/net/hook.h).
 *
 * Pure. @thread any
 */
#ifndef SRC_NET_REACH_H
#define SRC_NET_REACH_H

#include "src/base/base.h"

struct sockaddr;

/*
 * Returns what kind of address this is if it is not one of the public internet: "loopback",
 * "private", "link-local", "multicast" and the like, a literal. NULL: it is public. An IPv4
 * address inside an IPv6 one is never public; behind NAT64 (64:ff9b::/96) it counts as itself.
 */
const char *reach_inside(const struct sockaddr *a);

#endif
