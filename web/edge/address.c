#include "config.h"

#include "web/edge/address.h"

#include "src/base/buf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

/* Whoever has one address of a /64 has all of them.  Of ::1 it is 0. */
static uint64_t number_of_v6(const struct in6_addr *a)
{
    uint64_t n = 0;
    uint32_t v4;

    if (IN6_IS_ADDR_V4MAPPED(a)) {
        memcpy(&v4, &a->s6_addr[12], sizeof(v4));
        return v4;
    }
    for (size_t i = 0; i < sizeof(n); i++)
        n = n << 8 | a->s6_addr[i];
    return n;
}

uint64_t address_number(int fd, const struct sockaddr_storage *peer)
{
    struct ucred user = {.uid = (uid_t)-1};
    socklen_t len = sizeof(user);
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (peer->ss_family == AF_INET) {
        memcpy(&v4, peer, sizeof(v4));
        return v4.sin_addr.s_addr;
    }
    if (peer->ss_family == AF_INET6) {
        memcpy(&v6, peer, sizeof(v6));
        return number_of_v6(&v6.sin6_addr);
    }
    if (peer->ss_family == AF_UNIX && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &len) == 0)
        return user.uid;
    return (uint64_t)(uid_t)-1;
}

static bool is_local_v4(uint64_t number)
{
    return ntohl((uint32_t)number) >> 24 == 127;
}

uint64_t address_sender(const struct sockaddr_storage *peer)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (peer->ss_family == AF_INET) {
        memcpy(&v4, peer, sizeof(v4));
        return is_local_v4(v4.sin_addr.s_addr) ? 0 : v4.sin_addr.s_addr;
    }
    if (peer->ss_family != AF_INET6)
        return 0;
    memcpy(&v6, peer, sizeof(v6));
    return IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && is_local_v4(number_of_v6(&v6.sin6_addr))
               ? 0
               : number_of_v6(&v6.sin6_addr);
}

void address_append(struct buf *out, const struct sockaddr_storage *peer)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (peer->ss_family == AF_INET) {
        memcpy(&v4, peer, sizeof(v4));
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    } else if (peer->ss_family == AF_INET6) {
        memcpy(&v6, peer, sizeof(v6));
        if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
            inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof(text));
        else
            inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
    }
    buf_append(out, str_from(text));
}
