/*
 * Who is at the other end of a connection, as far as its socket tells.
 *
 * @thread any
 */
#ifndef WEB_EDGE_ADDRESS_H
#define WEB_EDGE_ADDRESS_H

#include "src/base/base.h"

#include <stdint.h>
#include <sys/socket.h>

struct buf;

/*
 * A number that all connections of one sender share: its IPv4 address, the first half of its
 * IPv6 address (0 for ::1), or its user id on a unix socket ((uid_t)-1 if that is unknown).
 */
uint64_t address_number(int fd, const struct sockaddr_storage *peer) MUST_CHECK;
/* The same, but 0 for everybody on this machine: a unix socket, 127.0.0.0/8, ::1. */
uint64_t address_sender(const struct sockaddr_storage *peer) MUST_CHECK;
/* Append the IP address as text, an IPv4 address as such; of a unix socket nothing. */
void address_append(struct buf *out, const struct sockaddr_storage *peer);

#endif
